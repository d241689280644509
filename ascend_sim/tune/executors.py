"""Where jobs are done: on processes of this machine, or on a Dask cluster. Both give the same answers."""

from __future__ import annotations

import pickle
import traceback
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Protocol, TypeVar

from ascend_sim.errors import AscendSimError, InputError

Common = TypeVar("Common")
Job = TypeVar("Job")
Result = TypeVar("Result")

ATTEMPTS = 3
"""A job is begun so often before it is given up: its process may have died of something else."""
FORMS = "processes, or dask://HOST:PORT of a scheduler"


@dataclass(frozen=True, slots=True)
class Lost:
    """What stands in place of a job's result when its process died each time; `text` says how."""

    text: str


class Executor(Protocol):
    """A context manager: entering connects (`InputError` where nobody answers), leaving ends whatever still works.

    `workers`: how many jobs are done at once, as far as is known now. `remote`: whether workers may see other files
    than this process does.
    """

    @property
    def workers(self) -> int: ...

    @property
    def remote(self) -> bool: ...

    def run(
        self, function: Callable[[Common, Job], Result], common: Common, jobs: Sequence[Job]
    ) -> Iterator[tuple[int, Result | Lost]]:
        """`function(common, job)` of every job, as they end, each with its place in `jobs`.

        `function` stands in a module; all three are pickled. A process gets `common` once and hands the same object
        to every call, so that it may keep there what is costly to make. What `function` raises is raised here.
        """
        ...

    def __enter__(self) -> Executor: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None: ...


def executor_named(text: str | None, workers: int | None = None) -> Executor:
    """What `--executor` and `--workers` ask for; raises `InputError` for what is no executor or is not installed."""
    if workers is not None and workers < 1:
        raise InputError(f"workers is {workers}, it must be 1 or more")
    if text is None or text == "processes":
        from ascend_sim.tune.processes import Processes  # noqa: PLC0415 - either is imported when it is asked for

        return Processes(workers)
    scheme, separator, address = text.partition("://")
    if not separator or scheme != "dask":
        raise InputError(f"executor {text!r}: allowed are {FORMS}")
    if workers is not None:
        raise InputError("workers is for processes of this machine; a Dask cluster has as many as were started for it")
    from ascend_sim.tune.cluster import Cluster  # noqa: PLC0415

    return Cluster(address)


# --- what both do in the worker ---------------------------------------------------------------------------------------


def attempt(function: Callable[[Any, Any], Any], common: Any, job: Any) -> bytes:
    """A pickle of (whether it went well, the result or what was raised)."""
    try:
        return pickle.dumps((True, function(common, job)))
    except AscendSimError as error:
        return _pickled(error)
    except Exception as error:
        error.add_note(f"in a worker:\n{''.join(traceback.format_exception(error))}")
        return _pickled(error)


def _pickled(error: Exception) -> bytes:
    """Not every exception comes back from a pickle."""
    try:
        found = pickle.dumps((False, error))
        pickle.loads(found)
    except Exception:
        return pickle.dumps((False, RuntimeError(f"{type(error).__name__}: {error}")))
    return found


def result_of(found: bytes) -> Any:
    """The result of an attempt; raises what it raised."""
    good, result = pickle.loads(found)
    if not good:
        raise result
    return result
