"""One call for every template of the 950 in every mode, half of each head rotated, with what each costs."""

from __future__ import annotations

import ascend_sim

D, REAL = 128, 64
TEMPLATES = {  # layout; leading dims of query, key and cos
    "AB": ("BSND", (2, 64, 16), (2, 64, 2), (2, 64, 1)),
    "BAB": ("BSND", (2, 64, 16), (2, 64, 2), (1, 64, 1)),
    "ABA": ("BNSD", (2, 16, 64), (2, 2, 64), (2, 1, 64)),
    "BA": ("BNSD", (2, 16, 64), (2, 2, 64), (1, 1, 64)),
}
MODES = ("half", "interleave", "quarter")

print("template and layout  " + "  ".join(f"{mode:>13}" for mode in MODES))
for name, (layout, query, key, cos) in TEMPLATES.items():
    times = []
    for mode in MODES:
        result = ascend_sim.run(
            "apply_rotary_pos_emb",
            ((*query, D), "bfloat16"),
            ((*key, D), "bfloat16"),
            ((*cos, REAL), "bfloat16"),
            ((*cos, REAL), "bfloat16"),
            layout=layout,
            rotary_mode=mode,
            soc="ascend950",
            values=False,
        )
        assert result.tiling  # only a kernel of one's own has none
        assert result.tiling.path == name
        times.append(f"{result.duration_us:10.2f} us")
    print(f"{name:4} {layout:15} " + "  ".join(times))
