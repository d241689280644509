"""One kernel for every length: it is traced once, and the last, partly filled blocks are right and write no further."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from ascend_sim.oplib.pypto_rope import golden, half_tables, interleave, rms_norm_rope

from ascend_sim.frontends import pypto
from ascend_sim.host.device import Device

BFLOAT = ml_dtypes.bfloat16
LENGTHS = (8, 1, 19, 77)  # whole blocks, less than one, two and three with a tail


def normal(seed: int, shape: tuple[int, ...], dtype: Any) -> Any:
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32).astype(dtype)


def guarded(shape: tuple[int, ...], dtype: Any) -> tuple[Any, Any]:
    """An output of `shape`, and the array that it is the front of, one row longer along the first axis."""
    whole = np.full((shape[0] + 1, *shape[1:]), 77, dtype)
    return whole[:-1], whole


def run(kernel: Any, *arrays: Any) -> None:
    with Device(timing=False):
        kernel(*arrays)


def test_norm_and_rotation() -> None:
    kernel = rms_norm_rope.qk_rope_kernel.__wrapped__(8)  # not yet traced
    weight = normal(0, (128,), BFLOAT)
    for length in LENGTHS:
        x = normal(length, (length, 8, 128), BFLOAT)
        cos, sin = (normal(seed, (length, 128), BFLOAT) for seed in (1, 2))
        out, whole = guarded(x.shape, BFLOAT)
        run(kernel, x, cos, sin, weight, out)
        right = golden.normalized_and_rotated(x, cos, sin, weight)
        np.testing.assert_allclose(out.astype(np.float32), right.astype(np.float32), rtol=1e-2, atol=1e-2)
        assert (whole[-1] == 77).all()
    assert kernel.traces == 1


def test_neighbours() -> None:
    kernel = interleave.interleave_rope_kernel.__wrapped__(pypto.DT_FP16, 4, 64, (2, 8))
    for length in LENGTHS:
        x = normal(length, (2, 4, length, 64), np.float16)
        cos, sin = (normal(seed, (2, 1, length, 64), np.float16) for seed in (1, 2))
        y, whole = guarded(x.shape, np.float16)
        run(kernel, x, cos, sin, y)
        assert np.array_equal(y, golden.neighbours(x, cos, sin))
        assert (whole[-1] == 77).all()
    assert kernel.traces == 1


@pytest.mark.parametrize("heads_first", [False, True])
def test_half_tables_with_tails_of_heads_and_positions(heads_first: bool) -> None:
    """Blocks of 2 heads and 4 positions, of 3 heads and any number of positions."""
    kernel = half_tables.half_tables_kernel.__wrapped__(pypto.DT_FP32, 3, 64, False, heads_first, (2, 4))
    for length in LENGTHS:
        x = normal(length, (2, 3, length, 64) if heads_first else (2, length, 3, 64), np.float32)
        cos, sin = (normal(seed, (length, 32), np.float32) for seed in (1, 2))
        y, whole = guarded(x.shape, np.float32)
        run(kernel, x, cos, sin, y)
        c, s = (table if heads_first else table[:, None] for table in (cos, sin))
        left, right = np.split(x, 2, -1)
        assert np.array_equal(y, np.concatenate([left * c - right * s, right * c + left * s], -1))
        assert (whole[-1] == 77).all()
    assert kernel.traces == 1
