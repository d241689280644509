"""The tilings that the A2/A3 kernels of apply_rotary_pos_emb take.

Cores take runs of positions, all heads of query and key with them. With one position a core there is a kernel without
loops; else a core loads pieces of positions and computes each at once, or, in float16 and float32, in rounds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial

from ascend_sim.host.space import (
    FEW_BLOCKS,
    Piece,
    Space,
    Steps,
    distinct,
    evenly,
    number,
    tilings_by_blocks,
    tilings_by_step,
    words_as_fields,
)
from ascend_sim.host.tiling import Tiling, TilingContext, ceil_div

from ..shared.limits import MOST_BUFFERS, MOST_COPIED_BLOCKS, MOST_REPEATS
from ..shared.spaces import unfit
from . import tiling as host
from .checks import RopeCall, check
from .struct import STRUCT

PIECE_SIZES, ROUND_SIZES = 10, 4
"""At most so many sizes of a piece are tried for each number of blocks and buffers, of a round for each piece."""
BUFFERS = (host.KERNELS_OWN, *(host.Buffers(*counts) for counts in ((2, 2), (1, 1), (1, 2))))
MOST_OF_QUEUES = host.Buffers(MOST_BUFFERS // 3, MOST_BUFFERS)  # the queues of heads, cos and sin share their flags
MOST_STRIDE_BLOCKS = 255
KERNELS = {"small": "one position", "ab": "pieces in rounds", "ab_cast": "pieces"}


def axes(context: TilingContext) -> dict[str, int]:
    call = check(context)
    return {"positions": call.positions, "heads": call.heads}


def candidates(context: TilingContext, limit: int) -> Iterator[Tiling]:
    """The host's choice, then sizes of pieces and rounds and buffers by numbers of blocks."""
    own, call, share = host.tiling(context), check(context), max(1, limit // FEW_BLOCKS)
    made = tilings_by_blocks(
        call.positions, context.cores, limit, lambda blocks: evenly(_forms(context, call, blocks), share)
    )
    yield from distinct(own, (tiling for tiling in made if not SPACE.faults(tiling, context)))


def _forms(context: TilingContext, call: RopeCall, blocks: int) -> Iterator[Tiling]:
    """All kernels on so many blocks. Numbers of buffers matter where there is more than one piece."""
    per_core = ceil_div(call.positions, blocks)
    if per_core == 1:
        yield host.small(context, call)
    for buffers in BUFFERS:
        form = partial(host.pieces, context, call, per_core, buffers=buffers)
        for tiling in _pieces_and_rounds(context, call, per_core, form):
            if buffers == host.KERNELS_OWN or tiling.data["preCBatchB"] != per_core:
                yield tiling


def _pieces_and_rounds(
    context: TilingContext, call: RopeCall, per_core: int, form: Callable[[int, int], Tiling]
) -> Iterator[Tiling]:
    """`form` of sizes of pieces and of rounds; bfloat16 is computed a piece at a time."""
    ub_bytes = context.ub_bytes
    if host.Sizes(call).cast:
        yield from tilings_by_step(per_core, PIECE_SIZES, ub_bytes, lambda piece: form(piece, piece))
        return
    for smallest in tilings_by_step(per_core, PIECE_SIZES, ub_bytes, lambda piece: form(piece, 1)):
        piece = number(smallest.data, "preCBatchB")
        yield from tilings_by_step(piece, ROUND_SIZES, ub_bytes, partial(form, piece))


# --- what a tiling says ----------------------------------------------------------------------------------------------


def coverage(tiling: Tiling, context: TilingContext) -> Iterator[Piece]:
    """As the kernels read the fields."""
    data, call = _numbers(tiling.data), check(context)
    per_core = data["cosCoreOffset"] // call.dim
    for block in range(tiling.block_dim):
        first, heads = block * per_core, Steps.whole(call.heads)
        if tiling.path == "small":
            yield Piece(block, (Steps(first, 1, 1, 1), heads))
            continue
        times, last = ("lastCLTimes", "lastCBatchL") if _is_last(data, block) else ("preCLTimes", "preCBatchL")
        yield Piece(block, (Steps(first, data["preCBatchB"], data[times] + 1, data[last]), heads))


def _numbers(given: Mapping[str, int | str]) -> host.Fields:
    """The fields of the struct."""
    return {name: number(given, name) for name in STRUCT}


def _is_last(data: Mapping[str, int], block: int) -> bool:
    return block == data["useCoreNum"] - 1


def choices(tiling: Tiling) -> dict[str, int | str]:
    data, small = _numbers(tiling.data), tiling.path == "small"
    buffers = _buffers(tiling.data, host.SMALL_BUFFERS if small else host.KERNELS_OWN)
    return {
        "kernel": KERNELS[tiling.path],
        "positions per loop": 1 if small else data["preCBatchB"],
        "positions per round": 1 if small else data["comBatchBB"],
        "buffers": buffers.inputs,
        "result buffers": buffers.results,
    }


def _buffers(given: Mapping[str, int | str], own: host.Buffers) -> host.Buffers:
    return host.Buffers(number(given, "bufferNum", own.inputs), number(given, "outBufferNum", own.results))


# --- what is wrong with one ------------------------------------------------------------------------------------------


def problems(tiling: Tiling, context: TilingContext) -> list[str]:
    """Fields that do not fit the call, rounds that do not make a piece, buffers too small, limits of instructions."""
    call, data = check(context), _numbers(tiling.data)
    small = tiling.path == "small"
    per_core = data["cosCoreOffset"] // call.dim
    wanted = {"useCoreNum": tiling.block_dim} | host.common_fields(call, per_core)
    wanted |= host.small_fields(call) if small else host.piece_fields(call)
    found = unfit(data, wanted)
    if found:
        return found
    if small:
        return [*_undersized(call, data, 1, 1)]
    buffers = _buffers(tiling.data, host.KERNELS_OWN)
    pieces = _pieces(tiling, data)
    largest_piece = max(piece.positions for piece in pieces)
    largest_round = largest_piece if host.Sizes(call).cast else max(piece.largest_round for piece in pieces)
    return [
        *_bad_buffers(buffers),
        *_bad_rounds(tiling, call, pieces),
        *_undersized(call, data, largest_piece, largest_round),
        *_limits(call, largest_piece, largest_round),
    ]


class _Rounds:
    """A piece of `positions`, computed in `times` rounds of `size` and one of `last`."""

    def __init__(self, positions: int, size: int, times: int, last: int) -> None:
        self.positions, self.size, self.times, self.last = positions, size, times, last

    @property
    def largest_round(self) -> int:
        return max(self.size if self.times > 0 else 0, self.last)


def _pieces(tiling: Tiling, data: Mapping[str, int]) -> list[_Rounds]:
    """The kinds of pieces that there are: all but the last one of a block, the last one, the last block's last one."""
    size = data["comBatchBB"]
    found = [_Rounds(data["lastCBatchL"], size, data["preCLLTimes"], data["comBatchLLL"])]
    if tiling.block_dim > 1:
        found.append(_Rounds(data["preCBatchL"], size, data["preCBLTimes"], data["comBatchBLL"]))
    if data["lastCLTimes"] > 0 or (tiling.block_dim > 1 and data["preCLTimes"] > 0):
        found.append(_Rounds(data["preCBatchB"], size, data["preCBBTimes"], data["comBatchBBL"]))
    return found


def _bad_buffers(buffers: host.Buffers) -> Iterator[str]:
    for name, count, most in zip(("bufferNum", "outBufferNum"), buffers, MOST_OF_QUEUES, strict=True):
        if not 1 <= count <= most:
            yield f"{name} is {count}; the flags of the queues allow 1 to {most}"


def _bad_rounds(tiling: Tiling, call: RopeCall, pieces: Sequence[_Rounds]) -> Iterator[str]:
    if host.Sizes(call).cast and tiling.path == "ab":
        yield "comBatchBB is smaller than preCBatchB: the kernel that computes in rounds does not take bfloat16"
        return
    for piece in pieces:
        done = piece.times * piece.size + piece.last
        if piece.times < 0 or not 0 < piece.last <= piece.size or done != piece.positions:
            yield (
                f"pieces of {piece.positions} positions are computed in {piece.times} rounds of {piece.size} and one "
                f"of {piece.last}"
            )


def _undersized(call: RopeCall, data: Mapping[str, int], piece: int, rounds: int) -> Iterator[str]:
    """Buffers that do not hold the largest piece, or the largest round."""
    sizes = host.Sizes(call)
    needed = {"qPart1Ub": piece * sizes.heads, "q2q1Part1Ub": rounds * sizes.heads, "cosPart1Ub": piece * sizes.cos}
    if sizes.cast:
        needed["sin1UbSize"] = rounds * sizes.cos_cast
    for name, nbytes in needed.items():
        if data[name] < nbytes:
            yield f"{name} is {data[name]:,} B, the buffer has to hold {nbytes:,} B"
        elif data[name] % host.UB_BLOCK_BYTES:
            yield f"{name} is {data[name]:,} B, it has to be whole UB blocks of {host.UB_BLOCK_BYTES} B"


def _limits(call: RopeCall, piece: int, rounds: int) -> Iterator[str]:
    if piece > MOST_REPEATS:
        yield f"a piece of {piece} positions is more than the {MOST_REPEATS} repeats that change the sign of sin"
    if piece * call.heads > MOST_COPIED_BLOCKS:
        yield f"a piece of {piece * call.heads} heads is more than the {MOST_COPIED_BLOCKS} blocks of one DataCopy"
    row = call.heads * call.dim * host.Sizes(call).compute_itemsize // host.UB_BLOCK_BYTES
    if rounds > call.heads and row > MOST_STRIDE_BLOCKS:
        yield f"positions are {row} UB blocks apart, repeats of Mul may be {MOST_STRIDE_BLOCKS}"


# --- tilings from elsewhere ------------------------------------------------------------------------------------------


def fields(words: Sequence[int], context: TilingContext) -> dict[str, int]:
    return words_as_fields(words, STRUCT)


def rebuild(context: TilingContext, given: Mapping[str, int | str]) -> Tiling:
    """Without a size of pieces it is for the kernel without loops."""
    call, data = check(context), _numbers(given)
    blocks = number(given, "block_dim", data["useCoreNum"])
    if data["preCBatchB"] == 0:
        return host.small_answer(context, call, data, blocks)
    return host.pieces_answer(context, call, data, blocks, _buffers(given, host.KERNELS_OWN))


SPACE = Space(axes, candidates, coverage, choices, fields, rebuild, problems)
