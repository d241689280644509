"""What the 950's host code refuses, in its order, and what it derives from an accepted call."""

from __future__ import annotations

from dataclasses import dataclass

from ascend_sim.host.tensors import shape_text
from ascend_sim.host.tiling import TilingContext
from ascend_sim.plurals import counted

from ..shared.checks_arch35 import check_platform, layout_of
from ..shared.rope_layout import RopeDims
from ..shared.splits_arch35 import row_bytes
from .checks import D_LIMIT, check_dtypes, check_mode, check_ranks


@dataclass(frozen=True, slots=True)
class Slice:
    """[start, end) of the last axis of x, which has `full_dim` elements."""

    start: int
    end: int
    full_dim: int

    @property
    def length(self) -> int:
        return self.end - self.start


@dataclass(frozen=True, slots=True)
class RopeCall:
    """An accepted call that has something to rotate."""

    part: Slice
    dims: RopeDims
    dtype: str
    x_itemsize: int
    cos_itemsize: int
    mixed: bool  # 16-bit x with float32 cos and sin

    @property
    def x_row(self) -> int:
        """Bytes of one row of the slice in UB."""
        return row_bytes(self.part.length, self.x_itemsize)

    @property
    def cos_row(self) -> int:
        """Bytes of one row of cos or sin in UB."""
        return row_bytes(self.part.length, self.cos_itemsize)


def check(context: TilingContext) -> Slice | RopeCall:
    """Every check of the host code in its order; a call with nothing to rotate ends them early, as its slice."""
    check_mode(context)
    check_dtypes(context)
    check_ranks(context)
    part = _slice_of(context)
    cos_dim = context.shape("cos")[3]
    if part.length == 0 or cos_dim == 0:
        return part
    check_platform(context)
    _check_length(context, part, cos_dim)
    x = context.inputs["x"]
    for name in ("x", "cos", "sin"):
        shape = context.shape(name)
        context.require(min(shape) > 0, f"{name} is {shape_text(shape)}; every dim must be positive")
    return RopeCall(
        part=part,
        dims=layout_of(context, "x"),
        dtype=x.dtype,
        x_itemsize=x.itemsize,
        cos_itemsize=context.inputs["cos"].itemsize,
        mixed=x.dtype != context.dtype("cos"),
    )


def _slice_of(context: TilingContext) -> Slice:
    """partial_slice, of which the host code reads two entries; an empty list means the whole axis."""
    given, full = context.attrs["partial_slice"], context.shape("x")[3]
    if not given:
        return Slice(0, full, full)
    context.require(
        len(given) == 2, f"partial_slice has {counted(len(given), 'entry')}; it must have two, [start, end), or none"
    )
    start, end = given
    text = f"partial_slice is [{start}, {end})"
    context.require(start >= 0, f"{text}; start must not be negative")
    context.require(end >= 0, f"{text}; end must not be negative")
    context.require(end >= start, f"{text}; end must not lie before start")
    context.require(end <= full, f"{text}; end must not exceed the last dim of x, {full}")
    return Slice(start, end, full)


def _check_length(context: TilingContext, part: Slice, cos_dim: int) -> None:
    text = f"partial_slice is [{part.start}, {part.end}), {counted(part.length, 'element')}"
    context.require(
        cos_dim == part.length, f"{text}, and the last dim of cos and sin is {cos_dim}; the two must be equal"
    )
    context.require(part.length % 2 == 0, f"{text}; interleave rotates pairs, so the length must be even")
    full = part.full_dim
    context.require(full <= D_LIMIT, f"the last dim of x is {full}; it must not exceed {D_LIMIT}")
    context.require(full % 2 == 0, f"the last dim of x is {full}; interleave rotates pairs, so it must be even")
