"""One call for every template of the 950, with what each costs."""

from __future__ import annotations

import ascend_sim

X = (2, 64, 16, 128)
TEMPLATES = {
    "A": (2, 64, 16),  # cos the shape of x
    "B": (1, 1, 1),
    "AB": (2, 64, 1),
    "BAB": (1, 64, 1),
    "ABA": (2, 1, 16),
    "BA": (1, 1, 16),
}

for name, cos in TEMPLATES.items():
    table = ((*cos, 128), "bfloat16")
    result = ascend_sim.run(
        "inplace_partial_rotary_mul",
        (X, "bfloat16"),
        table,
        table,
        partial_slice=[0, 128],
        soc="ascend950",
        values=False,
    )
    assert result.tiling  # only a kernel of one's own has none
    assert result.tiling.path == name
    print(f"template {name:4} cos {cos!s:12} {result.tiling.block_dim:2} blocks {result.duration_us:6.2f} us")
