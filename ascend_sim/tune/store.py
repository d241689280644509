"""The results file of a sweep: SQLite, one transaction per point: a kill at any moment loses no finished one."""

from __future__ import annotations

import contextlib
import json
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

from ascend_sim.errors import InputError

_MAGIC = b"SQLite format 3\0"
_SCHEMA = (
    "CREATE TABLE IF NOT EXISTS sweep (id INTEGER PRIMARY KEY CHECK (id = 1), identity TEXT NOT NULL)",
    "CREATE TABLE IF NOT EXISTS points (number INTEGER PRIMARY KEY, result TEXT NOT NULL)",
)
_TABLES = {"sweep", "points"}
MOST_SHOWN = 5
"""So many values of an axis are told."""
ANOTHER = "give another --results"


class Store:
    """The finished points of the sweep that `identity` describes, in `path`; a file of anything else is refused and
    left as it is.

    The file is this process's alone while it is open. SQLite locks it, and the lock goes with the process.
    """

    def __init__(self, path: Path, identity: Mapping[str, Any]) -> None:
        self.path = path
        _check_file(path)
        self._fresh = not path.exists()
        wanted = json.dumps(identity)
        with self._told():
            self._connection = sqlite3.connect(path, isolation_level=None, timeout=1)
        try:
            with self._told():
                self._connection.execute("PRAGMA locking_mode=EXCLUSIVE")
                self._check_contents(wanted)
                self._connection.execute("PRAGMA journal_mode=WAL")
                self._connection.execute("PRAGMA synchronous=FULL")
                with self._transaction():
                    for statement in _SCHEMA:
                        self._connection.execute(statement)
                    self._connection.execute("INSERT OR IGNORE INTO sweep (id, identity) VALUES (1, ?)", (wanted,))
        except BaseException:
            self._connection.close()
            raise

    def _check_contents(self, wanted: str) -> None:
        """Refuse what is not of this sweep, before anything is written."""
        names = {name for (name,) in self._connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        if not names:
            return
        if names != _TABLES:
            raise InputError(f"results file {self.path} is a database of something else; {ANOTHER}")
        found = self._connection.execute("SELECT identity FROM sweep").fetchone()
        if found is not None and found[0] != wanted:
            difference = _difference(json.loads(found[0]), json.loads(wanted))
            raise InputError(f"results file {self.path} is of another sweep ({difference}); {ANOTHER}")

    def finished(self) -> dict[int, dict[str, Any]]:
        """Results by number of the point."""
        with self._told():
            rows = self._connection.execute("SELECT number, result FROM points ORDER BY number").fetchall()
            return {number: json.loads(result) for number, result in rows}

    def keep(self, numbers: Sequence[int], result: Mapping[str, Any]) -> None:
        """Write the result that these points have in common; it is on the disk when this returns."""
        text = json.dumps(result)
        with self._told(), self._transaction():
            self._connection.executemany(
                "INSERT OR IGNORE INTO points VALUES (?, ?)", [(number, text) for number in numbers]
            )

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[None]:
        self._connection.execute("BEGIN EXCLUSIVE")
        try:
            yield
        except BaseException:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            raise
        self._connection.execute("COMMIT")

    @contextlib.contextmanager
    def _told(self) -> Iterator[None]:
        """What SQLite says, in terms of results files."""
        try:
            yield
        except sqlite3.Error as error:
            name = getattr(error, "sqlite_errorname", "")
            if name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
                text = f"results file {self.path} is in use by another sweep; wait until it has ended, or {ANOTHER}"
            elif name.startswith(("SQLITE_NOTADB", "SQLITE_CORRUPT")):
                text = f"results file {self.path} is not one of a sweep ({error}); {ANOTHER}"
            else:
                text = f"cannot write the results file {self.path}: {error}"
            raise InputError(text) from None
        except json.JSONDecodeError as error:
            raise InputError(f"results file {self.path} is damaged ({error}); {ANOTHER}") from None

    def __enter__(self) -> Store:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        empty = self._fresh and error is not None and not self._connection.execute("SELECT 1 FROM points").fetchone()
        self._connection.close()
        if empty:  # nothing has come of it
            self.path.unlink(missing_ok=True)


def _check_file(path: Path) -> None:
    """What can be told without SQLite."""
    if not path.parent.is_dir():
        raise InputError(f"results file {path}: there is no folder {path.parent}")
    if path.is_dir():
        raise InputError(f"results file {path} is a folder; give the name of a file")
    try:
        if path.exists() and not path.is_file():
            raise InputError(f"results file {path} is no regular file; {ANOTHER}")
        with contextlib.suppress(FileNotFoundError), path.open("rb") as file:
            begin = file.read(len(_MAGIC))
            if begin and begin != _MAGIC:
                raise InputError(f"results file {path} is not one of a sweep (it is no SQLite file); {ANOTHER}")
    except OSError as error:
        raise InputError(f"cannot read the results file {path}: {error.strerror or error}") from None


def _difference(theirs: Mapping[str, Any], ours: Mapping[str, Any]) -> str:
    """`op is a there and b here`, of the first thing that differs."""
    for name in {**ours, **theirs}:
        one, other = theirs.get(name), ours.get(name)
        if one == other:
            continue
        if name == "source":
            return "the operator's source files have changed since"
        if isinstance(one, dict) and isinstance(other, dict):
            if list(one) != list(other):
                return f"{name} are {', '.join(one) or 'none'} there and {', '.join(other) or 'none'} here"
            return _difference(one, other)
        return f"{name} is {_shown(one)} there and {_shown(other)} here"
    return "its axes have another order"


def _shown(value: object) -> str:
    if not isinstance(value, list):
        return str(value)
    return ", ".join(value if len(value) <= MOST_SHOWN else [*value[: MOST_SHOWN - 1], "...", value[-1]])
