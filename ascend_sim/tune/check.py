"""One tiling that somebody brings, checked against a call: is it legal, how long does it take, is it the own choice."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from ascend_sim.accuracy.expected import Expected, expected_error, operator_kind
from ascend_sim.errors import KernelError
from ascend_sim.host.given import Source, given_tiling
from ascend_sim.host.space import balance
from ascend_sim.host.tiling import Tiling
from ascend_sim.sampling.calls import TimedCall
from ascend_sim.tune.verdict import Verdict, tie_text, verdict_of

SIMULATORS = ("path",)
"""Entries of a tiling's data that no tiling struct has."""


@dataclass(frozen=True, slots=True)
class Checked:
    """`faults`: why it is not legal, if it is not; then there are no times. `differences`: key, block dim and fields in
    which it is not the operator's own choice, with its value and the own one. `agrees`: it is that choice, and nothing
    that is told of it says otherwise. `cores`: the chip's. `error`, `own_error`: of the two times, relative, because
    excerpts were simulated; `expected`: the model's."""

    tiling: Tiling
    own: Tiling
    faults: tuple[str, ...]
    cores: int
    balance: float
    differences: Mapping[str, tuple[Any, Any]]
    agrees: bool
    duration_us: float | None = None
    own_us: float | None = None
    error: float = 0.0
    own_error: float = 0.0
    expected: Expected | None = None

    @property
    def ok(self) -> bool:
        return not self.faults

    @property
    def verdict(self) -> Verdict | None:
        """As that of `tune`; None where nothing was timed."""
        if self.duration_us is None or self.own_us is None or self.expected is None:
            return None
        if self.agrees:
            return "own"
        return verdict_of(self.duration_us / self.own_us - 1, self.expected, self.error, self.own_error)

    @property
    def tie_text(self) -> str:
        return "" if self.expected is None else tie_text(self.expected)

    def to_json(self) -> dict[str, Any]:
        return {
            "ok": self.ok,
            "faults": list(self.faults),
            "ub": {"used_bytes": self.tiling.ub_used_bytes, "capacity_bytes": self.tiling.ub_bytes},
            "block_dim": self.tiling.block_dim,
            "cores": self.cores,
            "balance": round(self.balance, 4),
            "agrees_with_own": self.agrees,
            "differences": {name: {"given": a, "own": b} for name, (a, b) in self.differences.items()},
            "duration_us": None if self.duration_us is None else round(self.duration_us, 4),
            "own_us": None if self.own_us is None else round(self.own_us, 4),
            "verdict": self.verdict,
            "sampling_error": round(self.error, 5),
            "own_sampling_error": round(self.own_error, 5),
            "expected_error": None if self.expected is None else self.expected.to_json(),
            "tiling": self.tiling.to_json(),
        }


def check_tiling(call: TimedCall, source: Source, *, exact: bool = False) -> Checked:
    """Check the tiling data in `source`, and time it beside the operator's own if it is legal."""
    own, context = call.own, call.context
    tiling, faults = given_tiling(call.operator, context, own, source)
    differences = _differences(tiling, own)
    space = call.operator.space_on(call.chip.name)
    agrees = not differences and set(faults) <= set(space.faults(own, context))
    illegal = Checked(tiling, own, faults, context.cores, 0.0, differences, agrees)
    if faults:
        return illegal
    even = balance(space.coverage(tiling, context), min(tiling.block_dim, context.cores))
    theirs = call.time(own, exact=exact)
    try:
        mine = call.time(tiling, exact=exact)
    except KernelError as refused:  # more blocks than cores where blocks wait for each other
        return replace(illegal, faults=(str(refused),))
    kind = operator_kind(call.operator, theirs.whole.launch.program)
    return replace(
        illegal,
        balance=even,
        duration_us=mine.duration_us,
        own_us=theirs.duration_us,
        error=mine.error,
        own_error=theirs.error,
        expected=expected_error(call.chip.name, kind, theirs.duration_us),
    )


def _differences(tiling: Tiling, own: Tiling) -> dict[str, tuple[Any, Any]]:
    found: dict[str, tuple[Any, Any]] = {"key": (tiling.key, own.key), "block dim": (tiling.block_dim, own.block_dim)}
    names = dict.fromkeys(name for name in (*own.data, *tiling.data) if name not in SIMULATORS)
    found |= {name: (tiling.data.get(name), own.data.get(name)) for name in names}
    return {name: pair for name, pair in found.items() if pair[0] != pair[1]}
