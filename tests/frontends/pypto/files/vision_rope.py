"""Vision rotary embedding of q and k, as a PyPTO user writes it: no word of the simulator."""

import os

import numpy as np
import pypto

S, N, D = 31, 16, 128


def rotate_half(x):
    x1 = x[..., : D // 2]
    x2 = x[..., D // 2 :]
    return pypto.concat([pypto.neg(x2), x1], dim=-1)


@pypto.frontend.jit(
    runtime_options={"run_mode": pypto.RunMode.NPU, "stitch_function_max_num": 128},
    pass_options={"cube_l1_reuse_setting": {-1: 4}},
)
def apply_rope_vision(
    q: pypto.Tensor([S, N, D], pypto.DT_FP16),
    k: pypto.Tensor([S, N, D], pypto.DT_FP16),
    cos: pypto.Tensor([S, D], pypto.DT_FP16),
    sin: pypto.Tensor([S, D], pypto.DT_FP16),
    q_embed: pypto.Tensor([S, N, D], pypto.DT_FP16),
    k_embed: pypto.Tensor([S, N, D], pypto.DT_FP16),
):
    pypto.set_vec_tile_shapes(32, 32, 32)
    cos_un = cos.unsqueeze(-2)
    sin_un = sin.unsqueeze(-2)
    q_embed[:] = q * cos_un + rotate_half(q) * sin_un
    k_embed[:] = k * cos_un + rotate_half(k) * sin_un


def reference(x, cos, sin):
    x, cos, sin = (a.astype(np.float32) for a in (x, cos[:, None], sin[:, None]))
    rotated = np.concatenate([-x[..., D // 2 :], x[..., : D // 2]], axis=-1)
    return x * cos + rotated * sin


def main():
    print("device", os.environ.get("TILE_FWK_DEVICE_ID", "0"))
    rng = np.random.default_rng(1234)
    q, k = (rng.standard_normal((S, N, D)).astype(np.float16) for _ in range(2))
    cos, sin = (rng.standard_normal((S, D)).astype(np.float16) for _ in range(2))
    q_embed, k_embed = np.zeros_like(q), np.zeros_like(k)
    apply_rope_vision(q, k, cos, sin, q_embed, k_embed)
    for x, found in ((q, q_embed), (k, k_embed)):
        np.testing.assert_allclose(found, reference(x, cos, sin), rtol=5e-3, atol=5e-3)
    print("vision rope: passed")


if __name__ == "__main__":
    main()
