"""Loops: default names, sub-loops of unroll factors, conditions, bounds of symbolic integers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ascend_sim.frontends import pypto
from ascend_sim.frontends.pypto.places import Site
from ascend_sim.frontends.pypto.symbols import Symbol, SymbolicScalar, bounds_of, key_of, minimum, value_of
from ascend_sim.frontends.pypto.trace import Trace, Tracing
from ascend_sim.host.device import Device

FP32 = pypto.DT_FP32


@pypto.frontend.jit
def noted(x: pypto.Tensor([pypto.DYNAMIC, 8], FP32), y: pypto.Tensor([pypto.DYNAMIC, 8], FP32), start: int, step: int):
    """Every row of y that an iteration works on becomes its place in the sub-loops: index, and 100 times the factor."""
    pypto.set_vec_tile_shapes(1, 8)
    for i, factor in pypto.loop_unroll(start, x.shape[0], step, unroll_list=[2, 4, 4]):
        row = pypto.view(x, [1, 8], [i, 0])
        pypto.assemble(row + 100.0 * factor, [i, 0], y)


@pytest.mark.parametrize(
    ("length", "start", "step", "bodies"),
    [
        (11, 0, 1, {0: 4, 4: 4, 8: 2, 10: 1}),
        (4, 0, 1, {0: 4}),
        (3, 0, 1, {0: 2, 2: 1}),
        (20, 3, 2, {3: 4, 11: 4, 19: 1}),
        (2, 2, 1, {}),
    ],
)
def test_factors_take_turns_from_large_to_small(length: int, start: int, step: int, bodies: dict[int, int]) -> None:
    x = np.repeat(np.arange(length, dtype=np.float32)[:, None], 8, 1)
    y = np.full_like(x, -1)
    with Device(timing=False):
        noted(x, y, start, step)
    found = {int(row[0] % 100): int(row[0] // 100) for row in y if row[0] >= 0}
    assert found == bodies


def test_default_names() -> None:
    @pypto.frontend.jit
    def kernel(x: pypto.Tensor([8, 8], FP32), y: pypto.Tensor([8, 8], FP32)):
        pypto.set_vec_tile_shapes(1, 8)
        for i in pypto.loop(4):
            for j in pypto.loop(2, name="INNER", idx_name="j"):
                y[2 * i + j : 2 * i + j + 1] = x[2 * i + j : 2 * i + j + 1]

    text = str(kernel.lowered(((8, 8), "float32"), ((8, 8), "float32")))
    assert "  loop_idx_0 in loop_0(0, 4, 1) > j in INNER(0, 2, 1): " in text


def test_conditions_in_either_way_of_writing_them() -> None:
    @pypto.frontend.jit
    def kernel(x: pypto.Tensor([pypto.DYNAMIC, 8], FP32), y: pypto.Tensor([pypto.DYNAMIC, 8], FP32)):
        pypto.set_vec_tile_shapes(1, 8)
        for i in pypto.loop(x.shape[0]):
            row = x[i : i + 1]
            if pypto.cond(pypto.is_loop_begin(i)):
                row = row + 100.0
            if pypto.is_loop_end(i):
                row = row + 200.0
            if i % 2 == 1:
                row = -row
            y[i : i + 1] = row

    for length in (1, 2, 5):
        x = np.repeat(np.arange(length, dtype=np.float32)[:, None], 8, 1)
        y = np.zeros_like(x)
        with Device(timing=False):
            kernel(x, y)
        right = x.copy()
        right[0] += 100
        right[-1] += 200
        right[1::2] *= -1
        assert np.array_equal(y, right)
    assert kernel.traces == 1


# -- symbolic integers -------------------------------------------------------------------------------------------------


def scalar(name: str, low: int | None = None, high: int | None = None, last: Any = None) -> Any:
    return SymbolicScalar.of(Symbol(name, low, high, last))


def test_sums_are_kept_in_a_normal_form() -> None:
    i, n = scalar("i"), scalar("n")
    assert (8 * i + 8) - 8 * i == 8
    assert key_of(2 * i + n - i) == key_of(n + i)
    assert str(3 * i - n + 2) == "3*i - 1*n + 2"
    assert value_of((n - 8 * i).min(8), {n.terms[0][0]: 43, i.terms[0][0]: 5}) == 3


def test_bounds_decide_what_they_can() -> None:
    """The last index of a loop is known by what bounds the loop."""
    n = scalar("n", 1)
    i = scalar("i", 0, None, n - 1)
    assert minimum(1, n - i) == 1
    assert bounds_of(n - i) == (1, None)
    assert bounds_of(i - n) == (None, -1)
    block = scalar("b", 0, 3)
    assert minimum(8, 30 - 8 * block) is not None
    assert bounds_of(30 - 8 * block) == (6, 30)
    assert minimum(6, 30 - 8 * block) == 6
    assert bounds_of(n // 2) == (0, None)
    assert bounds_of((n - 3).max(0)) == (0, None)


def test_scalars_of_pypto() -> None:
    n = scalar("n", 1)
    assert pypto.ceildiv(17, 8) == 3
    assert (pypto.min(3, 5), pypto.max(3, 5), pypto.symbolic_scalar(8)) == (3, 5, 8)
    symbol = n.terms[0][0]
    for given, right in ((1, 4), (9, 9), (40, 20)):
        assert value_of(pypto.min(pypto.max(n, 4), 20), {symbol: given}) == right
        assert value_of(pypto.ceildiv(n, 8), {symbol: given}) == -(-given // 8)


def test_loops_need_a_kernel_and_whole_steps() -> None:
    with pytest.raises(
        pypto.FeError, match=r"^pypto.loop works inside a kernel: in a function with @pypto.frontend.jit$"
    ):
        next(pypto.loop(3))
    with Tracing(Trace("kernel", Site(__file__, 1, "kernel"))):
        n = scalar("n", 1)
        with pytest.raises(
            pypto.PyptoError, match=r"^\[0xf00002\] loop: step is n; it must be an integer of at least 1$"
        ):
            next(pypto.loop(0, 8, n))
