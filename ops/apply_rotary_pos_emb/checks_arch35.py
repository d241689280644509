"""What the 950's host code refuses, in its order, and what it derives from an accepted call."""

from __future__ import annotations

from dataclasses import dataclass

from ascend_sim.host.tensors import Shape, shape_text
from ascend_sim.host.tiling import TilingContext
from ascend_sim.plurals import counted

from ..shared.checks_arch35 import check_platform
from .checks import DTYPES, INPUTS, LAYOUTS

BSND, SBND, BNSD, TND = 1, 2, 3, 4
D_LIMIT = 1024
MODES = ("half", "interleave", "quarter")
MODE_CODES = {"half": 1, "interleave": 2, "quarter": 3}
MODE_PARTS = {"half": 2, "interleave": 1, "quarter": 4}  # parts of a row that lie apart in UB
MODE_MULTIPLE = {"half": 2, "interleave": 2, "quarter": 4}


@dataclass(frozen=True, slots=True)
class Axes:
    """Where a layout has its axes; `b` is -1 where there is none."""

    b: int
    s: int
    n: int
    d: int

    @property
    def rank(self) -> int:
        return self.d + 1


AXES = {BSND: Axes(0, 1, 2, 3), SBND: Axes(1, 0, 2, 3), BNSD: Axes(0, 2, 1, 3), TND: Axes(-1, 0, 1, 2)}


@dataclass(frozen=True, slots=True)
class RopeCall:
    """An accepted call: B x S positions with q_heads and k_heads, of which the first `real_dim` elements rotate."""

    layout: int
    mode: str
    b: int
    cos_b: int
    s: int
    q_heads: int
    k_heads: int
    dim: int
    real_dim: int
    dtype: str
    itemsize: int
    not_runnable: str

    @property
    def parts(self) -> int:
        return MODE_PARTS[self.mode]

    @property
    def heads(self) -> int:
        return self.q_heads + self.k_heads


def check(context: TilingContext) -> RopeCall:
    """Every check of the host code in its order."""
    layout = context.attrs["layout"]
    names = ", ".join(f"{number} ({name})" for number, name in LAYOUTS.items())
    context.require(layout in LAYOUTS, f"layout is {layout}; allowed are {names}")
    mode = context.attrs["rotary_mode"]
    context.require(mode in MODES, f"rotary_mode is {mode!r}; allowed are {', '.join(MODES)}")
    _check_dtypes(context)
    for name in INPUTS:
        rank = len(context.shape(name))
        context.require(rank in (3, 4), f"{name} has {counted(rank, 'dim')}; it must have 4, or 3 (TND)")
    axes = AXES[layout]
    _check_shapes(context, axes)
    _check_dim(context, mode, _dim(context.shape("query"), axes.d))
    for name in INPUTS:
        shape = context.shape(name)
        context.require(min(shape) > 0, f"{name} is {shape_text(shape)}; every dim must be positive")
    check_platform(context)
    return _call(context, layout, mode, axes)


def _check_dtypes(context: TilingContext) -> None:
    query = context.dtype("query")
    context.require(query in DTYPES, f"query is {query}; allowed are {', '.join(DTYPES)}")
    for name in INPUTS[1:]:
        dtype = context.dtype(name)
        context.require(dtype == query, f"query is {query} and {name} is {dtype}; all must have one dtype")


def _dim(shape: Shape, axis: int) -> int:
    """The host code reads four dims of every shape; those that are not there read as 0."""
    return shape[axis] if axis < len(shape) else 0


def _check_shapes(context: TilingContext, axes: Axes) -> None:
    query, key, cos, sin = (context.shape(name) for name in INPUTS)
    context.require(cos == sin, f"cos is {shape_text(cos)} and sin is {shape_text(sin)}; they must have the same shape")
    layout = context.attrs["layout"]
    text = f"query is {shape_text(query)}, key {shape_text(key)}, cos {shape_text(cos)} in layout {LAYOUTS[layout]}"
    context.require(_dim(cos, axes.n) == 1, f"{text}; cos must have one head")
    positions = {_dim(shape, axes.s) for shape in (query, key, cos)}
    context.require(len(positions) == 1, f"{text}; their positions must agree")
    context.require(
        max(_dim(cos, axes.d), _dim(key, axes.d)) <= _dim(query, axes.d),
        f"{text}; the last dims of cos and key must not be larger than that of query",
    )
    if layout == TND:
        return
    context.require(_dim(key, axes.b) == _dim(query, axes.b), f"{text}; the batches of query and key must agree")
    context.require(_dim(cos, axes.b) in (1, _dim(query, axes.b)), f"{text}; cos must have one batch or those of query")


def _check_dim(context: TilingContext, mode: str, dim: int) -> None:
    context.require(dim <= D_LIMIT, f"the last dim of query is {dim}; it must not exceed {D_LIMIT}")
    multiple = MODE_MULTIPLE[mode]
    context.require(
        dim % multiple == 0, f"the last dim of query is {dim}; in mode {mode} it must be a multiple of {multiple}"
    )


def _call(context: TilingContext, layout: int, mode: str, axes: Axes) -> RopeCall:
    query, key, cos = (context.shape(name) for name in ("query", "key", "cos"))
    return RopeCall(
        layout=layout,
        mode=mode,
        b=1 if layout == TND else _dim(query, axes.b),
        cos_b=1 if layout == TND else _dim(cos, axes.b),
        s=_dim(query, axes.s),
        q_heads=_dim(query, axes.n),
        k_heads=_dim(key, axes.n),
        dim=_dim(query, axes.d),
        real_dim=_dim(cos, axes.d),
        dtype=context.dtype("query"),
        itemsize=context.inputs["query"].itemsize,
        not_runnable=_not_runnable(query, key, cos, axes, mode),
    )


def _not_runnable(query: Shape, key: Shape, cos: Shape, axes: Axes, mode: str) -> str:
    """What the host code lets pass and the kernels cannot do."""
    if any(len(shape) != axes.rank for shape in (query, key, cos)):
        return (
            f"query, key and cos have {len(query)}, {len(key)} and {len(cos)} dims, the layout has {axes.rank}; the "
            "host code does not check it and takes the wrong axes, with which the kernel would leave the tensors"
        )
    if key[axes.d] != query[axes.d]:
        return (
            f"the last dim of query is {query[axes.d]} and that of key {key[axes.d]}; the host code does not check it, "
            "but the kernel walks key with the rows of query"
        )
    if cos[axes.d] % MODE_MULTIPLE[mode]:
        return (
            f"the last dim of cos is {cos[axes.d]}; the host code does not check it, but the kernel needs a multiple "
            f"of {MODE_MULTIPLE[mode]} in mode {mode}"
        )
    return ""
