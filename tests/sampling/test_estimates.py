"""Carried on against simulated in full."""

from __future__ import annotations

import time

import pytest

from ascend_sim import asc
from ascend_sim.asc.memory import DeviceArray
from ascend_sim.asc.tiles import Excerpt
from ascend_sim.host.device import Device
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


NEEDS_ALL = {"atb", "list grad A", "PyPTO skeleton", "PyPTO m-rope", "PyPTO interleave"}
"""Calls whose rounds differ too much, or are too few, for their number; excerpts of them say so."""


@pytest.mark.parametrize("name", MEDIUM)
def test_medium_examples(name: str):
    more = {"l2__bytes": "1 GiB"} if MEDIUM[name][1] == "ascend950" else {}  # room for enough of its large tiles
    one = timed(name, **more)
    found, exact = one.time(), one.time(exact=True)
    assert one.fits_l2
    assert found.exact == (name in NEEDS_ALL)
    assert found.exact or found.simulated < 0.95 * exact.simulated
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


@pytest.mark.parametrize("rough", [True, False])
def test_where_nothing_is_left_out_l2_is_that_of_the_launch(rough: bool, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(estimates, "RATHER_WHOLE_INSTRUCTIONS", 0)
    example = operator_named("pypto_rope").example
    one = timed(("pypto_rope", "Ascend910B3", example.inputs, example.attrs), l2__bytes="1 MiB")
    found, exact = one.time(rough=rough), one.time(exact=True)
    assert not one.fits_l2
    assert (found.exact, found.error) == (True, 0.0)
    assert found.duration_us == exact.duration_us


def test_a_poor_excerpt_is_not_an_answer(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(estimates, "RATHER_WHOLE_INSTRUCTIONS", 0)
    one = timed("split S", l2__bytes="6 MiB")
    said = one.time().error
    assert said > 0
    monkeypatch.setattr(estimates, "POOR", said / 2)
    assert one.time().error == 0.0
    assert one.time(rough=True).error > 0
    monkeypatch.setattr(estimates, "POOR_WHOLE_INSTRUCTIONS", 1000)
    assert one.time().error == said


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


def test_rounds_of_different_kinds_do_not_stand_for_one_another():
    short = _kinds_taken("a" * 40 + "b" * 2)
    assert short.count("b") == 2
    assert short.count("a") < 15
    groups = _kinds_taken("baaaa" * 60 + "ba")
    assert len(groups) < 100
    assert groups[-2:] == "ba"
    assert {len(run) for run in groups[5:-2].split("b")[1:]} == {4}
    assert _kinds_taken("abcdefg") == "abcdefg"


def _kinds_taken(kinds: str) -> str:
    """Which of the rounds an excerpt takes in; every one is a copy in."""
    taken = []

    @asc.jit
    def kernel(x: asc.GlobalAddress) -> None:
        gm = asc.GlobalTensor()
        gm.set_global_buffer(x)
        buffer = asc.TBuf(asc.TPosition.VECCALC)
        asc.TPipe().init_buffer(buffer, 256)
        for number in asc.tiles(range(len(kinds)), kinds.__getitem__):
            taken.append(kinds[number])
            for _ in range(20):
                asc.data_copy(buffer.get(asc.float32), gm[1024 * number], 64)

    device = Device("Ascend910B3", values=False)
    device.excerpt = Excerpt()
    with device:
        kernel[1](DeviceArray((1024 * len(kinds),), asc.float32))
    return "".join(taken)
