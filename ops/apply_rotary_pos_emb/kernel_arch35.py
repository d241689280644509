"""The 950's kernels of apply_rotary_pos_emb: query and key in place, one kernel per template of the host tiling."""

from types import SimpleNamespace

from ascend_sim import asc
from ascend_sim.host.operator import Call

from ..shared.memory_arch35 import Heads, Memory
from ..shared.tiles_arch35 import Line
from ..shared.turns_arch35_vf import HALF, INTERLEAVE, QUARTER
from ..shared.walks_arch35 import (
    walk_batches_and_positions,
    walk_heads_before_positions,
)
from .checks_arch35 import MODE_CODES, MODE_PARTS
from .walk_list_arch35 import walk_list_of_heads

TURNS = {MODE_CODES[mode]: turn for mode, turn in (("half", HALF), ("interleave", INTERLEAVE), ("quarter", QUARTER))}
PARTS = {MODE_CODES[mode]: parts for mode, parts in MODE_PARTS.items()}  # of a line, which lie apart in UB
Fields = asc.ConstExpr[SimpleNamespace]
Address = asc.GlobalAddress


def memory(
    query: Address, key: Address, cos: Address, sin: Address, tiling: SimpleNamespace, q_step: int, k_step: int
) -> Memory:
    """The first realDim of D elements rotate; a tile has at most `q_step` heads of query, or `k_step` of key."""
    parts = PARTS[tiling.rotaryMode]
    line = Line(query.dtype, tiling.realDim, tiling.D, parts)
    row = Line(cos.dtype, tiling.realDim, tiling.realDim, parts)
    heads = Heads(query, query, tiling.QN, q_step), Heads(key, key, tiling.KN, k_step)
    return Memory(asc.TPipe(), heads, cos, sin, (line, line), row)


@asc.jit
def apply_rotary_ab(query: Address, key: Address, cos: Address, sin: Address, tiling: Fields) -> None:
    gm = memory(query, key, cos, sin, tiling, tiling.ubFactorN, tiling.ubFactorN)
    walk_list_of_heads(gm, tiling, TURNS[tiling.rotaryMode])


@asc.jit
def apply_rotary_bab(query: Address, key: Address, cos: Address, sin: Address, tiling: Fields) -> None:
    gm = memory(query, key, cos, sin, tiling, tiling.ubFactorQN, tiling.ubFactorKN)
    walk_batches_and_positions(gm, tiling, TURNS[tiling.rotaryMode])


@asc.jit
def apply_rotary_aba_and_ba(
    query: Address, key: Address, cos: Address, sin: Address, tiling: Fields, shared: asc.ConstExpr[bool]
) -> None:
    """Template ABA, and BA (`shared`: all batches have the same cos rows)."""
    gm = memory(query, key, cos, sin, tiling, tiling.ubFactorQN, tiling.ubFactorKN)
    walk_heads_before_positions(gm, tiling, TURNS[tiling.rotaryMode], shared)


def launch(call: Call) -> None:
    """Rotate query and key in place on the current device; the kernels see all tensors as flat memory."""
    operands = [call.tensors[name] for name in ("query", "key", "cos", "sin")]
    blocks, path, data = call.tiling.block_dim, call.tiling.path, call.tiling.data
    fields = SimpleNamespace(**data, b=data["B"], s=data["S"])
    if path == "AB":
        apply_rotary_ab[blocks](*operands, fields)
    elif path == "BAB":
        apply_rotary_bab[blocks](*operands, fields)
    else:
        apply_rotary_aba_and_ba[blocks](*operands, fields, path == "BA")
