"""Explaining a launch that cannot go on: who waits for what, at which source line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ascend_sim.errors import DeadlockError
from ascend_sim.machine.block import Block, flag_name
from ascend_sim.machine.costs import PIPE_OF, SCALAR_WAIT, SET, SYNC_ALL, WAIT, Op
from ascend_sim.program import HardEvent, Instr, Program

if TYPE_CHECKING:
    from ascend_sim.machine.core import Core

_SHOWN = 8


def deadlock(program: Program, cores: list[Core]) -> DeadlockError:
    """The error for a launch whose `cores` have nothing left to do but are not done."""
    waiters = [text for core in cores if core.block is not None for text in _waiters(core, core.block)]
    shown = waiters[:_SHOWN]
    if len(waiters) > _SHOWN:
        shown.append(f"and {len(waiters) - _SHOWN} more")
    return DeadlockError(f"kernel {program.kernel!r} cannot go on; waiting: " + "; ".join(shown))


def _waiters(core: Core, block: Block) -> list[str]:
    texts = []
    head = f"block {block.program.block} "
    for pipe in core.pipes:
        if pipe.blocked_on >= 0:
            index = block.items[pipe.queue][pipe.taken]
            texts.append(f"{head}{pipe.pipe.name}: {_at(block.ops[index].instr)}{_missing(block, block.ops[index])}")
    scalar = core.scalar
    if scalar.position < len(block.ops):
        op = block.ops[scalar.position]
        text = f"{head}PIPE_S: {_at(op.instr)}"
        if op.kind == SCALAR_WAIT:
            text += _missing(block, op)
        elif op.kind == SYNC_ALL and scalar.arrived >= 0:
            text += " for blocks that never come to SyncAll"
        elif op.queue >= 0:
            text += f" for room in the full queue of {PIPE_OF[op.queue].name}"
        else:
            text += " for the pipes above"
        texts.append(text)
    return texts


def _at(instr: Instr) -> str:
    return f"{instr.name}{f' at {instr.place}' if instr.place else ''} waits"


def _missing(block: Block, op: Op) -> str:
    """Which flag is missing, and whether anybody ever sets it."""
    setters = [other for other in block.ops if other.flag == op.flag and other.kind not in (WAIT, SCALAR_WAIT)]
    setters = [other for other in setters if other.kind == SET or other.queue < 0]
    where = next((f" (set at {other.instr.place})" for other in setters if other.instr.place), "")
    text = f" for flag {flag_name(op.flag)}"
    if not setters:
        return text + f", which {HardEvent(op.flag // 1024).source.name} never sets"
    return text + f", which {HardEvent(op.flag // 1024).source.name} has not set again{where}"
