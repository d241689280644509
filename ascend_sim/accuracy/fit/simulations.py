"""Tables with other values of the constants: rows are recorded once for many values, and only simulated when a constant
that bears on them has a value that they have not been simulated with."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from copy import copy
from dataclasses import replace
from typing import Any

from ascend_sim.accuracy.fit.constants import Values, may_touch, rounded
from ascend_sim.accuracy.rows import Row
from ascend_sim.accuracy.table import Entry, entries_on, launch_key, longest_first
from ascend_sim.soc import Soc, load

Key = tuple[Any, ...]
Wanted = Mapping[Key, Values]
"""By key of the result: the constants to simulate a row with."""


class Simulations:
    """`rows` with the constants of `values` as a beginning; `workers`: processes (default: one per core)."""

    def __init__(self, rows: Sequence[Row], values: Values, workers: int | None = None) -> None:
        self.rows = list(rows)
        self.workers = workers or os.cpu_count() or 1
        self._alike = {launch_key(row): row for row in rows}  # one of those that are the same launch
        self._known: dict[Key, dict[Key, Entry]] = {key: {} for key in self._alike}
        self._chips: dict[Key, Soc] = {}
        begin = self._run({key: {self._all(values): values} for key in self._alike})
        self._sample = {key: next(iter(found.values())) for key, found in begin.items()}
        for key, found in self._sample.items():
            self._known[key][self._touched(key, values)] = found

    def restricted(self, rows: Sequence[Row]) -> Simulations:
        """The same for some of the rows; what is known of them need not be simulated again."""
        found = copy(self)
        found.rows = list(rows)
        return found

    def tables(
        self, sets: Sequence[Values], only: Callable[[int, Row], bool] = lambda _number, _row: True
    ) -> list[list[Entry]]:
        """The table for each set of values, of the rows for which `only(number of the set, row)` holds."""
        wanted: dict[Key, dict[Key, Values]] = {}
        for number, values in enumerate(sets):
            for row in self.rows:
                if only(number, row):
                    key = launch_key(row)
                    touched = self._touched(key, values)
                    if touched not in self._known[key]:
                        wanted.setdefault(key, {})[touched] = values
        for key, found in self._run(wanted).items():
            self._known[key].update(found)
        return [
            [self._entry(row, values) for row in self.rows if only(number, row)] for number, values in enumerate(sets)
        ]

    @property
    def count(self) -> int:
        """How many results there are."""
        return sum(len(found) for found in self._known.values())

    def table(self, values: Values) -> list[Entry]:
        return self.tables([values])[0]

    def _entry(self, row: Row, values: Values) -> Entry:
        key = launch_key(row)
        return replace(self._known[key][self._touched(key, values)], row=row)

    def _touched(self, key: Key, values: Values) -> Key:
        """The values that bear on a row."""
        sample = self._sample[key]
        return tuple((path, rounded(path, value)) for path, value in values.items() if may_touch(path, sample))

    def _all(self, values: Values) -> Key:
        return tuple((path, rounded(path, value)) for path, value in values.items())

    def _chip(self, row: Row, values: Values) -> Soc:
        overrides = self._all(values)
        key = (row.soc, *overrides)
        if key not in self._chips:
            self._chips[key] = load(row.soc, dict(overrides))
        return self._chips[key]

    def _run(self, wanted: Mapping[Key, Wanted]) -> dict[Key, dict[Key, Entry]]:
        """Simulate each row with all the values that are wanted of it."""
        rows = longest_first(self._alike[key] for key in wanted)
        jobs = []
        for row in rows:
            results = wanted[launch_key(row)]
            jobs.append((row, [self._chip(row, values) for values in results.values()]))
        found: dict[Key, dict[Key, Entry]] = {}
        for key, entries in self._simulated(jobs):
            found[key] = dict(zip(wanted[key], entries, strict=True))
        return found

    def _simulated(self, jobs: Sequence[tuple[Row, list[Soc]]]) -> Iterator[tuple[Key, list[Entry]]]:
        if self.workers <= 1 or len(jobs) <= 1:
            yield from ((launch_key(row), entries_on(row, chips)) for row, chips in jobs)
            return
        with ProcessPoolExecutor(min(self.workers, len(jobs))) as pool:
            futures = {pool.submit(entries_on, row, chips): launch_key(row) for row, chips in jobs}
            for future in as_completed(futures):
                yield futures[future], future.result()
