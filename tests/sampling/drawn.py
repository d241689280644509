"""Calls and tilings drawn at random, to hold what their excerpts say against the launch in full.

python -m tests.sampling.drawn [FIRST END]   (numbers of the calls, a few seconds each)
"""

from __future__ import annotations

import random
import statistics
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ascend_sim.host.registry import operator_named
from ascend_sim.host.tiling import Tiling
from ascend_sim.sampling import estimate as estimates
from ascend_sim.sampling.calls import TimedCall
from ascend_sim.soc import load
from tests.sampling.calls import MEDIUM

LEAST, MOST = 100_000, 400_000
"""Instructions of a launch that is small enough to simulate, and large enough to leave most of it out."""
FITS = {"l2.bytes": "8 GiB"}
CANDIDATES = 60


@dataclass(frozen=True, slots=True)
class Drawn:
    """One call with a tiling; `own`: that of the operator's host code."""

    name: str
    call: TimedCall
    tiling: Tiling
    own: bool


@dataclass(frozen=True, slots=True)
class Held:
    """An excerpt held against the launch in full: `off` and `said` are relative, on the duration."""

    recorded: int
    instructions: int
    off: float
    said: float

    @property
    def holds(self) -> bool:
        return abs(self.off) <= self.said


def drawn(number: int) -> Drawn:
    """The call of that number: a medium example, made several times longer, with its own tiling or a declared one, and
    with room in L2 (even numbers) or without (odd ones)."""
    draw = random.Random(number)
    while True:
        name = draw.choice(sorted(MEDIUM))
        op, soc, inputs, attrs = MEDIUM[name]
        times = draw.uniform(1.0, 12.0)
        inputs, attrs = _longer(inputs, times), _longer_attrs(attrs, times)
        operator = operator_named(op)
        one = TimedCall(operator, inputs, attrs, load(soc, FITS))
        if number % 2:
            mib = max(2, round(one.tensor_bytes / draw.uniform(1.3, 8.0) / 2**20))
            one = TimedCall(operator, inputs, attrs, load(soc, {"l2.bytes": f"{mib} MiB"}))
        tilings = list(operator.space_on(one.chip.name).candidates(one.context, CANDIDATES))
        own = draw.random() < 0.4
        tiling = one.own if own else draw.choice(tilings)
        if LEAST <= one.time(tiling, rough=True).whole.instructions <= MOST:
            return Drawn(name, one, tiling, own)


def _longer(inputs: Mapping[str, Any], times: float) -> dict[str, Any]:
    """With the longest axis of the first tensor, but for the last one, so many times longer in all tensors."""
    first, _ = next(iter(inputs.values()))
    axis = max(range(len(first) - 1), key=lambda at: first[at])
    found = {}
    for name, (shape, dtype) in inputs.items():
        sizes = list(shape)
        if len(sizes) > axis and (sizes[axis] == first[axis] or (len(sizes) == len(first) and sizes[axis] > 1)):
            sizes[axis] = int(sizes[axis] * times)
        found[name] = (tuple(sizes), dtype)
    return found


def _longer_attrs(attrs: Mapping[str, Any], times: float) -> dict[str, Any]:
    return {
        name: tuple(int(length * times) for length in value) if name == "qSeqLen" else value
        for name, value in attrs.items()
    }


def held(this: Drawn) -> Held:
    """Its excerpt against all of it."""
    found, exact = this.call.time(this.tiling), this.call.time(this.tiling, exact=True)
    return Held(found.simulated, exact.simulated, found.duration_us / exact.duration_us - 1, found.error)


def row(number: int, this: Drawn, found: Held) -> str:
    what = (
        f"{this.name}, {this.call.chip.name}, {'own' if this.own else 'another'} tiling, {this.tiling.block_dim} blocks"
    )
    return f"| {number} | {what} | {found.instructions:,} | {found.recorded:,} | {found.off:+.2%} | ±{found.said:.2%} |"


def summary(found: list[Held]) -> str:
    off, said = (statistics.median(values) for values in ([abs(one.off) for one in found], [one.said for one in found]))
    return (
        f"what is said holds for {sum(one.holds for one in found)} of {len(found)}; off {off:.2%} in the median, "
        f"{max(abs(one.off) for one in found):.2%} at most; said ±{said:.2%} in the median"
    )


def main(first: int, end: int) -> None:
    estimates.WHOLE_INSTRUCTIONS = estimates.RATHER_WHOLE_INSTRUCTIONS = 0  # no launch is simulated in full instead
    estimates.POOR_WHOLE_INSTRUCTIONS = 0
    print("| number | call | in full | excerpt | off | said |\n|---|---|---|---|---|---|")
    found: dict[bool, list[Held]] = {True: [], False: []}
    for number in range(first, end):
        this = drawn(number)
        found[this.call.fits_l2].append(held(this))
        print(row(number, this, found[this.call.fits_l2][-1]), flush=True)
    for fits, mine in found.items():
        if mine:
            print(f"\n{'In' if fits else 'Not in'} L2: {summary(mine)}.")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:] or (0, 20)))
