"""All legal tilings of a call, timed in parallel and ranked."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ascend_sim.accuracy.expected import Expected, expected_error
from ascend_sim.errors import AscendSimError, InputError, KernelError
from ascend_sim.host.operator import Operator
from ascend_sim.host.space import picked
from ascend_sim.host.tensors import TensorInfo, tensor_info
from ascend_sim.host.tiling import Tiling
from ascend_sim.sampling.calls import TimedCall
from ascend_sim.soc import Soc
from ascend_sim.tune.executors import Executor, Lost
from ascend_sim.tune.processes import Processes
from ascend_sim.tune.sources import Source, source_of
from ascend_sim.tune.trial import Trial, try_out
from ascend_sim.tune.verdict import Verdict, tie_text, verdict_of

LIMIT = 300
"""At most so many tilings are tried."""
POOL = 8
"""A small number of tilings is picked from so many times as many, up to `LIMIT`: an enumeration that yields few yields
few of every kind, be they good or not."""
FINAL = 3
"""So often the fastest one is simulated in full, if it was not: another may then be the fastest."""
MOST_INSTRUCTIONS = 5_000_000
"""A launch larger than this is not simulated in full unless it is asked for."""

ROUNDING = 0.001
"""Durations that differ by up to this (relative) are the same: of such tilings the one that costs least comes first."""


@dataclass(frozen=True, slots=True)
class Tuning:
    """`trials`: as by `ranked`, the operator's `own` among them; `expected`: how far off the model's times may be.
    `faults`: for which the own tiling is not legal itself; `lost`: why tilings could not be timed."""

    operator: str
    chip: Soc
    infos: Mapping[str, TensorInfo]
    attrs: Mapping[str, Any]
    own: Trial
    trials: Sequence[Trial]
    expected: Expected
    seconds: float
    workers: int
    faults: Sequence[str] = ()
    lost: Sequence[str] = ()

    def verdict(self, trial: Trial) -> Verdict:
        """A difference from the own tiling that is smaller than the model's error, or the samplings', is a tie."""
        if trial is self.own:
            return "own"
        return verdict_of(self.versus_own(trial), self.expected, trial.error, self.own.error)

    def versus_own(self, trial: Trial) -> float:
        """How much longer it takes than the own one, relative."""
        return trial.duration_us / self.own.duration_us - 1

    @property
    def tie_text(self) -> str:
        """The model's error, and what is a tie."""
        return tie_text(self.expected)

    @property
    def best_as_it_is(self) -> Trial:
        """The first one that the kernel takes without a change of its source, as it always takes the own one."""
        return next(trial for trial in self.trials if trial is self.own or not trial.tiling.changes_source)

    def rank(self, trial: Trial) -> int:
        """From 1 on."""
        return next(rank for rank, other in enumerate(self.trials, 1) if other is trial)

    @property
    def choices(self) -> list[str]:
        """What tilings differ in: the names of all of them."""
        return list(dict.fromkeys(name for trial in (self.own, *self.trials) for name in trial.choices))


def ranked(trials: Iterable[Trial], own: Trial) -> list[Trial]:
    """The fastest first. Of those that are as fast as the first of them, to within `ROUNDING`, the own one comes first,
    then those that the kernel takes as it is, then those for which its source has to be changed."""
    found: list[Trial] = []
    left = sorted(trials, key=lambda trial: trial.duration_us)
    while left:
        most_us = left[0].duration_us * (1 + ROUNDING)
        alike = [trial for trial in left if trial.duration_us <= most_us]
        left = left[len(alike) :]
        found += sorted(alike, key=lambda trial: (trial is not own, trial.tiling.changes_source))
    return found


@dataclass(slots=True)
class _Shared:
    """What all jobs of a tuning have in common; a process makes the call once."""

    source: Source
    infos: Mapping[str, TensorInfo]
    attrs: Mapping[str, Any]
    chip: Soc
    call: TimedCall | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class _Job:
    tiling: Tiling
    exact: bool
    rough: bool


def _try(shared: _Shared, job: _Job) -> Trial | Lost:
    if shared.call is None:
        shared.call = TimedCall(shared.source.operator(), shared.infos, shared.attrs, shared.chip)
    try:
        return try_out(shared.call, job.tiling, exact=job.exact, rough=job.rough)
    except AscendSimError as error:
        return Lost(str(error))


def tune(
    operator: Operator,
    inputs: Mapping[str, Any],
    attrs: Mapping[str, Any],
    chip: Soc,
    *,
    limit: int = LIMIT,
    exact: bool = False,
    executor: Executor | None = None,
    done: Callable[[int, int], object] = lambda _n, _of: None,
) -> Tuning:
    """Time at most `limit` legal tilings on `executor` (without it, on processes); `exact`: simulate each in full;
    `done(n, of)` is called as they end.

    Raises `UnsupportedError` where the operator declares no tilings, `KernelError` where its own cannot be timed, and
    what planning the call raises.
    """
    begin = time.perf_counter()
    if limit < 1:
        raise InputError(f"limit is {limit}, it must be 1 or more")
    space = operator.space_on(chip.name)
    infos = {name: tensor_info(name, value) for name, value in operator.bind_inputs(inputs).items()}
    context = TimedCall(operator, infos, attrs, chip).context
    tilings = picked(list(space.candidates(context, max(limit, min(LIMIT, POOL * limit)))), limit)
    executor = executor or Processes()
    shared = _Shared(source_of(operator, remote=executor.remote), infos, dict(attrs), chip)
    with executor:
        jobs = [_Job(tiling, exact or not number, not exact) for number, tiling in enumerate(tilings)]
        found = list(_timed(executor, shared, jobs, done))
        own = found[0]
        if isinstance(own, Lost):
            raise KernelError(f"{operator.name}: its own tiling cannot be timed: {own.text}")
        trials = [trial for trial in found if isinstance(trial, Trial)]
        _refine(executor, shared, trials)
        workers = min(executor.workers, len(tilings))
    lost = [
        f"{trial.text} ({tiling.data})" for trial, tiling in zip(found, tilings, strict=True) if isinstance(trial, Lost)
    ]
    return Tuning(
        operator.name,
        chip,
        infos,
        dict(attrs),
        own,
        ranked(trials, own),
        expected_error(chip.name, own.kind, own.duration_us),
        time.perf_counter() - begin,
        workers,
        space.faults(own.tiling, context),
        lost,
    )


def _refine(executor: Executor, shared: _Shared, trials: list[Trial]) -> None:
    """Simulate the fastest in full, and the fastest of those that the kernel takes as it is."""
    _refine_fastest(executor, shared, trials, range(len(trials)))
    as_they_are = [place for place, trial in enumerate(trials) if not trial.tiling.changes_source]
    _refine_fastest(executor, shared, trials, as_they_are)


def _refine_fastest(executor: Executor, shared: _Shared, trials: list[Trial], places: Sequence[int]) -> None:
    """Simulate the fastest of `places` in full, until it is known to be that or has been tried `FINAL` times."""
    for _ in range(FINAL if places else 0):
        place = min(places, key=lambda number: trials[number].duration_us)
        best = trials[place]
        if not best.error or best.instructions > MOST_INSTRUCTIONS:
            return
        (again,) = _timed(executor, shared, [_Job(best.tiling, True, False)])
        if isinstance(again, Lost):
            return
        trials[place] = again


def _timed(
    executor: Executor,
    shared: _Shared,
    jobs: Sequence[_Job],
    done: Callable[[int, int], object] = lambda _n, _of: None,
) -> Iterator[Trial | Lost]:
    """What became of each job, in their order."""
    found: dict[int, Trial | Lost] = {}
    for place, trial in executor.run(_try, shared, jobs):
        found[place] = trial
        done(len(found), len(jobs))
    return (found[place] for place in range(len(jobs)))
