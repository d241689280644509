"""What programmers change to make a kernel faster changes simulated times as it changed the measured ones.

The test of the whole table checks this on its entries: the rows are not simulated a second time.
"""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from ascend_sim.accuracy.table import Entry

SHARE = 0.15
"""How far a simulated factor may be off the measured one."""

TRENDS = {
    "more cores: 1 and 8": ("ic1-float16", "ic8-float16", "duration_us"),
    "more cores: 24 and 48": ("probe1-26214400-24-", "probe1-26214400-48-", "duration_us"),
    "bigger copies: 4 KiB and 40 KiB": ("ma2048-float16", "ma20480-float16", "duration_us"),
    "double buffering": ("db1-float16", "db2-float16", "duration_us"),
    "alignment to 512 B": ("ub-read-only-s4-", "ub-read-only-s3-", "duration_us"),
    "L2 left to the outputs": ("add-ascendc-case4-", "add-ascendc-case5-", "duration_us"),
    "no bank conflict of two sources": ("add-ascendc-case5-", "add-ascendc-case6-", "vec_us"),
    "no bank conflict of one destination": ("nd2nz-in-ub-s1-", "nd2nz-in-ub-s2-", "vec_us"),
    "short copies, longer ones": ("ub-read-only-s1-tile", "ub-read-only-s2-tile", "mte2_us"),
}
"""Texts in the ids of the slower and of the faster row, and the figure that changed."""


def check_trends(entries: Sequence[Entry]) -> None:
    for change, (slower, faster, figure) in TRENDS.items():
        simulated, measured = zip(_times(entries, slower, figure), _times(entries, faster, figure), strict=True)
        factor, wanted = simulated[0] / simulated[1], measured[0] / measured[1]
        assert wanted > 1, change
        assert factor > 1, change
        assert factor == pytest.approx(wanted, rel=SHARE), change


def _times(entries: Sequence[Entry], text: str, figure: str) -> tuple[float, float]:
    """Simulated and measured figure of the only 910B row with `text` in its id."""
    (found,) = [entry for entry in entries if text in entry.row.id and entry.row.soc.startswith("Ascend910")]
    assert found.sample is not None, found.reason
    return found.sample.figures[figure], found.row.metrics[figure]
