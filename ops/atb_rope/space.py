"""The tilings that the kernels of rope take.

Rows are dealt out to cores. Of the five kernels those with fp16 tables (20 and 23) and those for bfloat16 (22 and 24)
can take each other's calls, within limits: 23 knows no sample lengths, 24 wants parts of whole blocks, and only 23
takes several tokens for a row. How many elements of a row a kernel handles at once stands in its source.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from math import gcd

from ascend_sim.errors import InputError
from ascend_sim.host.space import (
    Piece,
    Space,
    Steps,
    distinct,
    number,
    step_sizes,
    thinned,
    tilings_by_blocks,
    words_as_fields,
)
from ascend_sim.host.tiling import Tiling, TilingContext, align_up, ceil_div

from ..shared.spaces import unfit
from . import tiling as host
from .tiling import (
    BF16,
    BF16_ALIGN,
    BLOCK_FP16,
    COMMON_ELEMENTS,
    FP16,
    FP16_LARGE,
    FP32_TABLES,
    KINDS,
    TILING_BYTES,
    TILING_FIELDS,
    Kind,
)

STEP_SIZES = 8
"""At most so many slices are tried for each kernel and number of blocks, and so many numbers of tokens a row."""
WIDE, NARROW = 4, 2
"""Bytes of an element."""


def axes(context: TilingContext) -> dict[str, int]:
    """The tokens, and the heads of q; k has as many or fewer, which are cut alike."""
    shape = host.shape_of(context)
    return {"tokens": shape.tokens, "heads": shape.hidden_q // shape.head_dim}


def candidates(context: TilingContext, limit: int) -> Iterator[Tiling]:
    """The host's choice, then kernels, slices and tokens a row by numbers of blocks."""
    own = host.tiling(context)
    made = tilings_by_blocks(axes(context)["tokens"], context.cores, limit, partial(_forms, context))
    yield from distinct(own, (tiling for tiling in made if not problems(tiling, context)))


def _forms(context: TilingContext, blocks: int) -> Iterator[Tiling]:
    """All kernels on so many blocks."""
    tokens, heads = axes(context).values()
    head_dim = host.shape_of(context).head_dim
    for kind in _kinds(context):
        for multiple in _multiples(context, kind):
            rows = tokens // multiple
            cores = ceil_div(rows, ceil_div(rows, blocks))
            fields = host.fields_for(context, multiple, cores)
            usual = min(kind.slice_elements // (head_dim * multiple), heads)
            for size in _slices(context, kind) if multiple == 1 else [heads]:
                room = kind.slice_elements if size == usual else size * head_dim * multiple
                yield host.answer(context, kind, fields, cores, room)


def _slices(context: TilingContext, kind: Kind) -> list[int]:
    """Heads that a kernel could handle at once: all, or as many as fill whole blocks."""
    heads, head_dim = axes(context)["heads"], host.shape_of(context).head_dim
    unit = BLOCK_FP16 // gcd(head_dim, BLOCK_FP16)
    most = _most_elements(context, kind) // head_dim
    units = step_sizes(ceil_div(heads, unit), ceil_div(most, unit), STEP_SIZES)
    return [size for size in (min(heads, unit * count) for count in units) if size <= most]


def _kinds(context: TilingContext) -> list[Kind]:
    """The kernels that can take the call."""
    return [kind for kind in KINDS.values() if not any(_incapable(context, kind))]


def _incapable(context: TilingContext, kind: Kind) -> Iterator[str]:
    """Why the kernel cannot take the call."""
    q, table = context.dtype("q"), context.dtype("cos")
    kinds = (BF16, BF16_ALIGN) if q == "bfloat16" else (FP32_TABLES,) if table == "float32" else (FP16, FP16_LARGE)
    if kind not in kinds:
        ids = " and ".join(str(other.key) for other in kinds)
        yield f"kernel {kind.key} does not take {q} with {table} tables; those that do: {ids}"
    if kind is FP16_LARGE and context.attrs["cosFormat"]:
        yield f"kernel {kind.key} does not read the lengths of the samples, which cosFormat 1 asks for"
    if kind is BF16_ALIGN and not _aligned(context):
        yield f"kernel {kind.key} takes parts of whole 32 B blocks only, these have {_stride(context)} elements"


def _multiples(context: TilingContext, kind: Kind) -> list[int]:
    """Numbers of tokens a row, the most first."""
    if kind is not FP16_LARGE or not _aligned(context):
        return [1]
    shape = host.shape_of(context)
    most = _most_elements(context, kind) // shape.hidden_q
    return thinned([n for n in range(max(1, most), 0, -1) if n == 1 or shape.tokens % n == 0], STEP_SIZES)


def _stride(context: TilingContext) -> int:
    return host.shape_of(context).head_dim // int(context.attrs["rotaryCoeff"])


def _aligned(context: TilingContext) -> bool:
    return _stride(context) % BLOCK_FP16 == 0


# --- unified buffer --------------------------------------------------------------------------------------------------


def _parts(context: TilingContext, kind: Kind) -> tuple[int, int]:
    """How many slices the kernel's fp32 and 16-bit buffers hold, as the kernels lay them out."""
    second_mask = 0 if _aligned(context) else 1
    found = {
        FP16.path: (0, 6 + second_mask),
        FP16_LARGE.path: (0, 20),
        FP32_TABLES.path: (8, 4),
        BF16.path: (6 + second_mask, 3),
        BF16_ALIGN.path: (14, 6),
    }
    return found[kind.path]


def _room(context: TilingContext, kind: Kind, ub_bytes: int) -> tuple[int, int]:
    """Bytes of the fp32 and of the 16-bit buffer."""
    lengths = host.length_bytes(context.attrs["cosFormat"], host.shape_of(context).batch)
    left = ub_bytes - TILING_BYTES - lengths
    if kind.lanes * NARROW == 256:
        return 0, left
    return left - COMMON_ELEMENTS * NARROW, COMMON_ELEMENTS * NARROW


def _most_elements(context: TilingContext, kind: Kind) -> int:
    """The longest slice that the buffers hold, in whole repeats."""
    rooms, parts = _room(context, kind, context.ub_bytes), _parts(context, kind)
    most = min(room // (count * size) for room, count, size in zip(rooms, parts, (WIDE, NARROW), strict=True) if count)
    return max(0, most) // kind.lanes * kind.lanes


# --- what a tiling says ----------------------------------------------------------------------------------------------


def coverage(tiling: Tiling, context: TilingContext) -> Iterator[Piece]:
    """As the kernels read the fields: the last core takes what is left."""
    rows, multiple, step = int(tiling.data["ntokens"]), int(tiling.data["multiple"]), _heads_per_loop(tiling)
    heads = axes(context)["heads"]
    front = ceil_div(rows, tiling.block_dim)
    if step < 1 or multiple < 1 or rows < 1:
        return
    for block in range(tiling.block_dim):
        mine = rows - block * front if block == tiling.block_dim - 1 else front
        yield Piece(
            block, (Steps(block * front * multiple, multiple, mine, multiple), Steps.over(0, heads, min(step, heads)))
        )


def _slice(tiling: Tiling) -> int:
    room = int(tiling.data.get("sliceSize", KINDS[tiling.path].slice_elements))
    return host.slice_elements(room, int(tiling.data["headDim"]))


def _heads_per_loop(tiling: Tiling) -> int:
    head_dim = int(tiling.data["headDim"])
    return min(_slice(tiling), int(tiling.data["hiddenSizeQ"])) // head_dim if head_dim > 0 else 0


def choices(tiling: Tiling) -> dict[str, int | str]:
    return {
        "kernel": tiling.key,
        "tokens per row": tiling.data["multiple"],
        "heads per loop": _heads_per_loop(tiling),
    }


def problems(tiling: Tiling, context: TilingContext) -> list[str]:
    """Fields that do not fit the call, kernels that cannot take it, slices for which there is no room."""
    kind, multiple = KINDS[tiling.path], int(tiling.data["multiple"])
    if multiple < 1:
        return [f"multiple is {multiple}, a row has at least 1 token"]
    wanted = host.fields_for(context, multiple, tiling.block_dim) | {"maxUbSize": tiling.data["maxUbSize"]}
    found = unfit(tiling.data, {name: int(wanted[name]) for name in TILING_FIELDS})
    return found or [
        *_incapable(context, kind),
        *_rows(tiling, context, kind),
        *_overflows(tiling, context, kind),
        *_launch(tiling, context, kind),
    ]


def _rows(tiling: Tiling, context: TilingContext, kind: Kind) -> Iterator[str]:
    """What is wrong with several tokens a row."""
    shape, multiple = host.shape_of(context), int(tiling.data["multiple"])
    if multiple == 1:
        return
    if kind is not FP16_LARGE:
        yield f"multiple is {multiple}, kernel {kind.key} takes 1 token a row"
    if not _aligned(context):
        yield f"several tokens a row need parts of whole 32 B blocks, these have {_stride(context)} elements"
    if shape.tokens % multiple:
        yield f"multiple is {multiple}, which does not divide the {shape.tokens} tokens"
    if _slice(tiling) < shape.hidden_q * multiple:
        yield (
            f"{multiple} tokens of {shape.hidden_q} elements are more than the slice of {_slice(tiling)} elements: "
            "several tokens a row are handled at once"
        )


def _overflows(tiling: Tiling, context: TilingContext, kind: Kind) -> Iterator[str]:
    """Slices that the buffers do not hold."""
    elements, multiple = _slice(tiling), int(tiling.data["multiple"])
    if elements < 1:
        yield tiling.not_runnable
        return
    if elements % BLOCK_FP16 and elements < int(tiling.data["hiddenSizeQ"]):
        yield f"slices of {elements} elements end within a block of 32 B, whose rest is not written"
    pitch = align_up(elements, kind.lanes)
    rooms, parts = _room(context, kind, int(tiling.data["maxUbSize"])), _parts(context, kind)
    for name, room, count, size in zip(("fp32", "16-bit"), rooms, parts, (WIDE, NARROW), strict=True):
        if pitch * count * size > room:
            heads = elements // (host.shape_of(context).head_dim * multiple)
            yield (
                f"slices of {elements} elements ({heads} heads) take {pitch * count * size:,} B of the {name} buffer, "
                f"which has {max(0, room):,} B"
            )


def _launch(tiling: Tiling, context: TilingContext, kind: Kind) -> Iterator[str]:
    """What keeps it from running to its end."""
    if kind is FP16 and context.attrs["cosFormat"] and tiling.block_dim > context.cores:
        yield (
            f"{tiling.block_dim} blocks on {context.cores} cores: with cosFormat 1 all blocks of kernel {kind.key} "
            "wait for each other"
        )
    yield from tiling.warnings


# --- tilings from elsewhere ------------------------------------------------------------------------------------------


def fields(words: Sequence[int], context: TilingContext) -> dict[str, int]:
    """Twelve words of 32 bits, or two of them in each of six."""
    pairs = tuple(zip(TILING_FIELDS[::2], TILING_FIELDS[1::2], strict=True))
    return words_as_fields(words, pairs if any(word >> 32 for word in words[:1]) else TILING_FIELDS)


def rebuild(context: TilingContext, given: Mapping[str, int | str]) -> Tiling:
    """The tiling of these fields. The kernel is "path", or that of the host code; a board's maxUbSize counts what its
    runtime keeps, of which the kernels here get what is left."""
    own = host.tiling(context)
    path = str(given.get("path", own.path))
    if path not in KINDS:
        raise InputError(f"path is {path!r}; the kernels are {', '.join(KINDS)}")
    data = {name: number(given, name) for name in TILING_FIELDS}
    data["maxUbSize"] = min(data["maxUbSize"], context.ub_bytes)
    blocks = number(given, "block_dim", data["realCore"])
    kind = KINDS[path]
    return host.answer(context, kind, data, blocks, number(given, "sliceSize", kind.slice_elements))


SPACE = Space(axes, candidates, coverage, choices, fields, rebuild, problems, word_bytes=(4,))
