"""One operator over many shapes, chips, dtypes and attributes; finished points are kept and never timed again."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ascend_sim.errors import AscendSimError, InputError
from ascend_sim.host.operator import Operator
from ascend_sim.host.registry import operator_named
from ascend_sim.host.tensors import TensorInfo
from ascend_sim.machine.memory import hbm_bytes_per_cycle
from ascend_sim.sampling.calls import TimedCall
from ascend_sim.soc import Soc, load
from ascend_sim.tune.axes import Axis, Point, points
from ascend_sim.tune.store import Store
from ascend_sim.version import VERSION


@dataclass(frozen=True, slots=True)
class Sweep:
    """What is swept: a call, and axes that change it."""

    operator: Operator
    inputs: Mapping[str, TensorInfo]
    attrs: Mapping[str, Any]
    soc: str
    axes: Sequence[Axis]
    exact: bool = False

    @property
    def identity(self) -> dict[str, Any]:
        """What makes results belong to it."""
        return {
            "op": self.operator.name,
            "inputs": {name: str(info) for name, info in self.inputs.items()},
            "attrs": {name: str(value) for name, value in self.attrs.items()},
            "soc": self.soc,
            "axes": {axis.name: list(axis.values) for axis in self.axes},
            "exact": self.exact,
            "version": VERSION,
        }

    @property
    def default_file(self) -> Path:
        """A name of its own in the working folder."""
        text = json.dumps(self.identity, sort_keys=True)
        return Path(f"{self.operator.name}.{hashlib.sha256(text.encode()).hexdigest()[:8]}.sweep")

    def points(self) -> list[Point]:
        return points(self.operator, self.inputs, self.attrs, self.soc, self.axes)


Row = tuple[Point, Mapping[str, Any]]


def run_sweep(
    sweep: Sweep,
    path: Path,
    *,
    workers: int | None = None,
    done: Callable[[int, int], object] = lambda _n, _of: None,
) -> list[Row]:
    """Time the points that `path` does not hold yet, and answer all of them in order.

    A point that the operator refuses has the text as its "refused". Raises `InputError` for axes that make no sense
    and for a file of another sweep.
    """
    if workers is not None and workers < 1:
        raise InputError(f"workers is {workers}, it must be 1 or more")
    wanted = sweep.points()
    for name in dict.fromkeys(point.soc for point in wanted):
        load(name)  # a chip that does not exist is a mistake, not a refusal
    with Store(path, sweep.identity) as store:
        found = store.finished()
        left = [point for point in wanted if point.number not in found]
        done(len(found), len(wanted))
        for number, result in _timed(sweep, left, min(workers or os.cpu_count() or 1, len(left))):
            store.keep(number, result)
            found[number] = result
            done(len(found), len(wanted))
    return [(point, found[point.number]) for point in wanted]


def _timed(sweep: Sweep, left: Sequence[Point], workers: int) -> Iterator[tuple[int, dict[str, Any]]]:
    if workers <= 1:
        yield from ((point.number, time_point(sweep.operator.name, point, sweep.exact)) for point in left)
        return
    with ProcessPoolExecutor(workers) as pool:
        futures = {pool.submit(time_point, sweep.operator.name, point, sweep.exact): point.number for point in left}
        for future in as_completed(futures):
            yield futures[future], future.result()


def time_point(operator: str, point: Point, exact: bool) -> dict[str, Any]:
    """The result of one point."""
    try:
        chip = load(point.soc)
        call = TimedCall(operator_named(operator), point.inputs, point.attrs, chip)
        found = call.time(exact=exact)
    except AscendSimError as error:
        return {"refused": str(error)}
    metrics = found.whole.metrics
    nbytes = metrics.memory.read_bytes + metrics.memory.written_bytes
    return {
        "duration_us": round(found.duration_us, 4),
        "sampling_error": round(found.error, 5),
        "bound": metrics.bound,
        "bound_ratio": round(metrics.pipes[metrics.bound].ratio, 4),
        "efficiency": round(_roofline_us(chip, nbytes, call.fits_l2) / found.duration_us, 4),
        "gbps": round(nbytes / found.duration_us / 1000, 2),
        "key": call.own.key,
        "block_dim": call.own.block_dim,
    }


def _roofline_us(chip: Soc, nbytes: int, fits_l2: bool) -> float:
    """The least time in which memory can move so much: L2 where all of it fits in, else HBM."""
    per_cycle = chip.l2.read_bytes_per_cycle_per_aic * chip.cores.aic if fits_l2 else hbm_bytes_per_cycle(chip)
    return nbytes / per_cycle / chip.clock_mhz
