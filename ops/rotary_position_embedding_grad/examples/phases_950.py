"""What dcos and dsin add to dx on the 950, template by template: rot(x), a meeting of all cores, and the sums."""

from __future__ import annotations

import ascend_sim

DY = (64, 4, 16, 128)
TEMPLATES = {  # leading dims of cos
    "A": (64, 4, 16),
    "AB": (64, 4, 1),
    "BAB": (1, 4, 1),
    "ABA": (64, 1, 16),
    "BA": (1, 1, 16),
}

for name, dims in TEMPLATES.items():
    dy, table = (DY, "bfloat16"), ((*dims, DY[-1]), "bfloat16")
    alone, full = (
        ascend_sim.run("rotary_position_embedding_grad", dy, table, table, x=x, soc="ascend950", values=False)
        for x in (None, dy)
    )
    assert alone.tiling
    assert alone.tiling.path == name
    times = f"dx alone {alone.duration_us:6.2f} us, with dcos and dsin {full.duration_us:6.2f} us"
    print(f"template {name:4} cos {dims!s:12} {times}")
