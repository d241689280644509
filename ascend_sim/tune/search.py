"""All legal tilings of a call, timed in parallel and ranked."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from ascend_sim.accuracy.expected import Expected, expected_error, overall_error
from ascend_sim.errors import AscendSimError, InputError, KernelError
from ascend_sim.host.operator import Operator
from ascend_sim.host.space import evenly
from ascend_sim.host.tensors import TensorInfo, tensor_info
from ascend_sim.host.tiling import Tiling
from ascend_sim.sampling.calls import TimedCall
from ascend_sim.soc import Soc
from ascend_sim.tune.executors import Executor, Lost
from ascend_sim.tune.processes import Processes
from ascend_sim.tune.sources import Source, source_of
from ascend_sim.tune.trial import Trial, try_out

LIMIT = 300
"""At most so many tilings are tried."""
FINAL = 3
"""So often the fastest one is simulated in full, if it was not: another may then be the fastest."""
MOST_INSTRUCTIONS = 5_000_000
"""A launch larger than this is not simulated in full unless it is asked for."""

Verdict = Literal["own", "faster", "tie", "slower"]


@dataclass(frozen=True, slots=True)
class Tuning:
    """`trials`: fastest first, the operator's `own` among them; `expected`: how far off the model's times may be.
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
        difference = self.versus_own(trial)
        if abs(difference) <= self.band + trial.error + self.own.error:
            return "tie"
        return "faster" if difference < 0 else "slower"

    def versus_own(self, trial: Trial) -> float:
        """How much longer it takes than the own one, relative."""
        return trial.duration_us / self.own.duration_us - 1

    @property
    def band(self) -> float:
        """The model's error, relative."""
        return model_error(self.expected)[0]

    @property
    def error_text(self) -> str:
        return model_error(self.expected)[1]

    @property
    def choices(self) -> list[str]:
        """What tilings differ in: the names of all of them."""
        return list(dict.fromkeys(name for trial in (self.own, *self.trials) for name in trial.choices))


def model_error(expected: Expected) -> tuple[float, str]:
    """The error to reckon with, relative, and in words; where nothing near was measured it is that of everything."""
    if not expected.extrapolated and expected.band is not None:
        return expected.band, str(expected)
    what = "this chip family"
    if expected.band is None:
        expected, what = overall_error(), "other chips"
    band = expected.band or 0.0
    return (
        band,
        f"±{100 * band:.0f} % (from all {expected.rows} measured rows of {what}: none is of this kind and size)",
    )


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
    own_tiling, *others = space.candidates(context, limit)
    tilings = [own_tiling, *evenly(others, limit - 1)]
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
        sorted(trials, key=lambda trial: trial.duration_us),
        expected_error(chip.name, own.kind, own.duration_us),
        time.perf_counter() - begin,
        workers,
        space.faults(own.tiling, context),
        lost,
    )


def _refine(executor: Executor, shared: _Shared, trials: list[Trial]) -> None:
    """Simulate the fastest in full, until it is known to be that or has been tried `FINAL` times."""
    for _ in range(FINAL):
        place = min(range(len(trials)), key=lambda number: trials[number].duration_us)
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
