"""What the charts draw: instructions and gaps of selected blocks, and rates of all of them over time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ascend_sim.explain import Account, BlockAccount, Reason
from ascend_sim.places import place_of
from ascend_sim.plurals import plural
from ascend_sim.program import CopyWork, Instr, PipeID
from ascend_sim.report.codes import Codes
from ascend_sim.report.trace import drawn
from ascend_sim.timeline import CoreTimeline, Timeline

PIPES = (("scalar", PipeID.PIPE_S), ("mte2", PipeID.PIPE_MTE2), ("vec", PipeID.PIPE_V), ("mte3", PipeID.PIPE_MTE3))
BINS = 240
SCALAR_WORK = "scalar unit works"
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Bar:
    """One instruction, or one gap, on paper; times in us of the launch's device time."""

    row: str
    begin_us: float
    us: float
    name: str
    hover: str


def row_name(line: CoreTimeline, pipe: str) -> str:
    return f"core {line.core} · block {line.program.block} · {pipe}"


def rows(blocks: list[CoreTimeline]) -> list[str]:
    """Rows from top to bottom."""
    return [row_name(line, pipe) for line in blocks for pipe, _ in PIPES]


def instruction_bars(blocks: list[CoreTimeline], timeline: Timeline, span: tuple[float, float]) -> list[Bar]:
    """Every instruction that moves or computes something, flags and barriers left out."""
    names = {number: name for name, number in PIPES}
    bars = []
    for line in blocks:
        codes = Codes()
        found = codes.of(line.program.instrs)
        if not len(found):
            continue
        begin, end = drawn(line, codes, found)
        low, high = (bound * timeline.clock_mhz for bound in span)
        shown = np.flatnonzero(codes.working[found] & (end > low) & (begin < high) & (end > begin))
        for at in shown.tolist():
            instr = codes.instrs[found[at]]
            us = timeline.to_us(int(end[at] - begin[at]))
            bars.append(
                Bar(
                    row_name(line, names.get(instr.pipe, "scalar")),
                    timeline.to_us(int(begin[at])),
                    us,
                    instr.name,
                    f"{place_of(instr)}<br>{plural(int(end[at] - begin[at]), 'cycle')}, {us:.4f} us" + _more(instr),
                )
            )
    return bars


def issue_bars(blocks: list[BlockAccount], timeline: Timeline, span: tuple[float, float]) -> list[Bar]:
    """Where the scalar unit works: everything between its gaps."""
    bars = []
    for block in blocks:
        gaps = block.pipes["scalar"].gaps
        begins = np.concatenate(([block.begin], gaps.end)).tolist()
        ends = np.concatenate((gaps.begin, [block.finish])).tolist()
        for begin, end in zip(begins, ends, strict=True):
            low, high = timeline.to_us(begin), timeline.to_us(end)
            if high > max(low, span[0]) and low < span[1]:
                row = row_name(block.columns.line, "scalar")
                bars.append(Bar(row, low, high - low, SCALAR_WORK, f"{SCALAR_WORK}<br>{plural(end - begin, 'cycle')}"))
    return bars


def gap_bars(blocks: list[BlockAccount], timeline: Timeline, span: tuple[float, float]) -> list[Bar]:
    """Every gap with its reason, what came next and what it waited for; idle ends and starts left out."""
    bars = []
    for block in blocks:
        for gap in block.gaps():
            begin, end = timeline.to_us(gap.begin), timeline.to_us(gap.end)
            if end < span[0] or begin > span[1] or gap.reason in {Reason.DONE, Reason.START} or gap.in_flight:
                continue
            after = f"<br>before {place_of(gap.instr)}" if gap.instr else ""
            cause = f"<br>waits for {place_of(gap.cause)}" if gap.cause else ""
            text = f"{gap.reason.text}<br>{plural(gap.cycles, 'cycle')}, {end - begin:.4f} us{after}{cause}"
            bars.append(Bar(row_name(block.columns.line, gap.pipe), begin, end - begin, gap.reason.text, text))
    return bars


def _more(instr: Instr) -> str:
    return f"<br>{instr.work.nbytes:,} B" if isinstance(instr.work, CopyWork) else ""


@dataclass(frozen=True, slots=True)
class Rates:
    """Over bins of equal width: middles of the bins in us, share of all cores' pipes that work (0..1) by pipe, GM
    traffic in GB/s by direction; `heat` is the share by core and bin of the pipe that works most."""

    us: Floats
    busy: dict[str, Floats]
    gbps: dict[str, Floats]
    heat: Floats
    cores: list[int]


def rates(account: Account) -> Rates:
    """The whole launch, all cores."""
    timeline = account.timeline
    end = max((line.finish for line in timeline.cores), default=1) or 1
    edges = np.linspace(0, end, min(BINS, end) + 1)
    width = edges[1] - edges[0]
    cores = sorted({line.core for line in timeline.cores})
    busy = {name: np.zeros((len(cores), len(edges) - 1)) for name, _ in PIPES}
    moved = {"read": np.zeros(len(edges) - 1), "written": np.zeros(len(edges) - 1)}
    for block in account.blocks:
        at = cores.index(block.core)
        here = _spread(np.array([block.begin]), np.array([block.finish]), np.ones(1), edges)
        for name, _ in PIPES:
            gaps = block.pipes[name].gaps
            idle = _spread(gaps.begin, gaps.end, np.ones(len(gaps.begin)), edges)
            busy[name][at] += np.maximum(here - idle, 0)
    for line in timeline.cores:
        codes = Codes()
        found = codes.of(line.program.instrs)
        if not len(found):
            continue
        sizes = np.array([i.work.nbytes if isinstance(i.work, CopyWork) else 0 for i in codes.instrs], np.float64)
        begin, stop = drawn(line, codes, found)
        for name, pipe in (("read", PipeID.PIPE_MTE2), ("written", PipeID.PIPE_MTE3)):
            chosen = np.flatnonzero((codes.pipe[found] == pipe) & (sizes[found] > 0))
            long = np.maximum(stop[chosen] - begin[chosen], 1)
            moved[name] += _spread(begin[chosen], begin[chosen] + long, sizes[found[chosen]] / long, edges)
    shares = {name: table / width for name, table in busy.items()}
    per_cycle = timeline.clock_mhz / 1e3  # B/cycle -> GB/s
    return Rates(
        us=(edges[:-1] + width / 2) / timeline.clock_mhz,
        busy={name: table.mean(axis=0) for name, table in shares.items()},
        gbps={name: table / width * per_cycle for name, table in moved.items()},
        heat=np.max(np.stack(list(shares.values())), axis=0),
        cores=cores,
    )


def _spread(begin: npt.ArrayLike, end: npt.ArrayLike, weight: Floats, edges: Floats) -> Floats:
    """By bin, the sum of `weight` times the cycles of `[begin, end)` in it: differences of the summed-up ramps."""
    begins, ends = np.asarray(begin, np.float64), np.asarray(end, np.float64)

    def ramp(points: Floats) -> Floats:
        order = np.argsort(points, kind="stable")
        at, sums = points[order], np.concatenate(([0.0], np.cumsum(weight[order])))
        first = np.concatenate(([0.0], np.cumsum(weight[order] * at)))
        number = np.searchsorted(at, edges)
        return np.asarray(edges * sums[number] - first[number], np.float64)

    total = ramp(begins) - ramp(ends)
    return np.diff(total)
