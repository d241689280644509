"""A session: a device that keeps a short record of every operator that runs on it, whatever front end asked for it."""

from __future__ import annotations

from types import TracebackType

from ascend_sim.host.device import Device, L2State
from ascend_sim.host.execute import OperatorRun
from ascend_sim.host.operator import DEFAULT_SOC
from ascend_sim.report.records import KeyAverages, OpRecord, key_averages, summary
from ascend_sim.report.style import PLAIN, Style
from ascend_sim.soc import Soc


class Session:
    """`with ascend_sim.session("ascend950") as s: ...`, then `print(s.summary())`.

    Inside the block, operators called through PyTorch, aclnn or a graph run on a device of this chip. `records` has
    one entry per run, in order. `keep=True` keeps the recorded programs and timelines too (`device.launches`), which
    take some hundred bytes per instruction; without, a session may be as long as a training.
    """

    def __init__(
        self, soc: str | Soc = DEFAULT_SOC, *, values: bool = True, l2: L2State = "warm", keep: bool = False
    ) -> None:
        self.device = Device(soc, values=values, l2=l2)
        self.records: list[OpRecord] = []
        self.keep = keep
        self.device.observers.append(self._collect)

    @property
    def soc(self) -> Soc:
        return self.device.soc

    @property
    def elapsed_us(self) -> float:
        """Simulated time of all runs, one after another."""
        return self.records[-1].start_us + self.records[-1].duration_us if self.records else 0.0

    def key_averages(self, *, group_by_input_shape: bool = False) -> KeyAverages:
        """Rows as torch.profiler has them: `key`, `count`, `device_time_total` (us), ...; `.table()` prints them."""
        return key_averages(self.records, group_by_input_shape=group_by_input_shape)

    def summary(self, style: Style = PLAIN) -> str:
        """A table with one line per operator."""
        return summary(f"Session on {self.soc.variant}", self.records, style)

    def _collect(self, run: OperatorRun) -> None:
        self.records.append(OpRecord.of(run, self.elapsed_us))
        if not self.keep:
            done = {id(launch) for launch in run.launches}
            self.device.launches[:] = [launch for launch in self.device.launches if id(launch) not in done]

    def __enter__(self) -> Session:
        self.device.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.device.__exit__(kind, error, traceback)

    def __repr__(self) -> str:
        return f"<Session on {self.soc.variant}: {len(self.records)} runs, {self.elapsed_us:.2f} us>"


session = Session
