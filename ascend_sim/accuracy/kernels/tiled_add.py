"""z = x + y in a few small tiles per block, one buffer per operand: add_custom on the 950, traced per instruction.

The next tile's loads are issued when the Add has ended, beside the store; the next Add waits for both.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ascend_sim import asc
from ascend_sim.accuracy.kernels.case import Case, arrays
from ascend_sim.accuracy.kernels.flags import MTE2_V, MTE3_V, V_MTE2, V_MTE3, hand_over
from ascend_sim.accuracy.rows import Row
from ascend_sim.host.device import Launch
from ascend_sim.program import PipeID

FIRST, STEADY = 0, 4  # tiles that are looked at


@dataclass(frozen=True, slots=True)
class Tiles:
    """`tiles` tiles of `length` fp32 per block; `span`: the interval that the row measured, "" for the whole launch."""

    tiles: int
    length: int
    span: str = ""


@asc.jit
def tiled_add(
    x: asc.GlobalAddress, y: asc.GlobalAddress, z: asc.GlobalAddress, limit: int, tiles: asc.ConstExpr[Tiles]
) -> None:
    asc.init_soc_state()
    start = asc.get_block_idx() * tiles.tiles * tiles.length
    gms = [asc.GlobalTensor() for _ in range(3)]
    for gm, address in zip(gms, (x, y, z), strict=True):
        gm.set_global_buffer(address + start)
    ub = [asc.LocalTensor(asc.float32, asc.TPosition.VECCALC, 4 * tiles.length * i, tiles.length) for i in range(3)]
    for i in range(tiles.tiles):
        if i:
            asc.wait_flag(V_MTE2, 0)
        for local, gm in zip(ub[:2], gms, strict=False):
            asc.data_copy(local, gm[i * tiles.length], tiles.length)
        hand_over(MTE2_V, 0)
        if i:
            asc.wait_flag(MTE3_V, 0)
        asc.add(ub[2], ub[0], ub[1], tiles.length)
        if i < tiles.tiles - 1:
            asc.set_flag(V_MTE2, 0)
        hand_over(V_MTE3, 0)
        asc.data_copy(gms[2][i * tiles.length], ub[2], tiles.length)
        if i < tiles.tiles - 1:
            asc.set_flag(MTE3_V, 0)


def spans(launch: Launch) -> Mapping[str, float]:
    """Intervals of block 0 in us: the pair of loads, the Add and the store of a first and of a later tile, and from the
    loads' end to the Add's start."""
    core = launch.timeline.cores[0]
    found: dict[str, list[tuple[int, int]]] = {"load": [], "add": [], "store": []}
    kinds = {PipeID.PIPE_MTE2: "load", PipeID.PIPE_V: "add", PipeID.PIPE_MTE3: "store"}
    for index, instr in enumerate(core.program.instrs):
        if instr.row.name in ("DataCopy", "Add"):
            found[kinds[instr.pipe]].append((core.start[index], core.end[index]))
    loads = [(a[0], b[1]) for a, b in zip(found["load"][::2], found["load"][1::2], strict=True)]
    us = launch.timeline.to_us
    return {
        "first_load": us(loads[FIRST][1] - loads[FIRST][0]),
        "load": us(loads[STEADY][1] - loads[STEADY][0]),
        "add": us(found["add"][STEADY][1] - found["add"][STEADY][0]),
        "first_store": us(found["store"][FIRST][1] - found["store"][FIRST][0]),
        "store": us(found["store"][STEADY][1] - found["store"][STEADY][0]),
        "load_to_add": us(found["add"][STEADY][0] - loads[STEADY][1]),
    }


def build(row: Row) -> Case:
    """The fields of `Tiles`; an interval takes the place of the launch's duration."""
    tiles = Tiles(**row.params)
    blocks = 8
    tensors = arrays(3, (blocks, tiles.tiles * tiles.length), "float32")
    more = (lambda launch: {"duration_us": spans(launch)[tiles.span]}) if tiles.span else None
    return Case(lambda limit: tiled_add[blocks](*tensors, limit, tiles), more=more)
