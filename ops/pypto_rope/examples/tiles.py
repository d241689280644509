"""Which vector tile? Time and unified buffer of the skeleton for (40, 256, 128) float16, without values."""

from __future__ import annotations

import ascend_sim
from ascend_sim.errors import AscendSimError

SHAPE = ((40, 256, 128), "float16")


def line(rows: int, unroll: int) -> str:
    """One tile: rows of 128 elements, bodies worked on together."""
    try:
        result = ascend_sim.run(
            "pypto_rope", *[SHAPE] * 3, kernel="skeleton", tile=[1, rows, 128], unroll=[unroll], values=False
        )
    except AscendSimError as refusal:
        return str(refusal).splitlines()[0].split(";")[-1].split(".")[0].strip()
    used = sum(buffer.nbytes * buffer.count for buffer in result.tiling.buffers)
    return f"{result.duration_us:6.2f} us, {used:7,} B, limited by {result.bound}"


print("rows  unroll 1                                  unroll 2")
for rows in (16, 32, 64, 128, 256):
    print(f"{rows:4}  {line(rows, 1):42}{line(rows, 2)}")
