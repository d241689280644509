"""RMSNorm of every head and rotary embedding in one kernel, as in qwen3_1_7b: bfloat16 in and out, float32 inside.

Blocks of 8 positions, unless others are asked for; the last one may hold fewer (valid_shape). Only the first half of
cos and sin is used. The number of heads is fixed per kernel (q 16, k 8), the number of positions is not.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import ml_dtypes
import numpy as np

from ascend_sim.frontends import pypto  # on a board: import pypto

D = 128
HALF = D // 2
EPS = 1e-6
BS_TILE = 8


def normalized(x: Any, weight: Any) -> Any:
    """x / sqrt(mean(x * x) + EPS) * weight along the last axis."""
    mean = pypto.mul(pypto.sum(pypto.mul(x, x), -1, keepdim=True), 1.0 / D)
    return pypto.mul(pypto.mul(x, pypto.rsqrt(pypto.add(mean, EPS))), weight)


@lru_cache(64)
def qk_rope_kernel(heads: int, unroll: tuple[int, ...] = (1,), bs_tile: int = BS_TILE) -> Any:
    """The kernel for `heads` heads; `bs_tile`: positions of a block."""

    @pypto.frontend.jit(runtime_options={"stitch_function_max_num": 128, "device_sched_mode": 1})
    def qk_rope(
        x: pypto.Tensor([pypto.DYNAMIC, heads, D], pypto.DT_BF16),
        cos: pypto.Tensor([pypto.DYNAMIC, D], pypto.DT_BF16),
        sin: pypto.Tensor([pypto.DYNAMIC, D], pypto.DT_BF16),
        weight: pypto.Tensor([D], pypto.DT_BF16),
        out: pypto.Tensor([pypto.DYNAMIC, heads, D], pypto.DT_BF16),
    ):
        seq_len = x.shape[0]
        pypto.set_vec_tile_shapes(1, 1, D)
        weight_fp32 = pypto.cast(pypto.reshape(weight, [1, 1, D], inplace=True), pypto.DT_FP32)
        weight_heads = pypto.expand_clone(weight_fp32, [1, heads, D])

        for bs_idx in pypto.loop((seq_len + bs_tile - 1) // bs_tile, name="QK_ROPE", unroll_list=list(unroll)):
            first = bs_idx * bs_tile
            cur_bs = (seq_len - first).min(bs_tile)
            x_tile = pypto.view(x, [bs_tile, heads, D], [first, 0, 0], valid_shape=[cur_bs, heads, D])
            cos_tile = pypto.view(cos, [bs_tile, HALF], [first, 0], valid_shape=[cur_bs, HALF])
            sin_tile = pypto.view(sin, [bs_tile, HALF], [first, 0], valid_shape=[cur_bs, HALF])

            pypto.set_vec_tile_shapes(bs_tile, heads, D)
            normed = normalized(pypto.cast(x_tile, pypto.DT_FP32), weight_heads)

            pypto.set_vec_tile_shapes(bs_tile, HALF)
            cos_b = pypto.cast(cos_tile, pypto.DT_FP32).unsqueeze(1)  # [bs_tile, 1, HALF], the same for every head
            sin_b = pypto.cast(sin_tile, pypto.DT_FP32).unsqueeze(1)

            pypto.set_vec_tile_shapes(bs_tile, heads, HALF)
            left = normed[..., :HALF]
            right = normed[..., HALF:]
            o1 = pypto.sub(pypto.mul(left, cos_b), pypto.mul(right, sin_b))
            o2 = pypto.add(pypto.mul(right, cos_b), pypto.mul(left, sin_b))
            roped = pypto.concat([o1, o2], dim=2)
            pypto.assemble(pypto.cast(roped, pypto.DT_BF16), [first, 0, 0], out)

    return qk_rope


def qk_rope(x: Any, cos: Any, sin: Any, weight: Any) -> Any:
    """A new array: x [S, N, 128] bfloat16, normalized and rotated by cos, sin [S, 128], weight [128]."""
    out = np.empty_like(x)
    qk_rope_kernel(x.shape[1])(x, cos, sin, weight, out)
    return out


def main() -> None:
    """Smoke test on the documented shapes, q [S, 16, 128] and k [S, 8, 128]; S = 32 and a tail of 7."""
    rng = np.random.default_rng(0)
    for heads in (16, 8):
        for seq_len in (32, 7):
            x = rng.standard_normal((seq_len, heads, D)).astype(ml_dtypes.bfloat16)
            cos, sin = (rng.uniform(-1, 1, (seq_len, D)).astype(ml_dtypes.bfloat16) for _ in range(2))
            weight = rng.standard_normal(D).astype(ml_dtypes.bfloat16)
            wide = x.astype(np.float32)
            normed = wide / np.sqrt((wide * wide).mean(-1, keepdims=True) + EPS) * weight.astype(np.float32)
            c, s = (table[:, None, :HALF].astype(np.float32) for table in (cos, sin))
            left, right = normed[..., :HALF], normed[..., HALF:]
            expected = np.concatenate([left * c - right * s, right * c + left * s], axis=-1)
            found = qk_rope(x, cos, sin, weight).astype(np.float32)
            np.testing.assert_allclose(found, expected, rtol=1e-2, atol=1e-2)
        lowered = qk_rope_kernel(heads).lowered()
        print(
            f"rms_norm_rope N={heads}: right; peak unified buffer {lowered.peak_ub_bytes:,} of {lowered.ub_bytes:,} B"
        )


if __name__ == "__main__":
    main()
