"""z = x + y in seven tuning steps, as in Huawei's add_high_performance sample: no TPipe, flags set by hand.

Scalar loop, vector Add, all blocks, larger copies, double buffer, inputs past L2, sources in other bank groups.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ascend_sim import asc
from ascend_sim.accuracy.kernels.case import Case, arrays
from ascend_sim.accuracy.kernels.flags import MTE2_V, MTE3_MTE2, MTE3_V, V_MTE2, V_MTE3, even_share, hand_over
from ascend_sim.accuracy.rows import Row

PITCH_BYTES = 32768  # from one buffer to the next, whatever a copy's length (43,680 on the 950)
CONFLICT_FREE = ((0, 32_512, 131_072), (65_536, 98_048, 163_584))  # x, y, z: y starts 256 B off x modulo 512
BYTES = 2  # fp16


@dataclass(frozen=True, slots=True)
class Step:
    """What a step fixes at compile time; `buffers` holds the UB addresses of x, y, z for each event id.

    `serial`: a tile's loads wait for the store before them. Steps 2 and 3 have a loop of their own in the sample, whose
    text says that reading there is pure reading, and their busy times of MTE2, V and MTE3 add up to 97 % of AIV time
    (step 1: 139 %).
    """

    columns: int
    rows: int
    copy_length: int
    scalar: bool
    double_buffer: bool
    bypass_inputs: bool
    conflict_free: bool
    pitch_bytes: int = PITCH_BYTES
    serial: bool = False

    @property
    def buffers(self) -> tuple[tuple[int, int, int], ...]:
        if self.conflict_free:
            return CONFLICT_FREE
        sets = 2 if self.double_buffer else 1
        pitch = self.pitch_bytes
        return tuple((pitch * 3 * i, pitch * (3 * i + 1), pitch * (3 * i + 2)) for i in range(sets))

    def tiles(self, rows: int) -> int:
        """Copies of each operand that `rows` rows take."""
        return -(-rows * self.columns // self.copy_length)


@dataclass(frozen=True, slots=True)
class Tile:
    """One tile of a block: x, y, z in GM and in UB, its length in elements, its buffers' event id."""

    gm: Sequence[asc.GlobalTensor]
    ub: Sequence[asc.LocalTensor]
    length: int
    event: int
    first: bool
    last: bool


@asc.jit
def add_rows(
    x: asc.GlobalAddress, y: asc.GlobalAddress, z: asc.GlobalAddress, limit: int, step: asc.ConstExpr[Step]
) -> None:
    asc.init_soc_state()
    compute = add_by_elements if step.scalar else add_by_vector
    if step.double_buffer:
        for event in (0, 1):
            asc.set_flag(V_MTE2, event)
            asc.set_flag(MTE3_V, event)
    for tile in tiles_of_block(x, y, z, int(limit), step):
        copy_in(tile, step)
        compute(tile, step)
        copy_out(tile, step)
    if step.double_buffer:
        for event in (0, 1):
            asc.wait_flag(V_MTE2, event)
            asc.wait_flag(MTE3_V, event)
    asc.pipe_barrier(asc.PipeID.PIPE_ALL)


def tiles_of_block(
    x: asc.GlobalAddress, y: asc.GlobalAddress, z: asc.GlobalAddress, limit: int, step: Step
) -> Iterator[Tile]:
    first_row, rows = even_share(step.rows, int(asc.get_block_num()), int(asc.get_block_idx()))
    tensors = [asc.GlobalTensor() for _ in range(3)]
    for tensor, address in zip(tensors, (x, y, z), strict=True):
        tensor.set_global_buffer(address + first_row * step.columns)
    if step.bypass_inputs:
        for tensor in tensors[:2]:
            tensor.set_l2_cache_hint(asc.CacheMode.CACHE_MODE_DISABLE)
    local = [
        [asc.LocalTensor(asc.float16, asc.TPosition.VECCALC, at, step.copy_length) for at in addresses]
        for addresses in step.buffers
    ]
    total = rows * step.columns
    count = min(step.tiles(rows), limit)
    for i in range(count):
        start = i * step.copy_length
        event = i % len(local)
        length = min(step.copy_length, total - start)
        yield Tile([t[start] for t in tensors], local[event], length, event, i == 0, i == count - 1)


def copy_in(tile: Tile, step: Step) -> None:
    if step.double_buffer or not tile.first:
        asc.wait_flag(V_MTE2, tile.event)
    if step.serial and not tile.first:
        asc.wait_flag(MTE3_MTE2, tile.event)
    for local, gm in zip(tile.ub[:2], tile.gm, strict=False):
        asc.data_copy(local, gm, tile.length)
    hand_over(MTE2_V, tile.event)


def add_by_vector(tile: Tile, step: Step) -> None:
    wait_for_output(tile, step)
    x, y, z = tile.ub
    asc.add(z, x, y, tile.length)
    release_input(tile, step)


def add_by_elements(tile: Tile, step: Step) -> None:
    """Read, read, add in fp32, write: all on the scalar unit."""
    wait_for_output(tile, step)
    x, y, z = tile.ub
    for i in range(tile.length):
        x.get_value(i)
        y.get_value(i)
        z.set_value(i, asc.number(0.0, asc.float32) + 0.0)  # the sum's value is not asked for, only its time
    release_input(tile, step)


def wait_for_output(tile: Tile, step: Step) -> None:
    if step.double_buffer or not tile.first:
        asc.wait_flag(MTE3_V, tile.event)


def release_input(tile: Tile, step: Step) -> None:
    if step.double_buffer or not tile.last:
        asc.set_flag(V_MTE2, tile.event)


def copy_out(tile: Tile, step: Step) -> None:
    hand_over(V_MTE3, tile.event)
    asc.data_copy(tile.gm[2], tile.ub[2], tile.length)
    if step.double_buffer or not tile.last:
        asc.set_flag(MTE3_V, tile.event)
    if step.serial and not tile.last:
        asc.set_flag(MTE3_MTE2, tile.event)


def build(row: Row) -> Case:
    """The fields of `Step`; `rows` are shared out over `block_dim` blocks."""
    step = Step(**row.params)
    blocks = row.block_dim or 1
    tensors = arrays(3, (step.rows, step.columns), "float16")
    tiles = step.tiles(-(-step.rows // blocks))
    return Case(lambda limit: add_rows[blocks](*tensors, limit, step), tiles, core_bound=step.scalar, heavy=step.scalar)
