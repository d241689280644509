"""V41 main cache store: rotate a token's row of 512 and store it where its slot says."""

from __future__ import annotations

from ascend_sim import asc
from ascend_sim.accuracy.kernels.case import Case, arrays
from ascend_sim.accuracy.kernels.v41_rope import MOST_BLOCKS, global_tensors
from ascend_sim.accuracy.kernels.v41_rows import (
    BF16,
    HALF,
    ROTATED,
    load_bytes,
    load_tables,
    rotate_row,
    row_buffers,
    store_row,
)
from ascend_sim.accuracy.rows import Row

WIDTH = 512
PAGE_ROWS = 32


class Sizes(asc.Struct):
    """Tiling data."""

    tokens = asc.Field(asc.int32)
    ratio = asc.Field(asc.int32)
    limit = asc.Field(asc.int32)


def cache_row(slot: int) -> int:
    """The row of the cache that a slot stands for: page and row in it, by 64-bit division on the scalar unit."""
    number = asc.number(slot, asc.int64)
    return int((number // PAGE_ROWS) * PAGE_ROWS + number % PAGE_ROWS)


@asc.jit
def store_tokens(
    x: asc.GlobalAddress,
    cos: asc.GlobalAddress,
    sin: asc.GlobalAddress,
    positions: asc.GlobalAddress,
    slots: asc.GlobalAddress,
    cache: asc.GlobalAddress,
    sizes: Sizes,
) -> None:
    local = row_buffers(asc.TPipe())
    x_gm, cos_gm, sin_gm, position_gm, slot_gm, cache_gm = global_tensors(x, cos, sin, positions, slots, cache)
    ratio = int(sizes.ratio)
    tokens = range(int(asc.get_block_idx()), int(sizes.tokens), int(asc.get_block_num()))
    for token in tokens[: int(sizes.limit)]:
        position_gm.get_value(token)  # 0, 1, 2, ... or 1, 3, 5, ...: every token is valid
        slot_gm.get_value(token)
        target = cache_row(token)
        load_bytes(local.row, x_gm[token * WIDTH], WIDTH * BF16)
        load_tables(local, cos_gm[token * ratio * HALF], sin_gm[token * ratio * HALF])
        rotate_row(local, WIDTH - ROTATED)
        store_row(cache_gm[target * WIDTH], local, WIDTH * BF16)


def build(row: Row) -> Case:
    """`tokens`, `ratio` (positions per token)."""
    tokens, ratio = row.params["tokens"], row.params["ratio"]
    blocks = min(MOST_BLOCKS, tokens)
    x, cache = arrays(2, (-(-tokens // PAGE_ROWS) * PAGE_ROWS, WIDTH), "bfloat16")
    cos, sin = arrays(2, (tokens * ratio, HALF), "float32")
    positions, slots = arrays(2, (tokens,), "int64")

    def launch(limit: int) -> None:
        sizes = Sizes(tokens=tokens, ratio=ratio, limit=limit)
        store_tokens[blocks](x, cos, sin, positions, slots, cache, sizes)

    return Case(launch, -(-tokens // blocks))
