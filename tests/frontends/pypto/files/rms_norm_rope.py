"""RMSNorm of every head, then rotary embedding, for any number of tokens; as a PyPTO user writes it."""

import ml_dtypes
import numpy as np
import pypto

N, D = 16, 128
HALF = D // 2
BS_TILE = 8
EPS = 1e-6


@pypto.frontend.jit(runtime_options={"stitch_function_max_num": 128, "device_sched_mode": 1})
def qk_norm_rope(
    x: pypto.Tensor([pypto.DYNAMIC, N, D], pypto.DT_BF16),
    cos: pypto.Tensor([pypto.DYNAMIC, D], pypto.DT_BF16),
    sin: pypto.Tensor([pypto.DYNAMIC, D], pypto.DT_BF16),
    weight: pypto.Tensor([D], pypto.DT_BF16),
    out: pypto.Tensor([pypto.DYNAMIC, N, D], pypto.DT_BF16),
):
    seq_len = x.shape[0]
    weight_3d = pypto.tensor([1, N, D], pypto.DT_FP32, "weight_3d")
    for _ in pypto.loop(1, name="WEIGHT"):
        pypto.set_vec_tile_shapes(1, N, D)
        row = pypto.cast(pypto.reshape(weight, [1, 1, D], inplace=True), pypto.DT_FP32)
        pypto.assemble(pypto.expand_clone(row, [1, N, D]), [0, 0, 0], weight_3d)

    for idx in pypto.loop(0, (seq_len + BS_TILE - 1) // BS_TILE, 1, name="TOKENS", idx_name="idx"):
        start = idx * BS_TILE
        rows = (seq_len - start).min(BS_TILE)
        x_tile = pypto.view(x, [BS_TILE, N, D], [start, 0, 0], valid_shape=[rows, N, D])
        cos_tile = pypto.view(cos, [BS_TILE, HALF], [start, 0], valid_shape=[rows, HALF])
        sin_tile = pypto.view(sin, [BS_TILE, HALF], [start, 0], valid_shape=[rows, HALF])

        pypto.set_vec_tile_shapes(BS_TILE, N, D)
        x_fp32 = pypto.cast(x_tile, pypto.DT_FP32)
        mean = pypto.sum(x_fp32 * x_fp32, -1, keepdim=True) * (1.0 / D)
        normed = x_fp32 * pypto.rsqrt(mean + EPS) * weight_3d

        pypto.set_vec_tile_shapes(BS_TILE, HALF)
        c = pypto.reshape(pypto.cast(cos_tile, pypto.DT_FP32), [BS_TILE, 1, HALF], valid_shape=[rows, 1, HALF])
        s = pypto.reshape(pypto.cast(sin_tile, pypto.DT_FP32), [BS_TILE, 1, HALF], valid_shape=[rows, 1, HALF])

        pypto.set_vec_tile_shapes(BS_TILE, N, HALF)
        left = pypto.view(normed, [BS_TILE, N, HALF], [0, 0, 0], valid_shape=[rows, N, HALF])
        right = pypto.view(normed, [BS_TILE, N, HALF], [0, 0, HALF], valid_shape=[rows, N, HALF])
        o1 = pypto.sub(pypto.mul(left, c), pypto.mul(right, s))
        o2 = pypto.add(pypto.mul(right, c), pypto.mul(left, s))
        result = pypto.cast(pypto.concat([o1, o2], dim=2), pypto.DT_BF16)
        out[start : start + BS_TILE, :, :] = result


def reference(x, cos, sin, weight):
    x, weight = x.astype(np.float32), weight.astype(np.float32)
    normed = x / np.sqrt((x * x).mean(-1, keepdims=True) + EPS) * weight
    c, s = (table[:, None, :HALF].astype(np.float32) for table in (cos, sin))
    left, right = normed[..., :HALF], normed[..., HALF:]
    return np.concatenate([left * c - right * s, right * c + left * s], axis=-1)


def main():
    rng = np.random.default_rng(0)
    for tokens in (32, 8, 1, 19):
        x = rng.standard_normal((tokens, N, D)).astype(ml_dtypes.bfloat16)
        cos, sin = (rng.uniform(-1, 1, (tokens, D)).astype(ml_dtypes.bfloat16) for _ in range(2))
        weight = rng.standard_normal(D).astype(ml_dtypes.bfloat16)
        out = np.full_like(x, 99)
        qk_norm_rope(x, cos, sin, weight, out)
        np.testing.assert_allclose(out.astype(np.float32), reference(x, cos, sin, weight), rtol=1e-2, atol=1e-2)
        print(f"{tokens} tokens: passed")


if __name__ == "__main__":
    main()
