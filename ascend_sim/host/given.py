"""Tilings from elsewhere: what a file, a dict or a list of words says, made into a tiling of a call and judged.

A file holds JSON of `tune`, `tiling` or `run`, fields alone, or raw words as a board dumps them: a JSON list, numbers
in text, or little-endian bytes.
"""

from __future__ import annotations

import json
import os
import reprlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ascend_sim.errors import InputError
from ascend_sim.host.operator import Operator
from ascend_sim.host.space import Space
from ascend_sim.host.tiling import Tiling, TilingContext

Fields = Mapping[str, int | str]

INT64 = range(-(1 << 63), 1 << 63)
BUFFERS = "bufferNum"
"""May be told although it is not in the tiling struct; a kernel's own number is left out of the fields."""
TOLD = ("op", "soc", "key", "block_dim")
MOST_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class Given:
    """A tiling as it was brought: `fields` by name, else raw `words`. `source` is what errors call it; `told`: what its
    JSON says beside the fields of the struct ("key", "block_dim", "op", "soc")."""

    source: str
    fields: Fields | None = None
    words: Sequence[int] = ()
    told: Mapping[str, Any] = field(default_factory=dict)


Source = Tiling | Mapping[str, Any] | Sequence[int | None] | str | os.PathLike[str]


def given_tiling(
    operator: Operator, context: TilingContext, own: Tiling, source: Source
) -> tuple[Tiling, tuple[str, ...]]:
    """The tiling that `source` describes, and everything for which it is not legal for this call.

    `own` is the operator's choice. Raises `InputError` where it describes none.
    """
    space = operator.space_on(context.soc)
    if isinstance(source, Tiling):
        _check_call(_name_of(source), {"op": source.op, "soc": source.soc}, context)
        return source, tuple(space.faults(source, context))
    given = read_given(source, space.word_bytes)
    _check_call(given.source, given.told, context)
    tiling = _rebuilt(space, context, own, given)
    return tiling, (*_contradictions(given, tiling), *space.faults(tiling, context))


def _check_call(source: str, told: Mapping[str, Any], context: TilingContext) -> None:
    for name, value in (("op", context.op), ("soc", context.soc)):
        if told.get(name, value) != value:
            raise InputError(f"{source} is for {name} {told[name]}, the call for {value}")


def legal_tiling(operator: Operator, context: TilingContext, own: Tiling, source: Source) -> Tiling:
    """`given_tiling`, of which only a legal one will do."""
    tiling, faults = given_tiling(operator, context, own, source)
    if faults:
        raise InputError(f"{_name_of(source)} is not legal for this call: {'; '.join(faults)}")
    return tiling


def _rebuilt(space: Space, context: TilingContext, own: Tiling, given: Given) -> Tiling:
    fields = given.fields
    if fields is None:
        if not own.words:
            raise InputError(f"{given.source} holds raw words, {context.op} has no tiling struct: give fields by name")
        fields = space.fields(given.words, context)
    for name, value in fields.items():
        known = own.data.get(name)
        if isinstance(known, int) and not isinstance(value, int):
            raise InputError(f"{given.source}: {name} is {value!r}, it must be an integer")
        if isinstance(value, int) and value < 0 and not (isinstance(known, int) and known < 0):
            raise InputError(f"{given.source}: {name} is {value}, it must not be negative")
    blocks = {"block_dim": given.told["block_dim"]} if "block_dim" in given.told else {}
    try:
        tiling = space.rebuild(context, {**blocks, **fields})
    except KeyError as error:
        raise InputError(f"{given.source} has no field {error}") from None
    unknown = [name for name in fields if name not in {*own.data, *tiling.data, BUFFERS}]
    if unknown:
        raise InputError(f"{given.source} has {', '.join(unknown)}; the tiling's fields are {', '.join(tiling.data)}")
    return tiling


def _contradictions(given: Given, tiling: Tiling) -> Iterator[str]:
    """What is told and does not follow from the fields that kernels read."""
    for name, value in (given.fields or {}).items():
        if tiling.data.get(name, value) != value:
            yield f"{name} is {value}, with the other fields it has to be {tiling.data[name]}"
    for name, value in (("block_dim", tiling.block_dim), ("key", tiling.key)):
        if given.told.get(name, value) != value:
            yield f"{name} is {given.told[name]}, the fields are those of {name} {value}"


# --- reading ---------------------------------------------------------------------------------------------------------


def read_given(source: Source, word_bytes: Sequence[int]) -> Given:
    """What a file, a dict or a list holds; `word_bytes`: the sizes of raw words in bytes, the last one for all that
    follow."""
    if isinstance(source, str | os.PathLike):
        return _from_file(Path(source), word_bytes)
    return _from_json(_name_of(source), source)


def _name_of(source: Source) -> str:
    """What errors call it."""
    return f"tiling file {Path(source)}" if isinstance(source, str | os.PathLike) else "the tiling"


def _from_file(path: Path, word_bytes: Sequence[int]) -> Given:
    name = _name_of(path)
    try:
        with path.open("rb") as file:
            raw = file.read(MOST_BYTES + 1)
    except OSError as error:
        raise InputError(f"{name} cannot be read: {error.strerror}") from None
    if not raw or len(raw) > MOST_BYTES:
        raise InputError(f"{name} is empty" if not raw else f"{name} has more than {MOST_BYTES:,} B")
    text = _text(raw)
    if text is None:
        return Given(name, words=_from_bytes(name, raw, word_bytes))
    try:
        if text[:1] in ("{", "["):
            return _from_json(name, json.loads(text))
        return _from_json(name, [_number(text) for text in text.replace(",", " ").split()])
    except json.JSONDecodeError as error:
        raise InputError(f"{name} is no JSON: {error}") from None
    except (ValueError, RecursionError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{name} holds text that is neither JSON nor integers") from None


def _text(raw: bytes) -> str | None:
    """None for a dump of words, of which some bytes are always 0."""
    try:
        return None if b"\0" in raw else raw.decode("utf-8-sig").strip()
    except UnicodeDecodeError:
        return None


def _from_bytes(name: str, raw: bytes, word_bytes: Sequence[int]) -> list[int]:
    words: list[int] = []
    at = 0
    while at < len(raw):
        size = word_bytes[min(len(words), len(word_bytes) - 1)]
        if at + size > len(raw):
            raise InputError(f"{name} holds {len(raw)} B, which is no whole number of words: the last has {size} B")
        words.append(int.from_bytes(raw[at : at + size], "little", signed=True))
        at += size
    return words


def _number(text: str) -> int:
    return int(text, 16 if text.lower().startswith("0x") else 10)


def _from_json(source: str, found: Any) -> Given:
    told: dict[str, Any] = {}
    for name in ("best", "tiling", "data"):  # as `tune`, `run` and `tiling` write it
        if isinstance(found, Mapping) and isinstance(found.get(name), Mapping):
            told = {key: found[key] for key in TOLD if key in found}
            found = found[name]
    found = found.tolist() if hasattr(found, "tolist") else found
    if isinstance(found, Mapping):
        told |= {name: found[name] for name in TOLD if name in found}
        fields = {name: value for name, value in found.items() if name not in TOLD}
        _check(source, fields, int | str)
        _check(source, {name: told[name] for name in ("key", "block_dim") if name in told}, int)
        return Given(source, fields=fields, told=told)
    if isinstance(found, Sequence) and not isinstance(found, str):
        words = [0 if word is None else word for word in found]  # null: not modelled
        _check(source, {f"word {place}": word for place, word in enumerate(words)}, int)
        return Given(source, words=words)
    raise InputError(f"{source} has neither fields of a tiling nor a list of integer words")


def _check(source: str, values: Mapping[Any, Any], allowed: Any) -> None:
    for name, value in values.items():
        if isinstance(value, bool) or not isinstance(value, allowed):
            raise InputError(f"{source}: {name} is {reprlib.repr(value)}, it must be an integer")
        if isinstance(value, int) and value not in INT64:
            raise InputError(f"{source}: {name} is {_short(value)}, which no int64 holds")


def _short(value: int) -> str:
    text = str(value) if abs(value) < 10**40 else f"{'-' if value < 0 else ''}0x{abs(value):x}"
    return text if len(text) <= 40 else f"{text[:20]}... ({len(text)} digits)"
