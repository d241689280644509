"""V41 index cache store: rotate a token's row of 128, quantise it to int8 with its own scale, store both."""

from __future__ import annotations

from dataclasses import dataclass

from ascend_sim import asc
from ascend_sim.accuracy.kernels.case import Case, arrays
from ascend_sim.accuracy.kernels.flags import MTE3_V, V_MTE3, hand_over
from ascend_sim.accuracy.kernels.v41_cache_store import Sizes, cache_row
from ascend_sim.accuracy.kernels.v41_rope import MOST_BLOCKS, global_tensors
from ascend_sim.accuracy.kernels.v41_rows import (
    BF16,
    EVENT,
    HALF,
    ROTATED,
    Buffer,
    Local,
    barrier,
    load_bytes,
    load_tables,
    rotate_row,
    row_buffers,
)
from ascend_sim.accuracy.rows import Row

WIDTH = 128
INT8_MAX = 127.0
V_S, S_V = asc.HardEvent.V_S, asc.HardEvent.S_V


@dataclass(frozen=True, slots=True)
class Quantised:
    """Buffers of the second half: fp32 values (also as int32 and half), reduction, scale, result."""

    values: asc.LocalTensor
    absolute: asc.LocalTensor
    maximum: asc.LocalTensor
    scale: asc.LocalTensor
    stored_scale: asc.LocalTensor
    result: asc.LocalTensor


def quantised_buffers(pipe: asc.TPipe) -> Quantised:
    values, reduce, scale, result = (Buffer(pipe, nbytes) for nbytes in (1024, 512, 128, 128))
    fp32, small = values.get(asc.float32), scale.get(asc.float32)
    return Quantised(
        values=fp32,
        absolute=fp32[WIDTH],
        maximum=reduce.get(asc.float32),
        scale=small,
        stored_scale=small[16].reinterpret_cast(asc.float16),
        result=result.get(asc.int8),
    )


@asc.jit
def store_index(
    x: asc.GlobalAddress,
    cos: asc.GlobalAddress,
    sin: asc.GlobalAddress,
    positions: asc.GlobalAddress,
    slots: asc.GlobalAddress,
    cache: asc.GlobalAddress,
    scales: asc.GlobalAddress,
    sizes: Sizes,
) -> None:
    pipe = asc.TPipe()
    local, quantised = row_buffers(pipe), quantised_buffers(pipe)
    x_gm, cos_gm, sin_gm, position_gm, slot_gm, cache_gm, scale_gm = global_tensors(
        x, cos, sin, positions, slots, cache, scales
    )
    ratio = int(sizes.ratio)
    tokens = range(int(asc.get_block_idx()), int(sizes.tokens), int(asc.get_block_num()))
    for token in tokens[: int(sizes.limit)]:
        position_gm.get_value(token)
        slot_gm.get_value(token)
        target = cache_row(token)
        load_bytes(local.row, x_gm[token * WIDTH], WIDTH * BF16)
        load_tables(local, cos_gm[token * ratio * HALF], sin_gm[token * ratio * HALF])
        rotate_row(local, WIDTH - ROTATED)
        quantise(local, quantised)
        hand_over(V_MTE3, EVENT)
        asc.data_copy_pad(cache_gm[target * WIDTH], quantised.result, asc.DataCopyExtParams(1, WIDTH, 0, 0))
        asc.data_copy_pad(scale_gm[target], quantised.stored_scale, asc.DataCopyExtParams(1, 2, 0, 0))
        hand_over(MTE3_V, EVENT)
        hand_over(asc.HardEvent.MTE3_MTE2, EVENT)


def quantise(local: Local, q: Quantised) -> None:
    """int8 = row / (max |row| / 127), with the scale kept as half; the two scalars pass through the scalar unit."""
    barrier()
    asc.cast(q.values, local.row, asc.RoundMode.CAST_NONE, WIDTH)
    barrier()
    asc.abs(q.absolute, q.values, WIDTH)
    barrier()
    asc.reduce_max(q.maximum, q.absolute, q.maximum[64], WIDTH)
    hand_over(V_S, EVENT)
    asc.duplicate(q.scale, q.maximum.get_value(0), 8)
    barrier()
    asc.div(q.scale, q.scale, q.scale[8], 1)
    barrier()
    asc.muls(q.scale, q.scale, 1.0 / INT8_MAX, 1)
    hand_over(V_S, EVENT)
    asc.muls(q.values, q.values, q.scale.get_value(0), WIDTH)
    barrier()
    asc.cast(q.absolute.reinterpret_cast(asc.int32), q.values, asc.RoundMode.CAST_RINT, WIDTH)
    barrier()
    asc.set_deq_scale(1.0)
    barrier()
    as_half = q.values.reinterpret_cast(asc.float16)
    asc.cast(as_half, q.absolute.reinterpret_cast(asc.int32), asc.RoundMode.CAST_NONE, WIDTH)
    barrier()
    asc.cast(q.result, as_half, asc.RoundMode.CAST_RINT, WIDTH)
    asc.cast(q.stored_scale, q.scale, asc.RoundMode.CAST_NONE, 1)


def build(row: Row) -> Case:
    """`tokens`, `ratio` (positions per token)."""
    tokens, ratio = row.params["tokens"], row.params["ratio"]
    blocks = min(MOST_BLOCKS, tokens)
    (x,) = arrays(1, (tokens, WIDTH), "bfloat16")
    cos, sin = arrays(2, (tokens * ratio, HALF), "float32")
    positions, slots = arrays(2, (tokens,), "int64")
    (cache,), (scales,) = arrays(1, (tokens, WIDTH), "int8"), arrays(1, (tokens,), "float16")

    def launch(limit: int) -> None:
        sizes = Sizes(tokens=tokens, ratio=ratio, limit=limit)
        store_index[blocks](x, cos, sin, positions, slots, cache, scales, sizes)

    return Case(launch, -(-tokens // blocks))
