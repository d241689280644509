"""`select`: elements of one tensor where a bit is 1, of another tensor or a scalar where it is 0.

Mode 0 uses the same bits in every repeat, modes 1 (tensor and scalar) and 2 (two tensors) go on through `sel_mask`. As
the chip's library does it, the call first fills the compare-mask register: with the bits (mode 0), with the scalar
(mode 1) or with the address of the bits (mode 2), the latter two by way of a block in the last 8 KiB of UB, which the
kernel must leave free. The forms without a mask argument take both registers as the kernel has set them.
"""

from __future__ import annotations

from collections.abc import Callable
from sys import _getframe
from types import FrameType
from typing import Any, NamedTuple

import numpy as np

from ascend_sim.asc import checks
from ascend_sim.asc.compare import compare_mask
from ascend_sim.asc.forms import Mask, mask_argument, scalar_key
from ascend_sim.asc.issue import (
    Hit,
    Operand,
    counted_walk,
    dense_layout,
    lanes_of,
    make_instr,
    masked_walk,
    strided_layout,
    vector_work,
)
from ascend_sim.asc.operands import element, fits, local, refuse
from ascend_sim.asc.params import BinaryRepeatParams
from ascend_sim.asc.recorder import RECORDER, Run
from ascend_sim.asc.sequence import Played, Steps, building
from ascend_sim.asc.tensors import LocalTensor
from ascend_sim.asc.views import element_indices, typed
from ascend_sim.asc.walk import Layout, Walk
from ascend_sim.isa.compare import SELECT, SET_CMP_MASK
from ascend_sim.isa.dtypes import DataType, uint32
from ascend_sim.isa.enums import SelMode
from ascend_sim.isa.moves import DUPLICATE
from ascend_sim.program import BLOCK_BYTES, Access, Memory, Region, VectorWork

__all__ = ["select"]

SCRATCH_BYTES = 8192  # at the end of UB, for modes 1 and 2 (soc_specs 2.5)
SCRATCH_ARCH = "2201"  # the only one whose kernels have to leave them free
Bits = Callable[[], Any]  # gives the mask bits, one uint8 of 0 or 1 each


class Call(NamedTuple):
    """What was given beside the tensors; `src1` is None unless it is a scalar."""

    mode: SelMode
    count: Any
    repeats: Any
    params: Any
    from_register: bool


def select(
    dst: LocalTensor,
    sel_mask: Any = None,
    src0: Any = None,
    src1: Any = None,
    sel_mode: Any = None,
    count: Any = None,
    repeat_times: int | None = None,
    repeat_params: BinaryRepeatParams | None = None,
    *,
    mask: Mask | None = None,
) -> None:
    """Select: `(dst, sel_mask, src0, src1, sel_mode, count)`, the same with mask, repeat_times and repeat_params, or
    by the registers `(dst, sel_mask, src0, repeat_times=, repeat_params=)` and `(dst, src0, src1, repeat_times=,
    repeat_params=, sel_mode=)`.
    """
    frame, recorder = _getframe(1), RECORDER
    from_register = src1 is None or sel_mask is None
    if from_register:
        sel_mask, src0, src1, sel_mode = _register_form(sel_mask, src0, src1, sel_mode)
    elif repeat_times is not None or mask is not None:
        count = mask_argument(SELECT, count, mask, repeat_times)
    scalar = not isinstance(src1, LocalTensor)
    try:
        key = (
            "select", dst.key, sel_mask and sel_mask.key, src0.key, scalar_key(src1) if scalar else src1.key, sel_mode,
            count, repeat_times, repeat_params and repeat_params.key, from_register,
            recorder.pending, recorder.state, id(frame.f_code), frame.f_lasti,
        )  # fmt: skip
        found = recorder.cache.get(key)
    except (AttributeError, TypeError, ValueError):
        found = key = None
    if found is None:
        call = Call(_checked_mode(sel_mode, src1), count, repeat_times, repeat_params, from_register)
        found = recorder.cache[key] = building(lambda: _build(frame, dst, sel_mask, src0, src1, call))
    _play(found, src1 if scalar else None)


def _play(found: Played, scalar: Any) -> None:
    """As `sequence.play`; the step that fills the register is handed the scalar."""
    steps, after = found
    for instr, run in steps:
        RECORDER.append(instr)
        if run is not None:
            run(scalar)
    RECORDER.pending = 0
    RECORDER.state = after


def _register_form(sel_mask: Any, src0: Any, src1: Any, sel_mode: Any) -> tuple[Any, Any, Any, Any]:
    """The arguments of a form that takes the compare-mask register: (sel_mask, src0, src1, sel_mode)."""
    if sel_mode is None:
        return sel_mask, src0, None, SelMode.VSEL_TENSOR_SCALAR_MODE
    if sel_mask is None:
        return None, src0, src1, sel_mode
    return None, sel_mask, src0, sel_mode


def _checked_mode(sel_mode: Any, src1: Any) -> SelMode:
    try:
        mode = SelMode(sel_mode)
    except ValueError:
        refuse(SELECT.name, f"sel_mode must be a SelMode, not {sel_mode!r}")
    wants_scalar = mode is SelMode.VSEL_TENSOR_SCALAR_MODE
    if wants_scalar == isinstance(src1, LocalTensor):
        wanted = "a scalar" if wants_scalar else "a LocalTensor"
        refuse(SELECT.name, f"{mode.name} takes {wanted} as src1, not {type(src1).__name__}")
    if type(src1) is int:
        refuse(SELECT.name, "src1 must be a float or a run-time scalar; pyasc takes no Python int here")
    return mode


def _build(frame: FrameType, dst: Any, sel_mask: Any, src0: Any, src1: Any, call: Call) -> Played:
    tensors = [("dst", dst), ("src0", src0)] + ([("src1", src1)] if isinstance(src1, LocalTensor) else [])
    for role, tensor in tensors:
        local(SELECT.name, role, tensor)
    count_form = call.repeats is None
    mask_type = uint32 if sel_mask is None else local(SELECT.name, "sel_mask", sel_mask).dtype
    for role, tensor in tensors[1:]:
        checks.check_dtypes(SELECT, ("dst", "sel_mask", role), (dst.dtype, mask_type, tensor.dtype), count_form)
    walk, after, operands = _resolve(tensors, call)
    _check(walk, operands)
    per_repeat = call.mode is SelMode.VSEL_CMPMASK_SPR
    bit_count = walk.lanes if per_repeat else (walk.repeats - 1) * walk.lanes + walk.last.bit_length()
    steps = Steps(frame, (0, 0, 0))
    if not (per_repeat or call.from_register) and RECORDER.arch == SCRATCH_ARCH:
        _check_scratch(call.mode, [*tensors, ("sel_mask", sel_mask)])
    if sel_mask is not None:
        fits(SELECT.name, "sel_mask", sel_mask, -(-bit_count // 8) if walk.elements else 0)
    if not call.from_register:
        _fill_register(steps, call.mode, sel_mask, dst.dtype)
    bits = _bits_of(call.mode, sel_mask, bit_count) if RECORDER.values else None
    steps.add(_select(frame, walk, operands, sel_mask, bit_count, bits, call, after))
    if count_form and call.mode is not SelMode.VSEL_TENSOR_SCALAR_MODE:
        steps.barrier()
    return steps.finish(after)


def _resolve(tensors: list[tuple[str, LocalTensor]], call: Call) -> tuple[Walk, Any, list[Operand]]:
    lanes = lanes_of(tensors[0][1])
    if call.repeats is None:
        walk, after = counted_walk(SELECT, lanes, call.count)
        return walk, after, [(role, tensor, dense_layout(tensor, lanes)) for role, tensor in tensors]
    params = call.params
    if not isinstance(params, BinaryRepeatParams):
        refuse(SELECT.name, f"repeat_params must be BinaryRepeatParams, not {type(params).__name__}")
    times = checks.check_repeats(SELECT, call.repeats)
    walk, after = masked_walk(SELECT, lanes, call.count, times, not call.from_register)
    operands: list[Operand] = []
    for role, tensor in tensors:
        block, repeat = getattr(params, f"{role}_blk_stride"), getattr(params, f"{role}_rep_stride")
        operands.append((role, tensor, strided_layout(SELECT, tensor, role, block, repeat)))
    return walk, after, operands


def _check(walk: Walk, operands: list[Operand]) -> None:
    dst = operands[0][2]
    for index, (role, tensor, layout) in enumerate(operands):
        fits(SELECT.name, role, tensor, layout.end(walk) - tensor.addr)
        if index:
            checks.check_overlap(SELECT, walk, dst, role, layout, False)


def _scratch_address() -> int:
    return RECORDER.ub_bytes - SCRATCH_BYTES


def _check_scratch(mode: SelMode, tensors: list[tuple[str, LocalTensor]]) -> None:
    """Neither the operands nor the buffers of the TPipe reach into the scratch."""
    start, session = _scratch_address(), RECORDER.launch
    need = f"{mode.name} works in the last {SCRATCH_BYTES} B of UB (from byte {start} on)"
    for role, tensor in tensors:
        end = tensor.addr + tensor.get_length()
        if end > start:
            refuse(SELECT.name, f"{need}, but {role} ends at byte {end}")
    pipe = session and session.block.pipe
    if pipe is not None and pipe.allocated_bytes > start:
        refuse(SELECT.name, f"{need}, but the buffers of the TPipe take {pipe.allocated_bytes} B")


def _fill_register(steps: Steps, mode: SelMode, sel_mask: LocalTensor, dtype: DataType) -> None:
    """SetCmpMask from `sel_mask` (mode 0), or from a block of UB that holds the scalar or the address of the bits."""
    state, values = RECORDER.state, RECORDER.values
    if mode is SelMode.VSEL_CMPMASK_SPR:
        addr, run = sel_mask.addr, _load_bits(sel_mask.addr) if values else None
    else:
        addr = _scratch_address()
        scalar = mode is SelMode.VSEL_TENSOR_SCALAR_MODE
        run = (_load_scalar(addr, dtype) if scalar else _load_address(addr, sel_mask.addr)) if values else None
        kind = dtype if scalar else uint32
        block = (Region(Memory.UB, addr, BLOCK_BYTES),)
        lanes = BLOCK_BYTES // kind.itemsize
        fill = VectorWork(kind.name, lanes, 1, lanes, False, (Access(addr, 1, 32, 0),))
        steps.add((make_instr(steps.frame, DUPLICATE, fill, (), block, "for Select"), None, state))
        steps.barrier()
    region = (Region(Memory.UB, addr, 16),)
    work = VectorWork("uint32", 4, 1, 4, False, (), False)
    steps.add((make_instr(steps.frame, SET_CMP_MASK, work, region, (), "for Select"), run, state))
    steps.barrier()


def _load_bits(addr: int) -> Run:
    memory = RECORDER.ub[addr : addr + 16]

    def run(_: Any) -> None:
        compare_mask()[: len(memory)] = memory

    return run


def _load_scalar(scratch: int, dtype: DataType) -> Run:
    block = RECORDER.ub[scratch : scratch + BLOCK_BYTES]

    def run(scalar: Any) -> None:
        block.view(dtype.numpy)[:] = element(dtype, scalar)
        compare_mask()[:] = block[:16]

    return run


def _load_address(scratch: int, addr: int) -> Run:
    block = RECORDER.ub[scratch : scratch + BLOCK_BYTES]

    def run(_: Any) -> None:
        block.view(np.uint32)[:] = addr
        compare_mask()[:] = block[:16]

    return run


def _bits_of(mode: SelMode, sel_mask: LocalTensor | None, count: int) -> Bits:
    """Mask bits when the instruction runs: the register (mode 0), `sel_mask`, or where the register points."""
    nbytes = -(-count // 8)
    if mode is SelMode.VSEL_CMPMASK_SPR:
        return lambda: np.unpackbits(compare_mask(), bitorder="little")
    ub = RECORDER.ub
    if sel_mask is not None:
        memory = ub[sel_mask.addr : sel_mask.addr + nbytes]
        return lambda: np.unpackbits(memory, bitorder="little")

    def pointed() -> Any:
        addr = int(compare_mask().view(np.uint32)[0])
        if addr + nbytes > len(ub):
            refuse(SELECT.name, f"the compare-mask register points at UB byte {addr}, past the end of UB ({len(ub)} B)")
        return np.unpackbits(ub[addr : addr + nbytes], bitorder="little")

    return pointed


def _select(
    frame: FrameType,
    walk: Walk,
    operands: list[Operand],
    sel_mask: LocalTensor | None,
    bit_count: int,
    bits: Bits | None,
    call: Call,
    after: Any,
) -> Hit:
    layouts = [layout for _, _, layout in operands]
    work = vector_work(walk, layouts, call.repeats is None, not call.from_register)
    reads = tuple(region for layout in layouts[1:] for region in layout.regions(walk))
    if sel_mask is not None and call.mode is not SelMode.VSEL_CMPMASK_SPR and walk.elements:
        reads = (*reads, Region(Memory.UB, sel_mask.addr, -(-bit_count // 8)))
    instr = make_instr(frame, SELECT, work, reads, layouts[0].regions(walk), call.mode.name)
    run = None if bits is None or not walk.elements else _run(walk, layouts, bits, call.mode)
    return instr, run, after


def _run(walk: Walk, layouts: list[Layout], bits: Bits, mode: SelMode) -> Run:
    flat = [typed(RECORDER.ub, layout) for layout in layouts]
    at = [element_indices(walk, layout) for layout in layouts]
    repeat, lane = walk.active()
    bit_at = lane if mode is SelMode.VSEL_CMPMASK_SPR else repeat * walk.lanes + lane
    kind = layouts[0].dtype.numpy

    def run(_: Any) -> None:
        other = flat[2][at[2]] if len(flat) > 2 else compare_mask().view(kind)[0]
        flat[0][at[0]] = np.where(bits()[bit_at] != 0, flat[1][at[1]], other)

    return run
