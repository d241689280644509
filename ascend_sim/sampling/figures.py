"""The figures of a launch that boards report as well."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from ascend_sim.host.device import Launch
from ascend_sim.program import BarrierWork, FlagWork, Instr, PipeID, ScalarCall, unpack_scalar_calls
from ascend_sim.report.metrics import PIPES, hit_ratio, measure

Figures = Mapping[str, float]
"""`duration_us`, `aiv_us`, `<pipe>_us` (means over the blocks), `<pipe>_ratio`, and where they apply `l2_hit` and
`loop_us`, the time between two counter reads around a loop."""


def figures(launch: Launch) -> Figures:
    """What a profiler would say of this launch."""
    found = measure(launch.program, launch.timeline)
    aiv = found.aiv_time_us
    values = {"duration_us": found.duration_us, "aiv_us": aiv.mean, "aiv_min_us": aiv.min, "aiv_max_us": aiv.max}
    values |= {f"{name}_us": use.busy_us for name, use in found.pipes.items()}
    values["vec_us"] += _queue_flags_us(launch)
    hit = hit_ratio(found.memory.l2_read_hit_bytes, found.memory.read_bytes)
    if hit is not None:
        values["l2_hit"] = hit
    loop = _loop_us(launch)
    if loop is not None:
        values["loop_us"] = loop
    return with_ratios(values)


def with_ratios(values: Mapping[str, float]) -> Figures:
    """`values` and each pipe's share of the AIV time."""
    aiv = values["aiv_us"]
    return {**values, **{f"{name}_ratio": values[f"{name}_us"] / aiv if aiv else 0.0 for name in PIPES}}


QUEUE_CALLS = {ScalarCall.ALLOC_TENSOR, ScalarCall.FREE_TENSOR, ScalarCall.EN_QUE, ScalarCall.DE_QUE}


def _queue_flags_us(launch: Launch) -> float:
    """What the vector unit's counter counts of the flags that queues set and wait for on PIPE_V, mean over the cores;
    flags set by hand do not show in it."""
    cycles = launch.soc.require_timing().sync.queue_flag_counter_cycles
    blocks = launch.timeline.cores
    if not cycles or not blocks:
        return 0.0
    flags = sum(
        count
        for core in blocks
        for instr, count in Counter(core.program.instrs).items()
        if instr.pipe is PipeID.PIPE_V and _is_of_a_queue(instr)
    )
    return launch.timeline.to_us(flags * cycles / len({core.core for core in blocks}))


def _is_of_a_queue(instr: Instr) -> bool:
    """Whether a queue's call has raised this flag or waits for it."""
    return isinstance(instr.work, FlagWork) and any(
        call in QUEUE_CALLS for call, _ in unpack_scalar_calls(instr.scalar_calls)
    )


def _loop_us(launch: Launch) -> float | None:
    """Time from the first PIPE_ALL barrier of block 0 to the second, if it has two: where kernels read counters."""
    core = launch.timeline.cores[0]
    ends = [
        core.end[i]
        for i, instr in enumerate(core.program.instrs)
        if isinstance(instr.work, BarrierWork) and instr.work.pipe is PipeID.PIPE_ALL
    ]
    return launch.timeline.to_us(ends[1] - ends[0]) if len(ends) > 1 else None
