"""What the A2/A3 host code refuses, in its order, and what it derives from an accepted call."""

from __future__ import annotations

from dataclasses import dataclass

from ascend_sim.host.tensors import shape_text
from ascend_sim.host.tiling import TilingContext, align_up
from ascend_sim.plurals import counted

D_LIMIT = 1024
DTYPES = ("float16", "float32", "bfloat16")


@dataclass(frozen=True, slots=True)
class RopeCall:
    """An accepted call. x is (x0, x1, x2, full_dim); the slice [start, start + head_dim) of its last axis rotates."""

    x0: int
    x1: int
    x2: int
    full_dim: int
    start: int
    head_dim: int
    cos1: int
    dtype: str
    itemsize: int
    mixed: bool  # 16-bit x with float32 cos and sin

    @property
    def block(self) -> int:
        """Elements of x in one 32-byte UB block."""
        return 32 // self.itemsize

    @property
    def aligned(self) -> bool:
        """Whether a row of the slice fills whole UB blocks."""
        return self.head_dim % self.block == 0

    @property
    def padded_dim(self) -> int:
        """Elements that one row of the slice takes in UB."""
        return align_up(self.head_dim, self.block)


def check(context: TilingContext) -> RopeCall:
    """Every check of the host code in its order; a `head_dim` of 0 ends them early (nothing to rotate)."""
    context.require(context.cores > 0, f"core count is {context.cores}, it must be positive")
    context.require(context.ub_bytes > 0, f"UB size is {context.ub_bytes} B, it must be positive")
    check_dtypes(context)
    check_ranks(context)
    check_mode(context)
    start, end = _slice_of(context)
    if end != start:
        _check_slice(context, start, end)
        _check_cos(context, end - start)
    x = context.inputs["x"]
    x0, x1, x2, full = x.shape
    return RopeCall(
        x0=x0,
        x1=x1,
        x2=x2,
        full_dim=full,
        start=start,
        head_dim=end - start,
        cos1=context.shape("cos")[1],
        dtype=x.dtype,
        itemsize=x.itemsize,
        mixed=x.dtype != context.dtype("cos"),
    )


def check_dtypes(context: TilingContext) -> None:
    x, cos, sin = (context.dtype(name) for name in ("x", "cos", "sin"))
    allowed = ", ".join(DTYPES)
    context.require(x in DTYPES, f"x is {x}; allowed are {allowed}")
    context.require(cos == sin, f"cos is {cos} and sin is {sin}; they must have the same dtype")
    context.require(cos in DTYPES, f"cos and sin are {cos}; allowed are {allowed}")
    context.require(
        cos in (x, "float32"),
        f"x is {x} with cos and sin {cos}; allowed is one dtype for all, or 16-bit x with float32 cos and sin",
    )


def check_ranks(context: TilingContext) -> None:
    x, cos, sin = (context.shape(name) for name in ("x", "cos", "sin"))
    context.require(
        len(x) == len(cos) == len(sin) == 4,
        f"x, cos and sin have {len(x)}, {len(cos)} and {len(sin)} dims; all must have 4",
    )
    context.require(cos == sin, f"cos is {shape_text(cos)} and sin is {shape_text(sin)}; they must have the same shape")


def check_mode(context: TilingContext) -> None:
    mode = context.attrs["rotary_mode"]
    context.require(mode == 1, f"rotary_mode is {mode}; only 1 (interleave) is supported")


def _slice_of(context: TilingContext) -> tuple[int, int]:
    """partial_slice as [start, end); an empty list means the whole axis."""
    given = context.attrs["partial_slice"]
    if not given:
        return 0, context.shape("x")[3]
    context.require(
        len(given) == 2, f"partial_slice has {counted(len(given), 'entry')}; it must have two, [start, end), or none"
    )
    start, end = given
    return start, end


def _check_slice(context: TilingContext, start: int, end: int) -> None:
    full, length = context.shape("x")[3], end - start
    text = f"partial_slice is [{start}, {end})"
    context.require(length >= 0, f"{text}; end must not lie before start")
    context.require(full <= D_LIMIT, f"the last dim of x is {full}; it must not exceed {D_LIMIT}")
    context.require(full % 2 == 0, f"the last dim of x is {full}; interleave rotates pairs, so it must be even")
    context.require(
        length % 2 == 0, f"{text}, {counted(length, 'element')}; interleave rotates pairs, so the length must be even"
    )
    context.require(start >= 0, f"{text}; start must not be negative")
    context.require(end >= 0, f"{text}; end must not be negative")
    context.require(end <= full, f"{text}; end must not exceed the last dim of x, {full}")


def _check_cos(context: TilingContext, length: int) -> None:
    x, cos = context.shape("x"), context.shape("cos")
    shapes = f"x is {shape_text(x)}, cos and sin are {shape_text(cos)}"
    context.require(
        cos[3] == length, f"{shapes}; the last dim of cos and sin must be the length of partial_slice, {length}"
    )
    context.require(cos[0] == x[0], f"{shapes}; dim 0 must agree (no broadcast over it)")
    context.require(cos[2] == 1, f"{shapes}; dim 2 of cos and sin must be 1")
    # The page asks for positive dims; the host code itself would divide by zero here.
    context.require(min(x) > 0, f"{shapes}; every dim of x must be positive")
