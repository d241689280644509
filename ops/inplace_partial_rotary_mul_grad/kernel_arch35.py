"""The kernels of inplace_partial_rotary_mul_grad, one per template of the host tiling."""

from types import SimpleNamespace

from ascend_sim import asc
from ascend_sim.host.operator import Call

from ..shared.memory_arch35 import slice_in_place
from ..shared.turns_back_arch35_vf import INTERLEAVE_BACK
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
def rotary_grad_noop(dy: Address, cos: Address, sin: Address, tiling: Fields) -> None:
    """Key 403: launched, and back at once."""
    return


@asc.jit
def rotary_grad_a_and_b(dy: Address, cos: Address, sin: Address, tiling: Fields, one_row: asc.ConstExpr[bool]) -> None:
    """Templates A and B (`one_row`)."""
    gm = slice_in_place(dy, cos, sin, tiling)
    if one_row:
        walk_one_row(gm, tiling, INTERLEAVE_BACK)
    else:
        walk_own_rows(gm, tiling, INTERLEAVE_BACK)


@asc.jit
def rotary_grad_ab(dy: Address, cos: Address, sin: Address, tiling: Fields) -> None:
    walk_positions_and_heads(slice_in_place(dy, cos, sin, tiling), tiling, INTERLEAVE_BACK)


@asc.jit
def rotary_grad_bab(dy: Address, cos: Address, sin: Address, tiling: Fields) -> None:
    walk_batches_and_positions(slice_in_place(dy, cos, sin, tiling), tiling, INTERLEAVE_BACK)


@asc.jit
def rotary_grad_aba_and_ba(
    dy: Address, cos: Address, sin: Address, tiling: Fields, shared: asc.ConstExpr[bool]
) -> None:
    """Template ABA, and BA (`shared`: all batches have the same cos rows)."""
    walk_heads_before_positions(slice_in_place(dy, cos, sin, tiling), tiling, INTERLEAVE_BACK, shared)


def launch(call: Call) -> None:
    """Turn `call.tensors["dy"]` back in place on the current device."""
    operands = [call.tensors[name] for name in ("dy", "cos", "sin")]
    blocks, path = call.tiling.block_dim, call.tiling.path
    fields = SimpleNamespace(**call.tiling.data)
    if path == "noop":
        rotary_grad_noop[blocks](*operands, fields)
    elif path in ("A", "B"):
        rotary_grad_a_and_b[blocks](*operands, fields, path == "B")
    elif path == "AB":
        rotary_grad_ab[blocks](*operands, fields)
    elif path == "BAB":
        rotary_grad_bab[blocks](*operands, fields)
    else:
        rotary_grad_aba_and_ba[blocks](*operands, fields, path == "BA")
