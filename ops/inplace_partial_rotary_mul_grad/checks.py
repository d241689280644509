"""What the host code refuses, in its order, and what it derives from an accepted call."""

from __future__ import annotations

from dataclasses import dataclass

from ascend_sim.host.tensors import shape_text
from ascend_sim.host.tiling import TilingContext
from ascend_sim.plurals import counted

from ..shared.checks_arch35 import check_platform, layout_of
from ..shared.rope_layout import RopeDims
from ..shared.rotations import INTERLEAVE
from ..shared.splits_arch35 import row_bytes

D_LIMIT = 1024
DTYPES = ("float16", "float32", "bfloat16")
INPUTS = ("dy", "cos", "sin")


@dataclass(frozen=True, slots=True)
class Slice:
    """[start, end) of the last axis."""

    start: int
    end: int

    @property
    def length(self) -> int:
        return self.end - self.start

    def __str__(self) -> str:
        return f"partial_slice is [{self.start}, {self.end})"


@dataclass(frozen=True, slots=True)
class RopeCall:
    """An accepted call that has something to rotate."""

    part: Slice
    dims: RopeDims
    full_dim: int
    dtype: str
    cos_dtype: str
    dy_itemsize: int
    cos_itemsize: int

    @property
    def dy_row(self) -> int:
        """Bytes of one row of the slice in UB."""
        return row_bytes(self.part.length, self.dy_itemsize)

    @property
    def cos_row(self) -> int:
        """Bytes of one row of cos or sin in UB."""
        return row_bytes(self.part.length, self.cos_itemsize)


def check(context: TilingContext) -> Slice | RopeCall:
    """Every check of the host code in its order; a call with nothing to rotate passes the rest, as its slice."""
    _check_dtypes(context)
    mode = context.attrs["rotary_mode"]
    context.require(
        mode == INTERLEAVE, f"rotary_mode is {mode}; only 1 (interleave) is supported, 0, 2 and 3 are reserved"
    )
    part = _slice_of(context)
    nothing = part.length == 0 or any(context.inputs[name].size == 0 for name in INPUTS)
    if not nothing:
        _check_ranks(context)  # the host code reads the last of four dims here
        _check_slice(context, part)
    _check_shapes(context)
    if nothing:
        return part
    check_platform(context)
    dy, cos = context.inputs["dy"], context.inputs["cos"]
    return RopeCall(
        part=part,
        dims=layout_of(context, "dy"),
        full_dim=dy.shape[3],
        dtype=dy.dtype,
        cos_dtype=cos.dtype,
        dy_itemsize=dy.itemsize,
        cos_itemsize=cos.itemsize,
    )


def _check_dtypes(context: TilingContext) -> None:
    dy, cos, sin = (context.dtype(name) for name in INPUTS)
    allowed = ", ".join(DTYPES)
    context.require(dy in DTYPES, f"dy is {dy}; allowed are {allowed}")
    context.require(cos in DTYPES, f"cos is {cos}; allowed are {allowed}")
    context.require(cos == sin, f"cos is {cos} and sin is {sin}; they must have the same dtype")


def _slice_of(context: TilingContext) -> Slice:
    """partial_slice; the host code reads two entries without looking how many there are."""
    given = context.attrs["partial_slice"]
    context.require(
        len(given) == 2, f"partial_slice has {counted(len(given), 'entry')}; it must have two, [start, end)"
    )
    return Slice(*given)


def _check_slice(context: TilingContext, part: Slice) -> None:
    cos_dim, full = context.shape("cos")[3], context.shape("dy")[3]
    context.require(
        part.length == cos_dim,
        f"{part}, {counted(part.length, 'element')}, and the last dim of cos is {cos_dim}; the two must be equal",
    )
    context.require(part.start >= 0, f"{part}; start must not be negative")
    context.require(part.end <= full, f"{part}; end must not exceed the last dim of dy, {full}")
    context.require(full <= D_LIMIT, f"the last dim of dy is {full}; it must not exceed {D_LIMIT}")
    context.require(
        part.length % 2 == 0,
        f"{part}, {counted(part.length, 'element')}; interleave rotates pairs, so the length must be even",
    )


def _check_ranks(context: TilingContext) -> None:
    ranks = [len(context.shape(name)) for name in INPUTS]
    context.require(
        ranks == [4, 4, 4], f"dy, cos and sin have {ranks[0]}, {ranks[1]} and {ranks[2]} dims; all must have 4"
    )


def _check_shapes(context: TilingContext) -> None:
    """What a call with nothing to rotate has to keep, too."""
    _check_ranks(context)
    dy, cos, sin = (context.shape(name) for name in INPUTS)
    context.require(cos == sin, f"cos is {shape_text(cos)} and sin is {shape_text(sin)}; they must have the same shape")
    context.require(
        cos[3] <= dy[3], f"dy is {shape_text(dy)} and cos is {shape_text(cos)}; the last dim of cos must not be larger"
    )
