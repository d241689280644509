"""Multimodal rotary embedding as in spatial_ssrl_3b: cos and sin come per position axis (time, height, width).

The wrapper picks, for every section of the last axis, the table of its position axis; the kernel is the common one, one
tensor per call, since q and k have different numbers of heads.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from ascend_sim.frontends import pypto  # on a board: import pypto

TILE = 32
SECTIONS = (16, 24, 24)  # of half a head, for the three position axes


@lru_cache(64)
def kernel_with(tile: tuple[int, ...] = (TILE,) * 4) -> Any:
    """The kernel whose vector tile is `tile`: batches, heads, positions, elements."""

    @pypto.frontend.jit(
        runtime_options={"stitch_function_max_num": 128},
        pass_options={"cube_l1_reuse_setting": {-1: 4}},
    )
    def mrope_kernel(
        x: pypto.Tensor(),
        cos: pypto.Tensor(),
        sin: pypto.Tensor(),
        out: pypto.Tensor(),
    ):
        """x [B, N, S, D]; cos, sin [B, 1, S, D]."""
        pypto.set_vec_tile_shapes(*tile)
        half = x.shape[-1] // 2
        x1 = x[..., :half]
        x2 = x[..., half:]
        rotated = pypto.concat([pypto.neg(x2), x1], dim=-1)
        out[:] = pypto.add(pypto.mul(x, cos), pypto.mul(rotated, sin))

    return mrope_kernel


mrope_kernel = kernel_with()


def merged(table: Any, sections: Sequence[int] = SECTIONS) -> Any:
    """[3, B, S, D] to [B, 1, S, D]: part i of the last axis, of sections[i % 3] elements, from table i % 3."""
    parts, start = [], 0
    for i, size in enumerate([*sections, *sections]):
        parts.append(table[i % len(sections), ..., start : start + size])
        start += size
    return np.ascontiguousarray(np.concatenate(parts, axis=-1)[:, None])


def multimodal_rope(q: Any, k: Any, cos: Any, sin: Any, mrope_section: Sequence[int] = SECTIONS) -> tuple[Any, Any]:
    """New arrays: q [B, Nq, S, D] and k [B, Nk, S, D] rotated by cos, sin [3, B, S, D]."""
    cos_merged, sin_merged = merged(cos, mrope_section), merged(sin, mrope_section)
    outs = []
    for x in (q, k):
        outs.append(np.empty_like(x))
        mrope_kernel(x, cos_merged, sin_merged, outs[-1])
    return outs[0], outs[1]


def main() -> None:
    """Smoke test on the documented shapes, q [1, 16, 31, 128] and k [1, 2, 31, 128]."""
    rng = np.random.default_rng(0)
    q = rng.standard_normal((1, 16, 31, 128)).astype(np.float16)
    k = rng.standard_normal((1, 2, 31, 128)).astype(np.float16)
    cos, sin = (rng.standard_normal((3, 1, 31, 128)).astype(np.float16) for _ in range(2))
    for x, found in zip((q, k), multimodal_rope(q, k, cos, sin), strict=True):
        rotated = np.concatenate([-x[..., 64:], x[..., :64]], axis=-1)
        assert np.array_equal(found, x * merged(cos) + rotated * merged(sin))
        lowered = mrope_kernel.lowered(x, merged(cos), merged(sin), found)
        print(f"mrope {list(x.shape)}: exact; peak unified buffer {lowered.peak_ub_bytes:,} of {lowered.ub_bytes:,} B")


if __name__ == "__main__":
    main()
