"""All legal tilings of a call, timed in parallel and ranked."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from typing import Any, Literal

from ascend_sim.accuracy.expected import Expected, expected_error
from ascend_sim.errors import InputError
from ascend_sim.host.operator import Operator
from ascend_sim.host.space import same_as
from ascend_sim.host.tensors import TensorInfo, tensor_info
from ascend_sim.host.tiling import Tiling
from ascend_sim.sampling.calls import TimedCall
from ascend_sim.soc import Soc
from ascend_sim.tune.trial import Trial, try_out

LIMIT = 300
"""About so many tilings are tried."""
FINAL = 3
"""So many of the fastest are simulated in full, as the operator's own is."""
MOST_INSTRUCTIONS = 5_000_000
"""A launch larger than this is not simulated in full unless it is asked for."""
KIND = "rope"

Verdict = Literal["own", "faster", "tie", "slower"]


@dataclass(frozen=True, slots=True)
class Tuning:
    """`trials`: fastest first, the operator's `own` among them; `expected`: how far off the model's times may be."""

    operator: str
    chip: Soc
    infos: Mapping[str, TensorInfo]
    attrs: Mapping[str, Any]
    own: Trial
    trials: Sequence[Trial]
    expected: Expected
    seconds: float
    workers: int

    def verdict(self, trial: Trial) -> Verdict:
        """A difference from the own tiling that is smaller than the model's error, or the samplings', is a tie."""
        if trial is self.own:
            return "own"
        difference = trial.duration_us / self.own.duration_us - 1
        if abs(difference) <= self.band + trial.error + self.own.error:
            return "tie"
        return "faster" if difference < 0 else "slower"

    @property
    def band(self) -> float:
        """The model's error, relative."""
        return self.expected.band or 0.0


@dataclass(frozen=True, slots=True)
class _Job:
    tiling: Tiling
    exact: bool
    rough: bool


def tune(
    operator: Operator,
    inputs: Mapping[str, Any],
    attrs: Mapping[str, Any],
    chip: Soc,
    *,
    limit: int = LIMIT,
    exact: bool = False,
    workers: int | None = None,
    done: Callable[[int, int], object] = lambda _n, _of: None,
) -> Tuning:
    """Time about `limit` legal tilings on `workers` processes; `exact`: simulate each in full; `done(n, of)` is called
    as they end. Raises `UnsupportedError` where the operator declares no tilings, and what planning the call raises.
    """
    begin = time.perf_counter()
    for name, value in (("limit", limit), ("workers", 1 if workers is None else workers)):
        if value < 1:
            raise InputError(f"{name} is {value}, it must be 1 or more")
    space = operator.space_on(chip.name)
    infos = {name: tensor_info(name, value) for name, value in operator.bind_inputs(inputs).items()}
    call = TimedCall(operator, infos, attrs, chip)
    tilings = list(space.candidates(call.context, limit))
    workers = min(workers or os.cpu_count() or 1, len(tilings))
    pool = _Pool((operator, infos, dict(attrs), chip), workers)
    with pool:
        jobs = [_Job(tiling, exact or not number, not exact) for number, tiling in enumerate(tilings)]
        found = pool.run(jobs, done)
        own = found[0]
        ranked = sorted(found, key=lambda trial: trial.duration_us)
        again = [trial for trial in ranked[:FINAL] if trial.error and trial.simulated <= MOST_INSTRUCTIONS]
        for before, after in zip(again, pool.run([_Job(t.tiling, True, False) for t in again], done), strict=True):
            ranked[ranked.index(before)] = after
    ranked.sort(key=lambda trial: trial.duration_us)
    assert any(same_as(trial.tiling) == same_as(own.tiling) for trial in ranked)
    expected = expected_error(chip.name, KIND, own.duration_us)
    return Tuning(
        operator.name, chip, infos, dict(attrs), own, ranked, expected, time.perf_counter() - begin, max(1, workers)
    )


class _Pool:
    """Processes that each hold the call; with one worker, this process."""

    def __init__(self, call: tuple[Operator, Mapping[str, TensorInfo], Mapping[str, Any], Soc], workers: int) -> None:
        operator, infos, attrs, chip = call
        self._given = (operator.name, infos, attrs, chip)
        self._pool = ProcessPoolExecutor(workers, initializer=_begin, initargs=self._given) if workers > 1 else None

    def __enter__(self) -> _Pool:
        if self._pool is None:
            _begin(*self._given)
        return self

    def __exit__(self, *_: object) -> None:
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)

    def run(self, jobs: Sequence[_Job], done: Callable[[int, int], object]) -> list[Trial]:
        """The trials of all jobs, in their order."""
        found: dict[int, Trial] = {}
        for number, trial in self._ended(jobs):
            found[number] = trial
            done(len(found), len(jobs))
        return [found[number] for number in range(len(jobs))]

    def _ended(self, jobs: Sequence[_Job]) -> Iterator[tuple[int, Trial]]:
        if self._pool is None:
            yield from ((number, _try(job)) for number, job in enumerate(jobs))
            return
        futures = {self._pool.submit(_try, job): number for number, job in enumerate(jobs)}
        for future in as_completed(futures):
            yield futures[future], future.result()


_CALL: list[TimedCall] = []


def _begin(operator: str, infos: Mapping[str, TensorInfo], attrs: Mapping[str, Any], chip: Soc) -> None:
    from ascend_sim.host.registry import operator_named  # noqa: PLC0415 - in the new process

    _CALL[:] = [TimedCall(operator_named(operator), infos, attrs, chip)]


def _try(job: _Job) -> Trial:
    return try_out(_CALL[0], job.tiling, exact=job.exact, rough=job.rough)
