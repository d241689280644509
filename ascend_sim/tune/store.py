"""The results file of a sweep: SQLite, one transaction per point: a kill at any moment loses no finished one."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

from ascend_sim.errors import InputError

_SCHEMA = """
CREATE TABLE IF NOT EXISTS sweep (id INTEGER PRIMARY KEY CHECK (id = 1), identity TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS points (number INTEGER PRIMARY KEY, result TEXT NOT NULL);
"""
_TABLES = {"sweep", "points"}


class Store:
    """The finished points of the sweep that `identity` describes, in `path`; a file of anything else is refused and
    left as it is."""

    def __init__(self, path: Path, identity: Mapping[str, Any]) -> None:
        self.path = path
        wanted = json.dumps(identity, sort_keys=True)
        if not path.parent.is_dir():
            raise InputError(f"results file {path}: there is no folder {path.parent}")
        fresh = not path.exists() or path.stat().st_size == 0
        if not fresh:
            self._check(wanted)
        self._connection = sqlite3.connect(path, isolation_level=None, timeout=30)
        self._connection.execute("PRAGMA journal_mode=WAL")
        self._connection.execute("PRAGMA synchronous=FULL")
        self._connection.executescript(f"BEGIN IMMEDIATE; {_SCHEMA} COMMIT;")
        self._connection.execute("INSERT OR IGNORE INTO sweep (id, identity) VALUES (1, ?)", (wanted,))

    def _check(self, wanted: str) -> None:
        """Look without changing anything; SQLite may put in what a killed process had committed."""
        try:
            connection = sqlite3.connect(f"{self.path.resolve().as_uri()}?mode=rw", uri=True, timeout=30)
            try:
                names = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
                found = connection.execute("SELECT identity FROM sweep").fetchone() if names == _TABLES else None
            finally:
                connection.close()
        except sqlite3.DatabaseError as error:
            raise InputError(
                f"results file {self.path} is not one of a sweep ({error}); give another --results"
            ) from None
        if names and names != _TABLES:
            raise InputError(f"results file {self.path} is a database of something else; give another --results")
        if found is not None and found[0] != wanted:
            difference = _difference(json.loads(found[0]), json.loads(wanted))
            raise InputError(f"results file {self.path} is of another sweep ({difference}); give another --results")

    def finished(self) -> dict[int, dict[str, Any]]:
        """Results by number of the point."""
        rows = self._connection.execute("SELECT number, result FROM points ORDER BY number")
        return {number: json.loads(result) for number, result in rows}

    def keep(self, number: int, result: Mapping[str, Any]) -> None:
        """Write one point; it is on the disk when this returns."""
        self._connection.execute("INSERT OR IGNORE INTO points VALUES (?, ?)", (number, json.dumps(result)))

    def __enter__(self) -> Store:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._connection.close()


def _difference(theirs: Mapping[str, Any], ours: Mapping[str, Any]) -> str:
    """`op is a there and b here`, of the first thing that differs."""
    for name in ours:
        if theirs.get(name) != ours[name]:
            return f"{name} is {theirs.get(name)} there and {ours[name]} here"
    return "it has more to it"
