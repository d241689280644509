"""Tiling keys of operators that end in a sum by CANN's reduce library: what the library asks for, a template, a flag.

The library itself is not modelled. Its part of the key is that of sums that fit UB; its words of the tiling data, its
part of the workspace and of the block dim are left out.
"""

from __future__ import annotations

from ascend_sim.host.tensors import Shape

REDUCE_WORDS = 66  # ReduceOpTilingData

# Bits of the key: 2 for "contiguous" (always 1), 8 for the pattern of axes (A kept, R reduced), 8 for 10 * the number
# of kept axes that are looped over plus that of reduced ones, 8 for the loops inside; then 8 for the template, 1 flag.
PATTERN_BIT, LOOPS_BIT, TEMPLATE_BIT, FLAG_BIT = 2, 10, 26, 34
EMPTY = 1
NO_AXES = 1 | 100 << PATTERN_BIT | 10 << LOOPS_BIT
ONE_RUN = 1 | 20 << PATTERN_BIT | 10 << LOOPS_BIT  # ARA
TWO_RUNS = 1 | 80 << PATTERN_BIT | 40 << LOOPS_BIT  # RARA, which the library pads to ARARARARA
NOTE = (
    f"words 0 to {REDUCE_WORDS - 1} are those of CANN's reduce library, which is not modelled; so are its part of the "
    "workspace and of the block dim, and its loop counts in the key are those of sums that fit UB"
)


def runs(dims: Shape, cos: Shape) -> int:
    """Runs of neighbouring axes along which cos (its last dim left out or not) is one row for several.

    Axes of one index count as not there, as in the library: what they part is one run.
    """
    shared = [one == 1 for many, one in zip(dims, cos, strict=False) if many != 1]
    return sum(now and not before for before, now in zip([False, *shared], shared, strict=False))


def of_runs(count: int) -> int:
    """What the library asks for when sums go over so many runs of axes."""
    return (NO_AXES, ONE_RUN, TWO_RUNS)[count]


def pack(reduce_key: int, template: int, first_template: int, flag: int) -> int:
    """The tiling key; templates are numbered from `first_template`."""
    return reduce_key | (template - first_template << TEMPLATE_BIT) | (flag << FLAG_BIT)
