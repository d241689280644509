"""Forward, then backward: the gradient of a rotation turns back, so that dx returns x where dy is y."""

from __future__ import annotations

import numpy as np

import ascend_sim

rng = np.random.default_rng(0)
x = rng.standard_normal((2, 64, 8, 128)).astype(np.float32)
angle = np.tile(rng.uniform(-np.pi, np.pi, (1, 64, 1, 64)), 2)  # both elements of a pair turn by one angle
cos, sin = np.cos(angle).astype(np.float32), np.sin(angle).astype(np.float32)

forward = ascend_sim.run("rotary_position_embedding", x, cos, sin, mode="half")
y = forward.outputs["y"]
backward = ascend_sim.run("rotary_position_embedding_grad", y, cos, sin, x=x, mode="half")
print(f"largest |dx - x|: {np.abs(backward.outputs['dx'] - x).max():.1e}")
print(f"largest |dsin|: {np.abs(backward.outputs['dsin']).max():.1f}, dcos {backward.outputs['dcos'].shape}")
print(f"forward {forward.duration_us:.2f} us, backward {backward.duration_us:.2f} us")
