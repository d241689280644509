"""Carrying a launch on from its first tiles gives what simulating all of it gives."""

from __future__ import annotations

import pytest

from ascend_sim.accuracy.kernels import build
from ascend_sim.accuracy.rows import all_rows
from ascend_sim.accuracy.simulate import simulate
from ascend_sim.sampling import steady
from ascend_sim.soc import load


def row(text):
    return next(row for row in all_rows() if text in row.id)


@pytest.mark.parametrize(
    ("text", "tolerance"),
    [
        ("vector-peak-elemwise-mul", 1e-6),  # one core, vector bound
        ("8x-add-buffer-num-1", 0.01),  # 8 cores
        ("datacopy-gm-ub-read-only-s5", 0.01),  # 48 cores, HBM
        ("add-ascendc-case3", 0.04),  # 48 cores, HBM, L2 fills up on the way and the cores drift apart
    ],
)
def test_like_the_whole(monkeypatch, text, tolerance):
    chosen = row(text)
    chip = load(chosen.soc, {"l2.bytes": "32 MiB"})
    monkeypatch.setattr(steady, "FULL_INSTRUCTIONS", 10_000_000)
    whole = simulate(chosen, chip)
    assert whole.tiles == whole.of
    monkeypatch.setattr(steady, "FULL_INSTRUCTIONS", 0)
    if "loop" not in str(chosen.family):
        monkeypatch.setattr(steady, "WINDOW_TILES", 8)
        monkeypatch.setattr(steady, "WINDOW_INSTRUCTIONS", 8)
    part = simulate(chosen, chip)
    assert part.tiles < part.of == whole.of
    for name in ("duration_us", "aiv_us", "mte2_us", "vec_us"):
        assert part.figures[name] == pytest.approx(whole.figures[name], rel=tolerance, abs=0.05)


def test_short_launches_are_simulated_whole():
    found = simulate(row("small-add-overhead-sample-after"))
    assert (found.tiles, found.of, found.bound) == (10, 10, 0.0)


def test_a_launch_of_one_tile_is_not_cut():
    found = simulate(row("h1-d128-t1-"))
    assert (found.tiles, found.of) == (1, 1)


def test_cases_tell_their_tiles():
    assert build(row("case0")).tiles == 16384
    assert build(row("r10-kernel")).tiles == 820
