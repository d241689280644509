"""Notes on what a result hangs on: chip parameters that nobody has published, and those that the user has overridden.

Only parameters that this run's time really depends on are named; a reader who sees none may take the figures as they
are graded in `ascend-sim socs VARIANT`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ascend_sim.program import PipeID, Program, SyncWork
from ascend_sim.report.metrics import PIPES, Metrics
from ascend_sim.report.style import percent
from ascend_sim.report.waits import Wait, pipe_name
from ascend_sim.soc import Parameter, Soc
from ascend_sim.timeline import Cause, Timeline

WORTH_A_NOTE = 0.02  # share of the AIV time from which on a wait is worth a note
BUSY_SHARE = 0.8  # msprof's advice calls a pipe the limit from 80 % on
_QUEUES = {
    PipeID.PIPE_V: "timing.queues.vector_entries",
    PipeID.PIPE_MTE2: "timing.queues.mte2_entries",
    PipeID.PIPE_MTE3: "timing.queues.mte3_entries",
}
_TAILS = "timing.vector.tail_cycles"


def notes_on(program: Program, timeline: Timeline, metrics: Metrics, chip: Soc) -> list[str]:
    """Overridden parameters, and assumed ones that this launch depends on."""
    parameters = {parameter.path: parameter for parameter in chip.parameters()}
    assumed = {path: p for path, p in parameters.items() if p.grade == "assumed"}
    overridden = [f"{p.path} is {_value(p)}, {p.note}" for p in parameters.values() if p.grade == "override"]
    return [*overridden, *_assumed(program, metrics, chip, assumed)]


def _assumed(program: Program, metrics: Metrics, chip: Soc, assumed: Mapping[str, Parameter]) -> Iterator[str]:
    found = assumed.get("timing.sync.sync_all_cycles")
    if found and any(isinstance(i.work, SyncWork) for block in program.blocks[:1] for i in set(block.instrs)):
        yield f"SyncAll: {found.path} = {_value(found)} is assumed"
    found = assumed.get("timing.launch.next_block_cycles")
    if found and program.block_dim > chip.cores.aiv:
        yield f"more blocks than cores: {found.path} = {_value(found)} is assumed"
    for pipe, path in _QUEUES.items():
        share = sum(w.share for w in metrics.waits if w.cause is Cause.QUEUE and w.instr.pipe is pipe)
        if path in assumed and share >= WORTH_A_NOTE and not _is_the_limit(pipe, metrics):
            yield (
                f"the scalar unit waits {percent(share)} of the AIV time for room in the queue of "
                f"aiv_{pipe_name(pipe)}: {path} = {_value(assumed[path])} is assumed"
            )
    yield from _tails(metrics, assumed)


def _is_the_limit(pipe: PipeID, metrics: Metrics) -> bool:
    """Whether the pipe is busy nearly all the time: then a deeper queue would only hold more of the same work."""
    return PIPES[metrics.bound] is pipe and metrics.pipes[metrics.bound].ratio >= BUSY_SHARE


def _tails(metrics: Metrics, assumed: Mapping[str, Parameter]) -> Iterator[str]:
    """Waits for a vector result that is visible an assumed number of cycles after its last repeat."""
    shares: dict[str, float] = {}
    for wait in metrics.waits:
        name = _waited_tail(wait)
        if name and (f"{_TAILS}.{name}" in assumed):
            shares[name] = shares.get(name, 0.0) + wait.share
    if sum(shares.values()) >= WORTH_A_NOTE:
        yield (
            f"waits for results of {', '.join(sorted(shares))} are {percent(sum(shares.values()))} of the AIV time: "
            f"their {_TAILS} are assumed"
        )


def _waited_tail(wait: Wait) -> str:
    peer = wait.peer
    waited = wait.cause in {Cause.AUTO_SYNC, Cause.BARRIER} and peer is not None and peer.pipe is PipeID.PIPE_V
    return peer.name if waited and peer is not None and wait.instr.pipe is PipeID.PIPE_V else ""


def _value(parameter: Parameter) -> str:
    return f"{parameter.value} {parameter.unit}".strip()
