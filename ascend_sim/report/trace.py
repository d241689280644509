"""Chrome trace of a launch: a process per core, a thread per pipe, one event per instruction, flags as flow arrows.

Opens in Perfetto and chrome://tracing. Names, sort indices and colours follow msprof's simulator trace
(`profilingType` stands before the events because MindStudio Insight looks for it there). A pipe begins an instruction
before the result of the one before is visible, so an event ends at the latest where the next one of its pipe begins;
`args.end_cycle` says when the result was visible. A WaitFlag, barrier or SyncAll is drawn from the moment its pipe
stood still.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from ascend_sim.program import BarrierWork, CopyWork, FlagWork, Instr, PipeID, SyncWork
from ascend_sim.report.codes import Codes, Codes32
from ascend_sim.report.files import atomic
from ascend_sim.report.selection import EVERYTHING, Selection
from ascend_sim.timeline import Cause, CoreTimeline, Timeline

THREADS = {  # pipe -> (thread id and sort index, name, colour), as msprof has them
    PipeID.PIPE_S: (1, "SCALAR", "startup"),
    PipeID.PIPE_MTE1: (3, "MTE1", "thread_state_running"),
    PipeID.PIPE_M: (4, "CUBE", "background_memory_dump"),
    PipeID.PIPE_FIX: (5, "FIXP", "thread_state_unknown"),
    PipeID.PIPE_MTE2: (6, "MTE2", "thread_state_iowait"),
    PipeID.PIPE_V: (7, "VECTOR", "cq_build_failed"),
    PipeID.PIPE_MTE3: (8, "MTE3", "rail_response"),
    PipeID.PIPE_ALL: (11, "ALL", "good"),
}
_SET_COLOUR, _WAIT_COLOUR = "black", "yellow"

Ints = npt.NDArray[np.int64]


def core_name(core: int) -> str:
    """msprof's name of a vector core; two of them belong to one AI Core of the 910B and 910_93."""
    return f"core{core // 2}.veccore{core % 2}"


def write_trace(timeline: Timeline, path: str | os.PathLike[str], chosen: Selection = EVERYTHING) -> None:
    """Write the trace of what is `chosen` as JSON; the file appears whole or not at all."""
    with atomic(path, "trace") as temporary, temporary.open("w", encoding="utf-8") as out:
        out.write('{"schemaVersion":2,"displayTimeUnit":"ns","profilingType":"op","traceEvents":[\n')
        separator = ""
        for chunk in trace_chunks(timeline, chosen):
            out.write(separator)
            out.write(chunk)
            separator = ",\n"
        out.write("\n]}\n")


def trace_chunks(timeline: Timeline, chosen: Selection = EVERYTHING) -> Iterator[str]:
    """Events joined by commas, some of them at a time: metadata first, then block after block."""
    blocks = chosen.blocks(timeline)
    low, high = chosen.cycles(timeline)
    codes = Codes()
    heads: list[str] = []
    flow = 0
    yield ",\n".join(_metadata(blocks))
    for core in blocks:
        found = codes.of(core.program.instrs)
        heads += [_head(instr) for instr in codes.instrs[len(heads) :]]
        begin, end = drawn(core, codes, found)
        shown = (end > low) & (begin < high) if not chosen.whole_time else np.ones(len(found), np.bool_)
        yield from _instructions(core, timeline, heads, found, begin, end, np.flatnonzero(shown))
        arrows = list(_arrows(core, timeline, codes, found, shown, flow))
        flow += len(arrows)
        if arrows:
            yield ",\n".join(arrows)


def _metadata(chosen: list[CoreTimeline]) -> list[str]:
    """Names and order of processes and threads; a core that runs several blocks lists them all."""
    blocks: dict[int, list[int]] = {}
    pipes: dict[int, set[PipeID]] = {}
    for core in chosen:
        blocks.setdefault(core.core, []).append(core.program.block)
        pipes.setdefault(core.core, set()).update({instr.pipe for instr in set(core.program.instrs)})
    events = []
    for core_index, numbers in sorted(blocks.items()):
        pid = core_index + 1
        label = "block " + ", ".join(map(str, numbers))
        about = {"process_name": {"name": core_name(core_index)}, "process_labels": {"labels": label}}
        about["process_sort_index"] = {"sort_index": pid}  # type: ignore[dict-item]
        events += [{"ph": "M", "name": name, "pid": pid, "tid": 0, "args": args} for name, args in about.items()]
        for pipe in sorted(pipes[core_index]):
            tid, name, _ = THREADS[pipe]
            events.append({"ph": "M", "name": "thread_name", "pid": pid, "tid": tid, "args": {"name": name}})
            events.append({"ph": "M", "name": "thread_sort_index", "pid": pid, "tid": tid, "args": {"sort_index": tid}})
    return [json.dumps(event, separators=(",", ":")) for event in events]


def _head(instr: Instr) -> str:
    """What all events of one distinct instruction have in common, open for `ts`, `dur` and the rest of `args`."""
    tid, _, colour = THREADS[instr.pipe]
    if isinstance(instr.work, FlagWork):
        colour = _WAIT_COLOUR if instr.work.wait else _SET_COLOUR
    args: dict[str, object] = {"code": str(instr.place or ""), "detail": instr.detail or _detail(instr)}
    if isinstance(instr.work, CopyWork):
        args["process_bytes"] = instr.work.nbytes
    start = json.dumps(
        {"ph": "X", "name": instr.name, "cname": colour, "tid": tid, "args": args}, separators=(",", ":")
    )
    return start[:-2]


def _detail(instr: Instr) -> str:
    work = instr.work
    if isinstance(work, FlagWork):
        return f"{work.event.name} id {work.event_id}"
    if isinstance(work, BarrierWork):
        return work.pipe.name
    return ""


def drawn(core: CoreTimeline, codes: Codes, found: Codes32) -> tuple[Ints, Ints]:
    """Where each event begins and ends on paper, in cycles; events of one pipe never overlap."""
    waits = np.array([_draws_wait(instr) for instr in codes.instrs], np.bool_)
    begin = np.asarray(core.start, np.int64) - np.where(waits[found], np.asarray(core.wait, np.int64), 0)
    end = np.asarray(core.end, np.int64).copy()
    pipe = codes.pipe[found]
    for number in np.unique(pipe):
        at = np.flatnonzero(pipe == number)
        end[at[:-1]] = np.minimum(end[at[:-1]], begin[at[1:]])
    return begin, np.maximum(end, begin)


def _draws_wait(instr: Instr) -> bool:
    return isinstance(instr.work, BarrierWork | SyncWork) or (isinstance(instr.work, FlagWork) and instr.work.wait)


def _instructions(
    core: CoreTimeline, timeline: Timeline, heads: list[str], found: Codes32, begin: Ints, end: Ints, at: Ints
) -> Iterator[str]:
    pid, chunk = core.core + 1, 50_000
    causes = [f',"wait_cause":"{cause.name.lower()}"' for cause in Cause]
    last, waited, cause_of = (np.asarray(column) for column in (core.end, core.wait, core.cause))
    for low in range(0, len(at), chunk):
        part = at[low : low + chunk]
        columns = zip(
            found[part].tolist(),
            *spans_us(begin[part], end[part], timeline),
            last[part].tolist(),
            waited[part].tolist(),
            cause_of[part].tolist(),
            strict=True,
        )
        yield ",\n".join(
            [
                f'{heads[code]},"end_cycle":{there},"wait_cycles":{wait}{causes[cause]}}},'
                f'"pid":{pid},"ts":{ts},"dur":{dur}}}'
                if wait
                else f'{heads[code]},"end_cycle":{there}}},"pid":{pid},"ts":{ts},"dur":{dur}}}'
                for code, ts, dur, there, wait, cause in columns
            ]
        )


def spans_us(begin: Ints, end: Ints, timeline: Timeline) -> tuple[list[float], list[float]]:
    """Start and duration of events: ends are rounded as starts are, so that rounding makes no event reach the next."""
    starts, ends = us_of(begin, timeline), us_of(end, timeline)
    return starts.tolist(), np.round(ends - starts, 5).tolist()


def us_of(cycles: Ints, timeline: Timeline) -> npt.NDArray[np.float64]:
    """Times in us, to ten picoseconds."""
    return np.round(cycles / timeline.clock_mhz, 5)


def _arrows(
    core: CoreTimeline, timeline: Timeline, codes: Codes, found: Codes32, shown: npt.NDArray[np.bool_], first: int
) -> Iterator[str]:
    """A flow from each SetFlag to the WaitFlag that consumes it, if both are `shown`: the k-th set of an event id
    serves its k-th wait."""
    pid = core.core + 1
    start = np.asarray(core.start, np.int64)
    flags = {code: instr.work for code, instr in enumerate(codes.instrs) if isinstance(instr.work, FlagWork)}
    sides: dict[tuple[int, int], tuple[list[int], list[int]]] = {}
    for code, work in flags.items():
        sides.setdefault((work.event, work.event_id), ([], []))[work.wait].append(code)
    for set_codes, wait_codes in sides.values():
        if not set_codes or not wait_codes:
            continue
        event = flags[set_codes[0]].event
        (source, source_name, _), (target, target_name, _) = THREADS[event.source], THREADS[event.destination]
        common = f'"name":"flow","cat":"{source_name}To{target_name}","pid":{pid}'
        sets, waits = (np.flatnonzero(np.isin(found, chosen)) for chosen in (set_codes, wait_codes))
        sets, waits = sets[: len(waits)], waits[: len(sets)]
        both = shown[sets] & shown[waits]
        pairs = zip(*(us_of(start[at[both]], timeline).tolist() for at in (sets, waits)), strict=True)
        for flow, (ts_set, ts_wait) in enumerate(pairs, first):
            yield (
                f'{{"ph":"s",{common},"id":{flow},"tid":{source},"ts":{ts_set}}},\n'
                f'{{"ph":"f","bp":"e",{common},"id":{flow},"tid":{target},"ts":{ts_wait}}}'
            )
        first += int(np.count_nonzero(both))
