"""One operation at a time against numpy: element types, shapes that are no multiple of anything, cut by tiles."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from ascend_sim.frontends import pypto
from ascend_sim.host.device import Device

FP32, FP16, BF16 = pypto.DT_FP32, pypto.DT_FP16, pypto.DT_BF16
INT32, INT16, INT8 = pypto.DT_INT32, pypto.DT_INT16, pypto.DataType.DT_INT8
UINT8 = pypto.DataType.DT_UINT8
NUMPY = {
    FP32: np.float32,
    FP16: np.float16,
    BF16: ml_dtypes.bfloat16,
    INT32: np.int32,
    INT16: np.int16,
    INT8: np.int8,
    UINT8: np.uint8,
}
Shape = tuple[int, ...]


def values(shape: Shape, dtype: pypto.DataType) -> Any:
    rng = np.random.default_rng(len(shape))
    whole = rng.integers(0 if dtype is UINT8 else -9, 10, shape)
    return whole.astype(np.float32).astype(NUMPY[dtype])  # small whole numbers: sums are exact in any order


def outcome(
    body: Callable[[Any], Any], x: Any, dtype: pypto.DataType, tile: Shape, like: Any, target: pypto.DataType
) -> Any:
    """What a kernel `out[:] = body(x)` leaves in an array like `like`."""

    @pypto.frontend.jit
    def kernel(a: pypto.Tensor(list(x.shape), dtype), out: pypto.Tensor(list(like.shape), target)):
        pypto.set_vec_tile_shapes(*tile)
        out[:] = body(a)

    found = np.full(like.shape, 7).astype(NUMPY[target])
    with Device(timing=False):
        kernel(x, found)
    return found


def agree(
    body: Callable[[Any], Any],
    right: Callable[[Any], Any],
    shape: Shape,
    dtype: pypto.DataType,
    tile: Shape,
    target: pypto.DataType | None = None,
) -> None:
    x = values(shape, dtype)
    expected = right(x)
    found = outcome(body, x, dtype, tile, expected, target or dtype)
    assert np.array_equal(found.astype(np.float64), expected.astype(np.float64))


@pytest.mark.parametrize(
    ("shape", "dtype", "tile", "axes"),
    [
        ((48, 80), FP16, (16, 16), (0, 1)),
        ((50, 70), FP16, (16, 16), (0, 1)),
        ((48, 80), FP32, (48, 80), (0, 1)),
        ((300, 7), FP32, (300, 7), (0, 1)),
        ((1, 128), FP16, (1, 128), (0, 1)),
        ((5, 48, 32), FP32, (1, 16, 16), (1, 2)),
        ((5, 48, 32), FP32, (5, 16, 16), (0, 2)),
        ((5, 48, 32), BF16, (5, 16, 16), (0, 1)),
        ((3, 4, 20, 32), FP16, (1, 4, 20, 32), (0, 2)),
        ((3, 4, 20, 32), FP16, (1, 2, 20, 32), (1, 3)),
        ((3, 4, 20, 32), INT16, (1, 2, 20, 32), (2, 3)),
        ((4, 8, 64), INT8, (2, 8, 64), (1, 2)),
        ((4, 8, 64), UINT8, (4, 8, 64), (0, 1)),
    ],
)
def test_transpose(shape: Shape, dtype: pypto.DataType, tile: Shape, axes: tuple[int, int]) -> None:
    agree(lambda a: pypto.transpose(a, *axes), lambda x: np.swapaxes(x, *axes), shape, dtype, tile)


def test_the_tile_of_a_transpose_is_its_inputs() -> None:
    """[3, 32, 20, 4] is cut into [1, 32, 20, 2] by the tile [1, 2, 20, 32] of the input."""

    @pypto.frontend.jit
    def kernel(a: pypto.Tensor([3, 4, 20, 32], FP16), out: pypto.Tensor([3, 32, 20, 4], FP16)):
        pypto.set_vec_tile_shapes(1, 2, 20, 32)
        out[:] = pypto.transpose(a, 1, 3)

    assert "in tiles of [1, 32, 20, 2]" in str(kernel.lowered(((3, 4, 20, 32), "float16"), ((3, 32, 20, 4), "float16")))


ROWS: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any], Shape, pypto.DataType, Shape]] = {
    "amax of a cut axis": (
        lambda a: pypto.amax(a, 0, keepdim=True),
        lambda x: x.max(0, keepdims=True),
        *((100, 48), FP16, (32, 48)),
    ),
    "amax without the dim": (lambda a: pypto.amax(a, -1), lambda x: x.max(-1), (10, 48), FP16, (10, 48)),
    "amin of the middle": (lambda a: pypto.amin(a, 1), lambda x: x.min(1), (4, 10, 40), FP32, (2, 10, 40)),
    "sum of bfloat16": (
        lambda a: pypto.sum(a, -1, True),
        lambda x: x.astype(np.float32).sum(-1, keepdims=True).astype(ml_dtypes.bfloat16),
        *((10, 100), BF16, (10, 100)),
    ),
    "sum of int32": (lambda a: pypto.sum(a, 0), lambda x: x.sum(0), (10, 100), INT32, (10, 100)),
    "sum of rows of int32": (lambda a: pypto.sum(a, -1), lambda x: x.sum(-1), (10, 100), INT32, (4, 100)),
    "amax of rows of int16": (
        lambda a: pypto.amax(a, 2, True),
        lambda x: x.max(2, keepdims=True),
        *((3, 10, 48), INT16, (1, 10, 48)),
    ),
    "sum of a vector of int32": (
        lambda a: pypto.sum(a, 0, True),
        lambda x: x.sum(0, keepdims=True),
        *((100,), INT32, (100,)),
    ),
    "amin of single rows of int32": (lambda a: pypto.amin(a, 2), lambda x: x.min(2), (3, 1, 40), INT32, (1, 1, 40)),
    "sum of what holds data": (
        lambda a: pypto.sum(pypto.view(a, [10, 100], [0, 0], valid_shape=[10, 70]), -1),
        lambda x: x[:, :70].sum(-1),
        *((10, 100), FP32, (10, 100)),
    ),
    "sum of int16": (lambda a: pypto.sum(a, 1), lambda x: x.sum(1), (4, 10, 32), INT16, (4, 10, 32)),
    "sum of long rows": (lambda a: pypto.sum(a, -1), lambda x: x.sum(-1), (6, 1000), FP32, (2, 1000)),
    "sum of what was expanded": (
        lambda a: pypto.sum(pypto.expand_clone(a, [8, 100]), -1),
        lambda x: 100 * x[:, 0],
        *((8, 1), FP32, (8, 100)),
    ),
    "sum over an expanded axis": (
        lambda a: pypto.sum(pypto.expand_clone(a, [8, 100]), 0),
        lambda x: 8 * x[0],
        *((1, 100), FP32, (8, 100)),
    ),
}
JOINS: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any], Shape, pypto.DataType, Shape]] = {
    "three along the rows": (
        lambda a: pypto.concat([a, -a, a * 2], 0),
        lambda x: np.concatenate([x, -x, x * np.float16(2)]),
        *((6, 40), FP16, (4, 40)),
    ),
    "odd widths": (
        lambda a: pypto.concat([a[:, :3], a[:, 3:7] * 2, a[:, 7:]], 1),
        lambda x: np.concatenate([x[:, :3], x[:, 3:7] * 2, x[:, 7:]], 1),
        *((6, 40), FP32, (4, 40)),
    ),
    "int32": (
        lambda a: pypto.concat([a[:, 24:], a[:, :24]], 1),
        lambda x: np.concatenate([x[:, 24:], x[:, :24]], 1),
        *((6, 40), INT32, (6, 40)),
    ),
    "int8": (
        lambda a: pypto.concat([a[:, 64:], a[:, :64]], 1),
        lambda x: np.concatenate([x[:, 64:], x[:, :64]], 1),
        *((6, 100), INT8, (6, 100)),
    ),
    "halves of 36": (
        lambda a: a * 2 + pypto.concat([-a[:, 36:], a[:, :36]], -1) * a,
        lambda x: x * np.float16(2) + np.concatenate([-x[:, 36:], x[:, :36]], -1) * x,
        *((6, 72), FP16, (6, 72)),
    ),
    "expanded pieces": (
        lambda a: pypto.concat([pypto.expand_clone(a, [8, 32]), pypto.expand_clone(a * 2, [8, 16])], 1),
        lambda x: np.concatenate([np.repeat(x, 32, 1), np.repeat(2 * x, 16, 1)], 1),
        *((8, 1), FP32, (8, 64)),
    ),
    "expand of two axes": (
        lambda a: pypto.expand_clone(a, [4, 5, 6, 32]),
        lambda x: np.broadcast_to(x, (4, 5, 6, 32)),
        *((1, 5, 1, 32), FP32, (4, 5, 6, 32)),
    ),
    **{
        f"expand along {axis} of {dtype.name}": (
            (lambda a: pypto.expand_clone(a, [12, 64])),
            (lambda x: np.broadcast_to(x, (12, 64))),
            *((12, 1) if axis else (1, 64), dtype, (12, 64)),
        )
        for axis in (0, 1)
        for dtype in (FP16, BF16, INT32, INT8)
    },
    "expanded over a number": (
        lambda a: pypto.expand_clone(a, [16, 100]) / 2.0,
        lambda x: np.repeat(x / 2, 100, 1),
        *((16, 1), FP32, (16, 100)),
    ),
    "two numbers a row": (
        lambda a: pypto.expand_clone(a, [20, 72]) + pypto.expand_clone(a * 3, [20, 72]),
        lambda x: np.repeat(4 * x, 72, 1),
        *((20, 1), FP32, (20, 72)),
    ),
    "outer product": (lambda a: a * pypto.reshape(a, [1, 16]), lambda x: x * x.T, (16, 1), FP32, (16, 16)),
    "interleave": (
        lambda a: pypto.concat(list(pypto.interleave(a[:, :32], a[:, 32:])), -1),
        lambda x: np.stack([x[:, :32], x[:, 32:]], -1).reshape(6, 64),
        *((6, 64), BF16, (6, 64)),
    ),
    "interleave of long rows": (
        lambda a: pypto.concat(list(pypto.interleave(a[:, :2048], a[:, 2048:])), -1),
        lambda x: np.stack([x[:, :2048], x[:, 2048:]], -1).reshape(2, 4096),
        *((2, 4096), FP32, (1, 4096)),
    ),
    "deinterleave of int8": (
        lambda a: pypto.concat(list(pypto.deinterleave(a)), -1),
        lambda x: np.concatenate([x[:, ::2], x[:, 1::2]], -1),
        *((6, 128), INT8, (6, 128)),
    ),
    "every fourth": (lambda a: pypto.gathermask(a, 4), lambda x: x[:, 1::4], (6, 64), FP32, (6, 64)),
}
SHAPES: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any], Shape, pypto.DataType, Shape]] = {
    "heads split": (
        lambda a: pypto.reshape(a * 2, [6, 4, 64]),
        lambda x: (x * np.float16(2)).reshape(6, 4, 64),
        *((6, 256), FP16, (6, 256)),
    ),
    "dims joined": (
        lambda a: pypto.reshape(a * 2, [-1, 8]),
        lambda x: 2 * x.reshape(30, 8),
        (6, 5, 8),
        FP32,
        (6, 5, 8),
    ),
    "columns from the middle": (lambda a: a[:, 3:10], lambda x: x[:, 3:10], (6, 64), FP32, (6, 64)),
    "counted from the end": (lambda a: a[-2:, -8:] * 1, lambda x: x[-2:, -8:], (6, 64), FP32, (2, 8)),
    "one index": (lambda a: a[3] * 1, lambda x: x[3], (6, 5, 64), FP32, (5, 64)),
    "int8 as it is": (lambda a: a, lambda x: x, (6, 50), INT8, (6, 50)),
    "integers divided": (
        lambda a: pypto.cast(a / (a + 20) * 64, INT32),
        lambda x: np.trunc(x.astype(np.float32) / (x + 20).astype(np.float32) * np.float32(64)),
        *((6, 64), INT32, (6, 64)),
    ),
    "numbers on the left": (lambda a: 1 - 2 / (a + 10), lambda x: np.float32(1) - 2 / (x + 10), (6, 64), FP32, (6, 64)),
    "numpy numbers": (lambda a: a * np.float32(0.5), lambda x: x * np.float32(0.5), (6, 64), FP32, (6, 64)),
}
TABLE = {**ROWS, **JOINS, **SHAPES}


@pytest.mark.parametrize("name", TABLE)
def test_an_operation(name: str) -> None:
    agree(*TABLE[name])


@pytest.mark.parametrize("target", [INT32, INT16])
def test_bits_read_as_another_type(target: pypto.DataType) -> None:
    kind = NUMPY[target]
    agree(lambda a: pypto.view(a, dtype=target) + 1, lambda x: x.view(kind) + kind(1), (6, 64), FP32, (6, 64), target)


@pytest.mark.parametrize(
    ("dtype", "mode", "right"),
    [
        (INT32, "CAST_NONE", np.trunc),
        (INT32, "CAST_RINT", np.rint),
        (INT32, "CAST_FLOOR", np.floor),
        (INT32, "CAST_CEIL", np.ceil),
        (INT32, "CAST_ODD", np.trunc),  # not of this pair: its default
        (FP32, "CAST_NONE", lambda x: x),
        (FP32, "CAST_FLOOR", np.floor),
    ],
)
def test_rounding_of_casts(dtype: pypto.DataType, mode: str, right: Callable[[Any], Any]) -> None:
    x = np.linspace(-4, 4, 64, dtype=np.float32).reshape(4, 16)
    expected = right(x).astype(NUMPY[dtype])

    def body(a: Any) -> Any:
        return pypto.cast(a, dtype, getattr(pypto.CastMode, mode)) * 1

    assert np.array_equal(outcome(body, x, FP32, (4, 16), expected, dtype), expected)


def test_what_an_integer_cannot_hold() -> None:
    """Low bits by default, clamped on request, whichever came before."""
    x = np.array([[300.0, -300.0, 50.0, -50.0] * 8], np.float16)
    clamped, low_bits = x.clip(-128, 127).astype(np.int8), x.astype(np.int32).astype(np.int8)

    @pypto.frontend.jit
    def kernel(a: pypto.Tensor(), on: pypto.Tensor(), off: pypto.Tensor(), again: pypto.Tensor()):
        pypto.set_vec_tile_shapes(1, 32)
        on[:] = pypto.cast(a, INT8, satmode=pypto.SaturationMode.ON)
        off[:] = pypto.cast(a, INT8)
        again[:] = pypto.cast(a * 1.0, INT8, satmode=pypto.SaturationMode.ON)

    found = [np.zeros((1, 32), np.int8) for _ in range(3)]
    with Device(timing=False):
        kernel(x, *found)
    for actual, right in zip(found, (clamped, low_bits, clamped), strict=True):
        assert np.array_equal(actual, right)


def test_axpy_in_place() -> None:
    """Of a result, of a parameter, of a clone that stays; x broadcasts, and may be half under float."""

    @pypto.frontend.jit
    def kernel(
        x: pypto.Tensor([33, 100], FP16),
        y: pypto.Tensor([33, 100], FP32),
        row: pypto.Tensor([33, 1], FP32),
        out: pypto.Tensor([33, 100], FP32),
        gained: pypto.Tensor([33, 100], FP32),
    ):
        pypto.set_vec_tile_shapes(16, 128)
        total = y * 1.0
        before = pypto.clone(total)
        total.axpy_(x, alpha=2.0)
        pypto.axpy_(total, row, 3)
        out[:] = total
        gained[:] = total - before
        y.axpy_(row)

    x, y = values((33, 100), FP16), values((33, 100), FP32)
    row = values((33, 1), FP32)
    out, gained, given = np.zeros_like(y), np.zeros_like(y), y.copy()
    with Device(timing=False):
        kernel(x, y, row, out, gained)
    assert np.array_equal(out, given + 2 * x + 3 * row)
    assert np.array_equal(gained, 2 * x.astype(np.float32) + 3 * row)
    assert np.array_equal(y, given + row)


def test_axpy_of_bfloat16_rounds_once() -> None:
    x = np.full((8, 64), 1.0, ml_dtypes.bfloat16)
    right = (x.astype(np.float32) * np.float32(1 / 3) + 1).astype(ml_dtypes.bfloat16)

    def body(a: Any) -> Any:
        total = a * 1.0
        return pypto.axpy_(total, a, 1 / 3)

    assert np.array_equal(outcome(body, x, BF16, (8, 64), right, BF16), right)


@pytest.mark.parametrize(
    ("dtype", "number"), [(FP32, 1.5), (FP16, 2), (BF16, pypto.Element(BF16, 0.5)), (INT32, -3), (INT8, 7)]
)
def test_full(dtype: pypto.DataType, number: Any) -> None:
    size = (10, 100)
    value = number.value if isinstance(number, pypto.Element) else number
    right = np.full(size, value).astype(NUMPY[dtype])

    def body(a: Any) -> Any:
        return pypto.full(size, number, dtype)

    assert np.array_equal(outcome(body, np.zeros((1, 8), np.float32), FP32, (4, 100), right, dtype), right)
