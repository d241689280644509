"""Every template and mode of the 950, with what each costs."""

from __future__ import annotations

import ascend_sim

X = (64, 4, 16, 128)
TEMPLATES = {  # leading dims of cos
    "A": (64, 4, 16),
    "B": (1, 1, 1),
    "AB": (64, 4, 1),
    "BAB": (1, 4, 1),
    "ABA": (64, 1, 16),
    "BA": (1, 1, 16),
}
MODES = ("half", "interleave", "quarter", "interleave-half")

print(f"x {X} bfloat16      " + "".join(f"{mode:>17}" for mode in MODES))
for name, dims in TEMPLATES.items():
    x, table = (X, "bfloat16"), ((*dims, X[-1]), "bfloat16")
    results = [
        ascend_sim.run("rotary_position_embedding", x, table, table, mode=mode, soc="ascend950", values=False)
        for mode in MODES
    ]
    assert all(result.tiling and result.tiling.path == name for result in results)
    times = "".join(f"{result.duration_us:14.2f} us" for result in results)
    print(f"template {name:4} cos {dims!s:12} {times}")
