"""Query and key of a decoding and of a prefilling step: which key each call gets, and what it costs."""

from __future__ import annotations

import ascend_sim

CALLS = {  # positions, heads of query and of key, type
    "decode, a position a core": ((32, 1), 16, 2, "float16"),
    "prefill": ((1, 4096), 16, 2, "float16"),
    "prefill, computed in rounds": ((1, 4096), 8, 1, "float16"),
    "prefill, widened to float32": ((1, 4096), 16, 2, "bfloat16"),
}

for what, (positions, q_heads, k_heads, dtype) in CALLS.items():
    shapes = [(*positions, heads, 128) for heads in (q_heads, k_heads, 1, 1)]
    result = ascend_sim.run("apply_rotary_pos_emb", *((shape, dtype) for shape in shapes), layout="BSND", values=False)
    assert result.tiling  # only a kernel of one's own has none
    key, path, blocks = result.tiling.key, result.tiling.path, result.tiling.block_dim
    print(f"{what:28} key {key} {path:8} {blocks:2} blocks {result.duration_us:7.2f} us")
