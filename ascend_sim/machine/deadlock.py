"""Explaining a launch that cannot go on: who waits for what, at which source line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ascend_sim.errors import DeadlockError
from ascend_sim.machine.block import Block
from ascend_sim.machine.costs import PIPE_OF, SCALAR_WAIT, SYNC_ALL, Op
from ascend_sim.machine.order import flag_name
from ascend_sim.program import Program

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
    ops = block.layout.ops
    head = f"block {block.program.block} "
    texts = [
        f"{head}{pipe.pipe.name}: {_at(ops[pipe.next])}{_flag(block, pipe.next)}"
        for pipe in core.pipes
        if pipe.needs >= 0
    ]
    scalar = core.scalar
    if scalar.position < len(ops):
        op = ops[scalar.position]
        text = f"{head}PIPE_S: {_at(op)}"
        if op.kind == SCALAR_WAIT:
            text += _flag(block, scalar.position)
        elif op.kind == SYNC_ALL and scalar.arrived >= 0:
            text += " for blocks that never come to SyncAll"
        elif op.queue >= 0:
            text += f" for room in the full queue of {PIPE_OF[op.queue].name}"
        else:
            text += " for the pipes above"
        texts.append(text)
    return texts


def _at(op: Op) -> str:
    return f"{op.instr.name}{f' at {op.instr.place}' if op.instr.place else ''} waits"


def _flag(block: Block, index: int) -> str:
    """Which flag is missing, and whether anybody ever sets it."""
    op = block.layout.ops[index]
    setter = block.layout.order.setter[index]
    source = op.work.event.source.name
    text = f" for flag {flag_name(op.flag)}"
    if setter == index:
        return f"{text}, which {source} does not set"
    place = block.layout.ops[setter].instr.place
    return f"{text}, which {source} sets too late{f' (SetFlag at {place})' if place else ''}"
