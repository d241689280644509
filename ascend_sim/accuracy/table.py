"""The error table: every measured row beside what this simulator says of it."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, replace
from typing import Any

from ascend_sim.accuracy.rows import Row
from ascend_sim.accuracy.simulate import Recording, simulate
from ascend_sim.errors import AscendSimError
from ascend_sim.sampling.steady import Sample
from ascend_sim.soc import Soc

PIPES = ("vec", "mte2")
LEAST_SHARE = 0.05
"""A pipe that is busy less than this share of the time is not compared: counters read a few hundred ns of noise."""

SLOWEST_FAMILIES = ("tile_probe", "read_only_copies", "v41_rope", "add_steps", "operator", "scalar_loop", "bias_add")


@dataclass(frozen=True, slots=True)
class Comparison:
    """One figure of one row, in us (ratios from 0 to 1)."""

    predicted: float
    measured: float

    @property
    def error(self) -> float:
        """Signed and relative: +0.1 is 10 % too slow."""
        return self.predicted / self.measured - 1

    def to_json(self) -> dict[str, float]:
        return {
            "predicted": round(self.predicted, 4),
            "measured": self.measured,
            "error": round(self.error, 4),
        }


@dataclass(frozen=True, slots=True)
class Entry:
    """A row with its simulation; `sample` is None with a `reason` when there is none. `seconds`: CPU time it took."""

    row: Row
    sample: Sample | None
    reason: str = ""
    seconds: float = 0.0

    @property
    def headline(self) -> Comparison | None:
        return None if self.sample is None else self._compare(self.row.headline)

    def pipe(self, name: str) -> Comparison | None:
        """Busy time of a pipe, or its share where only that was measured; None if it tells nothing."""
        metrics = self.row.metrics
        share = metrics.get(f"{name}_ratio")
        if share is not None:
            return self._compare(f"{name}_ratio") if share >= LEAST_SHARE else None
        busy, whole = metrics.get(f"{name}_us"), metrics.get("aiv_us", self.row.measured_us)
        return self._compare(f"{name}_us") if busy is not None and busy >= LEAST_SHARE * whole else None

    def aiv(self) -> Comparison | None:
        return self._compare("aiv_us") if "aiv_us" in self.row.metrics else None

    def _compare(self, name: str) -> Comparison | None:
        if self.sample is None or name not in self.sample.figures:
            return None
        return Comparison(self.sample.figures[name], self.row.metrics[name])

    def to_json(self) -> dict[str, Any]:
        row, sample = self.row, self.sample
        compared = {row.headline: self.headline, "aiv_us": self.aiv()} | {
            f"{name}_busy": self.pipe(name) for name in PIPES
        }
        return {
            "id": row.id,
            "soc": row.soc,
            "group": row.group,
            "kernel": row.kernel,
            "kind": row.kind,
            "protocol": row.protocol,
            "launch_kind": row.launch_kind,
            "l2": row.l2,
            "block_dim": row.block_dim,
            "required": row.required,
            "source": row.source,
            "reason": self.reason,
            "compared": {name: value.to_json() for name, value in compared.items() if value is not None},
            "figures": {name: round(value, 4) for name, value in sample.figures.items()} if sample else {},
            "tiles": [sample.tiles, sample.of] if sample else None,
            "bound": round(sample.bound, 5) if sample else None,
        }


def entry(row: Row, chip: Soc | None = None) -> Entry:
    """Simulate one row; what cannot be simulated says why."""
    return entries_on(row, [chip])[0]


def entries_on(row: Row, chips: Sequence[Soc | None]) -> list[Entry]:
    """One row on several chips (None: its own variant), recorded once."""
    if row.family is None:
        return [Entry(row, None, row.reason) for _ in chips]
    found: list[Entry] = []
    recording: Recording | None = None
    for chip in chips:
        begin = time.process_time()
        try:
            recording = recording or Recording(row)
            found.append(Entry(row, simulate(row, chip, recording), "", time.process_time() - begin))
        except AscendSimError as error:
            found.append(Entry(row, None, f"{type(error).__name__}: {error}", time.process_time() - begin))
    return found


def make_table(
    rows: Sequence[Row],
    workers: int | None = None,
    chips: Mapping[str, Soc] | None = None,
    done: Callable[[int, int], object] = lambda _done, _of: None,
) -> list[Entry]:
    """Simulate `rows` on `workers` processes (default: one per core) and answer in their order.

    `chips` replaces chips by name of variant, for what-if questions and fits; `done(n, of)` is called as rows end.
    """
    chips = chips or {}
    workers = workers or os.cpu_count() or 1
    found: dict[tuple[Any, ...], Entry] = {}
    unlike: dict[tuple[Any, ...], Row] = {launch_key(row): row for row in rows}
    work = longest_first(row for row in unlike.values() if row.family is not None)
    for ended in _simulated(work, min(workers, len(work)), chips):
        found[launch_key(ended.row)] = ended
        done(len(found), len(work))
    return [replace(found[launch_key(row)], row=row) if row.family else Entry(row, None, row.reason) for row in rows]


def launch_key(row: Row) -> tuple[Any, ...]:
    """Rows with the same key are the same launch, measured more than once."""
    if row.family is None:
        return (row.id,)
    params = json.dumps(row.params, sort_keys=True)
    return row.family, params, row.soc, row.l2, row.launch_kind, row.protocol, row.dtype, row.block_dim


def _simulated(rows: Sequence[Row], workers: int, chips: Mapping[str, Soc]) -> Iterator[Entry]:
    if workers <= 1:
        yield from (entry(row, chips.get(row.soc)) for row in rows)
        return
    with ProcessPoolExecutor(workers) as pool:
        for future in as_completed([pool.submit(entry, row, chips.get(row.soc)) for row in rows]):
            yield future.result()


def longest_first(rows: Iterable[Row]) -> list[Row]:
    """So that no long row is left over at the end while the other processes have nothing to do."""
    rank = {family: i for i, family in enumerate(SLOWEST_FAMILIES)}
    return sorted(rows, key=lambda row: (rank.get(row.family or "", len(rank)), -row.measured_us))
