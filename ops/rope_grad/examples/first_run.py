"""Gradients of q and k for four samples: right by the operator's own formula, and how far from the true gradient."""

from __future__ import annotations

import numpy as np

import ascend_sim

rng = np.random.default_rng(0)
lengths = [2, 1, 4, 4]
angles = np.arange(64)[:, None] * 10000.0 ** (-np.arange(64) / 64)
cos, sin = (np.tile(turn(angles), (1, 2)).astype(np.float16) for turn in (np.cos, np.sin))
q, k = (rng.standard_normal((sum(lengths), 1024)).astype(np.float16) for _ in range(2))

result = ascend_sim.run("rope_grad", q, k, cos, sin, qSeqLen=lengths, compare="true")

assert result.values.exact
assert result.comparison is not None
assert result.comparison.rms_ratio is not None
print("every bit is as the operator defines it")
print(f"its distance from the gradient of the rotation is {100 * result.comparison.rms_ratio:.0f} % of that gradient")
print(f"{result.program.block_dim} cores, {result.program.instructions} instructions, {result.duration_us:.2f} us")
