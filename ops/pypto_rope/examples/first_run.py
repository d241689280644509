"""The vision kernel for q and k: values, time, and what limits it."""

from __future__ import annotations

import numpy as np

import ascend_sim

rng = np.random.default_rng(0)
q, k = (rng.standard_normal((31, heads, 128)).astype(np.float16) for heads in (16, 2))
angles = np.arange(31)[:, None] * 10000.0 ** (-np.arange(64) / 64)
cos, sin = (np.tile(turn(angles), 2).astype(np.float16) for turn in (np.cos, np.sin))

result = ascend_sim.run("pypto_rope", q, cos, sin, k=k, kernel="vision")

assert result.values.exact
print("every bit is as the golden has it")
print(f"{result.program.block_dim} cores, {result.program.instructions} instructions, {result.duration_us:.2f} us")
print(f"limited by {result.bound}")
