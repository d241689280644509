"""The UB bank model against the published cases of bank_conflict_ub (measured_kernels 3.4) and nd2nz (3.3)."""

from __future__ import annotations

import pytest

from ascend_sim.machine.banks import BankModel
from ascend_sim.program import Access
from ascend_sim.soc import load

TAIL = 22
MODEL = BankModel.of(load("ascend910b").ub.banks, load("ascend910b").require_timing().vector.write_delay_cycles)


def plain(start: int) -> Access:
    return Access(start, 8, 32, 256)


@pytest.mark.parametrize(
    ("src0", "src1", "dst", "measured"),
    [
        (plain(0x0), plain(0x10100), plain(0x20000), 86.04),
        (plain(0x0), plain(0x4000), plain(0x10000), 150.01),
        (plain(0x0), plain(0x10000), plain(0x14100), 150.01),
        (plain(0x0), plain(0x10100), plain(0x4000), 86.0),
        (plain(0x0), plain(0x10100), plain(0x4020), 135.04),
        (plain(0x0), plain(0x10100), plain(0x10100), 86.04),
        (Access(0x0, 8, 0, 32), plain(0x10100), plain(0x10100), 129.02),
        (Access(0x0, 8, 0, 256), plain(0x10100), plain(0x10100), 86.0),
    ],
    ids=[f"case{number}" for number in range(1, 9)],
)
def test_published_cases_of_a_64_repeat_add(src0, src1, dst, measured):
    cycles = MODEL.occupancy((dst,), (src0, src1), 64, 1.0) + TAIL
    assert cycles == pytest.approx(measured, rel=0.023)


def test_eight_blocks_in_one_group_take_eight_cycles_a_repeat():
    scattered = MODEL.occupancy((Access(73728, 8, 144 * 32, 32),), (plain(0),), 144, 1.0)
    spread = MODEL.occupancy((Access(73728, 8, 145 * 32, 32),), (plain(0),), 144, 1.0)
    assert scattered == pytest.approx(144 * 8, abs=8)
    assert spread == pytest.approx(144, rel=0.15)


def test_long_walks_go_on_as_they_began():
    assert MODEL.occupancy((plain(0x10000),), (plain(0x0),), 300, 1.0) == 300
    assert MODEL.occupancy((plain(0x20000),), (plain(0x0), plain(0x0)), 300, 1.0) == 300


def test_slow_instructions_hide_conflicts():
    assert MODEL.occupancy((plain(0x10000),), (plain(0x0), plain(0x4000)), 64, 4.0) == 256
