"""What each element-wise instruction computes for one element, on exact numbers."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import naive
import numpy as np

from ascend_sim.isa.dtypes import DataType, float16

Meaning = Callable[..., Any]


def larger(a: float, b: float) -> float:
    if math.isnan(a) or math.isnan(b):
        return math.nan
    if a == b:
        return b if math.copysign(1, a) < 0 else a
    return max(a, b)


def smaller(a: float, b: float) -> float:
    if math.isnan(a) or math.isnan(b):
        return math.nan
    if a == b:
        return a if math.copysign(1, a) < 0 else b
    return min(a, b)


def relu(x: float) -> float:
    return larger(x, 0)


def fused(a: float, b: float, c: float, dtype: DataType) -> float:
    if not dtype.is_float:
        return a * b + c
    return naive.ieee(lambda x, y, z: x * y + z, lambda x, y, z: x * y + z, dtype)(a, b, c)


def quotient(dtype: DataType) -> Meaning:
    exact = naive.ieee(lambda x, y: x / y, lambda x, y: x / y, dtype)

    def compute(a: float, b: float) -> float:
        if b:
            return exact(a, b)
        return math.nan if a == 0 or math.isnan(a) else math.copysign(math.inf, a) * math.copysign(1, b)

    return compute


def turned(x: Any, dtype: DataType) -> Any:
    """The bits of x, each turned."""
    return (~np.asarray(x, dtype.numpy).view(f"u{dtype.itemsize}")).view(dtype.numpy)[()]


def rounded(function: Callable[[float], float], dtype: DataType) -> Meaning:
    """A function in float64, rounded once to `dtype`."""

    def compute(x: float) -> float:
        with np.errstate(all="ignore"):
            value = float(function(np.float64(x)))
        return naive.round_float(Fraction(value), dtype, zero=value) if math.isfinite(value) else value

    return compute


def square_root(dtype: DataType) -> Meaning:
    """The root of an exact fraction, to 80 digits more than the format has, then rounded once."""

    def compute(x: float) -> float:
        if math.isnan(x) or x < 0:
            return math.nan
        if x == 0 or math.isinf(x):
            return x
        scale = 200
        whole = Fraction(x) * 4**scale
        root = Fraction(math.isqrt(math.floor(whole)), 2**scale)
        return naive.round_float(root, dtype)

    return compute


def meaning(call: str, dtype: DataType, source: DataType, scalar: Any = None) -> Meaning:
    """The meaning of `call` for one element: sources first, then dst where the instruction reads it."""
    if dtype.is_float:
        add = naive.ieee(lambda a, b: a + b, lambda a, b: a + b, dtype)
        sub = naive.ieee(lambda a, b: a - b, lambda a, b: a - b, dtype)
        mul = naive.ieee(lambda a, b: a * b, lambda a, b: a * b, dtype)
    else:
        add, sub, mul = (lambda a, b: a + b), (lambda a, b: a - b), (lambda a, b: a * b)
    wrap = (lambda v: v) if dtype.is_float else (lambda v: _wrap(v, dtype))
    found: dict[str, Meaning] = {
        "add": add,
        "sub": sub,
        "mul": mul,
        "div": quotient(dtype) if dtype.is_float else (lambda a, b: math.trunc(Fraction(a, b)) if b else 0),
        "max": larger,
        "min": smaller,
        "add_relu": lambda a, b: relu(wrap(add(a, b))),
        "sub_relu": lambda a, b: relu(wrap(sub(a, b))),
        "bitwise_and": lambda a, b: a & b,
        "bitwise_or": lambda a, b: a | b,
        "mul_add_dst": lambda a, b, d: fused(a, b, d, dtype),
        "fused_mul_add": lambda a, b, d: fused(a, d, b, dtype),
        "fused_mul_add_relu": lambda a, b, d: relu(fused(a, d, b, dtype)),
        "adds": lambda a: add(a, scalar),
        "muls": lambda a: mul(a, scalar),
        "maxs": lambda a: larger(a, scalar),
        "mins": lambda a: smaller(a, scalar),
        "leaky_relu": lambda a: a if a >= 0 else mul(a, scalar),
        "shift_left": lambda a: a << scalar,
        "shift_right": lambda a: a >> scalar,
        "axpy": lambda a, d: fused(a, scalar, d, dtype),
        "abs": abs,
        "exp": rounded(np.exp, dtype),
        "ln": rounded(np.log, dtype),
        "sqrt": square_root(dtype),
        "rsqrt": rounded(lambda x: 1 / np.sqrt(x), dtype),
        "reciprocal": rounded(lambda x: 1 / x, dtype) if dtype.is_float else (lambda x: math.trunc(Fraction(1, x))),
        "relu": relu,
        "bitwise_not": lambda a: turned(a, dtype),
    }
    return found[call]


def _wrap(value: int, dtype: DataType) -> int:
    low = value & ((1 << 8 * dtype.itemsize) - 1)
    signed = dtype.name.startswith("int")
    return low - (1 << 8 * dtype.itemsize) if signed and low >> (8 * dtype.itemsize - 1) else low


def scalar_for(call: str, dtype: DataType, seed: int) -> Any:
    """A scalar that `dtype` holds exactly."""
    if call.startswith("shift"):
        return seed % (8 * dtype.itemsize + 1)
    if not dtype.is_float:
        return seed % 2000 - 1000
    return float(np.float16([0.5, -0.0, 2.5, -1.25, 0.1, 0.0, 3.0][seed % 7])) if dtype is float16 else (
        float(np.float32([0.1, -0.0, 2.5, -1.0, 1e-3, 0.0, 7.7][seed % 7]))
    )  # fmt: skip
