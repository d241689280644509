"""Rotate query and key and turn them back: the gradient of a rotation is its inverse. Then grad_cos, against a sum."""

from __future__ import annotations

import numpy as np

import ascend_sim

rng = np.random.default_rng(0)
query, key = (rng.standard_normal((2, 32, heads, 128)).astype(np.float32) for heads in (8, 2))
angle = np.tile(rng.uniform(-np.pi, np.pi, (1, 32, 1, 64)), 2)  # both elements of a pair turn by one angle
cos, sin = np.cos(angle).astype(np.float32), np.sin(angle).astype(np.float32)

turned_query, turned_key = query.copy(), key.copy()
forward = ascend_sim.run("apply_rotary_pos_emb", turned_query, turned_key, cos, sin, soc="ascend950")
print(f"rotated: moved by up to {np.abs(turned_query - query).max():.2f}, {forward.duration_us:.2f} us")

back = ascend_sim.run("apply_rotary_pos_emb_grad", turned_query, turned_key, cos, sin, query, key)
off = max(
    np.abs(back.outputs["grad_query"] - query).max(),
    np.abs(back.outputs["grad_key"] - key).max(),
)
print(f"and back: off by up to {off:.1e}, {back.duration_us:.2f} us")

products = [(turned_query * query).sum(axis=(0, 2)), (turned_key * key).sum(axis=(0, 2))]
error = np.abs(back.outputs["grad_cos"].reshape(32, 128) - sum(products)).max()
print(f"grad_cos: off by up to {error:.1e} from numpy's sums over batches and heads")
assert forward.values.ok
assert back.values.exact
