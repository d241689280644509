"""Rotate and turn back: a rotation's gradient is its inverse. Then every pair of dtypes, with its time."""

from __future__ import annotations

import numpy as np

import ascend_sim

rng = np.random.default_rng(0)
x = rng.standard_normal((2, 32, 8, 128)).astype(np.float32)
before = x.copy()
angle = rng.uniform(-np.pi, np.pi, (2, 32, 1, 32)).repeat(2, axis=-1)  # both elements of a pair turn by one angle
cos, sin = np.cos(angle).astype(np.float32), np.sin(angle).astype(np.float32)

forward = ascend_sim.run("inplace_partial_rotary_mul", x, cos, sin, partial_slice=[64, 128], soc="ascend950")
print(f"rotated: moved by up to {np.abs(x - before).max():.2f}, {forward.duration_us:.2f} us")
back = ascend_sim.run("inplace_partial_rotary_mul_grad", x, cos, sin, partial_slice=[64, 128], soc="ascend950")
print(f"and back: off by up to {np.abs(x - before).max():.1e}, {back.duration_us:.2f} us")
assert forward.values.ok
assert back.values.ok

for dtype in ("float16", "bfloat16", "float32"):
    times = [
        ascend_sim.run(
            "inplace_partial_rotary_mul_grad",
            ((8, 256, 8, 128), dtype),
            ((8, 256, 1, 128), cos_dtype),
            ((8, 256, 1, 128), cos_dtype),
            partial_slice=[0, 128],
            soc="ascend950",
            values=False,
        ).duration_us
        for cos_dtype in ("float16", "bfloat16", "float32")
    ]
    print(f"dy {dtype:8} with cos float16, bfloat16, float32: " + ", ".join(f"{time:.2f}" for time in times) + " us")
