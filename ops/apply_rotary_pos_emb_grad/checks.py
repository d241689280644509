"""What the host code refuses, in its order, and what it derives from an accepted call."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

from ascend_sim.host.tensors import Shape, shape_text
from ascend_sim.host.tiling import TilingContext
from ascend_sim.plurals import counted

from ..shared.checks_arch35 import check_platform
from ..shared.reduce_key import runs
from ..shared.splits_arch35 import row_bytes

BSND, SBND, TND = 1, 2, 4
LAYOUTS = {BSND: "BSND", SBND: "SBND", TND: "TND"}
DTYPES = ("float16", "float32", "bfloat16")
D_LIMIT = 1024
REQUIRED = ("grad_query_embed", "grad_key_embed", "cos", "sin")
OPTIONAL = ("query", "key")


class Layout(IntEnum):
    """How the host code names what it found, in the tiling data."""

    BSND = 0
    SBND = 1
    NO_BROADCAST = 3


@dataclass(frozen=True, slots=True)
class RopeCall:
    """An accepted call: B x S positions with q_heads and k_heads of `dim` elements; `flag`: grad_cos and grad_sin, too.

    `runs` counts the runs of neighbouring axes over which grad_cos and grad_sin are sums.
    """

    layout: Layout
    b: int
    cos_b: int
    s: int
    q_heads: int
    k_heads: int
    dim: int
    dtype: str
    itemsize: int
    flag: int
    runs: int

    @property
    def heads(self) -> int:
        return max(self.q_heads, self.k_heads)

    @property
    def row(self) -> int:
        """Bytes of a row in UB, each half of which is padded to whole blocks."""
        return row_bytes(self.dim, self.itemsize, 2)


def check(context: TilingContext) -> RopeCall:
    """Every check of the host code in its order."""
    mode, layout = context.attrs["rotary_mode"], context.attrs["layout"]
    context.require(mode == "half", f"rotary_mode is {mode!r}; only half is supported")
    names = ", ".join(f"{number} ({name})" for number, name in LAYOUTS.items())
    context.require(layout in LAYOUTS, f"layout is {layout}; allowed are {names}")
    given = [name for name in OPTIONAL if name in context.inputs]
    context.require(
        len(given) != 1, f"of query and key only {''.join(given)} is given; both are needed for grad_cos and grad_sin"
    )
    inputs = (*REQUIRED, *given)
    _check_dtypes(context, inputs)
    for name in inputs:
        rank = len(context.shape(name))
        context.require(rank in (3, 4), f"{name} has {counted(rank, 'dim')}; it must have 4, or 3 (TND)")
    _check_same_shapes(context, with_values=bool(given))
    _check_cos_and_dim(context)
    _check_key(context)
    for name in inputs:
        shape = context.shape(name)
        context.require(min(shape) > 0, f"{name} is {shape_text(shape)}; every dim must be positive")
    check_platform(context)
    return _call(context, layout, int(bool(given)))


def _check_dtypes(context: TilingContext, inputs: tuple[str, ...]) -> None:
    first = context.dtype(inputs[0])
    context.require(first in DTYPES, f"{inputs[0]} is {first}; allowed are {', '.join(DTYPES)}")
    for name in inputs[1:]:
        dtype = context.dtype(name)
        context.require(dtype == first, f"{inputs[0]} is {first} and {name} is {dtype}; all must have one dtype")


def _check_same_shapes(context: TilingContext, with_values: bool) -> None:
    pairs = [("cos", "sin")]
    if with_values:
        pairs += [("query", "grad_query_embed"), ("key", "grad_key_embed")]
    for one, other in pairs:
        shapes = context.shape(one), context.shape(other)
        context.require(
            shapes[0] == shapes[1],
            f"{one} is {shape_text(shapes[0])} and {other} is {shape_text(shapes[1])}; they must have the same shape",
        )


def _check_cos_and_dim(context: TilingContext) -> None:
    query, cos = context.shape("grad_query_embed"), context.shape("cos")
    text = f"grad_query_embed is {shape_text(query)} and cos is {shape_text(cos)}"
    context.require(len(query) == len(cos), f"{text}; they must have as many dims")
    context.require(query[-1] == cos[-1], f"{text}; their last dims must be equal")
    dim = query[-1]
    context.require(dim <= D_LIMIT, f"the last dim of grad_query_embed is {dim}; it must not exceed {D_LIMIT}")
    context.require(
        dim % 2 == 0, f"the last dim of grad_query_embed is {dim}; it must be even, its halves rotate with each other"
    )


def _check_key(context: TilingContext) -> None:
    """Query and key may differ in their heads, the last dim but one, alone."""
    query, key = context.shape("grad_query_embed"), context.shape("grad_key_embed")
    text = f"grad_query_embed is {shape_text(query)} and grad_key_embed is {shape_text(key)}"
    context.require(len(query) == len(key), f"{text}; they must have as many dims")
    context.require(
        (*query[:-2], query[-1]) == (*key[:-2], key[-1]), f"{text}; all dims but that of the heads must be equal"
    )


def _call(context: TilingContext, layout: int, flag: int) -> RopeCall:
    query, key, cos = (context.shape(name) for name in ("grad_query_embed", "grad_key_embed", "cos"))
    context.require(
        (len(query) == 3) == (layout == TND),
        f"layout is {layout} ({LAYOUTS[layout]}) and grad_query_embed has {counted(len(query), 'dim')}; TND goes with "
        "3 dims, BSND and SBND with 4",
    )
    positions, heads = query[:-2], (query[-2], key[-2])
    found = _broadcast(context, layout, query, cos, heads)
    b_axis, s_axis = {BSND: (0, 1), SBND: (1, 0), TND: (None, 0)}[layout]
    return RopeCall(
        layout=found,
        b=1 if b_axis is None else positions[b_axis],
        cos_b=1 if b_axis is None else cos[b_axis],
        s=positions[s_axis],
        q_heads=heads[0],
        k_heads=heads[1],
        dim=query[-1],
        dtype=context.dtype("cos"),
        itemsize=context.inputs["cos"].itemsize,
        flag=flag,
        runs=runs((*positions, max(heads)), cos),
    )


def _broadcast(context: TilingContext, layout: int, query: Shape, cos: Shape, heads: tuple[int, int]) -> Layout:
    """What of cos is shared, and whether the layout allows it."""
    text = f"grad_query_embed is {shape_text(query)}, cos is {shape_text(cos)} in layout {LAYOUTS[layout]}"
    same_heads = heads[0] == heads[1] == cos[-2]
    if layout == SBND and query[:-2] == cos[:-2] and same_heads:
        return Layout.NO_BROADCAST  # cos may have as many heads as query and key here
    context.require(cos[-2] == 1, f"{text}; cos must have one head")
    if layout == TND:
        context.require(cos[0] == query[0], f"{text}; cos must have the positions of grad_query_embed")
        return Layout.NO_BROADCAST if same_heads else Layout.BSND
    b_axis, s_axis = (0, 1) if layout == BSND else (1, 0)
    batches_fit, positions_fit = cos[b_axis] in (1, query[b_axis]), cos[s_axis] == query[s_axis]
    batches_text = f"{text}; cos must have one batch or those of grad_query_embed"
    positions_text = f"{text}; cos must have the positions of grad_query_embed"
    if layout == BSND:
        context.require(positions_fit, positions_text)
        context.require(batches_fit, batches_text)
        if cos[b_axis] == query[b_axis] and same_heads:
            return Layout.NO_BROADCAST
        return Layout.BSND if cos[b_axis] == 1 else Layout.SBND
    context.require(batches_fit, batches_text)
    context.require(positions_fit, positions_text)
    return Layout.SBND
