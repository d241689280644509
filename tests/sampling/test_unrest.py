"""How much the mean of repeated rounds hangs on chance."""

from __future__ import annotations

import numpy as np
import pytest

from ascend_sim.sampling.unrest import deviation

CORES, DRAWS = 8, 300


@pytest.mark.parametrize("lasting", [0.0, 0.5, 0.7])
def test_rounds_of_which_each_hangs_on_the_one_before(lasting: float):
    """Rounds that are off for themselves leave their mean nearer to the truth than rounds that are off in rows; so far
    off as the mean of many draws is, it is said to be."""
    noise = np.random.default_rng(7).normal(0.0, 50.0, (DRAWS, CORES, 40))
    rounds = np.zeros_like(noise)
    for at in range(1, noise.shape[2]):
        rounds[:, :, at] = lasting * rounds[:, :, at - 1] + noise[:, :, at]
    rounds = rounds[:, :, 20:]
    off = float(np.std(rounds.mean(axis=(1, 2))))
    said = np.mean([deviation(list(draw)) for draw in rounds.astype(np.int64)])
    assert 0.9 * off < said < 1.4 * off


def test_what_one_core_loses_another_one_gains():
    wave = np.array([900, 1100] * 4)
    assert deviation([wave, 2000 - wave]) == 0.0


def test_cores_that_differ_for_good_and_by_chance():
    slow, slower, fast = np.full(6, 1010), np.repeat([990, 1010], 3), np.repeat([1010, 990], 3)
    assert deviation([slow, slow - 20]) == 0.0
    assert deviation([slower, fast]) == pytest.approx(10.0)  # changes of -20 and 20: 28.3 / 2 / sqrt(2)


def test_few_rounds_say_nothing_of_themselves():
    assert deviation([np.array([900, 1100])]) == 0.0
    assert deviation([np.array([900])]) == 0.0
