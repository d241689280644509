"""Kernels that read and write one tensor: the order of the statements decides, whatever the order of the blocks."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from ascend_sim.frontends import pypto
from ascend_sim.frontends.pypto.errors import LoweringError
from ascend_sim.host.device import Device

from .ordering import disorder

FP32 = pypto.DT_FP32
SIZE = 64
Body = Callable[[Any, Any], None]


def writes_after_reading(a: Any, b: Any) -> None:
    b[:32] = a[:32] * 2.0
    a[:] = a * 3.0


def after_it(a: Any, b: Any) -> None:
    b[:32] = a[:32] * 2
    a[:] = a * 3


def view_from_before_the_write(a: Any, b: Any) -> None:
    before = a[:32]
    a[:] = a * 3.0
    b[:32] = before * 2.0


def rows_that_the_next_iteration_writes(a: Any, b: Any) -> None:
    for i in pypto.loop(15):
        both = pypto.view(a, [8, SIZE], [4 * i, 0])
        a[4 * i : 4 * i + 4] = both[:4] + both[4:]


def sums_of_neighbours(a: Any, b: Any) -> None:
    for i in range(15):
        a[4 * i : 4 * i + 4] += a[4 * i + 4 : 4 * i + 8]


def one_sum_to_both(a: Any, b: Any) -> None:
    for i in pypto.loop(8):
        total = a[8 * i : 8 * i + 8] + b[8 * i : 8 * i + 8]
        a[8 * i : 8 * i + 8] = total * 2.0
        b[8 * i : 8 * i + 8] = total * 3.0


def sum_times(a: Any, b: Any) -> None:
    total = a + b
    a[:], b[:] = total * 2, total * 3


def in_place_and_elsewhere(a: Any, b: Any) -> None:
    for i in pypto.loop(8):
        rows = a[8 * i : 8 * i + 8]
        a[8 * i : 8 * i + 8] = rows * 2.0
        b[8 * i : 8 * i + 8] = rows * 3.0


def both_of_the_old(a: Any, b: Any) -> None:
    b[:] = a * 3
    a[:] = a * 2


def read_again_after_the_write(a: Any, b: Any) -> None:
    for i in pypto.loop(8):
        a[8 * i : 8 * i + 8] = a[8 * i : 8 * i + 8] * 2.0
        b[8 * i : 8 * i + 8] = a[8 * i : 8 * i + 8] * 3.0


def one_after_the_other(a: Any, b: Any) -> None:
    a[:] = a * 2
    b[:] = a * 3


def loops_that_feed_each_other(a: Any, b: Any) -> None:
    for _ in pypto.loop(2):
        for j in pypto.loop(8):
            b[8 * j : 8 * j + 8] = a[8 * j : 8 * j + 8] * 2.0
        for j in pypto.loop(8):
            a[8 * j : 8 * j + 8] = b[(7 - j) * 8 : (7 - j) * 8 + 8] + 1.0


def fed_twice(a: Any, b: Any) -> None:
    for _ in range(2):
        b[:] = a * 2
        a[:] = b.reshape(8, 8, SIZE)[::-1].reshape(SIZE, SIZE) + 1


def sum_kept_in_a_tensor(a: Any, b: Any) -> None:
    highest = pypto.tensor([1, SIZE], FP32, "highest")
    for _ in pypto.loop(1):
        pypto.assemble(pypto.amax(a, 0, keepdim=True), [0, 0], highest)
    for j in pypto.loop(8):
        a[8 * j : 8 * j + 8] = a[8 * j : 8 * j + 8] - highest


def less_highest(a: Any, b: Any) -> None:
    a[:] = a - a.max(0, keepdims=True)


def whole_tensor_at_once(a: Any, b: Any) -> None:
    a[:] = a - pypto.amax(a, 0, keepdim=True)


def exchanged_by_a_third(a: Any, b: Any) -> None:
    third = pypto.tensor([SIZE, SIZE], FP32, "third")
    for _ in pypto.loop(1):
        third[:] = a * 1.0
    a[:] = b * 1.0
    b[:] = third * 1.0


def exchanged(a: Any, b: Any) -> None:
    a[:], b[:] = b.copy(), a.copy()


def accumulated_in_memory(a: Any, b: Any) -> None:
    for i in pypto.loop(8):
        rows = a[8 * i : 8 * i + 8]
        if pypto.is_loop_begin(i):
            b[:8] = rows
        else:
            b[:8] = b[:8] + rows
        if pypto.is_loop_end(i):
            b[:8] = b[:8] * 0.5


def half_the_sum(a: Any, b: Any) -> None:
    total = a[:8].copy()
    for i in range(1, 8):
        total = total + a[8 * i : 8 * i + 8]
    b[:8] = total * np.float32(0.5)


def accumulated_in_a_tensor(a: Any, b: Any) -> None:
    total = pypto.tensor([8, SIZE], FP32, "total")
    for i in pypto.loop(8):
        rows = a[8 * i : 8 * i + 8]
        if pypto.is_loop_begin(i):
            total[:] = rows
        else:
            total[:] = total + rows
    b[:8] = total * 0.5


KERNELS: dict[Body, Body] = {
    writes_after_reading: after_it,
    view_from_before_the_write: after_it,
    rows_that_the_next_iteration_writes: sums_of_neighbours,
    one_sum_to_both: sum_times,
    in_place_and_elsewhere: both_of_the_old,
    read_again_after_the_write: one_after_the_other,
    loops_that_feed_each_other: fed_twice,
    sum_kept_in_a_tensor: less_highest,
    whole_tensor_at_once: less_highest,
    exchanged_by_a_third: exchanged,
    accumulated_in_memory: half_the_sum,
    accumulated_in_a_tensor: half_the_sum,
}


def jitted(body: Body) -> Any:
    def kernel(a: pypto.Tensor([SIZE, SIZE], FP32), b: pypto.Tensor([SIZE, SIZE], FP32)):
        pypto.set_vec_tile_shapes(8, SIZE)
        body(a, b)

    return pypto.frontend.jit(kernel)


def arrays() -> list[Any]:
    rng = np.random.default_rng(5)
    return [rng.standard_normal((SIZE, SIZE)).astype(np.float32) for _ in range(2)]


@pytest.mark.parametrize("body", KERNELS, ids=lambda body: body.__name__)
def test_statements_take_effect_in_order(body: Body) -> None:
    kernel, expected = jitted(body), arrays()
    KERNELS[body](*expected)
    blocks = kernel.lowered(*arrays()).block_dim
    for order in (None, list(range(blocks))[::-1]):
        found = arrays()
        with Device(timing=False, block_order=order) as device:
            kernel(*found)
        assert not disorder(device.launches[-1].program)
        for name, actual, right in zip("ab", found, expected, strict=True):
            assert np.array_equal(actual, right), f"{name}, blocks in {'order' if order is None else 'turned order'}"


def test_independent_iterations_stay_on_their_own_cores() -> None:
    """What reads and writes at one place is no reason to run in order."""
    assert jitted(one_sum_to_both).lowered(*arrays()).block_dim == 8
    assert jitted(in_place_and_elsewhere).lowered(*arrays()).block_dim == 8
    assert jitted(rows_that_the_next_iteration_writes).lowered(*arrays()).block_dim == 1


def exchanged_directly(a: Any, b: Any) -> None:
    old_a = a * 1.0
    old_b = b * 1.0
    a[:] = old_b
    b[:] = old_a


def read_before_the_loop_that_writes(a: Any, b: Any) -> None:
    highest = pypto.amax(a, 0, keepdim=True)
    for j in pypto.loop(8):
        a[8 * j : 8 * j + 8] = a[8 * j : 8 * j + 8] - highest


def half_rewritten_since(a: Any, b: Any) -> None:
    right = a[:, 32:] * 2.0
    a[:, :32] = right
    b[:, :32] = a[:, :32] + right


HERE = r"test_hazards\.py:\d+"
REFUSED: dict[Body, str] = {
    exchanged_directly: "old_b and old_a are each made of what the other overwrites; assemble one into a tensor of the "
    r"kernel's own in a pypto\.loop\(1\) before",
    read_before_the_loop_that_writes: rf"highest \({HERE}\) reads a before loop 'loop_0' \({HERE}\), which writes to a "
    "and uses highest: this lowering reads it in every iteration; assemble it into a tensor of the kernel's own in a "
    r"pypto\.loop\(1\) before",
    half_rewritten_since: "add was read from a tensor that has been written to since; take the view after the write, "
    "or use the value before it",
}


@pytest.mark.parametrize("body", REFUSED, ids=lambda body: body.__name__)
def test_what_cannot_be_put_in_order_is_refused(body: Body) -> None:
    with pytest.raises(LoweringError) as refused:
        jitted(body).lowered(*arrays())
    assert re.fullmatch(REFUSED[body], str(refused.value)), refused.value


def test_a_pair_kernel_called_with_one_tensor_twice_writes_it_once() -> None:
    """As PyPTO's rotary kernels are, where q and k have different numbers of heads."""

    @pypto.frontend.jit
    def pair(q: pypto.Tensor(), k: pypto.Tensor(), q_out: pypto.Tensor(), k_out: pypto.Tensor()):
        pypto.set_vec_tile_shapes(8, SIZE)
        q_out[:] = pypto.neg(q)
        k_out[:] = pypto.neg(k)

    x, y = arrays()
    with Device(timing=False) as device:
        pair(x, x, y, y)
    assert np.array_equal(y, -x)
    assert pair.lowered().block_dim == 8
    (launch,) = device.launches
    written = sum(i.name == "DataCopy" and not i.work.to_ub for block in launch.program.blocks for i in block.instrs)
    assert written == 8
