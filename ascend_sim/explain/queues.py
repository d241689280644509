"""Gaps of the pipes that take their instructions from a queue: V, MTE2, MTE3."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ascend_sim.explain.columns import Block, Bools, Ints
from ascend_sim.explain.gaps import Gaps, Piece, joined, split
from ascend_sim.explain.reasons import Reason
from ascend_sim.machine.costs import BARRIER, COPY, VECTOR, WAIT
from ascend_sim.timeline import Stage


@dataclass(frozen=True, slots=True)
class Settled:
    """By position in the block, of queued instructions: when the work in front of it in its pipe is `done`, and the
    position of the work that was done last (-1: none). `queues` holds the same behind each queue's instructions."""

    done: Ints
    last: Ints
    queues: tuple[tuple[Ints, Ints], ...]


def settle(block: Block) -> Settled:
    """When the work in front of each queued instruction was done."""
    prices, begin = block.prices, block.line.begin
    done = np.full(len(block.start), begin, np.int64)
    last = np.full(len(block.start), -1, np.int64)
    queues = []
    for positions in prices.queues:
        ends = np.where(prices.working[positions], block.end[positions], -1)
        latest = np.maximum.accumulate(ends) if len(ends) else ends
        newest = np.where((ends == latest) & (ends >= 0), np.arange(len(ends)), -1)
        newest = np.maximum.accumulate(newest) if len(newest) else newest
        worker = np.where(newest >= 0, positions[newest], -1) if len(newest) else newest
        behind = np.maximum(latest, begin)
        done[positions[1:]], last[positions[1:]] = behind[:-1], worker[:-1]
        queues.append((behind, worker))
    return Settled(done, last, tuple(queues))


def queue_gaps(block: Block, queue: int, settled: Settled, stalls: Gaps) -> Gaps:
    """All gaps of one queue's pipe between the block's begin and finish; `stalls` are the scalar unit's gaps."""
    at = block.prices.queues[queue]
    pieces = [*_start(block, at), *_own(block, at, settled)]
    waits, masks = _waits(block, at, settled)
    by_dispatch = np.asarray(waits.reason) == Reason.DISPATCH
    pieces += [waits.where(~by_dispatch), *split(waits.where(by_dispatch), stalls)]
    pieces += [masks, _done(block, at, settled, queue)]
    return joined(pieces, block.line.finish)


def _one(begin: int, end: int, reason: Reason, index: int, cause: int, until: int) -> Piece:
    columns = (np.array([value], np.int64) for value in (index, cause, until))
    return Piece(np.array([begin]), np.array([end]), reason, *columns)


def _start(block: Block, at: Ints) -> list[Piece]:
    """The prologue, unless the pipe has nothing to do at all."""
    if not len(at):
        return []
    line, first = block.line, int(at[0])
    code = block.code - line.late_cycles
    return [
        _one(line.begin, code, Reason.START, first, -1, line.begin),
        _one(code, block.code, Reason.COLD_START, first, -1, line.begin),
    ]


def _done(block: Block, at: Ints, settled: Settled, queue: int) -> Piece:
    """After the last instruction of the pipe: the block still waits for the one that ends last."""
    behind = settled.queues[queue]
    free = int(block.free[at[-1]]) if len(at) else block.line.begin
    until = int(behind[0][-1]) if len(at) else block.line.begin
    busy = last_of(block, settled)
    return _one(free, block.line.finish, Reason.DONE, -1, busy, until)


def _waits(block: Block, at: Ints, settled: Settled) -> tuple[Piece, Piece]:
    """From when the pipe was free to the instruction's start: what decided it, and the setting of the mask registers
    where that was not done by the time the instruction came."""
    prices = block.prices
    kind, start, lead = prices.kind[at], block.start[at], prices.lead[at]
    free = np.concatenate([[block.code], block.free[at[:-1]]]) if len(at) else start
    done, last, dispatch = settled.done[at], settled.last[at], block.dispatch[at]
    setter = prices.setter[at]
    seen = np.where(setter >= 0, block.end[setter], -1)
    by_flag = (kind == WAIT) & (seen > dispatch) & (seen > free)
    by_compiler = prices.barrier[at] & (done > free) & (done + lead >= dispatch)
    by_barrier = (kind == BARRIER) & (done > dispatch) & (done > free)
    reason = np.full(len(at), Reason.DISPATCH, np.int64)
    cause = np.full(len(at), -1, np.int64)
    for chosen, why, peers in (
        (by_flag, Reason.FLAG, flag_workers(block, settled, setter)),
        (by_compiler, Reason.AUTO_SYNC, last),
        (by_barrier, Reason.BARRIER, last),
    ):
        reason[chosen], cause[chosen] = why, peers[chosen]
    late = (reason == Reason.DISPATCH) & (start > free + lead)
    masking = np.where(late, start, np.maximum(start - lead, free))
    return Piece(free, masking, reason, at, cause, done), Piece(masking, start, Reason.MASK, at, at, done)


def flag_workers(block: Block, settled: Settled, setter: Ints) -> Ints:
    """The work behind each SetFlag: what its pipe did last, or the SetFlag itself if it did nothing before."""
    if not len(setter):
        return setter
    worker = np.where((setter >= 0) & block.prices.queued[setter], settled.last[setter], -1)
    return np.where(worker >= 0, worker, setter)


def last_of(block: Block, settled: Settled) -> int:
    """The work that ends last in the block, -1 if it has no instructions."""
    if not len(block.end):
        return -1
    return int(worker_behind(block, settled, np.array([np.argmax(block.end)]))[0])


def worker_behind(block: Block, settled: Settled, at: Ints) -> Ints:
    """For flags and barriers at the positions `at` the work that they stand for; other positions as they are."""
    kind, found = block.prices.kind, at.copy()
    for _ in range(2):  # a WaitFlag stands for the work behind its SetFlag, a SetFlag for that in front of it
        waits = np.flatnonzero((found >= 0) & (kind[found] == WAIT))
        found[waits] = flag_workers(block, settled, block.prices.setter[found[waits]])
        flags = np.flatnonzero((found >= 0) & ~block.prices.working[found])
        last = settled.last[found[flags]]
        found[flags] = np.where(last >= 0, last, found[flags])
    return found


def _own(block: Block, at: Ints, settled: Settled) -> list[Piece]:
    """Gaps in and around the instructions themselves."""
    prices, end = block.prices, block.end
    kind = prices.kind
    vectors, copies, flags = (at[chosen] for chosen in _kinds(kind[at]))
    start, left = block.start, block.left
    in_hbm = np.asarray(block.line.stage, np.int8)[copies] == Stage.HBM
    stage = np.full(len(kind), Reason.PORT, np.int64)
    stage[copies] = _SHARED[np.asarray(block.line.stage, np.int8)[copies]]
    alone, from_hbm = start + block.alone, copies[in_hbm]
    until = np.maximum(settled.done, end)
    return [
        Piece(left[vectors] - prices.conflict[vectors], left[vectors], Reason.BANKS, vectors, vectors, end[vectors]),
        Piece((start + block.own)[from_hbm], alone[from_hbm], Reason.HBM_LATENCY, from_hbm, from_hbm, end[from_hbm]),
        Piece(alone[copies], left[copies], stage[copies], copies, copies, end[copies]),
        Piece(left[copies], block.free[copies], Reason.ENGINE, copies, copies, until[copies]),
        Piece(start[flags], block.free[flags], Reason.HOLD, flags, flags, settled.done[flags]),
    ]


_SHARED = np.array([Reason.PORT, Reason.PORT, Reason.L2, Reason.HBM, Reason.PORT], np.int64)  # by Stage


def _kinds(kind: Ints) -> tuple[Bools, Bools, Bools]:
    return kind == VECTOR, kind == COPY, (kind != VECTOR) & (kind != COPY)
