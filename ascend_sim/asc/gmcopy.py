"""Transfers between GM and UB as instructions: operand checks, record and value function of one distinct call."""

from __future__ import annotations

from types import FrameType
from typing import Any, NoReturn

from ascend_sim.asc.operands import dtypes, fits, local, refuse
from ascend_sim.asc.padding import pad_filler, pad_rows
from ascend_sim.asc.recorder import RECORDER
from ascend_sim.asc.state import CoreState
from ascend_sim.asc.tensors import GlobalAddress, GlobalTensor, LocalTensor
from ascend_sim.asc.transfer import Amount, Filler, Transfer, block_transfer, load, store, store_atomic
from ascend_sim.isa.dtypes import DataType
from ascend_sim.isa.moves import DATA_COPY_IN, DATA_COPY_OUT, DATA_COPY_PAD_IN, DATA_COPY_PAD_OUT
from ascend_sim.isa.row import Row
from ascend_sim.program import Instr

Built = tuple[Instr, Any, int, CoreState | None]  # instruction, value function, GM extent in bytes, registers after it


def build_copy(dst: Any, src: Any, count: Amount, frame: FrameType) -> Built | None:
    """data_copy in either direction; None if it moves nothing."""
    _check_operands("DataCopy", dst, src)
    if isinstance(dst, LocalTensor):
        move = block_transfer("DataCopy", dst.dtype, count, True)
        return None if move is None else _load_instr(DATA_COPY_IN, dst, src, move, None, frame)
    move = block_transfer("DataCopy", dst.dtype, count, False)
    return None if move is None else _store_instr(DATA_COPY_OUT, dst, src, move, frame)


def build_pad(dst: Any, src: Any, params: Any, pad: Any, frame: FrameType) -> Built | None:
    """data_copy_pad in either direction; None if it moves nothing."""
    _check_operands("DataCopyPad", dst, src)
    if isinstance(src, GlobalTensor):
        tensor = local("DataCopyPad", "dst", dst)
        move = pad_rows(params, tensor.dtype, True, pad)
        if move is None:
            return None
        filler, after = pad_filler(pad, tensor.dtype)
        instr, run, extent, _ = _load_instr(DATA_COPY_PAD_IN, tensor, src, move, filler, frame)
        return instr, run, extent, after
    if pad is not None:
        refuse("DataCopyPad", "pad_params belong to GM -> UB: a copy to GM writes no padding")
    tensor = local("DataCopyPad", "src", src)
    move = pad_rows(params, tensor.dtype, False, None)
    return None if move is None else _store_instr(DATA_COPY_PAD_OUT, dst, tensor, move, frame)


def _load_instr(
    row: Row, dst: LocalTensor, src: GlobalTensor, move: Transfer, filler: Filler | None, frame: FrameType
) -> Built:
    local(row.name, "dst", dst)
    dtypes(row, RECORDER.arch, dst.dtype, src.dtype)
    fits(row.name, "dst", dst, move.ub_extent)
    instr = Instr(
        row,
        row.pipe,
        move.work(True, src.l2_bypass),
        (move.gm_region(),),
        (move.ub_region(dst.addr, with_filler=True),),
        RECORDER.pending,
        RECORDER.place(frame),
        f"{src.dtype.name} {move.blocks}x{move.row_bytes} B",
    )
    run = load(RECORDER.ub, dst.addr, move, filler) if RECORDER.values else None
    return instr, run, move.gm_extent, None


def _store_instr(row: Row, dst: GlobalTensor, src: LocalTensor, move: Transfer, frame: FrameType) -> Built:
    local(row.name, "src", src)
    dtypes(row, RECORDER.arch, dst.dtype, src.dtype)
    fits(row.name, "src", src, move.ub_extent)
    atomic = _atomic(row.name, src.dtype)
    target = move.gm_region()
    instr = Instr(
        row,
        row.pipe,
        move.work(False, dst.l2_bypass, atomic),
        (move.ub_region(src.addr, with_filler=False), *((target,) if atomic else ())),
        (target,),
        RECORDER.pending,
        RECORDER.place(frame),
        f"{dst.dtype.name} {move.blocks}x{move.row_bytes} B{f' atomic {atomic}' if atomic else ''}",
    )
    run = None
    if RECORDER.values:
        ub = RECORDER.ub
        run = store_atomic(ub, src, move, atomic) if atomic else store(ub, src.addr, move)
    return instr, run, move.gm_extent, None


def _atomic(op: str, dtype: DataType) -> str | None:
    """The atomic operation in force; its dtype must be the copy's."""
    setting = RECORDER.state.atomic
    if setting is None:
        return None
    name, _, kind = setting.partition(":")
    if kind != dtype.name:
        refuse(
            op,
            f"src is {dtype.name} while atomic {name} is set for {kind}: a copy to GM combines in the type that was "
            "set (set_atomic_none() ends it)",
        )
    return name


def out_of_bounds(instr: Instr, gm: GlobalTensor, start: int, extent: int) -> NoReturn:
    allocation = gm.allocation
    role = "src" if instr.row in (DATA_COPY_IN, DATA_COPY_PAD_IN) else "dst"
    refuse(
        instr.name,
        f"{role} touches bytes {start}..{start + extent - 1} of kernel argument {allocation.name!r}, which holds "
        f"{allocation.nbytes} B{f' (allowed are bytes 0..{allocation.nbytes - 1})' if allocation.nbytes else ''}",
    )


def _check_operands(op: str, dst: object, src: object) -> None:
    kinds = {dst.__class__, src.__class__}
    if kinds != {LocalTensor, GlobalTensor} or not all(
        hasattr(t, "allocation") for t in (dst, src) if isinstance(t, GlobalTensor)
    ):
        wrong_operands(op, dst, src)


def wrong_operands(op: str, dst: object, src: object) -> NoReturn:
    """Explain operands that are not one GlobalTensor with a buffer and one LocalTensor."""
    for role, tensor in (("dst", dst), ("src", src)):
        if isinstance(tensor, GlobalTensor) and not hasattr(tensor, "allocation"):
            refuse(op, f"{role} is a GlobalTensor without a buffer: call set_global_buffer(...) first")
    kinds = f"dst is a {type(dst).__name__}, src a {type(src).__name__}"
    inside = ", LocalTensor -> LocalTensor" if op == "DataCopy" else ""
    hint = ""
    if GlobalAddress in (type(dst), type(src)):
        hint = " (lay a GlobalTensor on the address with set_global_buffer)"
    refuse(op, f"{kinds}; allowed are GlobalTensor -> LocalTensor, LocalTensor -> GlobalTensor{inside}{hint}")
