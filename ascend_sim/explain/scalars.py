"""Gaps of the scalar unit: where it stood still, and why."""

from __future__ import annotations

import numpy as np

from ascend_sim.explain.columns import Block, Ints
from ascend_sim.explain.gaps import Gaps, Piece, joined
from ascend_sim.explain.queues import Settled, flag_workers, last_of, worker_behind
from ascend_sim.explain.reasons import Reason
from ascend_sim.machine.costs import BARRIER_ALL, LAST_QUEUED, SCALAR_ACCESS, SCALAR_WAIT, SYNC_ALL


def scalar_gaps(block: Block, settled: Settled, trailing_cycles: int, epilogue_cycles: int) -> Gaps:
    """All gaps of the scalar unit between the block's begin and finish."""
    line, prices, after = block.line, block.prices, block.after_scalar
    before = np.concatenate([[block.code], after[:-1]]) if len(after) else after
    begun = before + prices.issue
    pieces = [
        _span(block.code - line.late_cycles, block.code, Reason.COLD_START, -1, line.begin),
        *_queued(block, begun),
        *_flags(block, settled, begun),
        *_drains(block, settled, begun),
        *_accesses(block, before),
        _end(block, settled, trailing_cycles, epilogue_cycles),
    ]
    return joined(pieces, line.finish)


def _span(begin: int, end: int, reason: Reason, cause: int, until: int) -> Piece:
    columns = (np.array([value], np.int64) for value in (-1, cause, until))
    return Piece(np.array([begin]), np.array([end]), reason, *columns)


def _stall(block: Block, at: Ints, begin: Ints, end: Ints, reason: Reason, cause: Ints) -> Piece:
    return Piece(begin, end, reason, at, cause, np.full(len(at), block.line.begin, np.int64))


def _queued(block: Block, begun: Ints) -> list[Piece]:
    """Before a full queue: the one that had to leave it names the pipe."""
    at = np.flatnonzero((block.prices.kind <= LAST_QUEUED) & (block.prices.room >= 0))
    return [_stall(block, at, begun[at], block.after_scalar[at], Reason.QUEUE, block.prices.room[at])]


def _flags(block: Block, settled: Settled, begun: Ints) -> list[Piece]:
    at = np.flatnonzero(block.prices.kind == SCALAR_WAIT)
    workers = flag_workers(block, settled, block.prices.setter[at])
    return [_stall(block, at, begun[at], block.after_scalar[at], Reason.FLAG, workers)]


def _drains(block: Block, settled: Settled, begun: Ints) -> list[Piece]:
    """PIPE_ALL and SyncAll wait for all pipes, SyncAll then for the other cores."""
    kind = block.prices.kind
    at = np.flatnonzero((kind == BARRIER_ALL) | (kind == SYNC_ALL))
    if not len(at):
        return []
    until, cause = drained(block, at)
    cause = worker_behind(block, settled, cause)
    until = np.maximum(until, begun[at])
    syncs = kind[at] == SYNC_ALL
    both = at[syncs]
    return [
        _stall(block, at, begun[at], until, Reason.BARRIER, cause),
        _stall(block, both, until[syncs], block.after_scalar[both], Reason.CORES, both),
    ]


def drained(block: Block, at: Ints) -> tuple[Ints, Ints]:
    """When everything in front of the positions `at` was done, and what was done last."""
    until = np.full(len(at), block.line.begin, np.int64)
    cause = np.full(len(at), -1, np.int64)
    for positions in block.prices.queues:
        number = np.searchsorted(positions, at) - 1
        has = np.flatnonzero(number >= 0)
        if not len(has):
            continue
        working = block.prices.working[positions]
        ends = np.where(working, block.end[positions], block.line.begin)
        latest = np.maximum.accumulate(ends)
        newest = np.maximum.accumulate(np.where((ends == latest) & working, np.arange(len(ends)), -1))
        mine = number[has]
        starts = block.start[positions[mine]]
        done = np.maximum(latest[mine], starts)
        last = np.where((starts > latest[mine]) | (newest[mine] < 0), positions[mine], positions[newest[mine]])
        later = done > until[has]
        until[has[later]], cause[has[later]] = done[later], last[later]
    return until, cause


def _accesses(block: Block, before: Ints) -> list[Piece]:
    """GetValue and SetValue: the compiler's waits in front of them, the data cache's miss at their end."""
    at = np.flatnonzero(block.prices.kind == SCALAR_ACCESS)
    if not len(at):
        return []
    prices, peer = block.prices, np.asarray(block.line.peer, np.int64)
    worked = block.start[at] + prices.issue[at] + prices.occupancy[at]
    return [
        _stall(block, at, before[at], block.start[at], Reason.AUTO_SYNC, peer[at]),
        _stall(block, at, worked, block.end[at], Reason.SCALAR_MEMORY, at),
    ]


def _end(block: Block, settled: Settled, trailing_cycles: int, epilogue_cycles: int) -> Piece:
    """The scalar unit is through and waits for the last instruction to end."""
    through = (int(block.after_scalar[-1]) if len(block.after_scalar) else block.code) + trailing_cycles
    ended = block.line.finish - epilogue_cycles
    return _span(through, ended, Reason.DONE, last_of(block, settled), block.line.begin)
