"""The gaps of one pipe: intervals in which it does no work of its own, each with its reason."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ascend_sim.explain.columns import Bools, Ints
from ascend_sim.explain.reasons import Reason


@dataclass(frozen=True, slots=True)
class Gaps:
    """Columns of equal length, in order of time. A gap `[begin, end)` in cycles stands before (or, of a transfer or a
    vector instruction, in) the instruction at position `index` of its block, and is due to the one at `cause`; -1 where
    there is none. `in_flight`: results of the pipe's own are on their way, so msprof counts it as busy."""

    begin: Ints
    end: Ints
    reason: Ints
    index: Ints
    cause: Ints
    in_flight: Bools

    def __len__(self) -> int:
        return len(self.begin)

    @property
    def cycles(self) -> Ints:
        return self.end - self.begin


@dataclass(frozen=True, slots=True)
class Piece:
    """Gaps of one kind before they are put in order; `until`: what the pipe has in flight ends then."""

    begin: Ints
    end: Ints
    reason: Ints | Reason
    index: Ints
    cause: Ints
    until: Ints

    def where(self, chosen: Bools) -> Piece:
        """The rows that are `chosen`."""
        reason = self.reason if isinstance(self.reason, Reason) else self.reason[chosen]
        columns = (column[chosen] for column in (self.index, self.cause, self.until))
        return Piece(self.begin[chosen], self.end[chosen], reason, *columns)


def joined(pieces: Sequence[Piece], finish: int) -> Gaps:
    """All pieces in order of time, empty ones left out, cut where the pipe's own results have arrived; a pipe may be
    held for some cycles after the block's `finish`, which do not count."""
    pieces = [piece.where(piece.end > piece.begin) for piece in pieces]
    begin, end, index, cause, until = (
        np.concatenate([getattr(piece, name) for piece in pieces]).astype(np.int64)
        for name in ("begin", "end", "index", "cause", "until")
    )
    reason = np.concatenate([np.broadcast_to(piece.reason, piece.begin.shape) for piece in pieces]).astype(np.int64)
    end = np.minimum(end, finish)
    middle = np.clip(until, begin, end)
    starts, ends = np.concatenate([begin, middle]), np.concatenate([middle, end])
    in_flight = np.repeat([True, False], len(begin))
    kept = np.flatnonzero(ends > starts)  # also leaves out what begins after the finish
    kept = kept[np.argsort(starts[kept], kind="stable")]
    reason, index, cause = (np.tile(column, 2)[kept] for column in (reason, index, cause))
    return Gaps(starts[kept], ends[kept], reason, index, cause, in_flight[kept])


def split(piece: Piece, stalls: Gaps) -> list[Piece]:
    """A piece whose pipe waits for the scalar unit (`Reason.DISPATCH`), cut so that each part says what that did: work,
    or what it waited for itself. `stalls` are its gaps."""
    if not len(piece.begin) or not len(stalls):
        return [piece]
    low = np.searchsorted(stalls.end, piece.begin, "right")
    high = np.searchsorted(stalls.begin, piece.end, "left")
    count = np.maximum(high - low, 0)
    row = np.repeat(np.arange(len(count)), count)
    first = np.cumsum(count) - count
    stall = np.arange(len(row)) - first[row] + low[row]
    begin, end = np.maximum(piece.begin[row], stalls.begin[stall]), np.minimum(piece.end[row], stalls.end[stall])
    own = Piece(begin, end, stalls.reason[stall], piece.index[row], stalls.cause[stall], piece.until[row])
    before = piece.begin[row].copy()  # where the work in front of each stall begins
    later = np.flatnonzero(np.arange(len(row)) > first[row])
    before[later] = end[later - 1]
    working = Piece(before, begin, Reason.DISPATCH, piece.index[row], piece.cause[row], piece.until[row])
    rest = piece.begin.copy()
    some = count > 0
    rest[some] = end[(first + count - 1)[some]]
    behind = Piece(rest, piece.end, Reason.DISPATCH, piece.index, piece.cause, piece.until)
    return [own, working, behind]
