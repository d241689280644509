"""Kernels with one thing wrong are explained as such, and those without it are not."""

from __future__ import annotations

import pytest

import ascend_sim
from ascend_sim import asc
from ascend_sim.explain import Part
from tests.explain.kernels import adds, launched, one_by_one, scale, uneven

ELEMENTS = 1 << 20


def kinds(account):
    return [finding.kind for finding in account.findings]


def finding(account, kind):
    return next(finding for finding in account.findings if finding.kind == kind)


@pytest.mark.parametrize("soc", ["ascend910b", "ascend950"])
def test_a_single_buffer(soc):
    alone = launched(scale, 1, ELEMENTS, 8, 8192, 1, 4, soc=soc)
    double = launched(scale, 1, ELEMENTS, 8, 8192, 2, 4, soc=soc)
    assert "single_buffer" in kinds(alone)
    assert "single_buffer" not in kinds(double)
    assert double.timeline.duration_cycles < alone.timeline.duration_cycles
    found = finding(alone, "single_buffer")
    assert found.hint == (
        "give the queue two buffers (InitBuffer with num=2), so that the next tile moves beside the computing"
    )
    assert "kernels.py" in found.line


def test_bank_conflicts():
    """The second source in the bank groups of the first doubles every repeat."""
    conflicting, shifted = (launched(adds, 1, ELEMENTS, 65536 + shift, 50) for shift in (0, 256))
    found = finding(conflicting, "bank_conflicts")
    assert "Add kernels.py:" in found.text
    assert "bank_conflicts" not in kinds(shifted)
    gain = conflicting.what_if("no_bank_conflicts").gain_us
    saved = conflicting.timeline.duration_cycles - shifted.timeline.duration_cycles
    assert gain == pytest.approx(conflicting.timeline.to_us(saved), rel=0.01)
    assert gain == pytest.approx(
        conflicting.timeline.to_us(found.share * conflicting.timeline.duration_cycles), rel=0.01
    )
    assert shifted.what_if("no_bank_conflicts").gain_us == 0


def test_scalar_bound():
    found = launched(one_by_one, 1, ELEMENTS, 100)
    assert found.bound.kind == "scalar"
    assert "scalar_bound" in kinds(found)
    assert "GetValue kernels.py:" in finding(found, "scalar_bound").text


def test_hbm_bound():
    cold, warm = (launched(scale, 40, 40 * ELEMENTS, 6, 8192, 2, 1, l2=l2) for l2 in ("cold", "warm"))
    assert cold.bound.kind == "hbm"
    assert kinds(cold)[0] == "hbm_bound"
    hbm = next(roof for roof in cold.roofline.roofs if roof.name == "hbm")
    assert 0.5 < hbm.share <= 1
    assert "hbm_bound" not in kinds(warm)
    assert warm.what_if("hbm_2x").gain_us == warm.what_if("warm_l2").gain_us == 0
    answer = cold.what_if("warm_l2")
    assert answer.duration_us == pytest.approx(warm.what_if("warm_l2").base_us)
    assert cold.what_if("hbm_2x").gain_us > 0.2 * answer.base_us


def test_uneven_cores():
    uneven_cores, even = launched(uneven, 8, 8 * ELEMENTS, 4, 4096), launched(scale, 8, 8 * ELEMENTS, 4, 4096, 2, 1)
    assert kinds(uneven_cores)[0] == "unbalanced"
    assert uneven_cores.balance.slowest_block == 7
    assert {step.block for step in uneven_cores.path} == {7}
    assert "unbalanced" not in kinds(even)


def test_a_cold_start_makes_no_cores_uneven():
    with ascend_sim.device("ascend910b", values=False, launch_kind="in_situ") as device:
        x, y = (asc.memory.DeviceArray((40 * ELEMENTS,), "float32") for _ in range(2))
        scale[40](x, y, 2, 2048, 2, 1)
    found = device.runs[-1].account
    assert "unbalanced" not in kinds(found)
    late = found.timeline.cores[found.balance.slowest_block].late_cycles
    assert late > 0
    assert [step.cycles for step in found.path if step.part is Part.COLD_START] == [late]
    assert found.bound.shares["start"] > 0.5
