"""Carried on against simulated in full."""

from __future__ import annotations

import time

import pytest

from ascend_sim.host.registry import operator_named
from ascend_sim.sampling import estimate as estimates
from ascend_sim.sampling.calls import TimedCall
from ascend_sim.soc import load
from tests.sampling.calls import MEDIUM, call


def timed(name: str, **overrides: str) -> TimedCall:
    op, soc, inputs, attrs = MEDIUM[name] if isinstance(name, str) else name
    chip = load(soc, {key.replace("__", "."): value for key, value in overrides.items()})
    return TimedCall(operator_named(op), inputs, attrs, chip)


@pytest.fixture(autouse=True)
def small_ones_show_it_too(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(estimates, "WHOLE_INSTRUCTIONS", 0)


@pytest.mark.parametrize("name", MEDIUM)
def test_medium_examples(name: str):
    one = timed(name)
    found, exact = one.time(), one.time(exact=True)
    assert exact.exact
    assert exact.error == 0.0
    off = found.duration_us / exact.duration_us - 1
    assert abs(off) <= 0.005
    assert abs(off) <= found.error + 1e-9
    assert found.whole.instructions == pytest.approx(exact.whole.instructions, rel=0.002)


def test_figures_of_the_whole():
    one = timed("split S")
    found, exact = one.time(), one.time(exact=True)
    assert not found.exact
    assert found.simulated < exact.simulated / 2
    mine, real = found.whole.metrics, exact.whole.metrics
    assert mine.memory.read_bytes == real.memory.read_bytes
    assert mine.memory.written_bytes == real.memory.written_bytes
    assert mine.instructions == real.instructions
    assert mine.bound == real.bound
    assert mine.duration_us == pytest.approx(found.duration_us, rel=0.005)
    for pipe, use in real.pipes.items():
        assert mine.pipes[pipe].busy_us == pytest.approx(use.busy_us, rel=0.005)
        assert mine.pipes[pipe].ratio == pytest.approx(use.ratio, rel=0.005)


def test_a_launch_that_does_not_fit_into_l2(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(estimates, "RATHER_WHOLE_INSTRUCTIONS", 0)
    one = timed("split S", l2__bytes="6 MiB")
    found, exact = one.time(), one.time(exact=True)
    assert not found.exact
    assert exact.whole.metrics.memory.hbm_written_bytes > 0
    assert abs(found.duration_us / exact.duration_us - 1) <= found.error
    share = found.whole.metrics.memory.hbm_read_bytes / found.whole.metrics.memory.read_bytes
    assert share == pytest.approx(
        exact.whole.metrics.memory.hbm_read_bytes / exact.whole.metrics.memory.read_bytes, rel=0.03
    )


def test_tilings_are_timed_one_after_another():
    one = timed("interleave grad")
    first, again = one.time(), one.time()
    assert (first.duration_us, first.error, first.simulated) == (again.duration_us, again.error, again.simulated)


@pytest.mark.slow
def test_twenty_times_faster():
    large = call(
        "inplace_partial_rotary_mul",
        "Ascend910B3",
        {"partial_slice": (0, 128)},
        x=((8, 4096, 32, 128), "float16"),
        cos=((8, 4096, 1, 128), "float16"),
        sin=((8, 4096, 1, 128), "float16"),
    )
    one = timed(large)
    seconds, found = [], []
    for exact in (True, False):
        begin = time.process_time()
        found.append(one.time(exact=exact))
        seconds.append(time.process_time() - begin)
    assert seconds[0] >= 20 * seconds[1]
    assert abs(found[1].duration_us / found[0].duration_us - 1) <= min(0.005, found[1].error)
