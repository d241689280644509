"""Persistent element-wise kernels of generated code (TileLang): copy, three loads with two Adds, linear interpolation.

Block c takes tiles c, c + blocks, ... (or a contiguous run of them). The generated buffers and flags are not published;
here two buffers per operand and hand-set flags overlap neighbouring tiles. Where memory decides the time, which is
where these rows are used, that does not matter.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ascend_sim import asc
from ascend_sim.accuracy.kernels.case import Case, arrays
from ascend_sim.accuracy.kernels.flags import MTE2_V, MTE3_V, V_MTE2, V_MTE3, even_share, hand_over
from ascend_sim.accuracy.rows import Row

UB_BYTES = 192 * 1024
Operands = Sequence[asc.LocalTensor]


@dataclass(frozen=True, slots=True)
class Probe:
    """`body`: "copy" (1 load), "add3" or "lerp" (3 loads); `dtype` by name; `grid_stride` false: contiguous tiles."""

    elements: int
    tile: int
    body: str
    grid_stride: bool
    dtype: str

    @property
    def loads(self) -> int:
        return 1 if self.body == "copy" else 3

    @property
    def widened(self) -> bool:
        """Whether the body computes in fp32 on 16-bit operands."""
        return self.body == "lerp" and self.dtype != "float32"

    @property
    def sets(self) -> int:
        """Sets of the buffers that are copied to or from: two, or one where two would not fit."""
        return 2 if 2 * self.set_bytes + self.wide_bytes <= UB_BYTES else 1

    @property
    def set_bytes(self) -> int:
        return self.tile * (self.loads + (self.body != "copy")) * (4 if self.dtype == "float32" else 2)

    @property
    def wide_bytes(self) -> int:
        return self.tile * 3 * 4 if self.widened else 0

    def tiles_of(self, blocks: int, block: int) -> range:
        total = -(-self.elements // self.tile)
        if self.grid_stride:
            return range(block, total, blocks)
        first, count = even_share(total, blocks, block)
        return range(first, first + count)


def operands(probe: Probe, index: int) -> list[asc.LocalTensor]:
    """Inputs and output of buffer set `index`; a copy's output is its input."""
    dtype, start = getattr(asc, probe.dtype), index * probe.set_bytes
    count = probe.loads + (probe.body != "copy")
    size = probe.tile * dtype.sizeof()
    return [asc.LocalTensor(dtype, asc.TPosition.VECCALC, start + i * size, probe.tile) for i in range(count)]


def scratch(probe: Probe) -> list[asc.LocalTensor]:
    """Room for three widened operands behind the sets; one for all tiles, only the vector unit touches it."""
    start, size = probe.sets * probe.set_bytes, probe.tile * 4
    count = 3 if probe.widened else 0
    return [asc.LocalTensor(asc.float32, asc.TPosition.VECCALC, start + i * size, probe.tile) for i in range(count)]


def add3(plain: Operands, _wide: Operands, count: int, event: int) -> None:
    a, b, w, out = plain
    asc.wait_flag(MTE3_V, event)
    asc.add(out, a, b, count)
    asc.add(out, out, w, count)
    asc.set_flag(V_MTE2, event)


def lerp(plain: Operands, wide: Operands, count: int, event: int) -> None:
    """out = a + w (b - a), in fp32; 16-bit inputs are free again once they are widened."""
    a, b, w, out = plain
    if wide:
        for up, given in zip(wide, (a, b, w), strict=True):
            asc.cast(up, given, asc.RoundMode.CAST_NONE, count)
        asc.set_flag(V_MTE2, event)
        a, b, w = wide
    asc.sub(b, b, a, count)
    asc.mul(b, b, w, count)
    if wide:
        asc.add(b, a, b, count)
        asc.wait_flag(MTE3_V, event)
        asc.cast(out, b, asc.RoundMode.CAST_RINT, count)
    else:
        asc.wait_flag(MTE3_V, event)
        asc.add(out, a, b, count)
        asc.set_flag(V_MTE2, event)


BODIES: dict[str, Callable[[Operands, Operands, int, int], None]] = {"add3": add3, "lerp": lerp}


@asc.jit
def probe_tiles(
    a: asc.GlobalAddress,
    b: asc.GlobalAddress,
    w: asc.GlobalAddress,
    out: asc.GlobalAddress,
    limit: int,
    probe: asc.ConstExpr[Probe],
) -> None:
    asc.init_soc_state()
    gms = [asc.GlobalTensor() for _ in range(4)]
    for gm, address in zip(gms, (a, b, w, out), strict=True):
        gm.set_global_buffer(address)
    sets, wide = [operands(probe, index) for index in range(probe.sets)], scratch(probe)
    free = [(V_MTE2, MTE3_V) if probe.body != "copy" else (asc.HardEvent.MTE3_MTE2,) for _ in sets]
    for event, flags in enumerate(free):
        for flag in flags:
            asc.set_flag(flag, event)
    tiles = probe.tiles_of(int(asc.get_block_num()), int(asc.get_block_idx()))[: int(limit)]
    for i, tile in enumerate(tiles):
        event = i % len(sets)
        start = tile * probe.tile
        count = min(probe.tile, probe.elements - start)
        run_tile([gm[start] for gm in gms], sets[event], wide, count, event, probe)
    for event, flags in enumerate(free):
        for flag in flags:
            asc.wait_flag(flag, event)
    asc.pipe_barrier(asc.PipeID.PIPE_ALL)


def run_tile(
    gms: Sequence[asc.GlobalTensor], plain: Operands, wide: Operands, count: int, event: int, probe: Probe
) -> None:
    if probe.body == "copy":
        asc.wait_flag(asc.HardEvent.MTE3_MTE2, event)
        asc.data_copy(plain[0], gms[0], count)
        hand_over(asc.HardEvent.MTE2_MTE3, event)
        asc.data_copy(gms[3], plain[0], count)
        asc.set_flag(asc.HardEvent.MTE3_MTE2, event)
        return
    asc.wait_flag(V_MTE2, event)
    for local, gm in zip(plain[:3], gms, strict=False):
        asc.data_copy(local, gm, count)
    hand_over(MTE2_V, event)
    BODIES[probe.body](plain, wide, count, event)
    hand_over(V_MTE3, event)
    asc.data_copy(gms[3], plain[3], count)
    asc.set_flag(MTE3_V, event)


def build(row: Row) -> Case:
    """The fields of `Probe`."""
    probe = Probe(**row.params, dtype=row.dtype)
    blocks = row.block_dim or 48
    tensors = arrays(4, (probe.elements,), row.dtype)
    return Case(lambda limit: probe_tiles[blocks](*tensors, limit, probe), len(probe.tiles_of(blocks, 0)))
