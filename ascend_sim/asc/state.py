"""Registers of a vector core that decide what an instruction does: mask mode and mask, atomic, scales, saturation.

Equal states are one object, so a state hashes by identity and is cheap in a recorder key. Setters replace
`RECORDER.state`; nobody mutates a state. Every block starts in `DEFAULT_STATE`. The compare mask holds computed data
and changes values, never the shape of an instruction: it is `RECORDER.cmp_mask`.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any

from ascend_sim.isa.enums import MaskMode

FULL_WORD = (1 << 64) - 1
FULL_MASK = (FULL_WORD, FULL_WORD)


@dataclass(frozen=True, slots=True, eq=False)
class CoreState:
    """`mask` is (low, high): bits of a repeat in Normal mode; in Counter mode `low` counts elements.

    `atomic` names what UB->GM copies do ("add:float32"), None for a plain store. `half_saturates` and
    `cast_saturates` are the two saturation flags of soc_specs 2.9: half results INF/NAN by default, casts to integers
    clamp by default. `loops` are the loop registers of copies (950), `(direction, loops of a Transfer)`
    each. `other` is room for registers of single instructions (pad value and the like), as sorted pairs.
    """

    mask_mode: MaskMode = MaskMode.NORMAL
    mask: tuple[int, int] = FULL_MASK
    atomic: str | None = None
    deq_scale: float = 1.0
    half_saturates: bool = False
    cast_saturates: bool = True
    loops: tuple[tuple[str, tuple[tuple[int, int, int], ...]], ...] = ()
    other: tuple[tuple[str, Any], ...] = field(default=())

    def replace(self, **changes: Any) -> CoreState:
        """The one state that differs from this one by `changes`."""
        values = tuple(changes.get(name, getattr(self, name)) for name in _FIELDS)
        key = _exact(values)
        found = _KNOWN.get(key)
        if found is None:
            found = _KNOWN[key] = CoreState(*values)
        return found

    def register(self, name: str, default: Any = None) -> Any:
        """A register kept in `other`."""
        return dict(self.other).get(name, default)

    def with_register(self, name: str, value: Any) -> CoreState:
        return self.replace(other=tuple(sorted({**dict(self.other), name: value}.items())))


def _exact(value: Any) -> Any:
    """Register contents as a dictionary key: floats by their text, as 0.0 equals -0.0 and NaN does not equal itself."""
    if isinstance(value, tuple):
        return tuple(map(_exact, value))
    return repr(value) if isinstance(value, float) else value


_FIELDS = tuple(item.name for item in fields(CoreState))
_KNOWN: dict[tuple[Any, ...], CoreState] = {}
DEFAULT_STATE = CoreState().replace()
