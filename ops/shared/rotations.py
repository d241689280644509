"""The four rotary modes as index lists: which elements of a row form pairs, and where each of a pair comes out.

With (i1, i2) the elements of a pair in the input and (o1, o2) their places in the output, cosines and sines are taken
at the output's places:

    out[o1] = x[i1] * cos[o1] - x[i2] * sin[o1]
    out[o2] = x[i2] * cos[o2] + x[i1] * sin[o2]
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Indexes = npt.NDArray[np.int64]
Array = npt.NDArray[Any]

HALF, INTERLEAVE, QUARTER, INTERLEAVE_HALF = 0, 1, 2, 3
MODE_NAMES = {HALF: "half", INTERLEAVE: "interleave", QUARTER: "quarter", INTERLEAVE_HALF: "interleave-half"}


@dataclass(frozen=True, slots=True)
class Pairs:
    """Places of the pairs' first and second elements, in the input and in the output."""

    in1: Indexes
    in2: Indexes
    out1: Indexes
    out2: Indexes

    def partner(self, x: Array) -> Array:
        """rot(x) over the last axis, as the output has it: -x[i2] at o1, x[i1] at o2."""
        turned = np.empty_like(x)
        turned[..., self.out1] = -x[..., self.in2]
        turned[..., self.out2] = x[..., self.in1]
        return turned

    def placed(self, x: Array) -> Array:
        """x itself as the output has it: x[i1] at o1, x[i2] at o2."""
        moved = np.empty_like(x)
        moved[..., self.out1] = x[..., self.in1]
        moved[..., self.out2] = x[..., self.in2]
        return moved


def pairs(mode: int, length: int) -> Pairs:
    """The pairs of a row of `length` elements: a multiple of 2, of 4 in mode quarter."""
    every, half, quarter = np.arange(length), length // 2, length // 4
    halves = every[:half], every[half:]
    evens_and_odds = every[0::2], every[1::2]
    match mode:
        case 0:  # i with i + half
            return Pairs(*halves, *halves)
        case 1:  # 2k with 2k + 1
            return Pairs(*evens_and_odds, *evens_and_odds)
        case 2:  # within each half, i with i + quarter
            first = np.concatenate((every[:quarter], every[half : half + quarter]))
            return Pairs(first, first + quarter, first, first + quarter)
        case 3:  # read as interleave, written as half
            return Pairs(*evens_and_odds, *halves)
    raise ValueError(f"mode is {mode}; there are {MODE_NAMES}")
