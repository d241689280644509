"""One tiling that somebody brings, checked against a call: is it legal, how long does it take, is it the own choice."""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ascend_sim.errors import InputError
from ascend_sim.host.space import balance
from ascend_sim.host.tiling import Tiling
from ascend_sim.sampling.calls import TimedCall

WORD_BYTES = 8


@dataclass(frozen=True, slots=True)
class Checked:
    """`faults`: why it is not legal, if it is not; then there are no times. `differences`: fields in which it is not
    the operator's own choice, with its value and the own one."""

    tiling: Tiling
    own: Tiling
    faults: list[str]
    balance: float
    differences: Mapping[str, tuple[Any, Any]]
    duration_us: float | None = None
    own_us: float | None = None
    error: float = 0.0

    @property
    def ok(self) -> bool:
        return not self.faults

    def to_json(self) -> dict[str, Any]:
        return {
            "ok": self.ok,
            "faults": list(self.faults),
            "ub": {"used_bytes": self.tiling.ub_used_bytes, "capacity_bytes": self.tiling.ub_bytes},
            "balance": round(self.balance, 4),
            "agrees_with_own": not self.differences,
            "differences": {name: {"given": a, "own": b} for name, (a, b) in self.differences.items()},
            "duration_us": None if self.duration_us is None else round(self.duration_us, 4),
            "own_us": None if self.own_us is None else round(self.own_us, 4),
            "sampling_error": round(self.error, 5),
            "tiling": self.tiling.to_json(),
        }


def check_tiling(call: TimedCall, path: Path, *, exact: bool = False) -> Checked:
    """Check the tiling data in `path`, and time it beside the operator's own if it is legal."""
    space = call.operator.space_on(call.chip.name)
    given = read_tiling(path)
    fields = given if isinstance(given, Mapping) else space.fields(given, call.context)
    tiling, own = space.rebuild(call.context, fields), call.own
    faults = space.faults(tiling, call.context)
    even = 0.0 if faults else balance(space.coverage(tiling, call.context))
    names = list(dict.fromkeys((*own.data, *tiling.data)))
    both = {name: (tiling.data.get(name), own.data.get(name)) for name in names}
    differences = {name: pair for name, pair in both.items() if pair[0] != pair[1]}
    if faults:
        return Checked(tiling, own, faults, even, differences)
    mine, theirs = call.time(tiling, exact=exact), call.time(own, exact=exact)
    return Checked(
        tiling, own, [], even, differences, mine.duration_us, theirs.duration_us, max(mine.error, theirs.error)
    )


def read_tiling(path: Path) -> dict[str, int | str] | list[int]:
    """Fields by name (JSON of `tiling` or `tune`, or of fields alone) or raw int64 words: a list in JSON, numbers in
    text, or a dump of little-endian words."""
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise InputError(f"tiling file {path} cannot be read: {error.strerror}") from None
    try:
        text = raw.decode("ascii").strip()
    except UnicodeDecodeError:
        text = ""
    if text[:1] in ("{", "["):
        return _from_json(path, text)
    numbers = text.replace(",", " ").split()
    if numbers and all(number.lstrip("-").isdigit() for number in numbers):
        return [int(number) for number in numbers]
    if raw and len(raw) % WORD_BYTES == 0:
        return list(struct.unpack(f"<{len(raw) // WORD_BYTES}q", raw))
    raise InputError(
        f"tiling file {path} holds {len(raw)} B that are neither JSON, nor numbers in text, nor whole int64 words"
    )


def _from_json(path: Path, text: str) -> dict[str, int | str] | list[int]:
    try:
        found = json.loads(text)
    except json.JSONDecodeError as error:
        raise InputError(f"tiling file {path} is no JSON: {error}") from None
    for name in ("best", "tiling", "data"):  # as `tune`, `run` and `tiling` write it
        if isinstance(found, dict) and isinstance(found.get(name), dict):
            blocks = {"block_dim": found["block_dim"]} if name == "data" and "block_dim" in found else {}
            found = blocks | found[name]
    if isinstance(found, list) and found and all(isinstance(word, int) for word in found):
        return found
    if isinstance(found, dict) and found and all(isinstance(value, int | str) for value in found.values()):
        return found
    raise InputError(f"tiling file {path} has neither fields of a tiling nor a list of int64 words")
