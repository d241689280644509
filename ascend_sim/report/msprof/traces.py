"""The two kinds of trace.json: all cores in one (processes are cores, threads are pipes), and one core's own (processes
are pipes). Instructions are complete events, flags begin and end events with an arrow from SET_FLAG to WAIT_FLAG."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ascend_sim.program import CopyWork, FlagWork, HardEvent, Instr, PipeID
from ascend_sim.report.codes import Codes
from ascend_sim.report.msprof.drawing import Drawing, detail, mnemonic
from ascend_sim.report.msprof.names import LANES, SET_COLOUR, WAIT_COLOUR, core_name, process_sort_index
from ascend_sim.timeline import CoreTimeline, Timeline

HEAD = '{"schemaVersion":2,"displayTimeUnit":"ns","profilingType":"op","traceEvents":[\n'
"""MindStudio Insight looks for `profilingType` in front of the first bracket."""

TAIL = "\n]}\n"
_CHUNK = 50_000


@dataclass(frozen=True, slots=True)
class Place:
    """Where events of a core stand: `pid` and `tid` of a pipe's lane."""

    core: int
    own: bool  # the core's own trace

    def of(self, pipe: PipeID) -> dict[str, Any]:
        name, _, _, process = LANES[pipe]
        return {"pid": process, "tid": f"{name}_0"} if self.own else {"pid": core_name(self.core), "tid": name}


def metadata(place: Place, pipes: Iterable[PipeID]) -> Iterator[str]:
    """Names and order of processes and threads."""
    pipes = sorted(pipes)
    if not place.own:
        about = {"sort_index": process_sort_index(place.core)}
        yield _json({"ph": "M", "name": "process_sort_index", "pid": core_name(place.core), "args": about})
    for pipe in pipes:
        name, index, _, process = LANES[pipe]
        if place.own:
            yield _json({"ph": "M", "name": "process_name", "pid": process, "args": {"name": name}})
            yield _json({"ph": "M", "name": "process_sort_index", "pid": process, "args": {"sort_index": index}})
        else:
            about = {"sort_index": index}
            yield _json({"ph": "M", "name": "thread_sort_index"} | place.of(pipe) | {"args": about})


def _json(event: dict[str, Any]) -> str:
    return json.dumps(event, separators=(",", ":"))


def events(place: Place, drawing: Drawing, codes: Codes) -> Iterator[str]:
    """The events of one block, joined by commas, some of them at a time."""
    heads = [_heads(place, instr) for instr in codes.instrs]
    at = drawing.at
    found, begin, end = drawing.all_codes[at], drawing.all_begin_us[at], drawing.all_end_us[at]
    duration = np.round(end - begin, 5)
    for low in range(0, len(at), _CHUNK):
        part = slice(low, low + _CHUNK)
        columns = (column[part].tolist() for column in (at + drawing.first, found, begin, end, duration))
        rows = zip(*columns, strict=True)
        yield ",\n".join(
            [
                f'{heads[code][0]}{number}","ts":{ts}}},\n{heads[code][1]}{number}","ts":{te}}}'
                if heads[code][1]
                else f'{heads[code][0]},"ts":{ts},"dur":{dur}}}'
                for number, code, ts, te, dur in rows
            ]
        )


def _heads(place: Place, instr: Instr) -> tuple[str, str]:
    """What all events of one distinct instruction have in common: open for `ts` and `dur`, or of a flag's two events
    for the number in its id and for `ts`."""
    lane = place.of(instr.pipe)
    args: dict[str, Any] = {"pc_addr": "", "code": str(instr.place or ""), "detail": detail(instr)}
    if isinstance(instr.work, CopyWork):
        args["process_bytes"] = instr.work.nbytes
    event = {"name": mnemonic(instr), "cname": LANES[instr.pipe][2]} | lane
    if not isinstance(instr.work, FlagWork):
        return _json({"ph": "X"} | event | {"args": args})[:-1], ""
    event["cname"] = WAIT_COLOUR if instr.work.wait else SET_COLOUR
    number = {"id": f"{place.core}_"}
    begin = _json({"ph": "B"} | event | {"args": args} | number)
    end = _json({"ph": "E", "name": event["name"]} | lane | number)
    return begin[:-2], end[:-2]


def arrows(place: Place, drawing: Drawing, codes: Codes) -> Iterator[str]:
    """From each drawn SET_FLAG to the WAIT_FLAG that it serves (the k-th set of an event and id its k-th wait), if that
    is drawn as well."""
    sides: dict[tuple[int, int], tuple[list[int], list[int]]] = {}
    for code, instr in enumerate(codes.instrs):
        work = instr.work
        if isinstance(work, FlagWork):
            sides.setdefault((work.event, work.event_id), ([], []))[work.wait].append(code)
    drawn = drawing.drawn
    for (event, _), pair in sides.items():
        source, target = HardEvent(event).source, HardEvent(event).destination
        common = f'"name":"flow","cat":"{LANES[source][0]}To{LANES[target][0]}","id":"{place.core}_'
        starts, steps = (_json({"ph": ph} | place.of(pipe))[:-1] for ph, pipe in (("s", source), ("t", target)))
        sets, waits = (np.flatnonzero(np.isin(drawing.all_codes, chosen)) for chosen in pair)
        count = min(len(sets), len(waits))
        sets, waits = sets[:count], waits[:count]
        both = drawn[sets] & drawn[waits]
        rows = zip(
            (sets[both] + drawing.first).tolist(),
            drawing.all_begin_us[sets[both]].tolist(),
            drawing.all_begin_us[waits[both]].tolist(),
            strict=True,
        )
        text = ",\n".join(
            f'{starts},{common}{number}","ts":{ts_set}}},\n{steps},{common}{number}","ts":{ts_wait}}}'
            for number, ts_set, ts_wait in rows
        )
        if text:
            yield text


def throughput(blocks: Iterable[CoreTimeline], timeline: Timeline, window: tuple[float, float]) -> Iterator[str]:
    """Counters of what transfers move, in bins of a microsecond: a transfer's bytes pass evenly while it moves them."""
    moved = {True: np.zeros(1), False: np.zeros(1)}
    for core in blocks:
        for to_ub, transfers in _transfers(core).items():
            if transfers:
                start, left, nbytes = (np.array(column, float) for column in zip(*transfers, strict=True))
                moved[to_ub] = _added(moved[to_ub], _bins(start, left, nbytes, timeline.clock_mhz))
    low, high = (edge / timeline.clock_mhz for edge in window)
    for to_ub, names in ((True, ("GM_TO_UB", "GM_TO_TOTAL")), (False, ("UB_TO_GM", "TOTAL_TO_GM"))):
        rates = [*(moved[to_ub] * 1e6 / 2**20).round(3).tolist(), 0.0]
        for name in names:
            for number, rate in enumerate(rates):
                if number + 1 > low and number < high:
                    about = {"pid": "MTE Throughput", "tid": 0, "args": {"throughput(MB/s)": rate}}
                    yield _json({"ph": "C", "name": name, "ts": float(number)} | about)


def _transfers(core: CoreTimeline) -> dict[bool, list[tuple[int, int, int]]]:
    """`(start, left, bytes)` of a block's loads (True) and stores."""
    found: dict[bool, list[tuple[int, int, int]]] = {True: [], False: []}
    instrs, start, left = core.program.instrs, core.start, core.left
    for position, stage in enumerate(core.stage):
        if stage:
            work = instrs[position].work
            assert isinstance(work, CopyWork)
            found[work.to_ub].append((start[position], left[position], work.nbytes))
    return found


def _added(left: Any, right: Any) -> Any:
    longer, shorter = (left, right) if len(left) >= len(right) else (right, left)
    longer = longer.copy()
    longer[: len(shorter)] += shorter
    return longer


def _bins(start: Any, left: Any, nbytes: Any, clock_mhz: float) -> Any:
    """Bytes per microsecond: the running sum at each edge, from the transfers' linear progress."""
    edges = np.arange(int(left.max() // clock_mhz) + 2) * clock_mhz
    times = np.sort(np.concatenate([start, left]))
    rate = nbytes / np.maximum(left - start, 1)
    order = np.argsort(np.concatenate([start, left]), kind="stable")
    slope = np.cumsum(np.concatenate([rate, -rate])[order])
    passed = np.concatenate([[0.0], np.cumsum(slope[:-1] * np.diff(times))])
    return np.diff(np.interp(edges, times, passed))
