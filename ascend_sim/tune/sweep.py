"""One operator over many shapes, chips, dtypes and attributes; finished points are kept and never timed again."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ascend_sim.errors import AscendSimError, InputError
from ascend_sim.host.operator import Operator
from ascend_sim.host.tensors import TensorInfo
from ascend_sim.sampling.calls import TimedCall
from ascend_sim.soc import Soc, load
from ascend_sim.tune.axes import Axis
from ascend_sim.tune.executors import Executor, Lost
from ascend_sim.tune.points import Meaning, Point, meanings, points
from ascend_sim.tune.processes import Processes
from ascend_sim.tune.roofline import roofline
from ascend_sim.tune.sources import Source, digest, source_of
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
            "version": VERSION,
            "source": digest(self.operator),
            "inputs": {name: str(info) for name, info in self.inputs.items()},
            "attrs": {name: str(value) for name, value in self.attrs.items()},
            "soc": self.soc,
            "axes": {axis.name: list(axis.values) for axis in self.axes},
            "exact": self.exact,
        }

    @property
    def default_file(self) -> Path:
        """A name of its own in the working folder."""
        text = json.dumps(self.identity)
        return Path(f"{self.operator.name}.{hashlib.sha256(text.encode()).hexdigest()[:8]}.sweep")

    def points(self) -> list[Point]:
        return points(self.operator, self.inputs, self.attrs, self.soc, self.axes)

    def meanings(self) -> list[Meaning]:
        return meanings(self.operator, self.inputs, self.attrs, self.soc, self.axes)


Row = tuple[Point, Mapping[str, Any]]


def run_sweep(
    sweep: Sweep,
    path: Path,
    executor: Executor | None = None,
    *,
    done: Callable[[int, int], object] = lambda _n, _of: None,
) -> list[Row]:
    """Time the points that `path` does not hold yet, on `executor` (without it, on processes), and answer all of them
    in order.

    A point has what `time_point` says; one whose process died each time has a text as its "failed". Neither that nor
    any other failure is kept, so that the next start tries it again. Raises `InputError` for axes that make no sense,
    for a file of another sweep, and for a cluster that cannot be reached.
    """
    executor = executor or Processes()
    wanted = sweep.points()
    with Store(path, sweep.identity) as store:
        found = store.finished()
        groups = _groups(point for point in wanted if point.number not in found)
        done(len(found), len(wanted))
        if groups:
            with executor:
                for numbers, result in _timed(sweep, groups, executor):
                    if "failed" not in result:
                        store.keep(numbers, result)
                    found |= dict.fromkeys(numbers, result)
                    done(len(found), len(wanted))
    return [(point, found[point.number]) for point in wanted]


@dataclass(slots=True)
class _Group:
    """Points that are the same call: the first is timed for all of them."""

    point: Point
    numbers: list[int] = field(default_factory=list)


def _groups(left: Iterator[Point]) -> list[_Group]:
    found: dict[tuple[object, ...], _Group] = {}
    for point in left:
        found.setdefault(point.call, _Group(point)).numbers.append(point.number)
    return list(found.values())


def _timed(
    sweep: Sweep, groups: Sequence[_Group], executor: Executor
) -> Iterator[tuple[Sequence[int], dict[str, Any]]]:
    common = (source_of(sweep.operator, remote=executor.remote), sweep.exact)
    for place, result in executor.run(time_point, common, [group.point for group in groups]):
        yield groups[place].numbers, {"failed": result.text} if isinstance(result, Lost) else result


def time_point(common: tuple[Source, bool], point: Point) -> dict[str, Any]:
    """The result of one point: its figures, or why it is "refused", or how it "failed", which is nobody's intent."""
    source, exact = common
    operator = source.operator()
    try:
        chip = load(point.soc)
        call = TimedCall(operator, point.inputs, point.attrs, chip)
        _check_fits(call, chip)
        found = call.time(exact=exact)
    except AscendSimError as error:
        return {"refused": str(error)}
    except MemoryError:
        return {"failed": "not enough memory"}
    except Exception as error:
        return {"failed": f"{type(error).__name__}: {error}"}
    metrics = found.whole.metrics
    nbytes = metrics.memory.read_bytes + metrics.memory.written_bytes
    least_us, roof = roofline(call, found)
    return {
        "duration_us": round(found.duration_us, 4),
        "sampling_error": round(found.error, 5),
        "bound": metrics.bound,
        "bound_ratio": round(metrics.pipes[metrics.bound].ratio, 4),
        "roofline_us": round(least_us, 4),
        "roof": roof,
        "efficiency": round(least_us / found.duration_us, 4),
        "memory": "L2" if call.fits_l2 else "HBM",
        "gbps": round(nbytes / found.duration_us / 1000, 2),
        "key": call.own.key,
        "block_dim": call.own.block_dim,
    }


def _check_fits(call: TimedCall, chip: Soc) -> None:
    """What no board could hold would take for ever to simulate."""
    nbytes = call.tensor_bytes
    if chip.hbm.bytes is not None and nbytes > chip.hbm.bytes:
        raise InputError(f"the tensors take {nbytes:,} B, {chip.variant} has {chip.hbm.bytes:,} B of memory")
