"""Which copies and vector functions the 950's kernels issue, in which order, and what is in a vector function."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
from helpers.runs_arch35 import WholeLines, counts, steps_of, vector_functions

from ascend_sim.host.registry import operator_named

OP = operator_named("rotary_position_embedding_grad")
MODES = {"half": 0, "interleave": 1, "quarter": 2, "interleave-half": 3}


def steps(mode: str, layout: str, x: tuple[int, ...], block: int = 0) -> list[str]:
    """Of one block of a call with x, on two cores."""
    bench = WholeLines(OP, MODES[mode], with_x=True)
    inputs = bench.inputs(layout, np.float16, 72, x)
    tiling, program, outputs = bench.run(inputs, cores=2, ub_bytes=65_536, values=False)
    assert (tiling.path, tiling.block_dim) == (layout, 2)
    halves = 2 if mode == "interleave-half" else 1
    workspace = np.zeros(halves * inputs["dy"].size, np.float16)
    return steps_of(program, {**inputs, **outputs, "workspace": workspace}, block)


def test_phases_of_a_template_with_sums() -> None:
    """dx; rot(x) to the workspace; all cores meet; the sums of dy * x, then those of dy * rot(x)."""
    sums = [
        ["dy", factor, "add_terms_vf", "round_totals_vf", f"> {result}"]
        for factor, result in (("x", "dcos"), ("workspace", "dsin"))
    ]
    assert steps("half", "AB", (4, 1, 3)) == [
        *["cos", "sin", "dy", "half_back_lines_vf", "> dx"],
        *["x", "half_x_vf", "> workspace"],
        "SyncAll",
        *sums[0],
        *sums[1],
    ]


def test_phases_of_template_a_in_mode_interleave_half() -> None:
    """x as y has it and rot(x) lie in the workspace; Mul takes the place of the sums."""
    assert steps("interleave-half", "A", (2, 1, 3)) == [
        *["cos", "sin", "dy", "interleave_half_back_batches_vf", "> dx"],
        *["x", "placed_x_vf", "> workspace", "rotated_x_vf", "> workspace"],
        "SyncAll",
        *["dy", "workspace", "Mul", "> dcos", "dy", "workspace", "Mul", "> dsin"],
    ]


def test_a_core_without_results_sums_nothing() -> None:
    """One row of cos for all: block 0 makes it."""
    assert steps("quarter", "B", (1, 1, 4), block=1)[-1] == "SyncAll"


# of one round of dx, without what 16-bit elements need
PARTS = Counter(UpdateMask=1, LoadAlign=6, Mul=4, Sub=1, Add=1, StoreAlign=2)
FOUR_PARTS = Counter(UpdateMask=1, LoadAlign=12, Mul=8, Sub=2, Add=2, StoreAlign=4)
NEIGHBOURS = Counter(UpdateMask=3, LoadAlign=6, Mul=4, DeInterleave=1, Muls=1, Interleave=1, Add=2, StoreAlign=2)
WOVEN = Counter(UpdateMask=3, LoadAlign=6, Mul=4, Sub=1, Add=1, Interleave=1, StoreAlign=2)
SUM = Counter(UpdateMask=1, LoadAlign=2 * 3, Mul=3, Add=2, StoreAlign=1)  # of three products
ROUND = Counter(UpdateMask=1, LoadAlign=1, StoreAlign=1)


def functions(mode: str, layout: str, length: int, dtype: Any) -> list[Counter[str]]:
    """What the vector functions of a call with x consist of, in order; three lines, or eight in ABA."""
    bench = WholeLines(OP, MODES[mode], with_x=True)
    x = (2, 2, 2) if layout == "ABA" else (1, 1, 3)
    _, program, _ = bench.run(bench.inputs(layout, dtype, length, x), cores=1, ub_bytes=65_536, values=False)
    return [counts(item.work.body) for item in vector_functions(program)]  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("mode", "layout", "length", "a_round", "rounds"),
    [
        ("half", "B", 140, PARTS, 2),
        ("half", "A", 128, PARTS, 1),
        ("quarter", "B", 280, FOUR_PARTS, 2),
        ("quarter", "ABA", 256, FOUR_PARTS, 1),
        ("interleave", "B", 130, NEIGHBOURS, 2),
        ("interleave", "ABA", 128, NEIGHBOURS, 1),
        ("interleave-half", "B", 190, WOVEN, 2),
        ("interleave-half", "A", 128, WOVEN, 1),
    ],
)
def test_rounds_of_dx(mode: str, layout: str, length: int, a_round: Counter[str], rounds: int) -> None:
    lines = 8 if layout == "ABA" else 3
    expected = Counter({name: lines * rounds * count for name, count in a_round.items()})
    assert functions(mode, layout, length, np.float32)[0] == expected
    expected += Counter(Cast=expected["LoadAlign"] + expected["StoreAlign"])
    assert functions(mode, layout, length, np.float16)[0] == expected


@pytest.mark.parametrize(
    ("mode", "length", "dtype", "wanted"),
    [
        # a register holds 128 halves, or 64 floats; two rounds of three lines
        ("half", 258, np.float16, {"UpdateMask": 6, "LoadAlign": 12, "Mul": 6, "StoreAlign": 12}),
        ("quarter", 260, np.float32, {"UpdateMask": 6, "LoadAlign": 24, "Mul": 12, "StoreAlign": 24}),
        (
            "interleave",
            130,
            np.float32,
            {"UpdateMask": 12, "LoadAlign": 12, "DeInterleave": 6, "Mul": 6, "Interleave": 6, "StoreAlign": 12},
        ),
        ("interleave-half", 130, np.float32, {"UpdateMask": 12, "LoadAlign": 12, "DeInterleave": 6, "StoreAlign": 12}),
    ],
)
def test_rotated_x(mode: str, length: int, dtype: Any, wanted: dict[str, int]) -> None:
    """Elements are moved as they are: no Cast."""
    assert functions(mode, "B", length, dtype)[1] == Counter(CreateMask=1, Duplicate=1) + Counter(wanted)


def test_sums_of_three_products() -> None:
    """The first term is not added to anything."""
    assert functions("half", "B", 64, np.float32)[2:] == [SUM, ROUND] * 2
