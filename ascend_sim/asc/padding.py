"""The rows and the filler of data_copy_pad (rules: DataCopyPad in the Ascend C documents, soc_specs 2.4)."""

from __future__ import annotations

from typing import Any

from ascend_sim.asc.loopmode import loops_of
from ascend_sim.asc.operands import element, refuse, whole
from ascend_sim.asc.params import DataCopyExtParams, DataCopyPadExtParams, DataCopyPadParams, DataCopyParams
from ascend_sim.asc.recorder import RECORDER
from ascend_sim.asc.state import CoreState
from ascend_sim.asc.transfer import MAX_BLOCKS, MAX_UINT16, Filler, Transfer
from ascend_sim.isa.dtypes import DataType
from ascend_sim.program import BLOCK_BYTES

OP = "DataCopyPad"
MAX_UINT32 = 0xFFFFFFFF
MAX_UINT40 = (1 << 40) - 1
MAX_BLOCK_LEN_BYTES = (1 << 21) - 1
MAX_PADDING = 0xFF  # the field is a uint8; 32 B a side is the tighter limit


def pad_rows(params: Any, dtype: DataType, to_ub: bool, pad: Any) -> Transfer | None:
    """The rows that a data_copy_pad of `dtype` moves; None if it moves nothing."""
    if not isinstance(params, DataCopyExtParams | DataCopyParams):
        refuse(OP, f"data_copy_params must be DataCopyExtParams or DataCopyParams, not {type(params).__name__}")
    wide = isinstance(params, DataCopyExtParams)
    limits = {
        "block_count": MAX_BLOCKS,
        "block_len": MAX_BLOCK_LEN_BYTES if wide else MAX_UINT16,
        "src_stride": _max_gap(wide, to_ub),
        "dst_stride": _max_gap(wide, not to_ub),
    }
    blocks, length, src_gap, dst_gap = (
        whole(OP, f"{type(params).__name__}.{name}", getattr(params, name), _min_gap(params, name, to_ub), limit)
        for name, limit in limits.items()
    )
    size = dtype.itemsize
    if length % size:
        refuse(OP, f"block_len is {length} B, allowed are multiples of {size} B, the size of {dtype.name}")
    left, right = _paddings(params, pad, dtype) if to_ub else (0, 0)
    if blocks == 0 or length == 0:
        return None
    gm_gap, ub_gap = (src_gap, dst_gap) if to_ub else (dst_gap, src_gap)
    row = -(-(left + length + right) // BLOCK_BYTES) * BLOCK_BYTES
    return Transfer(blocks, length, length + gm_gap, row + ub_gap * BLOCK_BYTES, row, left, loops_of(to_ub))


def _max_gap(wide: bool, gm_side: bool) -> int:
    """The largest gap: on 3510 the GM side has 40 bits (soc_specs 2.4)."""
    if wide and gm_side and RECORDER.arch == "3510":
        return MAX_UINT40
    return MAX_UINT32 if wide else MAX_UINT16


def _min_gap(params: DataCopyExtParams | DataCopyParams, name: str, to_ub: bool) -> int:
    """The smallest value of a field: on 3510 rows that are read may overlap in GM, down to the same row every time."""
    if name == "src_stride" and to_ub and RECORDER.arch == "3510" and isinstance(params, DataCopyExtParams):
        return -whole(OP, "DataCopyExtParams.block_len", params.block_len, 0, MAX_BLOCK_LEN_BYTES)
    return 0


def _paddings(params: DataCopyExtParams | DataCopyParams, pad: Any, dtype: DataType) -> tuple[int, int]:
    """Left and right padding in bytes, after checking that `pad` goes with `params` and the tensor."""
    family = DataCopyPadExtParams if isinstance(params, DataCopyExtParams) else DataCopyPadParams
    if not isinstance(pad, family):
        given = "none" if pad is None else type(pad).__name__
        refuse(OP, f"GM -> UB with {type(params).__name__} takes pad_params of type {family.__name__}, given: {given}")
    name = family.__name__
    if isinstance(pad, DataCopyPadExtParams) and pad.dtype is not dtype:
        refuse(
            OP, f"{name}.dtype is {getattr(pad.dtype, 'name', pad.dtype)}, but dst is {dtype.name}: they must be equal"
        )
    if isinstance(pad, DataCopyPadParams) and pad.padding_value != 0:
        refuse(
            OP, f"{name}.padding_value is {pad.padding_value}, allowed is 0 (DataCopyPadExtParams takes other values)"
        )
    if dtype.itemsize == 8 and pad.padding_value != 0:
        refuse(OP, f"{name}.padding_value is {pad.padding_value}, allowed is 0 for 64-bit types such as {dtype.name}")
    sides = []
    for side in ("left_padding", "right_padding"):
        elements = whole(OP, f"{name}.{side}", getattr(pad, side), 0, MAX_PADDING)
        nbytes = elements * dtype.itemsize
        if nbytes > BLOCK_BYTES:
            refuse(
                OP,
                f"{name}.{side} is {elements} elements of {dtype.name} = {nbytes} B, allowed are at most "
                f"{BLOCK_BYTES // dtype.itemsize} elements (32 B a side)",
            )
        sides.append(nbytes)
    return sides[0], sides[1]


def pad_filler(pad: DataCopyPadExtParams | DataCopyPadParams, dtype: DataType) -> tuple[Filler, CoreState | None]:
    """What fills the rows, and the registers after the copy if it changes them."""
    first = pad.left_padding == 0 and pad.right_padding == 0
    if not pad.is_pad:
        value = RECORDER.state.register("pad")
        if value and not first and dtype.itemsize == 8:
            refuse(OP, f"set_pad_value set {value}, allowed is 0 for 64-bit types such as {dtype.name}")
        return Filler(dtype, first, None if value is None else element(dtype, value)), None
    changed = RECORDER.state.with_register("pad", pad.padding_value)
    return Filler(dtype, first, element(dtype, pad.padding_value)), None if changed is RECORDER.state else changed
