"""What programmers change to make a kernel faster changes simulated times as it changed the measured ones."""

from __future__ import annotations

from functools import cache

import pytest

from ascend_sim.accuracy.rows import all_rows
from ascend_sim.accuracy.table import entry

SHARE = 0.15
"""How far a simulated factor may be off the measured one."""


@cache
def times(text: str, figure: str) -> tuple[float, float]:
    """Simulated and measured figure of the only 910B row with `text` in its id."""
    (row,) = [row for row in all_rows() if text in row.id and row.soc.startswith("Ascend910")]
    found = entry(row)
    assert found.sample is not None, found.reason
    return found.sample.figures[figure], row.metrics[figure]


@pytest.mark.parametrize(
    ("slower", "faster", "figure"),
    [
        pytest.param("ic1-float16", "ic8-float16", "duration_us", id="more cores: 1 and 8"),
        pytest.param("probe1-26214400-24-", "probe1-26214400-48-", "duration_us", id="more cores: 24 and 48"),
        pytest.param("ma2048-float16", "ma20480-float16", "duration_us", id="bigger copies: 4 KiB and 40 KiB"),
        pytest.param("db1-float16", "db2-float16", "duration_us", id="double buffering"),
        pytest.param("ub-read-only-s4-", "ub-read-only-s3-", "duration_us", id="alignment to 512 B"),
        pytest.param("add-ascendc-case4-", "add-ascendc-case5-", "duration_us", id="L2 left to the outputs"),
        pytest.param("add-ascendc-case5-", "add-ascendc-case6-", "vec_us", id="no bank conflict of two sources"),
        pytest.param("nd2nz-in-ub-s1-", "nd2nz-in-ub-s2-", "vec_us", id="no bank conflict of one destination"),
    ],
)
def test_a_change_has_its_measured_effect(slower, faster, figure):
    simulated, measured = zip(times(slower, figure), times(faster, figure), strict=True)
    factor, wanted = simulated[0] / simulated[1], measured[0] / measured[1]
    assert wanted > 1
    assert factor > 1
    assert factor == pytest.approx(wanted, rel=SHARE)


@pytest.mark.slow
def test_rows_of_short_copies_go_faster_together():
    (one, measured_one), (many, measured_many) = (times(f"ub-read-only-{s}-tile", "mte2_us") for s in ("s1", "s2"))
    assert one / many == pytest.approx(measured_one / measured_many, rel=SHARE)
