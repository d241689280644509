"""The Add4 and Mul kernels that were measured launch after launch on a 910B4 (20 blocks at most, L2 warm)."""

from __future__ import annotations

import statistics
from dataclasses import dataclass
from functools import cache

import pytest

from ascend_sim.accuracy.rows import all_rows
from ascend_sim.accuracy.simulate import simulate

FUSED = "cannbot-vs-pypto-add4-x1-x2-x3-x4-fused-ascendc-tile-8192-double-buffe"
MUL = "cannbot-vs-pypto-mul-ascendc-tile-8192-double-buffer-mul-ascendc-"


@dataclass(frozen=True)
class Measured:
    """Cycles are summed over the blocks; ratios are busy times over AIV time."""

    id: str
    blocks: int
    total_cycles: float
    duration_us: float
    scalar: float
    vec: float
    mte2: float
    mte3: float


ROWS = (
    Measured(FUSED, 12, 33599.0, 2.58, 0.609, 0.179, 0.273, 0.117),
    Measured(FUSED + "-3", 12, 42979.0, 3.08, 0.612, 0.271, 0.417, 0.195),
    Measured(FUSED + "-5", 16, 70682.5, 3.68, 0.618, 0.325, 0.522, 0.238),
    Measured(FUSED + "-7", 20, 117351.0, 4.74, 0.639, 0.388, 0.621, 0.2745),
    Measured(FUSED + "-2", 20, 191633.0, 7.18, 0.659, 0.472, 0.77, 0.34),
    Measured(FUSED + "-4", 20, 341405.5, 11.981, 0.676, 0.528, 0.873, 0.382),
    Measured(FUSED + "-6", 20, 649106.0, 21.491, 0.677, 0.555, 0.932, 0.406),
    Measured(MUL + "b1-fl", 12, 25280.0, 2.14, 0.684, 0.091, 0.208, 0.156),
    Measured(MUL + "b2-fl", 12, 29603.0, 2.4, 0.705, 0.143, 0.305, 0.249),
    Measured(MUL + "b4-fl", 16, 48017.5, 2.8, 0.696, 0.172, 0.396, 0.328),
    Measured(MUL + "b8-fl", 20, 75979.0, 3.44, 0.698, 0.213, 0.503, 0.422),
    Measured(MUL + "b16-f", 20, 116549.5, 4.74, 0.679, 0.273, 0.684, 0.582),
    Measured(MUL + "b32-f", 20, 199278.5, 7.44, 0.673, 0.317, 0.814, 0.698),
    Measured(MUL + "b64-f", 20, 363004.5, 12.64, 0.666, 0.346, 0.898, 0.769),
)


@cache
def errors() -> dict[str, dict[str, float]]:
    """Relative error of cycles, duration and busy times by row."""
    known = {row.id: row for row in all_rows()}
    found = {}
    for row in ROWS:
        figures = simulate(known[row.id]).figures
        aiv_us = row.total_cycles / row.blocks / 1650
        measured = {name: getattr(row, name) * aiv_us for name in ("scalar", "vec", "mte2", "mte3")}
        measured |= {"aiv": aiv_us, "duration": row.duration_us}
        found[row.id] = {name: figures[f"{name}_us"] / value - 1 for name, value in measured.items()}
    return found


def test_aiv_cycles_of_all_fourteen_rows():
    assert len(errors()) == 14
    aiv = [abs(error["aiv"]) for error in errors().values()]
    assert statistics.mean(aiv) <= 0.03  # the goal is 6 %
    assert max(aiv) <= 0.05  # the goal is 12 %


@pytest.mark.parametrize(
    ("figure", "mean", "worst"),
    [("duration", 0.03, 0.06), ("mte2", 0.03, 0.06), ("mte3", 0.04, 0.09), ("scalar", 0.05, 0.08), ("vec", 0.1, 0.23)],
)
def test_task_duration_and_busy_times(figure, mean, worst):
    """Vector time falls short because the counters add some 2 cycles for each flag of a queue on PIPE_V."""
    found = [abs(error[figure]) for error in errors().values()]
    assert statistics.mean(found) <= mean
    assert max(found) <= worst
