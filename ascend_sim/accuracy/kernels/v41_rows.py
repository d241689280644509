"""The V41 rotary kernel, row by row: one head of one token at a time, its last 64 elements rotated.

The whole row is copied; rotation runs on de-interleaved fp32 halves (Gather, four products, Sub, Add, Gather back).
One buffer and event 0 everywhere: nothing of two rows overlaps. Both cache stores use the same steps.
"""

from __future__ import annotations

from dataclasses import dataclass

from ascend_sim import asc
from ascend_sim.accuracy.kernels.flags import MTE2_V, MTE3_V, V_MTE3, hand_over

ROTATED = 64
HALF = ROTATED // 2
BF16, FP32 = 2, 4
HALF_BYTES = HALF * FP32
EVENT = 0


@dataclass(frozen=True, slots=True)
class Local:
    """The kernel's buffers: the row, fp32 values and their halves, products, cos, sin, and the two offset tables."""

    row: asc.LocalTensor
    values: asc.LocalTensor
    planar: asc.LocalTensor
    products: asc.LocalTensor
    cos: asc.LocalTensor
    sin: asc.LocalTensor
    apart: asc.LocalTensor
    together: asc.LocalTensor


class Buffer:
    """A TBuf of `nbytes`."""

    def __init__(self, pipe: asc.TPipe, nbytes: int) -> None:
        self.buffer = asc.TBuf(asc.TPosition.VECCALC)
        pipe.init_buffer(self.buffer, nbytes)

    def get(self, dtype: asc.DataType) -> asc.LocalTensor:
        return self.buffer.get(dtype)


def row_buffers(pipe: asc.TPipe) -> Local:
    """Four TBufs: row 1024 B, fp32 scratch 1280 B, tables 256 B, offsets 512 B; the offsets are filled at once."""
    row, scratch, tables, offsets = (Buffer(pipe, nbytes) for nbytes in (1024, 1280, 256, 512))
    fp32, table, index = scratch.get(asc.float32), tables.get(asc.float32), offsets.get(asc.uint32)
    local = Local(
        row=row.get(asc.bfloat16),
        values=fp32,
        planar=fp32[ROTATED],
        products=fp32[2 * ROTATED],
        cos=table,
        sin=table[HALF],
        apart=index,
        together=index[ROTATED],
    )
    fill_offsets(local, 1)
    return local


def fill_offsets(local: Local, heads: int, pitch: int = 0, first: int = 0) -> None:
    """Byte offsets by which Gather takes the pairs of each head apart (32 even elements, then 32 odd ones) and puts
    them together again, written by the scalar unit. Head h's pairs begin at element `h * pitch + first`."""
    for head in range(heads):
        planar = head * ROTATED
        for pair in range(HALF):
            given = head * pitch + first + 2 * pair
            local.apart.set_value(planar + pair, given * FP32)
            local.apart.set_value(planar + HALF + pair, (given + 1) * FP32)
            local.together.set_value(planar + 2 * pair, (planar + pair) * FP32)
            local.together.set_value(planar + 2 * pair + 1, (planar + HALF + pair) * FP32)
    hand_over(asc.HardEvent.S_V, EVENT)


def load_bytes(local: asc.LocalTensor, gm: asc.GlobalTensor, nbytes: int) -> None:
    params = asc.DataCopyExtParams(1, nbytes, 0, 0)
    asc.data_copy_pad(local, gm, params, asc.DataCopyPadExtParams(local.dtype))


def load_tables(local: Local, cos: asc.GlobalTensor, sin: asc.GlobalTensor) -> None:
    load_bytes(local.cos, cos, HALF_BYTES)
    load_bytes(local.sin, sin, HALF_BYTES)


def rotate_row(local: Local, last: int) -> None:
    """Rotate the 64 elements from `last` on, with a barrier wherever the next step reads what the one before wrote."""
    hand_over(MTE2_V, EVENT)
    tail = local.row[last]
    asc.cast(local.values, tail, asc.RoundMode.CAST_NONE, ROTATED)
    barrier()
    asc.gather(local.planar, local.values, local.apart, 0, ROTATED)
    barrier()
    even, odd, products = local.planar, local.planar[HALF], local.products
    asc.mul(products, even, local.cos, HALF)
    asc.mul(products[HALF], odd, local.sin, HALF)
    asc.mul(products[2 * HALF], even, local.sin, HALF)
    asc.mul(products[3 * HALF], odd, local.cos, HALF)
    barrier()
    asc.sub(even, products, products[HALF], HALF)
    asc.add(odd, products[2 * HALF], products[3 * HALF], HALF)
    barrier()
    asc.gather(local.values, local.planar, local.together, 0, ROTATED)
    barrier()
    asc.cast(tail, local.values, asc.RoundMode.CAST_RINT, ROTATED)


def store_row(gm: asc.GlobalTensor, local: Local, nbytes: int) -> None:
    """Copy the row out; neither its buffer nor the scratch is touched before it is gone."""
    hand_over(V_MTE3, EVENT)
    asc.data_copy_pad(gm, local.row, asc.DataCopyExtParams(1, nbytes, 0, 0))
    hand_over(asc.HardEvent.MTE3_MTE2, EVENT)
    hand_over(MTE3_V, EVENT)


def barrier() -> None:
    asc.pipe_barrier(asc.PipeID.PIPE_V)
