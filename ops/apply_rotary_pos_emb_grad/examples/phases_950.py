"""What grad_cos and grad_sin add to the gradients of query and key, template by template."""

from __future__ import annotations

import ascend_sim

D = 128
TEMPLATES = {  # layout; leading dims of query, key and cos
    "BAB": ("BSND", (2, 256, 16), (2, 256, 2), (1, 256, 1)),
    "AB": ("BSND", (2, 256, 16), (2, 256, 2), (2, 256, 1)),
    "A": ("BSND", (2, 256, 1), (2, 256, 1), (2, 256, 1)),
}

for name, (layout, query, key, cos) in TEMPLATES.items():
    q, k, table = (((*dims, D), "bfloat16") for dims in (query, key, cos))
    alone, full = (
        ascend_sim.run("apply_rotary_pos_emb_grad", q, k, table, table, *forward, layout=layout, values=False)
        for forward in ((), (q, k))
    )
    assert alone.tiling
    assert full.tiling
    assert alone.tiling.path == full.tiling.path == name
    added = f"with grad_cos and grad_sin {full.duration_us:6.2f} us, workspace {full.tiling.workspace_bytes:,} B"
    print(f"template {name:3} gradients alone {alone.duration_us:6.2f} us, {added}")
