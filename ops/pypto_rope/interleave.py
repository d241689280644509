"""Rotary embedding of neighbours, the result split into halves: even places first, then odd ones.

x [B, N, S, D] is taken apart by deinterleave, and so are cos and sin [B, 1, S, D] (or [B, 1, 1, D], the same for every
position). float32 inside. The inner loop runs over the heads, so that cos and sin, which do not depend on it, stay in
unified buffer. On A2 and A3 deinterleave becomes two GatherMask.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from ascend_sim.frontends import pypto  # on a board: import pypto

MOST_ROWS = 128  # positions times heads of a tile


def tile_of(heads: int, positions: int) -> tuple[int, int]:
    """Heads and positions of a tile: a long run of positions, filled up with heads where there are few."""
    across = min(32, 1 << (positions - 1).bit_length())
    together = max(n for n in (1, 2, 4, 8, 16, 32, 64) if heads % n == 0 and n * across <= MOST_ROWS)
    return together, across


@lru_cache(64)
def interleave_rope_kernel(
    dtype: pypto.DataType,
    heads: int,
    head_dim: int,
    tile: tuple[int, int],
    per_position: bool = True,
    unroll: tuple[int, ...] = (1,),
) -> Any:
    """The kernel for `heads` heads; batch and positions may vary. `tile`: heads and positions at a time."""
    n_tile, s_tile = tile
    half = head_dim // 2
    rows = pypto.DYNAMIC if per_position else 1

    @pypto.frontend.jit(
        runtime_options={"stitch_function_max_num": 512, "device_sched_mode": 3},
        pass_options={"vec_nbuffer_setting": {-1: 8}},
    )
    def interleave_rope(
        x: pypto.Tensor([pypto.DYNAMIC, heads, pypto.DYNAMIC, head_dim], dtype),
        cos: pypto.Tensor([pypto.DYNAMIC, 1, rows, head_dim], dtype),
        sin: pypto.Tensor([pypto.DYNAMIC, 1, rows, head_dim], dtype),
        y: pypto.Tensor([pypto.DYNAMIC, heads, pypto.DYNAMIC, head_dim], dtype),
    ):
        batch, _, positions, _ = x.shape
        for b in pypto.loop(batch, name="B", idx_name="b"):
            for s_block in pypto.loop((positions + s_tile - 1) // s_tile, name="S", idx_name="s"):
                for n_block in pypto.loop(heads // n_tile, name="N", idx_name="n", unroll_list=list(unroll)):
                    n, s = n_block * n_tile, s_block * s_tile
                    cur_s = (positions - s).min(s_tile)
                    x_tile = pypto.view(
                        x, [1, n_tile, s_tile, head_dim], [b, n, s, 0], valid_shape=[1, n_tile, cur_s, head_dim]
                    )
                    table = [1, 1, s_tile if per_position else 1, head_dim]
                    filled = [1, 1, cur_s if per_position else 1, head_dim]
                    at = [b, 0, s if per_position else 0, 0]
                    cos_tile = pypto.view(cos, table, at, valid_shape=filled)
                    sin_tile = pypto.view(sin, table, at, valid_shape=filled)

                    pypto.set_vec_tile_shapes(1, n_tile, s_tile, head_dim)
                    x_even, x_odd = pypto.deinterleave(pypto.cast(x_tile, pypto.DT_FP32))
                    cos_even, cos_odd = pypto.deinterleave(pypto.cast(cos_tile, pypto.DT_FP32))
                    sin_even, sin_odd = pypto.deinterleave(pypto.cast(sin_tile, pypto.DT_FP32))
                    y_even = pypto.sub(pypto.mul(x_even, cos_even), pypto.mul(x_odd, sin_even))
                    y_odd = pypto.add(pypto.mul(x_even, sin_odd), pypto.mul(x_odd, cos_odd))
                    pypto.assemble(pypto.cast(y_even, dtype), [b, n, s, 0], y)
                    pypto.assemble(pypto.cast(y_odd, dtype), [b, n, s, half], y)

    return interleave_rope


def kernel_for(x_shape: tuple[int, ...], cos_shape: tuple[int, ...], dtype: str, unroll: tuple[int, ...] = (1,)) -> Any:
    """The kernel for tensors of these shapes; dtype "float16", "bfloat16" or "float32"."""
    _, heads, positions, head_dim = x_shape
    kind = {"float16": pypto.DT_FP16, "bfloat16": pypto.DT_BF16, "float32": pypto.DT_FP32}[dtype]
    per_position = cos_shape[2] != 1 or positions == 1
    return interleave_rope_kernel(kind, heads, head_dim, tile_of(heads, positions), per_position, unroll)


def interleave_rope(x: Any, cos: Any, sin: Any) -> Any:
    """A new array: x rotated, even places first."""
    y = np.empty_like(x)
    kernel_for(x.shape, cos.shape, x.dtype.name)(x, cos, sin, y)
    return y


def main() -> None:
    """Smoke test on two of the documented shapes and on one table for all positions."""
    rng = np.random.default_rng(0)
    for shape, rows in (((4, 128, 2, 64), 2), ((1, 1, 1024, 64), 1024), ((2, 8, 32, 64), 1)):
        x = rng.standard_normal(shape).astype(np.float16)
        cos, sin = (rng.uniform(-1, 1, (shape[0], 1, rows, 64)).astype(np.float16) for _ in range(2))
        wide, c, s = (array.astype(np.float32) for array in (x, cos, sin))
        even, odd = wide[..., ::2], wide[..., 1::2]
        y_even = even * c[..., ::2] - odd * s[..., ::2]
        y_odd = even * s[..., 1::2] + odd * c[..., 1::2]
        expected = np.concatenate([y_even, y_odd], axis=-1).astype(np.float16)
        assert np.array_equal(interleave_rope(x, cos, sin), expected)
        lowered = kernel_for(x.shape, cos.shape, "float16").lowered()
        print(
            f"interleave {list(shape)}: exact; peak unified buffer {lowered.peak_ub_bytes:,} of {lowered.ub_bytes:,} B"
        )


if __name__ == "__main__":
    main()
