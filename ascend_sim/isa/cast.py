"""Row and meaning of Cast: which pairs exist with which round modes, and how each rounds.

Pairs and modes: soc_specs 2.8 (2201) and its JSON twin (3510, without the 4- and 8-bit floats that asc does not have).
Casts to integers clamp, or keep the low bits when the cast saturation flag is off; NaN becomes 0.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ascend_sim.isa.dtypes import (
    DataType,
    bfloat16,
    float16,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    uint8,
    uint16,
    uint32,
)
from ascend_sim.isa.enums import RoundMode
from ascend_sim.isa.numeric import Array, saturate_half
from ascend_sim.isa.row import Row, declare
from ascend_sim.program import PipeID

Modes = tuple[RoundMode, ...]
Pair = tuple[DataType, DataType]  # destination, source

NONE: Modes = (RoundMode.CAST_NONE,)
FIVE: Modes = (
    RoundMode.CAST_RINT,
    RoundMode.CAST_FLOOR,
    RoundMode.CAST_CEIL,
    RoundMode.CAST_ROUND,
    RoundMode.CAST_TRUNC,
)
SIX: Modes = (*NONE, *FIVE)
EVERY: Modes = tuple(RoundMode)  # float32 -> float16 (ODD too); int32 -> float16, where the mode has no effect

MODES: dict[str, dict[Pair, Modes]] = {
    "2201": {
        (float16, int8): NONE,
        (float16, uint8): NONE,
        (float16, int16): SIX,
        (float32, int16): NONE,
        (int8, float16): SIX,
        (uint8, float16): SIX,
        (int16, float16): FIVE,
        (int32, float16): FIVE,
        (float32, float16): NONE,
        (int32, bfloat16): FIVE,
        (float32, bfloat16): NONE,
        (int16, int32): NONE,
        (float16, int32): EVERY,
        (float32, int32): SIX,
        (int64, int32): NONE,
        (int16, float32): FIVE,
        (float16, float32): EVERY,
        (bfloat16, float32): FIVE,
        (int32, float32): FIVE,
        (float32, float32): FIVE,
        (int64, float32): FIVE,
        (int32, int64): NONE,
        (float32, int64): FIVE,
    },
    "3510": {
        (int16, int8): NONE,
        (float16, int8): NONE,
        (int32, int8): NONE,
        (uint16, uint8): NONE,
        (float16, uint8): NONE,
        (uint32, uint8): NONE,
        (uint8, int16): NONE,
        (float16, int16): FIVE,
        (int32, int16): NONE,
        (uint32, int16): NONE,
        (float32, int16): NONE,
        (uint8, uint16): NONE,
        (uint32, uint16): NONE,
        (int8, float16): FIVE,
        (uint8, float16): FIVE,
        (int16, float16): FIVE,
        (bfloat16, float16): FIVE,
        (int32, float16): FIVE,
        (float32, float16): NONE,
        (float16, bfloat16): FIVE,
        (int32, bfloat16): FIVE,
        (float32, bfloat16): NONE,
        (uint8, int32): NONE,
        (int16, int32): NONE,
        (uint16, int32): NONE,
        (float16, int32): EVERY,
        (float32, int32): FIVE,
        (int64, int32): NONE,
        (uint8, uint32): NONE,
        (int16, uint32): NONE,
        (uint16, uint32): NONE,
        (int16, float32): FIVE,
        (float16, float32): EVERY,
        (bfloat16, float32): FIVE,
        (int32, float32): FIVE,
        (float32, float32): FIVE,
        (int64, float32): FIVE,
        (int32, int64): NONE,
        (float32, int64): FIVE,
        (float64, int64): FIVE,
        (bfloat16, float64): FIVE,
        (int32, float64): (RoundMode.CAST_TRUNC,),
        (float32, float64): FIVE,
        (int64, float64): (RoundMode.CAST_TRUNC,),
    },
}

CAST = declare(
    Row(
        "Cast", "cast", PipeID.PIPE_V, "cast", "Cast", {arch: tuple(pairs) for arch, pairs in MODES.items()},
        note="dst = src in dst's dtype, rounded by round_mode; float32 to float32 rounds to a whole number",
    )
)  # fmt: skip


def caster(
    dst: DataType, src: DataType, mode: RoundMode, deq_scale: float, half_saturates: bool, cast_saturates: bool
) -> Callable[[Array, Array], None]:
    """`into(out, source)` of one cast."""
    if src is int32 and dst is float16:
        # the scale is a half in the chip's register; one rounding of the exact product
        scale = np.float64(np.float16(deq_scale))

        def convert(x: Array) -> Array:
            return (x * scale).astype(np.float16)

    elif dst is src:

        def convert(x: Array) -> Array:
            return round_whole(x.astype(np.float64), mode)

    elif not dst.is_float:

        def convert(x: Array) -> Array:
            return to_integer(x, dst, mode, cast_saturates)

    else:

        def convert(x: Array) -> Array:
            return to_float(x, dst, mode)

    def into(out: Array, source: Array) -> None:
        result = convert(source)
        if half_saturates and dst is float16:
            result = saturate_half(result)
        np.copyto(out, result, casting="unsafe")

    return into


def round_whole(x: Array, mode: RoundMode) -> Array:
    """float64 values rounded to whole numbers."""
    if mode is RoundMode.CAST_FLOOR:
        return np.floor(x)
    if mode is RoundMode.CAST_CEIL:
        return np.ceil(x)
    if mode is RoundMode.CAST_TRUNC:
        return np.trunc(x)
    if mode is RoundMode.CAST_ROUND:
        whole = np.trunc(x)
        return np.where(np.abs(x - whole) >= 0.5, whole + np.copysign(1.0, x), whole)
    return np.rint(x)


def to_integer(x: Array, dst: DataType, mode: RoundMode, saturates: bool) -> Array:
    """Floats (rounded by `mode`) or integers as integers of `dst`: clamped, or their low bits."""
    low, high = int(np.iinfo(dst.numpy).min), int(np.iinfo(dst.numpy).max)
    if x.dtype.kind in "iu":
        return np.clip(x, max(low, np.iinfo(x.dtype).min), min(high, np.iinfo(x.dtype).max)) if saturates else x
    whole = round_whole(x.astype(np.float64), mode)
    if saturates:
        inside = np.where((whole >= low) & (whole < float(high)), whole, 0.0).astype(dst.numpy)
        return np.where(whole >= float(high), high, np.where(whole < low, low, inside)).astype(dst.numpy)
    span = 2.0 ** (8 * dst.itemsize)
    finite = np.where(np.isfinite(whole), whole, 0.0)
    low_bits = np.mod(finite, span)
    return np.where(low_bits >= span / 2, low_bits - span, low_bits).astype(np.int64)


def to_float(x: Array, dst: DataType, mode: RoundMode) -> Array:
    """Any number as a float of `dst`; every mode but NONE and RINT corrects the nearest value by one step.

    Floats keep sign and magnitude apart, so one step of the bit pattern is one step of the magnitude.
    """
    nearest = x.astype(dst.numpy)
    if mode in (RoundMode.CAST_NONE, RoundMode.CAST_RINT):
        return nearest
    bits = nearest.view(f"u{dst.itemsize}")
    size = _magnitude(x, x)
    truncated = bits - (_magnitude(nearest, x) > size).astype(bits.dtype)
    lower = _magnitude(truncated.view(dst.numpy), x)
    away = truncated + bits.dtype.type(1)
    exact = (lower == size) | ~np.isfinite(x.astype(np.float64))
    if mode is RoundMode.CAST_FLOOR:
        up = x < 0
    elif mode is RoundMode.CAST_CEIL:
        up = x > 0
    elif mode is RoundMode.CAST_ODD:
        up = truncated & 1 == 0
    elif mode is RoundMode.CAST_ROUND:
        upper = _magnitude(away.view(dst.numpy), x)
        upper = np.where(np.isinf(upper), PAST_LARGEST[dst], upper) if upper.dtype == np.float64 else upper
        up = size - lower >= upper - size
    else:
        up = np.zeros(x.shape, dtype=bool)
    return np.where(exact, bits, np.where(up, away, truncated)).view(dst.numpy)


PAST_LARGEST = {float16: 2.0**16, bfloat16: 2.0**128, float32: 2.0**128, float64: np.inf}


def _magnitude(value: Array, source: Array) -> Array:
    """|value| without loss: uint64 when the source is an integer (values are whole then), else float64."""
    if source.dtype.kind not in "iu":
        return np.abs(value.astype(np.float64))
    if value.dtype.kind in "iu":
        wide = value.astype(np.int64).view(np.uint64)
        return np.where(value < 0, np.uint64(0) - wide, wide)
    return np.abs(value.astype(np.float64)).astype(np.uint64)
