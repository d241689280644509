"""The result of a run: of an operator or of one launch of any asc kernel. One attribute per key of its JSON."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ascend_sim.host.tiling import Tiling
from ascend_sim.program import Program
from ascend_sim.report.assumptions import notes_on
from ascend_sim.report.comparison import Comparison
from ascend_sim.report.files import atomic
from ascend_sim.report.metrics import Metrics, PipeUse, Spread, measure, memory_json
from ascend_sim.report.selection import EVERYTHING, Selection
from ascend_sim.report.style import PLAIN, Style
from ascend_sim.report.values import UNCHECKED, Values
from ascend_sim.report.waits import Wait
from ascend_sim.soc import Soc
from ascend_sim.timeline import MemoryCounters, Timeline

if TYPE_CHECKING:
    from ascend_sim.explain import Account

Arrays = Mapping[str, npt.NDArray[Any]]
WAITS_IN_JSON = 20


@dataclass(eq=False)
class Result:
    """What a run found out. Times in us; `metrics` is worked out when something first asks for it.

    `op` is the operator's name, or the kernel's for a kernel of the user's own (then `tiling` is None and nothing is
    checked). `inputs` are as before the call, `outputs` and `golden` as after it; without values all three are empty.
    `cold_start_us` of `duration_us` are due to a launch that starts cold (instruction cache, TLB, arguments), 0 for one
    that follows others back to back; `later_us` are the durations of the launches that followed this one. `expect` says
    how far off a duration is likely to be on a chip. `output` is what the kernel printed. `comparison` is how the
    outputs stand to a reference of the operator's that the run was asked to compare them with.
    """

    op: str
    kernel: str
    chip: Soc
    program: Program
    timeline: Timeline
    wall_s: float
    l2: str
    cold_start_us: float
    tiling: Tiling | None = None
    values: Values = UNCHECKED
    inputs: Arrays = field(default_factory=dict)
    outputs: Arrays = field(default_factory=dict)
    golden: Arrays = field(default_factory=dict)
    comparison: Comparison | None = None
    call: str = ""
    output: str = ""
    warnings: list[str] = field(default_factory=list)
    later_us: list[float] = field(default_factory=list)
    expect: Callable[[str, float], Mapping[str, Any]] | None = None

    @property
    def soc(self) -> str:
        return self.chip.name

    @property
    def variant(self) -> str:
        return self.chip.variant

    @property
    def block_dim(self) -> int:
        return self.program.block_dim

    @property
    def memory(self) -> MemoryCounters:
        return self.metrics.memory

    @property
    def waits(self) -> list[Wait]:
        """All waits, the JSON has the longest."""
        return self.metrics.waits

    @cached_property
    def metrics(self) -> Metrics:
        return measure(self.program, self.timeline)

    @cached_property
    def account(self) -> Account:
        """Where the time went: gaps with reasons, critical path, findings, what if."""
        from ascend_sim.explain import account  # noqa: PLC0415 - most runs explain nothing

        return account(self.program, self.timeline, self.chip)

    @cached_property
    def notes(self) -> list[str]:
        """What the figures hang on: overridden and assumed chip parameters."""
        return notes_on(self.program, self.timeline, self.metrics, self.chip)

    @property
    def duration_us(self) -> float:
        return self.metrics.duration_us

    @cached_property
    def expected_error(self) -> Mapping[str, Any] | None:
        """`band` (relative), `rows` that it is taken from, `extrapolated`, and all of it as `text`."""
        return None if self.expect is None else self.expect(self.soc, self.duration_us)

    @property
    def launch_us(self) -> float:
        return self.metrics.launch_us

    @property
    def aiv_time_us(self) -> Spread:
        return self.metrics.aiv_time_us

    @property
    def pipes(self) -> dict[str, PipeUse]:
        return self.metrics.pipes

    @property
    def bound(self) -> str:
        return self.metrics.bound

    @property
    def instructions(self) -> int:
        return self.metrics.instructions

    def to_json(self, *, explain: bool = False, full: bool = False) -> dict[str, Any]:
        """A dict ready for `json.dumps`; the keys from `op` to `cold_start_us` are stable. `explain` adds the account
        of time, `full` what `ascend-sim diff` compares."""
        metrics = self.metrics
        return {
            "op": self.op,
            "soc": self.soc,
            "variant": self.variant,
            "tiling": _tiling_json(self.tiling),
            "values": self.values.to_json(),
            "duration_us": round(metrics.duration_us, 4),
            "launch_us": round(metrics.launch_us, 4),
            "aiv_time_us": metrics.aiv_time_us.to_json(),
            "pipes": {name: use.to_json() for name, use in metrics.pipes.items()},
            "bound": metrics.bound,
            "instructions": metrics.instructions,
            "wall_s": round(self.wall_s, 4),
            "l2": self.l2,
            "cold_start_us": round(self.cold_start_us, 4),
            "expected_error": None if self.expected_error is None else dict(self.expected_error),
            "later_us": [round(us, 4) for us in self.later_us],
            "comparison": None if self.comparison is None else self.comparison.to_json(),
            "kernel": self.kernel,
            "block_dim": self.block_dim,
            "memory": memory_json(metrics.memory),
            "waits": [wait.to_json() for wait in metrics.waits[:WAITS_IN_JSON]],
            "warnings": list(self.warnings),
            "notes": list(self.notes),
        } | self._more_json(explain, full)

    def _more_json(self, explain: bool, full: bool) -> dict[str, Any]:
        found: dict[str, Any] = {"explain": self.account.to_json()} if explain else {}
        if full:
            from ascend_sim.report.full import full_json  # noqa: PLC0415 - few runs are compared

            found["full"] = full_json(self)
        return found

    def summary(self, style: Style = PLAIN, *, explain: bool = False) -> str:
        """The text that `ascend-sim run` prints; with `explain` the account of time stands in place of the waits."""
        from ascend_sim.report.text import summary  # noqa: PLC0415 - text reads results, results write text

        return summary(self, style, explain=explain)

    def write_trace(self, path: str | os.PathLike[str], chosen: Selection = EVERYTHING) -> None:
        """Write what is `chosen` of the run as a Chrome trace (Perfetto, chrome://tracing, MindStudio Insight)."""
        from ascend_sim.report.trace import write_trace  # noqa: PLC0415 - most runs write none

        write_trace(self.timeline, path, chosen)

    def write_msprof(self, directory: str | os.PathLike[str], chosen: Selection = EVERYTHING) -> Path:
        """Write a folder as msprof does (`OPPROF_...` in `directory`) and answer its path."""
        from ascend_sim.report.msprof import write_msprof  # noqa: PLC0415 - most runs write none

        return write_msprof(self, directory, chosen)

    def write_html(self, path: str | os.PathLike[str], chosen: Selection = EVERYTHING) -> None:
        """Write the run as one HTML file that opens offline (extra `report`); `chosen` limits what is drawn
        instruction by instruction."""
        from ascend_sim.report.html.page import write_html  # noqa: PLC0415 - most runs write none

        write_html(self, path, chosen)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write an npz with `in_<name>`, `out_<name>`, `golden_<name>` and `tiling_words`; bfloat16 becomes float32.

        Where some words are not modelled they are 0, and `tiling_words_known` says which are known.
        """
        arrays: dict[str, Any] = {}
        for prefix, group in (("in", self.inputs), ("out", self.outputs), ("golden", self.golden)):
            arrays |= {f"{prefix}_{name}": widened(value) for name, value in group.items()}
        if self.tiling is not None:
            words = self.tiling.words
            arrays["tiling_words"] = np.array([word or 0 for word in words], np.int64)
            if None in words:
                arrays["tiling_words_known"] = np.array([word is not None for word in words])
        with atomic(path, "outputs") as temporary, temporary.open("wb") as out:
            np.savez(out, **arrays)

    def __repr__(self) -> str:
        return f"<Result {self.op} on {self.variant}: {self.duration_us:.2f} us, {self.bound} bound>"


@dataclass(eq=False, repr=False)
class OperatorResult(Result):
    """The result of an operator's call, which always has a tiling."""

    tiling: Tiling


def widened(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """bfloat16 as float32 (plain numpy cannot read it); anything else as it is."""
    return array.astype(np.float32) if array.dtype.name == "bfloat16" else array


def _tiling_json(tiling: Tiling | None) -> dict[str, Any] | None:
    if tiling is None:
        return None
    return {
        "key": tiling.key,
        "block_dim": tiling.block_dim,
        "workspace_bytes": tiling.workspace_bytes,
        "data": dict(tiling.data),
    }
