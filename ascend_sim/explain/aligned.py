"""The same program with its GM transfers on 512 B boundaries: what alignment costs."""

from __future__ import annotations

from array import array
from dataclasses import replace

from ascend_sim.program import CopyWork, CoreProgram, Instr, Program

ALIGNMENT_BYTES = 512
"""GM is read best from addresses that are multiples of this (asc-devkit, alignment of GM addresses)."""


def is_aligned(program: Program) -> bool:
    """Whether every transfer and every row of it begins on a boundary already."""
    return not any(
        (isinstance(instr.work, CopyWork) and _pitch(instr.work) != instr.work.gm_pitch_bytes)
        for block in program.blocks
        for instr in set(block.instrs)
    ) and not any(address % ALIGNMENT_BYTES for block in program.blocks for address in _transfers(block))


def align(program: Program) -> Program:
    """Addresses move down to a boundary, the rows of a transfer up to the next ones; as much is moved as before."""
    known: dict[Instr, Instr] = {}
    return replace(program, blocks=[_aligned_block(block, known) for block in program.blocks])


def _aligned_block(block: CoreProgram, known: dict[Instr, Instr]) -> CoreProgram:
    for instr in set(block.instrs) - known.keys():
        known[instr] = _aligned_instr(instr)
    addresses = array("q", block.gm_addresses)
    for number, instr in enumerate(instr for instr in block.instrs if instr.uses_gm):
        if isinstance(instr.work, CopyWork):
            addresses[number] -= addresses[number] % ALIGNMENT_BYTES
    return replace(block, instrs=[known[instr] for instr in block.instrs], gm_addresses=addresses)


def _aligned_instr(instr: Instr) -> Instr:
    work = instr.work
    if not isinstance(work, CopyWork) or _pitch(work) == work.gm_pitch_bytes:
        return instr
    aligned = replace(work, gm_pitch_bytes=_pitch(work))
    return Instr(
        instr.row, instr.pipe, aligned, instr.reads, instr.writes, instr.scalar_calls, instr.place, instr.detail
    )


def _pitch(work: CopyWork) -> int:
    """Rows that follow each other are one piece, whatever their length, and rows closer than a boundary share one."""
    if work.blocks <= 1 or work.gm_pitch_bytes == work.block_bytes or work.gm_pitch_bytes < ALIGNMENT_BYTES:
        return work.gm_pitch_bytes
    return -(-work.gm_pitch_bytes // ALIGNMENT_BYTES) * ALIGNMENT_BYTES


def _transfers(block: CoreProgram) -> list[int]:
    users = (instr for instr in block.instrs if instr.uses_gm)
    return [at for at, instr in zip(block.gm_addresses, users, strict=True) if isinstance(instr.work, CopyWork)]
