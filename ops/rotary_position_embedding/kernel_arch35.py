"""The 950's kernels of rotary_position_embedding, one per template of the host tiling."""

from types import SimpleNamespace

from ascend_sim import asc
from ascend_sim.host.operator import Call

from ..shared.memory_arch35 import whole_lines
from ..shared.turns_arch35_vf import BY_MODE
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
def rotary_a_and_b(
    x: Address, cos: Address, sin: Address, y: Address, tiling: Fields, one_row: asc.ConstExpr[bool]
) -> None:
    """Templates A and B (`one_row`)."""
    gm = whole_lines(asc.TPipe(), x, cos, sin, y, tiling, in_batches=not one_row)
    if one_row:
        walk_one_row(gm, tiling, BY_MODE[tiling.rotaryMode])
    else:
        walk_own_rows(gm, tiling, BY_MODE[tiling.rotaryMode])


@asc.jit
def rotary_ab(x: Address, cos: Address, sin: Address, y: Address, tiling: Fields) -> None:
    gm = whole_lines(asc.TPipe(), x, cos, sin, y, tiling)
    walk_positions_and_heads(gm, tiling, BY_MODE[tiling.rotaryMode])


@asc.jit
def rotary_bab(x: Address, cos: Address, sin: Address, y: Address, tiling: Fields) -> None:
    gm = whole_lines(asc.TPipe(), x, cos, sin, y, tiling)
    walk_batches_and_positions(gm, tiling, BY_MODE[tiling.rotaryMode])


@asc.jit
def rotary_aba_and_ba(
    x: Address, cos: Address, sin: Address, y: Address, tiling: Fields, shared: asc.ConstExpr[bool]
) -> None:
    """Template ABA, and BA (`shared`: all batches have the same cos rows)."""
    gm = whole_lines(asc.TPipe(), x, cos, sin, y, tiling, in_batches=True)
    walk_heads_before_positions(gm, tiling, BY_MODE[tiling.rotaryMode], shared)


def launch(call: Call) -> None:
    """y from x, cos and sin, on the current device."""
    operands = [call.tensors[name] for name in ("x", "cos", "sin", "y")]
    blocks, path = call.tiling.block_dim, call.tiling.path
    dims = {name.lower() if len(name) == 1 else name: value for name, value in call.tiling.data.items()}
    fields = SimpleNamespace(**dims)  # B, S, N, D as b, s, n, d
    if path in ("A", "B"):
        rotary_a_and_b[blocks](*operands, fields, path == "B")
    elif path == "AB":
        rotary_ab[blocks](*operands, fields)
    elif path == "BAB":
        rotary_bab[blocks](*operands, fields)
    else:
        rotary_aba_and_ba[blocks](*operands, fields, path == "BA")
