"""The two pairings side by side: what they do to a line, and what they cost."""

from __future__ import annotations

import numpy as np

import ascend_sim

line = np.arange(1, 9, dtype=np.float32).reshape(1, 1, 1, 8)
cos, sin = np.zeros_like(line), np.ones_like(line)  # a quarter turn
for mode in ("half", "interleave"):
    result = ascend_sim.run("rotary_position_embedding", line, cos, sin, mode=mode)
    print(f"{mode:10} {line.ravel().astype(int)} -> {result.outputs['y'].ravel().astype(int)}")

x, angles = ((4096, 1, 16, 128), "bfloat16"), ((4096, 1, 1, 128), "bfloat16")
for mode in ("half", "interleave"):
    result = ascend_sim.run("rotary_position_embedding", x, angles, angles, mode=mode, soc="Ascend910B4", values=False)
    print(f"{mode:10} x {x[0]} {x[1]}: {result.duration_us:.1f} us, limited by {result.bound}")
