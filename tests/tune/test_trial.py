"""One tiling timed: whose time is accounted for."""

from __future__ import annotations

import pytest

from ascend_sim import asc
from ascend_sim.asc.memory import DeviceArray
from ascend_sim.asc.tiles import Excerpt
from ascend_sim.host.device import Device, Launch
from ascend_sim.sampling import estimate as estimates
from ascend_sim.soc import load
from ascend_sim.tune.trial import BEFORE, LAUNCH, account_of

LONG, SHORT = 400, 40  # tiles of the first two blocks, and of the third


@asc.jit
def kernel(x: asc.GlobalAddress) -> None:
    gm = asc.GlobalTensor()
    gm.set_global_buffer(x)
    queue = asc.TQue(asc.TPosition.VECIN, 2)
    asc.TPipe().init_buffer(queue, 2, 1024)
    for _ in asc.tiles(range(SHORT if asc.get_block_idx() == 2 else LONG)):
        tile = queue.alloc_tensor(asc.float16)
        asc.data_copy(tile, gm, 512)
        queue.enque(tile)
        tile = queue.deque(asc.float16)
        asc.muls(tile, tile, 2.0, 512)
        queue.free_tensor(tile)


def run(excerpt: Excerpt | None) -> Launch:
    with Device(load("Ascend910B3", {"cores.aiv": 2}), values=False, echo=False) as device:
        device.excerpt = excerpt
        kernel[3](DeviceArray((512,), asc.float16))
    return device.launches[-1]


def test_a_short_block_that_waits_for_its_turn_ends_last(monkeypatch: pytest.MonkeyPatch):
    """In an excerpt the long blocks seem to end after it."""
    monkeypatch.setattr(estimates, "WHOLE_INSTRUCTIONS", 0)
    exact, sampled = (account_of(estimates.estimate(run, exact=exact, rough=True)) for exact in (True, False))
    assert exact["vec"][BEFORE] > 20
    assert sampled.keys() == exact.keys()
    for pipe, parts in exact.items():
        assert sampled[pipe] == pytest.approx(parts, rel=0.02, abs=0.06)
        assert sum(sampled[pipe].values()) == pytest.approx(sum(parts.values()), rel=0.01)
        assert sampled[pipe][LAUNCH] == parts[LAUNCH]
