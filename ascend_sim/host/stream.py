"""Streams: tasks that run one after another, when somebody waits for them."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING, Protocol

from ascend_sim.errors import AscendSimError, DeadlockError, KernelError

if TYPE_CHECKING:
    from ascend_sim.host.device import Device
    from ascend_sim.host.execute import OperatorRun


class AclError(IntEnum):
    """What synchronising answers; numbers as in ACL's runtime."""

    SUCCESS = 0
    RT_PARAM_INVALID = 107000
    RT_VECTOR_CORE_EXCEPTION = 507035


class Task(Protocol):
    """Work that a stream takes; `run` answers None where nothing had to be launched."""

    @property
    def name(self) -> str: ...
    def run(self, device: Device) -> OperatorRun | None: ...


@dataclass(frozen=True, slots=True)
class TaskTime:
    """One finished task; times in us from the stream's beginning."""

    name: str
    start_us: float
    duration_us: float


class Stream:
    """An ordered queue of tasks of one device.

    Nothing runs before `synchronize`, as results on a board are not there before it. `elapsed_us` is the sum of the
    simulated times of the tasks that ran; gaps that a slow host would leave between them are not in it.
    """

    def __init__(self, device: Device, name: str = "stream") -> None:
        self.device = device
        self.name = name
        self.tasks: list[TaskTime] = []
        self.error: AscendSimError | None = None
        self._waiting: deque[Task] = deque()

    @property
    def elapsed_us(self) -> float:
        return self.tasks[-1].start_us + self.tasks[-1].duration_us if self.tasks else 0.0

    @property
    def pending(self) -> int:
        """Tasks that have not run yet."""
        return len(self._waiting)

    def submit(self, task: Task) -> None:
        self._waiting.append(task)

    def run(self) -> list[OperatorRun | None]:
        """Run what waits, in order; the first error ends it, and what is behind it never runs."""
        done: list[OperatorRun | None] = []
        try:
            while self._waiting:
                task = self._waiting.popleft()
                found = task.run(self.device)
                duration_us = found.duration_us if found else 0.0
                self.tasks.append(TaskTime(task.name, self.elapsed_us, duration_us))
                done.append(found)
        finally:
            self._waiting.clear()
        return done

    def synchronize(self) -> AclError:
        """`run` for callers that look at codes: 0, or what became of the task that failed (`error` has the text)."""
        self.error = None
        try:
            self.run()
        except AscendSimError as error:
            self.error = error
            fault = isinstance(error, KernelError | DeadlockError)
            return AclError.RT_VECTOR_CORE_EXCEPTION if fault else AclError.RT_PARAM_INVALID
        return AclError.SUCCESS

    def __repr__(self) -> str:
        return f"<{self.name} on {self.device.soc.variant}: {len(self.tasks)} done, {self.pending} waiting>"
