"""data_copy and data_copy_pad: moves between GM and UB, and inside UB.

Transfers are interned without their GM address: the cached instruction is appended as it is, the address goes to the
core's address list, and the cached function gets the allocation's bytes and this call's offset.
"""

from __future__ import annotations

from sys import _getframe
from typing import Any

from ascend_sim.asc.gmcopy import build_copy, build_pad, out_of_bounds
from ascend_sim.asc.localcopy import local_copy
from ascend_sim.asc.loopmode import refuse_loops
from ascend_sim.asc.operands import refuse, whole
from ascend_sim.asc.params import DataCopyExtParams, DataCopyParams, Params
from ascend_sim.asc.plain import real
from ascend_sim.asc.recorder import RECORDER
from ascend_sim.asc.tensors import GlobalTensor
from ascend_sim.asc.transfer import MAX_COUNT, Amount
from ascend_sim.program import ScalarCall

__all__ = ["data_copy", "data_copy_pad", "set_pad_value"]


def data_copy(
    dst: Any,
    src: Any,
    count: Any = None,
    enhanced_params: Any = None,
    dim_value: Any = None,
    *,
    repeat_params: Any = None,
    slice_list1: Any = None,
    slice_list2: Any = None,
    intri_params: Any = None,
) -> None:
    """Copy between GM and UB or inside UB, in whole 32 B blocks.

    `data_copy(dst, src, count)` copies `count` elements; `data_copy(dst, src, DataCopyParams(...))` copies bursts with
    gaps. UB addresses are multiples of 32 B. The hardware drops what exceeds a multiple of 32 B; such a count is
    refused here, because the result would silently lack the last elements (soc_specs 2.4). A count of 0 does nothing.
    Slice lists and layout changes are not simulated and are refused.
    """
    if count is None:
        count = repeat_params
    amount: Amount
    if count.__class__ is int and enhanced_params is None:
        amount = count
    else:
        amount = _amount(count, enhanced_params, dim_value, slice_list1, slice_list2, intri_params)
    rec = RECORDER
    frame = _getframe(1)
    key: tuple[Any, ...] | None
    try:
        if src.__class__ is GlobalTensor:
            key = (data_copy, dst.key, src.dtype, src.l2_bypass, amount, rec.pending, id(frame.f_code), frame.f_lasti)
            gm = src
        elif dst.__class__ is GlobalTensor:
            key = (
                data_copy, src.key, dst.dtype, dst.l2_bypass, amount, rec.pending, rec.state,
                id(frame.f_code), frame.f_lasti
            )  # fmt: skip
            gm = dst
        else:
            local_copy(dst, src, amount, frame)
            return
        hit = rec.cache.get(key)
    except (AttributeError, TypeError):  # wrong operands, or fields that are no numbers: building tells which
        hit = key = None
    if hit is None:
        hit = build_copy(dst, src, amount, frame)
        if hit is None:
            return
        rec.cache[key] = hit
    if rec.state.loops:
        refuse_loops(gm is src)
    instr, run, extent, _ = hit
    start = gm.offset
    allocation = gm.allocation
    if start < 0 or start + extent > allocation.nbytes:
        out_of_bounds(instr, gm, start, extent)
    rec.pending = 0
    rec.append(instr)
    rec.gm_append(allocation.base + start)
    if run is not None:
        run(allocation.data, start)


def data_copy_pad(
    dst: Any, src: Any, data_copy_params: Any, pad_params: Any = None, *, nd2nz_params: Any = None
) -> None:
    """Copy blocks of any number of bytes between GM and UB.

    `data_copy_params` is DataCopyExtParams (or DataCopyParams): `block_len` in bytes and a multiple of the element
    size, the stride on the GM side in bytes, on the UB side in 32 B blocks, both counted as gaps. GM -> UB takes
    `pad_params` of the same family as well: DataCopyPadExtParams(dtype, ...) or DataCopyPadParams(...).

    In UB every block starts on a 32 B block and is filled up to a multiple of 32 B. The filler is
    * the block's own first element when both paddings are 0,
    * `padding_value` when `is_pad` is set (which leaves that value in the pad value register),
    * else the value of `set_pad_value`, if any copy or call has set one,
    * else undefined on the hardware; here it is bytes of 0xFF (NaN for floats), so that a use of it shows.
    UB -> GM writes only the data; the filler is dropped. `block_count` or `block_len` 0 does nothing.
    """
    if nd2nz_params is not None:
        refuse("DataCopyPad", "nd2nz_params (UB -> L1 layout change) belongs to cube kernels and is not simulated")
    params = data_copy_params.key if isinstance(data_copy_params, Params) else None
    padding = pad_params
    if isinstance(pad_params, Params):
        padding = pad_params.key
        if padding[-1].__class__ is float and not padding[-1]:
            padding = (*padding, repr(padding[-1]))  # padding with 0.0 or with -0.0: equal values, other bits
    rec = RECORDER
    frame = _getframe(1)
    gm, tensor = (src, dst) if src.__class__ is GlobalTensor else (dst, src)
    try:
        key = (
            data_copy_pad, tensor.key, gm.dtype, gm.l2_bypass, params, padding, rec.pending, rec.state,
            id(frame.f_code), frame.f_lasti
        )  # fmt: skip
        hit = rec.cache.get(key)
    except (AttributeError, TypeError):
        hit = key = None
    if hit is None:
        hit = build_pad(dst, src, data_copy_params, pad_params, frame)
        if hit is None:
            return
        rec.cache[key] = hit
    instr, run, extent, after = hit
    start = gm.offset
    allocation = gm.allocation
    if start < 0 or start + extent > allocation.nbytes:
        out_of_bounds(instr, gm, start, extent)
    rec.pending = 0
    rec.append(instr)
    rec.gm_append(allocation.base + start)
    if after is not None:
        rec.state = after
    if run is not None:
        run(allocation.data, start)


def set_pad_value(padding_value: Any, pos: Any = None) -> None:
    """Set the pad value register, which data_copy_pad uses for paddings when `is_pad` is not set.

    The value is converted to the dtype of the copy that uses it; 64-bit copies can only be padded with 0. `pos` is
    accepted as pyasc has it; on a vector core it makes no difference.
    """
    value = real("SetPadValue: padding_value", padding_value)
    RECORDER.state = RECORDER.state.with_register("pad", value)
    RECORDER.charge(ScalarCall.ALU)


def _amount(
    params: Any, enhanced_params: Any, dim_value: Any, slice_list1: Any, slice_list2: Any, intri_params: Any
) -> Amount:
    """The count, or the fields of DataCopyParams, of a data_copy call; refuses the forms that are not simulated.

    A run-time scalar becomes a plain integer, so that no later use charges the scalar unit.
    """
    if enhanced_params is None and isinstance(params, DataCopyParams):
        return params.key
    slices = isinstance(params, list) or slice_list1 is not None or slice_list2 is not None or dim_value is not None
    if slices:
        refuse("DataCopy", "the form with slice lists is not simulated: use DataCopyParams or data_copy_pad")
    if intri_params is not None:
        refuse(
            "DataCopy", f"{type(intri_params).__name__} (layout change) belongs to cube kernels and is not simulated"
        )
    if enhanced_params is not None:
        refuse("DataCopy", "enhanced_params set conversions of cube moves and are not simulated: leave them out")
    if params is None:
        refuse("DataCopy", "give a count of elements or DataCopyParams")
    if isinstance(params, DataCopyExtParams):
        refuse("DataCopy", "DataCopyExtParams belongs to data_copy_pad; data_copy takes a count or DataCopyParams")
    return whole("DataCopy", "count", params, 0, MAX_COUNT)
