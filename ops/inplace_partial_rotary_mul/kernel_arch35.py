"""The 950's kernels of inplace_partial_rotary_mul, one per template of the host tiling."""

from types import SimpleNamespace

from ascend_sim import asc
from ascend_sim.host.operator import Call

from ..shared.memory_arch35 import slice_in_place
from ..shared.turns_arch35_vf import INTERLEAVE
from ..shared.walks_arch35 import (
    walk_batches_and_positions,
    walk_heads_before_positions,
    walk_one_row,
    walk_own_rows,
    walk_positions_and_heads,
)

Fields = asc.ConstExpr[SimpleNamespace]
Address = asc.GlobalAddress


@asc.jit
def rotary_a_and_b(x: Address, cos: Address, sin: Address, tiling: Fields, one_row: asc.ConstExpr[bool]) -> None:
    """Templates A and B (`one_row`), and the no-op, which returns at once."""
    if tiling.sliceLength == 0:
        return
    gm = slice_in_place(x, cos, sin, tiling)
    if one_row:
        walk_one_row(gm, tiling, INTERLEAVE)
    else:
        walk_own_rows(gm, tiling, INTERLEAVE)


@asc.jit
def rotary_ab(x: Address, cos: Address, sin: Address, tiling: Fields) -> None:
    walk_positions_and_heads(slice_in_place(x, cos, sin, tiling), tiling, INTERLEAVE)


@asc.jit
def rotary_bab(x: Address, cos: Address, sin: Address, tiling: Fields) -> None:
    walk_batches_and_positions(slice_in_place(x, cos, sin, tiling), tiling, INTERLEAVE)


@asc.jit
def rotary_aba_and_ba(x: Address, cos: Address, sin: Address, tiling: Fields, shared: asc.ConstExpr[bool]) -> None:
    """Template ABA, and BA (`shared`: all batches have the same cos rows)."""
    walk_heads_before_positions(slice_in_place(x, cos, sin, tiling), tiling, INTERLEAVE, shared)


def launch(call: Call) -> None:
    """Rotate `call.tensors["x"]` in place on the current device."""
    operands = [call.tensors[name] for name in ("x", "cos", "sin")]
    blocks, path = call.tiling.block_dim, call.tiling.path
    dims = {name.lower() if len(name) == 1 else name: value for name, value in call.tiling.data.items()}
    fields = SimpleNamespace(**dims)  # B, S, N, D as b, s, n, d
    if path in ("A", "B", "noop"):
        rotary_a_and_b[blocks](*operands, fields, path == "B")
    elif path == "AB":
        rotary_ab[blocks](*operands, fields)
    elif path == "BAB":
        rotary_bab[blocks](*operands, fields)
    else:
        rotary_aba_and_ba[blocks](*operands, fields, path == "BA")
