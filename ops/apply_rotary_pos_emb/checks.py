"""What the A2/A3 host code refuses, in its order, and what it derives from an accepted call."""

from __future__ import annotations

from dataclasses import dataclass

from ascend_sim.host.tensors import Shape, shape_text
from ascend_sim.host.tiling import TilingContext
from ascend_sim.plurals import counted

INPUTS = ("query", "key", "cos", "sin")
DTYPES = ("float16", "float32", "bfloat16")
LAYOUTS = {1: "BSND", 2: "SBND", 3: "BNSD", 4: "TND"}
LAST_DIMS = (64, 128)
HEADS_LIMIT = 255  # an instruction's repeat field has 8 bits


@dataclass(frozen=True, slots=True)
class RopeCall:
    """An accepted call: `positions` (B * S, or T) of query and key heads, of which the first `dim` elements rotate."""

    positions: int
    q_heads: int
    k_heads: int
    dim: int
    q_dim: int
    k_dim: int
    dtype: str
    itemsize: int

    @property
    def heads(self) -> int:
        """Query and key lie one after the other in UB."""
        return self.q_heads + self.k_heads


def check(context: TilingContext) -> RopeCall:
    """Every check of the host code in its order."""
    context.require(context.cores > 0, f"core count is {context.cores}, it must be positive")
    context.require(context.ub_bytes > 0, f"UB size is {context.ub_bytes} B, it must be positive")
    _check_ranks(context)
    _check_layout(context)
    _check_shapes(context)
    _check_dtypes(context)
    query, key, cos = (_four(context.shape(name)) for name in ("query", "key", "cos"))
    call = RopeCall(
        positions=query[0] * query[1],
        q_heads=query[2],
        k_heads=key[2],
        dim=cos[3],
        q_dim=query[3],
        k_dim=key[3],
        dtype=context.dtype("query"),
        itemsize=context.inputs["query"].itemsize,
    )
    context.require(
        call.heads <= HEADS_LIMIT,
        f"query has {counted(call.q_heads, 'head')} and key {call.k_heads}; together they must not exceed "
        f"{HEADS_LIMIT}, which is what an instruction can repeat",
    )
    return call


def _four(shape: Shape) -> Shape:
    """(T, N, D) counts as (1, T, N, D)."""
    return shape if len(shape) == 4 else (1, *shape)


def _check_ranks(context: TilingContext) -> None:
    query, key, cos, sin = (context.shape(name) for name in INPUTS)
    context.require(len(query) in (3, 4), f"query has {counted(len(query), 'dim')}; it must have 4, or 3 (TND)")
    for name, shape in (("key", key), ("cos", cos)):
        context.require(
            len(shape) == len(query),
            f"query has {counted(len(query), 'dim')} and {name} {len(shape)}; they must have as many",
        )
    context.require(cos == sin, f"cos is {shape_text(cos)} and sin is {shape_text(sin)}; they must have the same shape")
    for name in INPUTS:
        shape = context.shape(name)
        context.require(min(shape) > 0, f"{name} is {shape_text(shape)}; empty tensors are not supported")


def _check_layout(context: TilingContext) -> None:
    layout, rank = context.attrs["layout"], len(context.shape("query"))
    context.require(layout in (1, 4), f"layout is {layout}; on A2 and A3 allowed are 1 (BSND) and 4 (TND)")
    wanted = 4 if layout == 1 else 3
    context.require(
        rank == wanted,
        f"layout is {layout} ({LAYOUTS[layout]}) and query has {counted(rank, 'dim')}; it must have {wanted}",
    )


def _check_shapes(context: TilingContext) -> None:
    texts = ", ".join(f"{name} is {shape_text(context.shape(name))}" for name in ("query", "key", "cos"))
    query, key, cos = (_four(context.shape(name)) for name in ("query", "key", "cos"))
    context.require(query[0] == key[0] == cos[0], f"{texts}; their batches must agree (no broadcast over them)")
    context.require(query[1] == key[1] == cos[1], f"{texts}; their positions must agree")
    allowed = " or ".join(map(str, LAST_DIMS))
    context.require(cos[3] in LAST_DIMS, f"{texts}; the last dim of cos must be {allowed}")
    context.require(query[3] >= cos[3], f"{texts}; the last dim of query must not be smaller than that of cos")
    context.require(query[3] in LAST_DIMS, f"{texts}; the last dim of query must be {allowed}")
    context.require(cos[2] == 1, f"{texts}; cos must have one head")


def _check_dtypes(context: TilingContext) -> None:
    query = context.dtype("query")
    context.require(query in DTYPES, f"query is {query}; allowed are {', '.join(DTYPES)}")
    for name in INPUTS[1:]:
        dtype = context.dtype(name)
        context.require(dtype == query, f"query is {query} and {name} is {dtype}; all must have one dtype")
