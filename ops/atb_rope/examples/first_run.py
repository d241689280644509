"""Rotate q and k of a grouped-query model, look at the values, then at the time."""

from __future__ import annotations

import numpy as np

import ascend_sim

rng = np.random.default_rng(0)
angles = np.arange(100)[:, None] * 10000.0 ** (-np.arange(64) / 64)
cos, sin = (np.tile(turn(angles), (1, 2)).astype(np.float16) for turn in (np.cos, np.sin))
q, k = (rng.standard_normal((100, heads * 128)).astype(np.float16) for heads in (8, 1))

result = ascend_sim.run("atb_rope", q, k, cos, sin, np.array([100], np.int32), rotaryCoeff=2)

assert result.values.exact
rotated = result.outputs["k_embedded"].astype(np.float32)
length_before = np.hypot(k[:, :64].astype(np.float32), k[:, 64:])
length_after = np.hypot(rotated[:, :64], rotated[:, 64:])
print(f"a rotation keeps lengths: largest change {np.abs(length_after - length_before).max():.1e}")
print(f"id {result.tiling.key}, {result.program.block_dim} cores, {result.duration_us:.2f} us")
