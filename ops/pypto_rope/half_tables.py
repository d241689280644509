"""Tables of half a head, one row per position for all batches and heads; not one of the documents' kernels.

x is [B, S, N, D] or [B, N, S, D], cos and sin are [S, D / 2]. Pairs are the two halves of a head, or neighbours.
float32 inside, as the documents advise for 16-bit tensors. The inner loop runs over the batches, so that cos and sin
stay in unified buffer.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from ascend_sim.frontends import pypto  # on a board: import pypto

MOST_ELEMENTS = 8192  # of a tile
FP32 = pypto.DT_FP32


def rotated(x: Any, cos: Any, sin: Any, neighbours: bool) -> tuple[Any, Any]:
    """The first and the second half of the result's last axis, in float32."""
    half = x.shape[-1] // 2
    if neighbours:
        left, right = pypto.deinterleave(x)
    else:
        left, right = x[..., :half], x[..., half:]
    first = pypto.sub(pypto.mul(left, cos), pypto.mul(right, sin))
    second = pypto.add(pypto.mul(right, cos), pypto.mul(left, sin))
    return pypto.interleave(first, second) if neighbours else (first, second)


@cache
def half_tables_kernel(
    dtype: pypto.DataType, heads: int, head_dim: int, neighbours: bool, heads_first: bool, tile: tuple[int, int]
) -> Any:
    """The kernel for `heads` heads, in [B, N, S, D] if `heads_first`; `tile`: heads and positions at a time."""
    n_tile, s_tile = tile
    half = head_dim // 2
    shape = [pypto.DYNAMIC, heads, pypto.DYNAMIC, head_dim] if heads_first else [pypto.DYNAMIC] * 2 + [heads, head_dim]

    @pypto.frontend.jit
    def half_tables_rope(
        x: pypto.Tensor(shape, dtype),
        cos: pypto.Tensor([pypto.DYNAMIC, half], dtype),
        sin: pypto.Tensor([pypto.DYNAMIC, half], dtype),
        y: pypto.Tensor(shape, dtype),
    ):
        positions = cos.shape[0]
        for s_block in pypto.loop((positions + s_tile - 1) // s_tile, name="S", idx_name="s"):
            s = s_block * s_tile
            cur_s = (positions - s).min(s_tile)
            tables = [pypto.view(t, [s_tile, half], [s, 0], valid_shape=[cur_s, half]) for t in (cos, sin)]
            for n_block in pypto.loop((heads + n_tile - 1) // n_tile, name="N", idx_name="n"):
                n = n_block * n_tile
                cur_n = (heads - n).min(n_tile)
                for b in pypto.loop(x.shape[0], name="B", idx_name="b"):
                    if heads_first:
                        block, filled, at = [1, n_tile, s_tile], [1, cur_n, cur_s], [b, n, s]
                    else:
                        block, filled, at = [1, s_tile, n_tile], [1, cur_s, cur_n], [b, s, n]
                    x_tile = pypto.view(x, [*block, head_dim], [*at, 0], valid_shape=[*filled, head_dim])
                    pypto.set_vec_tile_shapes(s_tile, half)
                    wide = [pypto.unsqueeze(t if dtype is FP32 else pypto.cast(t, FP32), 0) for t in tables]
                    c, sn = (pypto.unsqueeze(t, 1 if heads_first else 2) for t in wide)
                    pypto.set_vec_tile_shapes(*block, head_dim)
                    first, second = rotated(pypto.cast(x_tile, FP32), c, sn, neighbours)
                    pypto.assemble(pypto.cast(first, dtype), [*at, 0], y)
                    pypto.assemble(pypto.cast(second, dtype), [*at, half], y)

    return half_tables_rope


def kernel_for(shape: tuple[int, ...], dtype: str, neighbours: bool, heads_first: bool) -> Any:
    """The kernel for x of `shape`; dtype "float16", "bfloat16" or "float32"."""
    _, one, two, head_dim = shape
    heads, positions = (one, two) if heads_first else (two, one)
    rows = max(1, MOST_ELEMENTS // head_dim)
    if heads_first:  # long runs of positions, then heads
        s_tile = min(positions, rows)
        n_tile = min(heads, max(1, rows // s_tile))
    else:
        n_tile = min(heads, rows)
        s_tile = min(positions, max(1, rows // n_tile))
    kind = {"float16": pypto.DT_FP16, "bfloat16": pypto.DT_BF16, "float32": pypto.DT_FP32}[dtype]
    return half_tables_kernel(kind, heads, head_dim, neighbours, heads_first, (n_tile, s_tile))


def half_tables_rope(x: Any, cos: Any, sin: Any, neighbours: bool = False, heads_first: bool = False) -> Any:
    """A new array: x rotated."""
    y = np.empty_like(x)
    kernel_for(x.shape, x.dtype.name, neighbours, heads_first)(x, cos, sin, y)
    return y


def main() -> None:
    """Smoke test: both layouts, both pairings."""
    rng = np.random.default_rng(0)
    for heads_first in (False, True):
        for neighbours in (False, True):
            x = rng.uniform(-1, 1, (2, 5, 37, 64) if heads_first else (2, 37, 5, 64)).astype(np.float16)
            cos, sin = (rng.uniform(-1, 1, (37, 32)).astype(np.float16) for _ in range(2))
            c, s = (t.astype(np.float32)[:, None, :] if not heads_first else t.astype(np.float32) for t in (cos, sin))
            wide = x.astype(np.float32)
            parts = (wide[..., ::2], wide[..., 1::2]) if neighbours else (wide[..., :32], wide[..., 32:])
            turned = parts[0] * c - parts[1] * s, parts[1] * c + parts[0] * s
            expected = np.stack(turned, axis=-1).reshape(x.shape) if neighbours else np.concatenate(turned, axis=-1)
            found = half_tables_rope(x, cos, sin, neighbours, heads_first)
            assert np.array_equal(found, expected.astype(np.float16)), (heads_first, neighbours)
            lowered = kernel_for(x.shape, "float16", neighbours, heads_first).lowered()
            layout = "BNSD" if heads_first else "BSND"
            pairs = "neighbours" if neighbours else "halves"
            print(f"{layout}, {pairs}: exact; peak unified buffer {lowered.peak_ub_bytes:,} of {lowered.ub_bytes:,} B")


if __name__ == "__main__":
    main()
