"""Rotate the first half of every head, look at the values, then at the time."""

from __future__ import annotations

import numpy as np

import ascend_sim

rng = np.random.default_rng(0)
x = rng.uniform(-1, 1, (2, 32, 8, 128)).astype(np.float16)
before = x.copy()
angle = rng.uniform(-np.pi, np.pi, (2, 32, 1, 32)).repeat(2, axis=-1)  # both elements of a pair turn by one angle
cos, sin = np.cos(angle).astype(np.float16), np.sin(angle).astype(np.float16)

result = ascend_sim.run("inplace_partial_rotary_mul", x, cos, sin, partial_slice=[0, 64], soc="ascend910b")

assert result.values.ok
assert np.array_equal(x[..., 64:], before[..., 64:])  # outside the slice nothing changed
length_before = np.hypot(before[..., 0:64:2].astype(np.float32), before[..., 1:64:2])
length_after = np.hypot(x[..., 0:64:2].astype(np.float32), x[..., 1:64:2])
print(f"a rotation keeps lengths: largest change {np.abs(length_after - length_before).max():.1e}")
print(f"{result.program.block_dim} blocks, {result.program.instructions} instructions, {result.duration_us:.2f} us")
