"""What orders two accesses of a lowered program: vector clocks over the pipes of a core, flags, barriers, SyncAll.

Two accesses of one 32 B block of unified buffer by different pipes, or of one byte of global memory by different pipes
or cores, must be ordered, unless both read. V orders itself: the compiler's barriers see to that.
"""

from __future__ import annotations

import itertools
from collections import defaultdict, deque
from collections.abc import Iterator
from dataclasses import dataclass, field

from ascend_sim.program import (
    BarrierWork,
    CoreProgram,
    FlagWork,
    Instr,
    Memory,
    PipeID,
    Program,
    Region,
    ScalarWork,
    SyncWork,
)

BLOCK_BYTES = 32
PIPES = (PipeID.PIPE_S, PipeID.PIPE_V, PipeID.PIPE_MTE2, PipeID.PIPE_MTE3)
Clock = dict[PipeID, int]  # the last instruction of every pipe that is known to be done
Runs = list[tuple[int, int]]  # first byte, past the last


@dataclass(slots=True)
class Access:
    """What one instruction touches; `ub` are sets of blocks as bits."""

    index: int
    instr: Instr
    ub_read: int
    ub_written: int
    gm_read: Runs
    gm_written: Runs


@dataclass(slots=True)
class Core:
    """A core's accesses to global memory, by the meetings of all cores that separate them."""

    read: list[Runs] = field(default_factory=lambda: [[]])
    written: list[Runs] = field(default_factory=lambda: [[]])


def runs(region: Region, origin: int = 0) -> Iterator[tuple[int, int]]:
    for index in itertools.product(*(range(count) for count, _ in region.dims)):
        start = origin + region.start + sum(i * stride for i, (_, stride) in zip(index, region.dims, strict=True))
        yield start, start + region.length


def blocks(regions: tuple[Region, ...]) -> int:
    found = 0
    for region in regions:
        if region.memory is Memory.UB:
            for start, end in runs(region):
                first, last = start // BLOCK_BYTES, -(-end // BLOCK_BYTES)
                found |= ((1 << (last - first)) - 1) << first
    return found


def meet(a: Runs, b: Runs) -> bool:
    return any(p < s and r < q for p, q in a for r, s in b)


def disorder(program: Program) -> list[str]:
    """Every pair of accesses that nothing orders, every flag that is waited for in vain or never."""
    found: list[str] = []
    cores = [_core(block, found) for block in program.blocks]
    for epoch in range(max(len(core.read) for core in cores)):
        for (i, a), (j, b) in itertools.permutations(enumerate(cores), 2):
            if epoch < len(a.written) and epoch < len(b.written):
                others = b.read[epoch] + b.written[epoch] if i < j else b.read[epoch]
                if meet(a.written[epoch], others):
                    found.append(f"cores {i} and {j} touch the same bytes between two meetings")
    return found


def _core(block: CoreProgram, found: list[str]) -> Core:
    clocks: dict[PipeID, Clock] = {pipe: dict.fromkeys(PIPES, -1) for pipe in PIPES}
    flags: dict[tuple[int, int], deque[Clock]] = defaultdict(deque)
    past: dict[PipeID, list[Access]] = {pipe: [] for pipe in PIPES}
    masks: dict[int, tuple[int, int]] = {}
    core = Core()
    addresses = iter(block.gm_addresses)
    for index, instr in enumerate(block.instrs):
        address = next(addresses) if instr.uses_gm else 0
        work = instr.work
        if isinstance(work, FlagWork):
            _flag(work, clocks, flags, index, found, instr)
        elif isinstance(work, SyncWork | ScalarWork) or (
            isinstance(work, BarrierWork) and work.pipe is PipeID.PIPE_ALL
        ):
            joined = {pipe: max([index, *(clock[pipe] for clock in clocks.values())]) for pipe in PIPES}
            clocks = {pipe: dict(joined) for pipe in PIPES}
            if isinstance(work, SyncWork):
                core.read.append([])
                core.written.append([])
        elif not isinstance(work, BarrierWork):
            if id(instr) not in masks:
                masks[id(instr)] = blocks(instr.reads), blocks(instr.writes)
            access = _access(index, instr, address, masks[id(instr)])
            found += _unordered(access, clocks[instr.pipe], past)
            past[instr.pipe].append(access)
            clocks[instr.pipe][instr.pipe] = index
            core.read[-1] += access.gm_read
            core.written[-1] += access.gm_written
    found += [f"flag {key} is set {len(left)} times more than it is waited for" for key, left in flags.items() if left]
    return core


def _flag(
    work: FlagWork,
    clocks: dict[PipeID, Clock],
    flags: dict[tuple[int, int], deque[Clock]],
    index: int,
    found: list[str],
    instr: Instr,
) -> None:
    key = int(work.event), work.event_id
    if not work.wait:
        flags[key].append({**clocks[work.event.source], work.event.source: index})
    elif not flags[key]:
        found.append(f"{instr} waits for a flag that nobody has set")
    else:
        mine = clocks[work.event.destination]
        for pipe, known in flags[key].popleft().items():
            mine[pipe] = max(mine[pipe], known)


def _access(index: int, instr: Instr, address: int, mask: tuple[int, int]) -> Access:
    gm = [
        [run for region in regions if region.memory is Memory.GM for run in runs(region, address)]
        for regions in (instr.reads, instr.writes)
    ]
    return Access(index, instr, *mask, *gm)


def _unordered(access: Access, known: Clock, past: dict[PipeID, list[Access]]) -> Iterator[str]:
    for pipe, others in past.items():
        if pipe is access.instr.pipe:
            continue
        for other in reversed(others):
            if other.index <= known[pipe]:
                break
            in_ub = access.ub_written & (other.ub_read | other.ub_written) | access.ub_read & other.ub_written
            in_gm = meet(access.gm_written, other.gm_read + other.gm_written) or meet(access.gm_read, other.gm_written)
            if in_ub or in_gm:
                yield f"nothing orders {other.instr} (number {other.index}) and {access.instr} (number {access.index})"
