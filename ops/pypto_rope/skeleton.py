"""The reference skeleton: rotary embedding of view, neg, concat, mul, add and assemble alone.

One iteration per row of the first axis; a whole row is a tile, unless another tile is asked for. cos and sin have the
shape of x. Every operation rounds to x's type.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from ascend_sim.frontends import pypto  # on a board: import pypto


@lru_cache(64)
def rope_kernel(
    sl: tuple[int, ...], dtype: pypto.DataType, tile: tuple[int, ...] = (), unroll: tuple[int, ...] = (1,)
) -> Any:
    """The kernel for tensors of shape `sl`; `tile` is the vector tile, one row of the first axis unless given."""
    batch, inner, half = sl[0], list(sl[1:]), sl[-1] // 2
    zeros = [0] * len(inner)

    @pypto.frontend.jit(runtime_options={"run_mode": pypto.RunMode.NPU})
    def rope(
        a: pypto.Tensor(sl, dtype),
        cos: pypto.Tensor(sl, dtype),
        sin: pypto.Tensor(sl, dtype),
        out: pypto.Tensor(sl, dtype),
    ):
        for i in pypto.loop(batch, name="batch", idx_name="i", unroll_list=list(unroll)):
            a_s = pypto.view(a, [1, *inner], [i, *zeros])
            cos_s = pypto.view(cos, [1, *inner], [i, *zeros])
            sin_s = pypto.view(sin, [1, *inner], [i, *zeros])
            pypto.set_vec_tile_shapes(*(tile or (1, *inner)))
            neg_a2 = pypto.neg(pypto.view(a_s, [1, *inner[:-1], half], [*zeros, half]))
            a1 = pypto.view(a_s, [1, *inner[:-1], half], [0, *zeros])
            rot = pypto.concat([neg_a2, a1], dim=-1)
            r = pypto.add(pypto.mul(a_s, cos_s), pypto.mul(rot, sin_s))
            pypto.assemble(r, [i, *zeros], out)

    return rope


def rope(x: Any, cos: Any, sin: Any, tile: Sequence[int] = (), unroll: Sequence[int] = (1,)) -> Any:
    """A new array: x rotated. float16, bfloat16 or float32."""
    out = np.empty_like(x)
    dtype = {"float16": pypto.DT_FP16, "bfloat16": pypto.DT_BF16, "float32": pypto.DT_FP32}[x.dtype.name]
    rope_kernel(x.shape, dtype, tuple(tile), tuple(unroll))(x, cos, sin, out)
    return out


def main() -> None:
    """Smoke test on (B, S, D) = (8, 64, 128)."""
    rng = np.random.default_rng(0)
    x, cos, sin = (rng.uniform(-1, 1, (8, 64, 128)).astype(np.float16) for _ in range(3))
    rotated = np.concatenate([-x[..., 64:], x[..., :64]], axis=-1)
    kernel, out = rope_kernel(x.shape, pypto.DT_FP16), np.empty_like(x)
    kernel(x, cos, sin, out)
    assert np.array_equal(out, x * cos + rotated * sin)
    lowered = kernel.lowered()
    print(f"skeleton {list(x.shape)}: exact; peak unified buffer {lowered.peak_ub_bytes:,} of {lowered.ub_bytes:,} B")


if __name__ == "__main__":
    main()
