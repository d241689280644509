"""Vision rotary embedding as in spatial_ssrl_3b: q and k in one kernel, cos and sin shared by all heads.

No loop: the tensors are cut by the vector tile alone, 32 along every axis. All in the type of the inputs.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from ascend_sim.frontends import pypto  # on a board: import pypto

TILE = 32


@lru_cache(64)
def vision_kernel(tile: tuple[int, ...] = (TILE,) * 3) -> Any:
    """The kernel whose vector tile is `tile`: positions, heads, elements."""

    @pypto.frontend.jit(
        runtime_options={"stitch_function_max_num": 128},
        pass_options={"cube_l1_reuse_setting": {-1: 4}},
    )
    def vision_rope_kernel(
        q: pypto.Tensor(),
        k: pypto.Tensor(),
        cos: pypto.Tensor(),
        sin: pypto.Tensor(),
        q_out: pypto.Tensor(),
        k_out: pypto.Tensor(),
    ):
        """q, k [S, N, D]; cos, sin [S, D]."""
        pypto.set_vec_tile_shapes(*tile)
        half = q.shape[-1] // 2
        cos_heads = cos.unsqueeze(-2)  # [S, 1, D], the same for every head
        sin_heads = sin.unsqueeze(-2)
        for x, out in ((q, q_out), (k, k_out)):  # two chains of operations; no loop of the kernel
            x1, x2 = x[..., :half], x[..., half:]
            rotated = pypto.concat([pypto.neg(x2), x1], dim=-1)
            out[:] = pypto.add(pypto.mul(x, cos_heads), pypto.mul(rotated, sin_heads))

    return vision_rope_kernel


vision_rope_kernel = vision_kernel()


def vision_rope(q: Any, k: Any, cos: Any, sin: Any) -> tuple[Any, Any]:
    """New arrays: q and k [S, N, D] rotated by cos, sin [S, D]."""
    q_out, k_out = np.empty_like(q), np.empty_like(k)
    vision_rope_kernel(q, k, cos, sin, q_out, k_out)
    return q_out, k_out


def main() -> None:
    """Smoke test on the documented shape, q and k [31, 16, 128]."""
    rng = np.random.default_rng(0)
    q, k = (rng.standard_normal((31, 16, 128)).astype(np.float16) for _ in range(2))
    cos, sin = (rng.standard_normal((31, 128)).astype(np.float16) for _ in range(2))
    for x, found in zip((q, k), vision_rope(q, k, cos, sin), strict=True):
        wide, c, s = x.astype(np.float32), cos[:, None].astype(np.float32), sin[:, None].astype(np.float32)
        expected = wide * c + np.concatenate([-wide[..., 64:], wide[..., :64]], axis=-1) * s
        np.testing.assert_allclose(found, expected, rtol=5e-3, atol=5e-3)
    lowered = vision_rope_kernel.lowered()
    print(f"vision {list(q.shape)}: right; peak unified buffer {lowered.peak_ub_bytes:,} of {lowered.ub_bytes:,} B")


if __name__ == "__main__":
    main()
