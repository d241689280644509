"""The tilings that the kernel of rope_grad takes.

A block takes one head and the tiling data has nothing to choose: what can be chosen stands in the kernel's source, the
rows of a tile (as the elements of a buffer, MAX_PROCESS_NUM) and the buffers of a queue (BUFFER_NUM). Blocks beyond the
cores wait for their turn, so that a launch with a block per head writes all heads where the host's own leaves some out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import accumulate

from ascend_sim.host.space import Piece, Space, Steps, distinct, number, tilings_by_step, words_as_fields
from ascend_sim.host.tiling import Tiling, TilingContext

from ..shared.limits import MOST_REPEATS
from ..shared.spaces import unfit, wrong_buffers
from . import tiling as host
from .checks import HEAD_SIZE
from .tiling import BUFFER_NUM, MAX_PROCESS_NUM, TILING_FIELDS

QUEUES = 4  # of inputs
BUFFERS = (1, 2)


def axes(context: TilingContext) -> dict[str, int]:
    """The heads, and the rows that belong to a sample."""
    rows, hidden = context.shape("q_embedded_grad")
    return {"heads": hidden // HEAD_SIZE, "rows": min(rows, sum(context.attrs["qSeqLen"]))}


def candidates(context: TilingContext, limit: int) -> Iterator[Tiling]:
    """The host's choice, then sizes of tiles, those that cut the longest sample evenly, by buffers."""
    own = host.tiling(context)
    fields = {name: int(own.data[name]) for name in _struct(context)}
    longest, heads, count = max(context.attrs["qSeqLen"]), axes(context)["heads"], max(1, limit // len(BUFFERS))
    made = (
        tiling
        for buffers in BUFFERS
        for tiling in tilings_by_step(
            longest, count, context.ub_bytes, partial(host.answer, context, fields, heads, buffers=buffers)
        )
    )
    yield from distinct(own, (tiling for tiling in made if not problems(tiling, context)))


# --- what a tiling says ----------------------------------------------------------------------------------------------


def coverage(tiling: Tiling, context: TilingContext) -> Iterator[Piece]:
    """A piece for every sample of a head."""
    lengths, rows_per_loop = context.attrs["qSeqLen"], int(tiling.data["rowsPerLoop"])
    for block in range(tiling.block_dim):
        for start, length in zip(accumulate(lengths, initial=0), lengths, strict=False):
            yield Piece(block, (Steps.over(block, 1, 1), Steps.over(start, length, rows_per_loop)))


def choices(tiling: Tiling) -> dict[str, int | str]:
    return {"rows per loop": tiling.data["rowsPerLoop"], "buffers": tiling.data.get("bufferNum", BUFFER_NUM)}


def problems(tiling: Tiling, context: TilingContext) -> list[str]:
    """Fields that do not fit the call, and limits of the kernel's instructions."""
    own = host.tiling(context)
    found = unfit(tiling.data, {name: int(own.data[name]) for name in _struct(context)})
    heads, rows = axes(context)["heads"], int(tiling.data["rowsPerLoop"])
    if tiling.block_dim != heads:
        found.append(f"the block dim is {tiling.block_dim}, for this call it has to be {heads}: a block takes one head")
    if not 1 <= rows <= MOST_REPEATS:
        found.append(f"a tile has {rows} rows; allowed are 1 to {MOST_REPEATS}, the repeats of the kernel's Muls")
    return found + wrong_buffers(int(tiling.data.get("bufferNum", BUFFER_NUM)), QUEUES)


# --- tilings from elsewhere ------------------------------------------------------------------------------------------


def fields(words: Sequence[int], context: TilingContext) -> dict[str, int]:
    """Five fields, then the length of every sample of the call."""
    return words_as_fields(words, _struct(context))


def _struct(context: TilingContext) -> tuple[str, ...]:
    return (*TILING_FIELDS, *(f"qSeqLen[{i}]" for i in range(len(context.attrs["qSeqLen"]))))


def rebuild(context: TilingContext, given: Mapping[str, int | str]) -> Tiling:
    """The tiling of these fields; a buffer per queue and as many rows as the kernel's source has where they do not
    say, and a block per head or core."""
    own = host.tiling(context)
    return host.answer(
        context,
        {name: number(given, name) for name in _struct(context)},
        number(given, "block_dim", own.block_dim),
        number(given, "rowsPerLoop", MAX_PROCESS_NUM // HEAD_SIZE),
        number(given, "bufferNum", BUFFER_NUM),
    )


SPACE = Space(axes, candidates, coverage, choices, fields, rebuild, problems, word_bytes=(8, 8, 8, 8, 8, 4))
