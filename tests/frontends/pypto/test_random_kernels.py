"""Random kernels against numpy: chains of operations over blocks with tails, cut by random tiles."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

from ascend_sim.frontends import pypto
from ascend_sim.host.device import Device

from .ordering import disorder

DTYPES = {"float16": pypto.DT_FP16, "float32": pypto.DT_FP32, "bfloat16": pypto.DT_BF16}


class OnTensors:
    """The operations of a kernel."""

    @staticmethod
    def number(x: Any, value: float) -> Any:
        return value

    neg = staticmethod(pypto.neg)
    add, sub, mul = staticmethod(pypto.add), staticmethod(pypto.sub), staticmethod(pypto.mul)
    maximum = staticmethod(pypto.maximum)
    deinterleave = staticmethod(pypto.deinterleave)
    transpose = staticmethod(pypto.transpose)

    @staticmethod
    def concat(parts: Any, axis: int) -> Any:
        return pypto.concat(parts, dim=axis)

    @staticmethod
    def amax(x: Any, axis: int) -> Any:
        return pypto.amax(x, axis, keepdim=True)

    @staticmethod
    def amin(x: Any, axis: int) -> Any:
        return pypto.amin(x, axis, keepdim=True)

    @staticmethod
    def in_float32(x: Any, factor: float) -> Any:
        return pypto.cast(pypto.cast(x, pypto.DT_FP32) * factor, x.dtype)

    @staticmethod
    def reshaped_and_back(x: Any) -> Any:
        return pypto.squeeze(pypto.unsqueeze(x, 1), 1) if x.dim < 4 else x

    @staticmethod
    def filled(x: Any, value: float) -> Any:
        return pypto.full(list(x.shape), value, x.dtype)

    @staticmethod
    def expanded(x: Any, shape: Any) -> Any:
        return pypto.expand_clone(x, list(shape))

    @staticmethod
    def put_together(parts: Any, axis: int, shape: Any) -> Any:
        whole = pypto.tensor(shape, parts[0].dtype, "whole")
        at = [0] * len(shape)
        for part in parts:
            pypto.assemble(part, at, whole)
            at = [a + (part.shape[axis] if i == axis else 0) for i, a in enumerate(at)]
        return whole


class OnArrays:
    """The same in numpy, rounded after every operation."""

    @staticmethod
    def number(x: Any, value: float) -> Any:
        return x.dtype.type(value)

    neg = staticmethod(np.negative)
    add, sub, mul = staticmethod(np.add), staticmethod(np.subtract), staticmethod(np.multiply)
    maximum = staticmethod(np.maximum)
    transpose = staticmethod(np.swapaxes)

    @staticmethod
    def concat(parts: Any, axis: int) -> Any:
        return np.concatenate(parts, axis)

    @staticmethod
    def amax(x: Any, axis: int) -> Any:
        return x.max(axis, keepdims=True)

    @staticmethod
    def amin(x: Any, axis: int) -> Any:
        return x.min(axis, keepdims=True)

    @staticmethod
    def in_float32(x: Any, factor: float) -> Any:
        return (x.astype(np.float32) * np.float32(factor)).astype(x.dtype)

    @staticmethod
    def reshaped_and_back(x: Any) -> Any:
        return x

    @staticmethod
    def deinterleave(x: Any) -> Any:
        return x[..., ::2], x[..., 1::2]

    @staticmethod
    def filled(x: Any, value: float) -> Any:
        return np.full_like(x, value)

    @staticmethod
    def expanded(x: Any, shape: Any) -> Any:
        return np.broadcast_to(x, (x.shape[0], *shape[1:]))

    @staticmethod
    def put_together(parts: Any, axis: int, shape: Any) -> Any:
        return np.concatenate(parts, axis)


def negated(lib: Any, x: Any, y: Any, chance: random.Random) -> Any:
    return lib.neg(x)


def rotated(lib: Any, x: Any, y: Any, chance: random.Random) -> Any:
    half = x.shape[-1] // 2
    return lib.concat([lib.neg(x[..., half:]), x[..., :half]], -1)


def turned(lib: Any, x: Any, y: Any, chance: random.Random) -> Any:
    """The parts of another axis in turned order."""
    if len(x.shape) < 3 or x.shape[1] < 2:
        return x
    return lib.concat([x[:, 1:], x[:, :1] * lib.number(x, 2.0)], 1)


def with_other(lib: Any, x: Any, y: Any, chance: random.Random) -> Any:
    """With a tensor that broadcasts along some of its axes."""
    for axis in range(1, len(x.shape) - 1):
        if chance.random() < 0.5:
            y = y[tuple(slice(0, 1) if a == axis else slice(None) for a in range(len(x.shape)))]
    operation = chance.choice(("add", "sub", "mul", "maximum"))
    return getattr(lib, operation)(*chance.choice(((x, y), (x, x))))


def with_number(lib: Any, x: Any, y: Any, chance: random.Random) -> Any:
    number = lib.number(x, chance.choice((-1.5, 0.25, 2.0, 3.0)))
    kind = chance.randrange(4)
    if kind == 0:
        return x + number
    if kind == 1:
        return x - number
    return x * number if kind == 2 else x / number


def under_number(lib: Any, x: Any, y: Any, chance: random.Random) -> Any:
    return lib.number(x, 2.0) / (x * x + lib.number(x, 1.0))


def less_row_number(lib: Any, x: Any, y: Any, chance: random.Random) -> Any:
    """A number per row."""
    return lib.sub(x, lib.amax(x, len(x.shape) - 1))


def plus_smallest(lib: Any, x: Any, y: Any, chance: random.Random) -> Any:
    axis = chance.randrange(1, len(x.shape))
    return lib.add(x, lib.amin(x, axis))


def odd_before_even(lib: Any, x: Any, y: Any, chance: random.Random) -> Any:
    even, odd = lib.deinterleave(x)
    return lib.concat([odd, even], -1)


def in_float32(lib: Any, x: Any, y: Any, chance: random.Random) -> Any:
    return lib.in_float32(x, 0.3)


def reshaped(lib: Any, x: Any, y: Any, chance: random.Random) -> Any:
    return lib.reshaped_and_back(x)


def put_together(lib: Any, x: Any, y: Any, chance: random.Random) -> Any:
    half = x.shape[-1] // 2
    return lib.put_together([lib.neg(x[..., half:]), x[..., :half]], len(x.shape) - 1, list(x.shape))


def exchanged(lib: Any, x: Any, y: Any, chance: random.Random) -> Any:
    """Two axes exchanged, something done, and exchanged back."""
    if len(x.shape) < 4:
        return x
    return lib.transpose(lib.neg(lib.transpose(x, 1, 2)), 1, 2)


def turned_over(lib: Any, x: Any, y: Any, chance: random.Random) -> Any:
    """The last two axes exchanged, and exchanged back after something that is not the same for all columns."""
    if len(x.shape) < 3:
        return x
    a, b = len(x.shape) - 2, len(x.shape) - 1
    return lib.transpose(lib.transpose(x, a, b) * lib.number(x, 0.5), a, b)


def less_filled(lib: Any, x: Any, y: Any, chance: random.Random) -> Any:
    return lib.sub(lib.filled(x, 1.5), x)


def with_expanded(lib: Any, x: Any, y: Any, chance: random.Random) -> Any:
    """A column, or what the other tensor has at one place of the middle, repeated."""
    axis = chance.randrange(1, len(x.shape))
    one = y[tuple(slice(0, 1) if a == axis else slice(None) for a in range(len(x.shape)))]
    return lib.maximum(x, lib.expanded(one, x.shape))


STEPS = (
    *(negated, rotated, turned, with_other, with_other, with_number, under_number, less_row_number, plus_smallest),
    *(odd_before_even, in_float32, reshaped, put_together, exchanged, turned_over, less_filled, with_expanded),
)


def run_random(seed: int) -> None:
    """One random kernel; its result must be numpy's, bit for bit."""
    chance = random.Random(seed)
    rank = chance.choice((2, 3, 3, 4))
    inner = [chance.choice((1, 2, 3, 8)) for _ in range(rank - 2)] + [chance.choice((32, 64, 128, 192))]
    block, length = chance.choice((1, 2, 4, 8)), chance.randint(1, 30)
    name = chance.choice(tuple(DTYPES))
    dtype, shape = DTYPES[name], [block, *inner]
    tile = [chance.choice((size, size, max(1, size // 2))) for size in shape]
    tile[-1] = chance.choice((shape[-1], shape[-1] // 2))
    steps = [chance.choice(STEPS) for _ in range(chance.randint(1, 6))]
    unroll = chance.choice((None, None, [2], [4, 2]))
    again = chance.getrandbits(32)
    rng = np.random.default_rng(seed)
    x, y = (rng.uniform(-2, 2, (length, *inner)).astype(np.float32).astype(dtype.asc.numpy) for _ in range(2))

    early = chance.randrange(len(steps))  # after this step the tensor goes to the other output, too

    def compute(lib: Any, a: Any, b: Any) -> tuple[Any, Any]:
        choices = random.Random(again)
        kept = a
        for number, step in enumerate(steps):
            a = step(lib, a, b, choices)
            kept = a if number == early else kept
        return kept, a

    dims = [pypto.DYNAMIC, *inner]

    @pypto.frontend.jit
    def kernel(
        a: pypto.Tensor(dims, dtype),
        b: pypto.Tensor(dims, dtype),
        first: pypto.Tensor(dims, dtype),
        second: pypto.Tensor(dims, dtype),
    ):
        pypto.set_vec_tile_shapes(*tile)
        size = a.shape[0]
        for i in pypto.loop((size + block - 1) // block, unroll_list=unroll):
            left = (size - i * block).min(block)
            at = [i * block] + [0] * (rank - 1)
            parts = [pypto.view(t, shape, at, valid_shape=[left, *inner]) for t in (a, b)]
            for found, out in zip(compute(OnTensors, *parts), (first, second), strict=True):
                pypto.assemble(found, at, out)

    outs = [np.full_like(x, 7) for _ in range(2)]
    with Device(timing=False) as device:
        kernel(x, y, *outs)
    (launch,) = device.launches
    assert not disorder(launch.program)
    with np.errstate(all="ignore"):
        expected = compute(OnArrays, x, y)
    for out, right in zip(outs, expected, strict=True):
        assert np.array_equal(out.astype(np.float32), right.astype(np.float32), equal_nan=True), (
            f"{shape} {name} tile {tile} unroll {unroll}: {[step.__name__ for step in steps]}"
        )


@pytest.mark.parametrize("seed", range(60))
def test_random_kernels_agree_with_numpy(seed: int) -> None:
    run_random(seed)
