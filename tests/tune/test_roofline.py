"""The roofline that efficiencies are measured against."""

from __future__ import annotations

from types import SimpleNamespace
from typing import cast

import numpy as np
import pytest

from ascend_sim.host.registry import operator_named
from ascend_sim.host.tensors import TensorInfo
from ascend_sim.machine.memory import hbm_bytes_per_cycle
from ascend_sim.sampling.calls import TimedCall
from ascend_sim.sampling.estimate import Estimate
from ascend_sim.soc import load
from ascend_sim.timeline import MemoryCounters
from ascend_sim.tune.roofline import roofline

ROTARY = operator_named("rotary_position_embedding")
PARTIAL = operator_named("inplace_partial_rotary_mul")


def timed(soc: str, batch: int, positions: int, heads: int, dtype: str) -> tuple[TimedCall, Estimate]:
    x = TensorInfo((batch, positions, heads, 128), dtype)
    cos = TensorInfo((1, positions, 1, 128), dtype)
    call = TimedCall(ROTARY, {"x": x, "cos": cos, "sin": cos}, {}, load(soc))
    return call, call.time()


@pytest.mark.parametrize("soc", ["Ascend910B3", "ascend950"])
@pytest.mark.parametrize("dtype", ["float16", "float32"])
@pytest.mark.parametrize(("batch", "positions", "heads"), [(1, 1, 1), (4, 64, 8), (1, 2048, 32)])
def test_nothing_is_faster(soc: str, dtype: str, batch: int, positions: int, heads: int):
    call, found = timed(soc, batch, positions, heads, dtype)
    least_us, limit = roofline(call, found)
    assert 0 < least_us < found.duration_us
    assert limit in ("L2", "HBM", "vector")


def made(soc: str, read: int, written: int, hbm: int, vector: list[int]) -> tuple[float, str]:
    """Of a call with inputs of 1,000,000 B and outputs of 500,000 B, by what its kernel moves and works."""
    memory = MemoryCounters(read_bytes=read, written_bytes=written, hbm_read_bytes=hbm)
    metrics = SimpleNamespace(memory=memory, busy_cycles={"vec": np.array(vector)})
    call = SimpleNamespace(chip=load(soc), input_bytes=1_000_000, output_bytes=500_000)
    return roofline(cast(TimedCall, call), cast(Estimate, SimpleNamespace(whole=SimpleNamespace(metrics=metrics))))


def test_what_the_chip_must_do_at_least():
    """Ascend910B3: 20 AI Cores of two vector cores, 110 B of L2 loads a cycle each and 86 of stores, at 1800 MHz."""
    assert made("Ascend910B3", 600_000, 500_000, 0, [100]) == (pytest.approx(500_000 / 86 / 20 / 1800), "L2")
    assert made("Ascend910B3", 1_000_000, 100_000, 0, [100]) == (pytest.approx(1_000_000 / 110 / 20 / 1800), "L2")
    twice = made("Ascend910B3", 2_000_000, 100_000, 0, [100])
    assert twice == made("Ascend910B3", 1_000_000, 100_000, 0, [100])  # what is loaded again need not be
    assert made("Ascend910B3", 0, 0, 0, [30_000, 50_000]) == (pytest.approx(80_000 / 40 / 1800), "vector")
    gbps = hbm_bytes_per_cycle(load("Ascend910B3")) * 1.8
    assert made("Ascend910B3", 1_000_000, 500_000, 900_000, [1]) == (pytest.approx(900 / gbps), "HBM")
    assert made("Ascend910B3", 1_000_000, 500_000, 1_900_000, [1]) == (pytest.approx(1500 / gbps), "HBM")


def test_what_l2_does_not_hold_comes_from_hbm():
    call, found = timed("ascend950", 1, 8192, 32, "float32")
    chip = call.chip
    least_us, limit = roofline(call, found)
    memory = found.whole.metrics.memory
    assert limit == "HBM"
    moved = memory.hbm_read_bytes + memory.hbm_written_bytes
    assert least_us == pytest.approx(moved / hbm_bytes_per_cycle(chip) / chip.clock_mhz)
    assert 0.7 < least_us / found.duration_us < 1


def test_an_excerpt_has_the_roofline_of_the_whole():
    cos = TensorInfo((2, 16384, 1, 64), "float16")
    inputs = {"x": TensorInfo((2, 16384, 8, 128), "float16"), "cos": cos, "sin": cos}
    call = TimedCall(PARTIAL, inputs, {"partial_slice": (0, 64)}, load("Ascend910B3"))
    part, whole = call.time(rough=True), call.time(exact=True)
    assert part.error > whole.error == 0
    (least_us, limit), (exact_us, exactly) = roofline(call, part), roofline(call, whole)
    assert limit == exactly
    assert least_us == pytest.approx(exact_us, rel=0.01)
