"""The golden against the formula element by element, and the true gradient against numerical differentiation."""

from __future__ import annotations

import numpy as np
from ascend_sim.oplib.rope_grad.golden import golden, true_gradient

from .calls import Array, inputs

LENGTHS = (3, 1, 2)


def naive(gradient: Array, cos: Array, sin: Array, row: int, position: int, column: int) -> np.float16:
    """One element: two roundings."""
    j = column % 128
    sine = sin[position, j + 64] if j < 64 else -sin[position, j - 64]
    weight = np.float16(np.float32(cos[position, j]) + np.float32(sine))
    return np.float16(np.float32(gradient[row, column]) * np.float32(weight))


def forward(x: Array, cos: Array, sin: Array) -> Array:
    """The rotation whose gradient it is meant to be, one head in float64."""
    turned = np.concatenate([-x[:, 64:], x[:, :64]], axis=1)
    return x * cos + turned * sin


def test_golden_element_by_element() -> None:
    given = inputs(LENGTHS, 2)
    found = golden(given, {"qSeqLen": LENGTHS})
    positions = [position for length in LENGTHS for position in range(length)]
    for out, name in (("q_grad", "q_embedded_grad"), ("k_grad", "k_embedded_grad")):
        assert found[out].dtype == np.float16
        for row, position in enumerate(positions):
            for column in (0, 1, 63, 64, 127, 128, 200, 255):
                want = naive(given[name], given["cos"], given["sin"], row, position, column)
                assert found[out][row, column].tobytes() == want.tobytes()


def test_rows_without_a_sample_are_nan() -> None:
    found = golden(inputs((2, 2), 1, rows=6), {"qSeqLen": (2, 2)})
    assert np.isnan(found["q_grad"][4:]).all()
    assert np.isfinite(found["q_grad"][:4]).all()


def test_the_true_gradient_by_central_differences() -> None:
    given = {name: array.astype(np.float64) for name, array in inputs((4,), 1, scale=1).items()}
    found = true_gradient(given, {"qSeqLen": (4,)})["q_grad"]
    x = np.random.default_rng(1).standard_normal((4, 128))
    loss = lambda at: float((forward(at, given["cos"], given["sin"]) * given["q_embedded_grad"]).sum())  # noqa: E731
    for row, column in ((0, 0), (1, 63), (2, 64), (3, 127)):
        step = np.zeros_like(x)
        step[row, column] = 1e-5
        assert abs((loss(x + step) - loss(x - step)) / 2e-5 - found[row, column]) < 1e-8


def test_the_difference_from_the_true_gradient() -> None:
    """(g1 - g2) * [sin2, sin1], but for rounding."""
    given = inputs((5, 7), 3, scale=1)
    attrs = {"qSeqLen": (5, 7)}
    got, true = golden(given, attrs)["k_grad"].astype(np.float64), true_gradient(given, attrs)["k_grad"]
    sin = np.concatenate([given["sin"][:5], given["sin"][:7]]).astype(np.float64)
    g = given["k_embedded_grad"].astype(np.float64).reshape(12, 3, 2, 64)
    spread = (g[:, :, :1] - g[:, :, 1:]) * np.stack([sin[:, 64:], sin[:, :64]], axis=1)[:, None]
    assert np.abs(got - true - spread.reshape(12, 384)).max() < 3e-3
    assert np.abs(got - true).max() > 1


def test_they_agree_where_sin_is_0_or_the_halves_of_g_do() -> None:
    given = inputs((6,), 2, scale=1)
    attrs = {"qSeqLen": (6,)}
    halves = given["q_embedded_grad"].reshape(6, 2, 2, 64)
    halves[:, :, 1] = halves[:, :, 0]
    got, true = golden(given, attrs), true_gradient(given, attrs)
    assert np.abs(got["q_grad"] - true["q_grad"]).max() < 3e-3
    assert np.abs(got["k_grad"] - true["k_grad"]).max() > 0.5
    given["sin"][:] = 0
    got, true = golden(given, attrs), true_gradient(given, attrs)
    assert np.abs(got["k_grad"] - true["k_grad"]).max() < 1e-3


def test_how_far_real_tables_are_from_the_gradient() -> None:
    """Rotary angles and normal gradients: the differences' rms is sqrt(2 mean(sin^2)) of the true gradient's."""
    rng = np.random.default_rng(7)
    angles = np.arange(512)[:, None] * 10000.0 ** (-np.arange(64) / 64)
    cos, sin = (np.tile(turn(angles), (1, 2)).astype(np.float16) for turn in (np.cos, np.sin))
    q, k = (rng.standard_normal((512, 256)).astype(np.float16) for _ in range(2))
    given, attrs = {"q_embedded_grad": q, "k_embedded_grad": k, "cos": cos, "sin": sin}, {"qSeqLen": (512,)}
    got, true = golden(given, attrs)["q_grad"].astype(np.float64), true_gradient(given, attrs)["q_grad"]
    ratio = np.sqrt(np.mean((got - true) ** 2) / np.mean(true**2))
    assert abs(ratio - np.sqrt(2 * np.mean(sin.astype(np.float64) ** 2))) < 0.01
    assert 0.8 < ratio < 0.9
    assert np.array_equal(got[0], true[0])  # position 0: sin is 0
