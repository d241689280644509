"""Parameters of the operations, as ATB's users write them (`atb::train`, `atb::infer`)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

from ascend_sim.errors import InputError
from ascend_sim.plurals import counted

RESERVED_BYTES = 8


class Param:
    """Base of the parameter structs. `rsv` are reserved bytes that must be 0; equality does not look at them.

    `FIELDS` names the fields that count, `JSON_KEYS` what they are called in the debug JSON.
    """

    FIELDS: ClassVar[tuple[str, ...]] = ()
    JSON_KEYS: ClassVar[Mapping[str, str]] = {}

    rsv: bytes

    def attrs(self) -> dict[str, Any]:
        """The fields by name, as the operator's attributes."""
        return {name: getattr(self, name) for name in self.FIELDS}

    def to_json(self) -> dict[str, Any]:
        """What ATB's debug log shows."""
        return {
            self.JSON_KEYS.get(name, name): list(value) if isinstance(value, list | tuple) else value
            for name, value in self.attrs().items()
        }

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and isinstance(other, Param) and self.attrs() == other.attrs()

    __hash__ = None  # type: ignore[assignment] # mutable, as the structs are

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in self.attrs().items())})"


class RopeGradParam(Param):
    """`qSeqLen`: rows of every sample, which lie one after the other."""

    FIELDS = ("qSeqLen",)
    JSON_KEYS: ClassVar[Mapping[str, str]] = {"qSeqLen": "c_qSeqLen"}

    def __init__(
        self, qSeqLen: Iterable[int] = (), rsv: Iterable[int] = (), *, q_seq_len: Iterable[int] | None = None
    ) -> None:
        self.qSeqLen = _integers("qSeqLen", qSeqLen if q_seq_len is None else q_seq_len)
        self.rsv = reserved(rsv)

    @property
    def q_seq_len(self) -> list[int]:
        return self.qSeqLen

    @q_seq_len.setter
    def q_seq_len(self, lengths: Iterable[int]) -> None:
        self.qSeqLen = _integers("qSeqLen", lengths)

    def copy(self) -> RopeGradParam:
        return RopeGradParam(self.qSeqLen, self.rsv)


class RopeParam(Param):
    """`rotaryCoeff`: 2, 4 or the head size; `cosFormat`: 0 or 1 (see the operator's page)."""

    FIELDS = ("rotaryCoeff", "cosFormat")

    def __init__(
        self,
        rotaryCoeff: int = 4,
        cosFormat: int = 0,
        rsv: Iterable[int] = (),
        *,
        rotary_coeff: int | None = None,
        cos_format: int | None = None,
    ) -> None:
        self.rotaryCoeff = rotaryCoeff if rotary_coeff is None else rotary_coeff
        self.cosFormat = cosFormat if cos_format is None else cos_format
        self.rsv = reserved(rsv)

    @property
    def rotary_coeff(self) -> int:
        return self.rotaryCoeff

    @property
    def cos_format(self) -> int:
        return self.cosFormat

    def copy(self) -> RopeParam:
        return RopeParam(self.rotaryCoeff, self.cosFormat, self.rsv)


def reserved(given: Iterable[int]) -> bytes:
    """Eight bytes, filled up with 0."""
    try:
        found = bytes(given)
    except (TypeError, ValueError):
        raise InputError(f"rsv is {given!r}; allowed are up to {RESERVED_BYTES} bytes") from None
    if len(found) > RESERVED_BYTES:
        raise InputError(f"rsv has {counted(len(found), 'byte')}; there are {RESERVED_BYTES}")
    return found.ljust(RESERVED_BYTES, b"\0")


def _integers(name: str, given: Iterable[int]) -> list[int]:
    try:
        found = [int(item.__index__()) for item in given]
    except (AttributeError, TypeError):
        raise InputError(f"{name} is {given!r}; it must be a list of integers") from None
    for item in found:
        if not -(1 << 31) <= item < 1 << 31:
            raise InputError(f"{name} has the entry {item}, which does not fit int32")
    return found
