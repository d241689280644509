"""Registers that arithmetic reads: compare mask, dequantisation scale, saturation flags."""

from __future__ import annotations

from enum import IntEnum
from sys import _getframe
from types import FrameType
from typing import Any

from ascend_sim.asc import checks
from ascend_sim.asc.compare import REGISTER_BYTES, compare_mask
from ascend_sim.asc.issue import Hit, make_instr, play
from ascend_sim.asc.operands import fits, local, refuse
from ascend_sim.asc.plain import integer, real, shown
from ascend_sim.asc.recorder import RECORDER, Run
from ascend_sim.asc.tensors import LocalTensor
from ascend_sim.errors import KernelError, UnsupportedError
from ascend_sim.isa.compare import GET_CMP_MASK, SET_CMP_MASK
from ascend_sim.isa.row import Row
from ascend_sim.program import Access, Memory, Region, ScalarCall, VectorWork

__all__ = ["SaturationFlag", "get_cmp_mask", "set_cmp_mask", "set_deq_scale", "set_saturation_flag"]

GET_CMP_MASK_SPACE_BYTES = 128


class SaturationFlag(IntEnum):
    """Which results the flag is about: FLOAT (half arithmetic) or CAST (casts to integers)."""

    FLOAT = 0
    CAST = 1


def set_deq_scale(scale: Any, offset: Any = None, sign_mode: Any = None) -> None:
    """Set the scale that `cast` from int32 to float16 multiplies by; it is kept as a half."""
    _inside_kernel()
    if offset is not None or sign_mode is not None:
        raise UnsupportedError("SetDeqScale: offset, sign mode and per-lane scales (cast_deq) are not simulated yet")
    value = real("SetDeqScale: scale", scale)
    RECORDER.state = RECORDER.state.replace(deq_scale=float(value))
    RECORDER.charge(ScalarCall.MASK)


def set_saturation_flag(flag: SaturationFlag, value: bool) -> None:
    """SetSaturationFlag of Ascend C (pyasc has no such call).

    FLOAT on: half results that overflow become +-65504 and NaN becomes 0; off (at the start): they stay INF/NAN. CAST
    on (at the start): casts to integers clamp; off: they keep the low bits (soc_specs 2.9).
    """
    _inside_kernel()
    if not isinstance(flag, SaturationFlag):
        raise KernelError(f"SetSaturationFlag: flag must be a SaturationFlag, not {shown(flag)}")
    register = "half_saturates" if flag is SaturationFlag.FLOAT else "cast_saturates"
    RECORDER.state = RECORDER.state.replace(**{register: bool(integer("SetSaturationFlag: value", value))})
    RECORDER.charge(ScalarCall.MASK)


def _inside_kernel() -> None:
    if not RECORDER.arch:
        RECORDER.append(None)  # type: ignore[arg-type] # outside a kernel `append` refuses every call


def get_cmp_mask(dst: LocalTensor) -> None:
    """Store the compare-mask register in the first 16 bytes of `dst`, which must have room for 128."""
    _record(_getframe(1), GET_CMP_MASK, "dst", dst)


def set_cmp_mask(src: LocalTensor) -> None:
    """Load the compare-mask register from the first 16 bytes of `src`."""
    _record(_getframe(1), SET_CMP_MASK, "src", src)


def _record(frame: FrameType, row: Row, role: str, tensor: Any) -> None:
    recorder = RECORDER
    try:
        key = (row.call, tensor.key, recorder.pending, recorder.state, id(frame.f_code), frame.f_lasti)
        hit = recorder.cache.get(key)
    except (AttributeError, TypeError, ValueError):
        hit = key = None
    if hit is None:
        hit = recorder.cache[key] = build_register_move(frame, row, role, tensor)
    play(hit)


def build_register_move(frame: FrameType, row: Row, role: str, tensor: Any) -> Hit:
    """GetCmpMask or SetCmpMask of `tensor`."""
    found = local(row.name, role, tensor, REGISTER_BYTES)
    checks.check_dtypes(row, (role,), (found.dtype,), True)
    load = row is SET_CMP_MASK
    if not load and found.size * found.dtype.itemsize < GET_CMP_MASK_SPACE_BYTES:
        refuse(row.name, f"dst has {found.size * found.dtype.itemsize} B, it must have room for 128 B")
    fits(row.name, role, found, REGISTER_BYTES)
    regions = (Region(Memory.UB, found.addr, REGISTER_BYTES),)
    access = () if load else (Access(found.addr, 1, 32, 0),)
    lanes = REGISTER_BYTES // found.dtype.itemsize
    work = VectorWork(found.dtype.name, lanes, 1, lanes, False, access, False)
    reads, writes = (regions, ()) if load else ((), regions)
    run = register_run(found.addr, load) if RECORDER.values else None
    return make_instr(frame, row, work, reads, writes), run, RECORDER.state


def register_run(addr: int, load: bool) -> Run:
    """The values of a move between the register and UB byte `addr`."""
    memory = RECORDER.ub[addr : addr + REGISTER_BYTES]

    def run() -> None:
        target, source = (compare_mask(), memory) if load else (memory, compare_mask())
        target[:] = source

    return run
