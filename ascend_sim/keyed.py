"""Results whose fields are also found by key, as in their JSON."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from typing import Any


class Keyed:
    """Base of dataclasses: `values["exact"]` is `values.exact`."""

    __slots__ = ()

    def __getitem__(self, name: str) -> Any:
        if name not in self.keys():
            raise KeyError(f"{type(self).__name__} has no {name!r}, only {', '.join(self.keys())}")
        return getattr(self, name)

    def __iter__(self) -> Iterator[str]:
        return iter(self.keys())

    def keys(self) -> tuple[str, ...]:
        return tuple(field.name for field in fields(self))  # type: ignore[arg-type] # of the dataclass below
