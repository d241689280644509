"""One call for every path of the host tiling, with what each costs."""

from __future__ import annotations

import ascend_sim

CALLS = {
    "nothing to rotate": ((4, 1, 8, 64), (4, 1, 1, 0), [0, 0]),
    "one row of cos per batch": ((64, 1, 8, 64), (64, 1, 1, 64), [0, 64]),
    "one head per row of cos": ((64, 1, 1, 64), (64, 1, 1, 64), [0, 64]),
    "one row of cos per token": ((2, 32, 8, 128), (2, 32, 1, 64), [0, 64]),
    "... of 60 elements, padded in UB": ((2, 32, 8, 128), (2, 32, 1, 60), [2, 62]),
    "rows too long for UB": ((1, 4, 128, 128), (1, 4, 1, 128), [0, 128]),
}

for what, (x, cos, part) in CALLS.items():
    result = ascend_sim.run(
        "inplace_partial_rotary_mul",
        (x, "float16"),
        (cos, "float16"),
        (cos, "float16"),
        partial_slice=part,
        values=False,
    )
    assert result.tiling  # only a kernel of one's own has none
    key, path, blocks = result.tiling.key, result.tiling.path, result.tiling.block_dim
    print(f"{what:34} key {key:4} {path:16} {blocks:2} blocks {result.duration_us:7.2f} us")
