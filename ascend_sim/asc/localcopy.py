"""data_copy inside UB: runs on PIPE_V, moves bursts of 32 B blocks, knows no mask."""

from __future__ import annotations

from types import FrameType
from typing import Any

import numpy as np

from ascend_sim.asc.gmcopy import wrong_operands
from ascend_sim.asc.operands import REPEAT_BYTES, dtypes, fits, local, refuse
from ascend_sim.asc.recorder import RECORDER
from ascend_sim.asc.regions import overlap
from ascend_sim.asc.tensors import LocalTensor
from ascend_sim.asc.transfer import Amount, Transfer, block_transfer, rows_region, ub_rows
from ascend_sim.isa.moves import DATA_COPY_LOCAL
from ascend_sim.program import BLOCK_BYTES, Access, Instr, Memory, VectorWork

OP = "DataCopy"


def local_copy(dst: Any, src: Any, count: Amount, frame: FrameType) -> None:
    """Record one UB -> UB copy by count of elements or by bursts."""
    rec = RECORDER
    if dst.__class__ is not LocalTensor or src.__class__ is not LocalTensor:
        wrong_operands(OP, dst, src)
    key = (local_copy, dst.key, src.key, count, rec.pending, id(frame.f_code), frame.f_lasti)
    hit = rec.cache.get(key)
    if hit is None:
        hit = _build(dst, src, count, frame)
        if hit is None:
            return
        rec.cache[key] = hit
    instr, run = hit
    rec.pending = 0
    rec.append(instr)
    if run is not None:
        run()


def _build(dst: LocalTensor, src: LocalTensor, count: Amount, frame: FrameType) -> tuple[Instr, Any] | None:
    local(OP, "dst", dst)
    local(OP, "src", src)
    dtypes(DATA_COPY_LOCAL, RECORDER.arch, dst.dtype, src.dtype)
    move = block_transfer(OP, dst.dtype, count, None)
    if move is None:
        return None
    fits(OP, "dst", dst, (move.blocks - 1) * move.ub_pitch + move.row_bytes)
    fits(OP, "src", src, move.gm_extent)
    read = rows_region(Memory.UB, src.addr, move.row_bytes, move.blocks, move.gm_pitch)
    written = rows_region(Memory.UB, dst.addr, move.row_bytes, move.blocks, move.ub_pitch)
    if read != written and overlap((read,), (written,)):
        refuse(
            OP, f"src (UB byte {src.addr} on) and dst (UB byte {dst.addr} on) overlap: they must be equal or disjoint"
        )
    instr = Instr(
        DATA_COPY_LOCAL,
        DATA_COPY_LOCAL.pipe,
        _work(dst, src, move),
        (read,),
        (written,),
        RECORDER.pending,
        RECORDER.place(frame),
        f"{dst.dtype.name} {move.blocks}x{move.row_bytes} B",
    )
    if not RECORDER.values:
        return instr, None
    target = ub_rows(RECORDER.ub, dst.addr, move.blocks, move.row_bytes, move.ub_pitch)
    source = ub_rows(RECORDER.ub, src.addr, move.blocks, move.row_bytes, move.gm_pitch)
    return instr, lambda: np.copyto(target, source)


def _work(dst: LocalTensor, src: LocalTensor, move: Transfer) -> VectorWork:
    """The copy as repeats of at most 8 blocks: one per burst, or per 256 B of a longer burst."""
    lanes = REPEAT_BYTES // dst.dtype.itemsize
    if move.row_bytes <= REPEAT_BYTES:
        repeats, blocks = move.blocks, move.row_bytes // BLOCK_BYTES
        steps = move.ub_pitch, move.gm_pitch
    else:
        repeats, blocks = move.blocks * -(-move.row_bytes // REPEAT_BYTES), REPEAT_BYTES // BLOCK_BYTES
        steps = REPEAT_BYTES, REPEAT_BYTES
    accesses = tuple(
        Access(tensor.addr, blocks, BLOCK_BYTES, step) for tensor, step in zip((dst, src), steps, strict=True)
    )
    elements = move.blocks * move.row_bytes // dst.dtype.itemsize
    return VectorWork(dst.dtype.name, lanes, repeats, elements, False, accesses, sets_mask=False)
