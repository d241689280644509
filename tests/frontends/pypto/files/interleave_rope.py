"""Rotary embedding of neighbours, even places first in the result; many heads, short sequences; as a user writes it."""

import ml_dtypes
import numpy as np
import pypto

N, D = 128, 64
N_TILE, S_TILE = 32, 2


@pypto.frontend.jit(
    runtime_options={"stitch_function_max_num": 512, "device_sched_mode": 3},
    pass_options={"vec_nbuffer_setting": {-1: 8}},
)
def interleave_rope(
    x: pypto.Tensor([pypto.DYNAMIC, N, pypto.DYNAMIC, D], pypto.DT_BF16),
    cos: pypto.Tensor([pypto.DYNAMIC, 1, pypto.DYNAMIC, D], pypto.DT_BF16),
    sin: pypto.Tensor([pypto.DYNAMIC, 1, pypto.DYNAMIC, D], pypto.DT_BF16),
    y: pypto.Tensor([pypto.DYNAMIC, N, pypto.DYNAMIC, D], pypto.DT_BF16),
):
    b_size, _, s_size, _ = x.shape
    for b in pypto.loop(b_size, name="LOOP_B", idx_name="b"):
        for n in pypto.loop(N // N_TILE, name="LOOP_N", idx_name="n"):
            for s, unroll in pypto.loop_unroll(
                (s_size + S_TILE - 1) // S_TILE, unroll_list=[4, 2, 1], name="LOOP_S", idx_name="s"
            ):
                for part in range(unroll):
                    first = (s + part) * S_TILE
                    rows = (s_size - first).min(S_TILE)
                    pypto.set_vec_tile_shapes(1, N_TILE, S_TILE, D)
                    x_tile = pypto.view(
                        x, [1, N_TILE, S_TILE, D], [b, n * N_TILE, first, 0], valid_shape=[1, N_TILE, rows, D]
                    )
                    cos_tile = pypto.view(cos, [1, 1, S_TILE, D], [b, 0, first, 0], valid_shape=[1, 1, rows, D])
                    sin_tile = pypto.view(sin, [1, 1, S_TILE, D], [b, 0, first, 0], valid_shape=[1, 1, rows, D])
                    x_fp32 = pypto.cast(x_tile, pypto.DT_FP32)
                    cos_fp32 = pypto.cast(cos_tile, pypto.DT_FP32)
                    sin_fp32 = pypto.cast(sin_tile, pypto.DT_FP32)

                    x_even = pypto.gathermask(x_fp32, 1)
                    x_odd = pypto.gathermask(x_fp32, 2)
                    cos_even, cos_odd = pypto.gathermask(cos_fp32, 1), pypto.gathermask(cos_fp32, 2)
                    sin_even, sin_odd = pypto.gathermask(sin_fp32, 1), pypto.gathermask(sin_fp32, 2)
                    y_even = x_even * cos_even - x_odd * sin_even
                    y_odd = x_even * sin_odd + x_odd * cos_odd

                    pypto.assemble(pypto.cast(y_even, pypto.DT_BF16), [b, n * N_TILE, first, 0], y)
                    pypto.assemble(pypto.cast(y_odd, pypto.DT_BF16), [b, n * N_TILE, first, D // 2], y)


def reference(x, cos, sin):
    x, cos, sin = (a.astype(np.float32) for a in (x, cos, sin))
    even = x[..., ::2] * cos[..., ::2] - x[..., 1::2] * sin[..., ::2]
    odd = x[..., ::2] * sin[..., 1::2] + x[..., 1::2] * cos[..., 1::2]
    return np.concatenate([even, odd], axis=-1)


def main():
    rng = np.random.default_rng(7)
    for b, s in ((4, 2), (1, 9), (2, 1)):
        x = rng.standard_normal((b, N, s, D)).astype(ml_dtypes.bfloat16)
        cos, sin = (rng.uniform(-1, 1, (b, 1, s, D)).astype(ml_dtypes.bfloat16) for _ in range(2))
        y = np.zeros_like(x)
        interleave_rope(x, cos, sin, y)
        np.testing.assert_allclose(y.astype(np.float32), reference(x, cos, sin), rtol=2**-7, atol=1e-4)
        print(f"interleave rope [{b}, {N}, {s}, {D}]: passed")


if __name__ == "__main__":
    main()
