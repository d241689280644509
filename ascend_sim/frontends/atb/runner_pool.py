"""Runner types by name, and the pools that runners are taken from."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

if TYPE_CHECKING:
    from ascend_sim.frontends.atb.runner import Runner

POOL_SLOTS = 64
R = TypeVar("R", bound="type[Any]")


class RunnerTypeRegister:
    """Every runner class has a number, found by the class's name."""

    _names: ClassVar[list[str]] = []

    @classmethod
    def register(cls, runner_class: R) -> R:
        """REG_RUNNER_TYPE, as a class decorator."""
        cls._names.append(runner_class.__name__)
        return runner_class

    @classmethod
    def GetRunnerTypeIdx(cls, name: str) -> int:
        """The number of the runner class `name`, or -1."""
        return cls._names.index(name) if name in cls._names else -1

    @classmethod
    def count(cls) -> int:
        return len(cls._names)


class PoolItem:
    """One slot: its runner stays when it is given back."""

    __slots__ = ("is_used", "runner")

    def __init__(self) -> None:
        self.is_used = False
        self.runner: Runner | None = None


class RunnerPool:
    """64 slots of one runner type; the first free one is handed out."""

    def __init__(self) -> None:
        self.items = [PoolItem() for _ in range(POOL_SLOTS)]
        self._lock = threading.Lock()

    def MallocRunner(self, runner_class: Callable[[Any], Runner], param: Any) -> Runner | None:
        """A new runner, or one used before with `param` set on it; None if all slots are taken."""
        with self._lock:
            for item in self.items:
                if item.is_used:
                    continue
                item.is_used = True
                if item.runner is None:
                    item.runner = runner_class(param)
                else:
                    item.runner.SetParam(param)
                return item.runner
        return None

    def FreeRunner(self, runner: Runner) -> None:
        """Mark the runner's slot free; the runner forgets the tensors of its last call."""
        with self._lock:
            for item in self.items:
                if item.runner is runner:
                    runner.Forget()
                    item.is_used = False

    @property
    def used(self) -> int:
        """Slots that are handed out."""
        return sum(item.is_used for item in self.items)
