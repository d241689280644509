"""Reg::Cast: between dtypes of different widths only a part of the lanes takes part, the layout says which."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from sys import _getframe
from typing import Any

import numpy as np

from ascend_sim.asc.operands import refuse
from ascend_sim.asc.reg.checks import emit, mask_register, name_of, start, vector
from ascend_sim.asc.reg.registers import REGISTER_BYTES, MaskMergeMode
from ascend_sim.asc.reg.values import Array, Mask, Value, blend
from ascend_sim.isa import reg as rows
from ascend_sim.isa.cast import caster
from ascend_sim.isa.dtypes import DataType, float16, int32
from ascend_sim.isa.enums import RoundMode
from ascend_sim.isa.numeric import flush_subnormals

__all__ = ["CastTrait", "RegLayout", "SatMode", "cast"]


class RegLayout(IntEnum):
    """Which of the narrow lanes under one wide lane takes part: the first (ZERO) to the fourth (THREE)."""

    ZERO = 0
    ONE = 1
    TWO = 2
    THREE = 3
    UNKNOWN = -1


class SatMode(IntEnum):
    """Whether results that do not fit are clamped (half: to 65504, NaN to 0)."""

    NO_SAT = 0
    SAT = 1
    UNKNOWN = -1


@dataclass(frozen=True, slots=True)
class CastTrait:
    """How a cast works; the field order is Ascend C's."""

    layout: RegLayout = RegLayout.ZERO
    sat_mode: SatMode = SatMode.NO_SAT
    mask_merge_mode: MaskMergeMode = MaskMergeMode.ZEROING
    round_mode: RoundMode = RoundMode.CAST_RINT


def cast(dst: Any, src: Any, mask: Any, trait: CastTrait | None = None) -> None:
    """Cast: dst = src in dst's dtype, rounded by `trait.round_mode`.

    Widening takes lane `k * ratio + layout` of src for lane k of dst; narrowing puts lane k of src there and leaves the
    narrow lanes between 0 (or, MERGING, as they are). The mask counts lanes of the wider dtype.
    """
    row = rows.CAST
    body = start(row)
    target, source = vector(row, "dst", dst, body), vector(row, "src", src, body)
    active = mask_register(row, mask, body)
    trait = CastTrait() if trait is None else trait
    if not isinstance(trait, CastTrait):
        refuse(name_of(row), f"trait must be a CastTrait, not {type(trait).__name__}")
    pair = (target.dtype, source.dtype)
    modes = rows.CAST_MODES.get(pair)
    if modes is None:
        allowed = ", ".join(sorted({f"{s.name} -> {d.name}" for d, s in rows.CAST_MODES}))
        refuse(name_of(row), f"{pair[1].name} -> {pair[0].name} is not supported, allowed are {allowed}")
    mode = trait.round_mode
    if mode not in modes:
        if modes != (RoundMode.CAST_NONE,):
            names = ", ".join(item.name for item in modes)
            refuse(name_of(row), f"{pair[1].name} -> {pair[0].name} with {mode.name}, allowed are {names}")
        mode = RoundMode.CAST_NONE  # a widening loses nothing: the mode has no effect
    merging = trait.mask_merge_mode is MaskMergeMode.MERGING
    reads = (source, active, target) if merging else (source, active)
    compute = converter(*pair, trait, mode)
    emit(
        row, _getframe(1), body, (target,), reads, compute, f"{pair[1].name}_to_{pair[0].name}",
        mask=None if merging else active, lane_bytes=max(target.dtype.itemsize, source.dtype.itemsize),
    )  # fmt: skip


def converter(dst: DataType, src: DataType, trait: CastTrait, mode: RoundMode) -> Any:
    """From source value, mask and (when merging) old destination to the new destination."""
    wide, narrow = max(dst.itemsize, src.itemsize), min(dst.itemsize, src.itemsize)
    ratio = wide // narrow
    phase = int(trait.layout) if ratio > 1 else 0
    if not 0 <= phase < ratio:
        refuse("Reg::Cast", f"layout {trait.layout.name} does not exist between {src.name} and {dst.name}")
    saturates = trait.sat_mode is SatMode.SAT
    into = caster(dst, src, mode, 1.0, saturates and dst is float16, saturates)
    widening = dst.itemsize >= src.itemsize

    def convert(data: Array) -> Array:
        out = np.empty(data.shape, dst.numpy)
        if src is int32 and dst is float16:
            np.copyto(out, data.astype(np.float64).astype(np.float16))
        else:
            into(out, data)
        return flush_subnormals(out)

    def compute(value: Value, mask: Mask, old: Value | None = None) -> Value:
        flags = mask.lanes(wide)
        if widening:
            data = convert(value.lanes(src.numpy, ratio, phase))
            return Value(blend(flags, data, None if old is None else old.raw(dst.numpy)), clean=old is None)
        data = convert(value.numbers(src.numpy))
        if old is None:
            return Value(blend(flags, data, None), ratio, phase, clean=True)
        kept = np.broadcast_to(old.raw(dst.numpy), (*data.shape[:-1], REGISTER_BYTES // dst.itemsize)).copy()
        kept[..., phase::ratio] = blend(flags, data, kept[..., phase::ratio])
        return Value(kept)

    return compute
