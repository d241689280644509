"""V41 RoPE over (tokens, heads, width): row path, and the path that rotates all heads of a token at once."""

from __future__ import annotations

from dataclasses import dataclass

from ascend_sim import asc
from ascend_sim.accuracy.kernels.case import Case, arrays
from ascend_sim.accuracy.kernels.flags import MTE2_V, MTE3_V, V_MTE3, even_share, hand_over
from ascend_sim.accuracy.kernels.v41_rows import (
    BF16,
    EVENT,
    FP32,
    HALF,
    ROTATED,
    Buffer,
    Local,
    barrier,
    fill_offsets,
    load_bytes,
    load_tables,
    rotate_row,
    row_buffers,
    store_row,
)
from ascend_sim.accuracy.rows import Row

MOST_BLOCKS = 40


@dataclass(frozen=True, slots=True)
class Shape:
    """`path`: "rows" or "heads" (all heads of a token in one pass)."""

    tokens: int
    heads: int
    width: int
    path: str

    @property
    def rows(self) -> int:
        return self.tokens * self.heads


class Sizes(asc.Struct):
    """Tiling data."""

    tokens = asc.Field(asc.int32)
    heads = asc.Field(asc.int32)
    width = asc.Field(asc.int32)
    limit = asc.Field(asc.int32)


def global_tensors(*addresses: asc.GlobalAddress) -> list[asc.GlobalTensor]:
    tensors = []
    for address in addresses:
        tensor = asc.GlobalTensor()
        tensor.set_global_buffer(address)
        tensors.append(tensor)
    return tensors


@asc.jit
def rope_by_rows(
    x: asc.GlobalAddress,
    cos: asc.GlobalAddress,
    sin: asc.GlobalAddress,
    positions: asc.GlobalAddress,
    y: asc.GlobalAddress,
    sizes: Sizes,
) -> None:
    heads, width = int(sizes.heads), int(sizes.width)
    local = row_buffers(asc.TPipe())
    x_gm, cos_gm, sin_gm, position_gm, y_gm = global_tensors(x, cos, sin, positions, y)
    rows = int(sizes.tokens) * heads
    first, count = even_share(rows, int(asc.get_block_num()), int(asc.get_block_idx()))
    seen = -1
    for row in range(first, first + min(count, int(sizes.limit))):
        token = row // heads
        if token != seen:
            position_gm.get_value(token)
        load_bytes(local.row, x_gm[row * width], width * BF16)
        if token != seen:  # positions are 0, 1, 2, ...: a new token has a new one
            load_tables(local, cos_gm[token * HALF], sin_gm[token * HALF])
            seen = token
        rotate_row(local, width - ROTATED)
        store_row(y_gm[row * width], local, width * BF16)


def head_buffers(pipe: asc.TPipe, heads: int, width: int) -> Local:
    """As `row_buffers`, for all heads of a token; products lie in pairs, 64 elements of each per head."""
    elements, rotated = heads * width, heads * ROTATED
    sizes = (elements * BF16, (elements + 3 * rotated) * FP32, 256, 2 * rotated * FP32)
    row, scratch, tables, offsets = (Buffer(pipe, nbytes) for nbytes in sizes)
    fp32, table, index = scratch.get(asc.float32), tables.get(asc.float32), offsets.get(asc.uint32)
    local = Local(
        row=row.get(asc.bfloat16),
        values=fp32,
        planar=fp32[elements],
        products=fp32[elements + rotated],
        cos=table,
        sin=table[HALF],
        apart=index,
        together=index[rotated],
    )
    fill_offsets(local, heads, width, width - ROTATED)
    return local


@asc.jit
def rope_by_heads(
    x: asc.GlobalAddress,
    cos: asc.GlobalAddress,
    sin: asc.GlobalAddress,
    positions: asc.GlobalAddress,
    y: asc.GlobalAddress,
    sizes: Sizes,
) -> None:
    heads, width = int(sizes.heads), int(sizes.width)
    local = head_buffers(asc.TPipe(), heads, width)
    x_gm, cos_gm, sin_gm, position_gm, y_gm = global_tensors(x, cos, sin, positions, y)
    elements = heads * width
    tokens = range(int(asc.get_block_idx()), int(sizes.tokens), int(asc.get_block_num()))
    for token in tokens[: int(sizes.limit)]:
        position_gm.get_value(token)
        load_bytes(local.row, x_gm[token * elements], elements * BF16)
        load_tables(local, cos_gm[token * HALF], sin_gm[token * HALF])
        rotate_heads(local, heads, width)
        hand_over(V_MTE3, EVENT)
        asc.data_copy_pad(y_gm[token * elements], local.row, asc.DataCopyExtParams(1, elements * BF16, 0, 0))
        hand_over(asc.HardEvent.MTE3_MTE2, EVENT)
        hand_over(MTE3_V, EVENT)


def rotate_heads(local: Local, heads: int, width: int) -> None:
    """Rotate the last 64 elements of each of `heads` heads: one repeat per head, the tables stay where they are."""
    rotated = heads * ROTATED
    hand_over(MTE2_V, EVENT)
    asc.cast(local.values, local.row, asc.RoundMode.CAST_NONE, heads * width)
    barrier()
    asc.gather(local.planar, local.values, local.apart, 0, rotated)
    barrier()
    even, odd = local.planar, local.planar[HALF]
    even_cos, odd_sin = local.products, local.products[HALF]
    even_sin, odd_cos = local.products[rotated], local.products[rotated + HALF]
    by_table = asc.BinaryRepeatParams(1, 1, 1, 8, 8, 0)
    asc.mul(even_cos, even, local.cos, HALF, heads, by_table)
    asc.mul(odd_sin, odd, local.sin, HALF, heads, by_table)
    asc.mul(even_sin, even, local.sin, HALF, heads, by_table)
    asc.mul(odd_cos, odd, local.cos, HALF, heads, by_table)
    barrier()
    by_head = asc.BinaryRepeatParams(1, 1, 1, 8, 8, 8)
    asc.sub(even, even_cos, odd_sin, HALF, heads, by_head)
    asc.add(odd, even_sin, odd_cos, HALF, heads, by_head)
    barrier()
    asc.gather(local.values, local.planar, local.together, 0, rotated)
    barrier()
    last = local.row[width - ROTATED]
    asc.cast(last, local.values, asc.RoundMode.CAST_RINT, ROTATED, heads, asc.UnaryRepeatParams(1, 1, 8, 8))


def build(row: Row) -> Case:
    """The fields of `Shape`."""
    shape = Shape(**row.params)
    blocks = min(MOST_BLOCKS, shape.rows)
    x, y = arrays(2, (shape.tokens, shape.heads, shape.width), "bfloat16")
    cos, sin = arrays(2, (shape.tokens, HALF), "float32")
    (positions,) = arrays(1, (shape.tokens,), "int64")
    kernel = rope_by_heads if shape.path == "heads" else rope_by_rows

    def launch(limit: int) -> None:
        sizes = Sizes(tokens=shape.tokens, heads=shape.heads, width=shape.width, limit=limit)
        kernel[blocks](x, cos, sin, positions, y, sizes)

    if shape.path == "heads":
        return Case(launch, -(-shape.tokens // blocks))
    return Case(launch, -(-shape.rows // blocks), period=shape.heads)  # a new token reads its tables
