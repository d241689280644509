"""The tilings that the 950's kernels of inplace_partial_rotary_mul take."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from ascend_sim.host.space import words_as_fields
from ascend_sim.host.tiling import TilingContext

from ..shared.space_arch35 import Lines, Templates, upper_case
from .checks_arch35 import Slice, check
from .struct import STRUCT
from .tiling_arch35 import fields_of, tiling, tiling_of


def lines(context: TilingContext) -> Lines | None:
    call = check(context)
    if isinstance(call, Slice):
        return None
    make = partial(tiling_of, context, call)
    return Lines(call.dims, call.x_row, call.cos_row, lambda plan, _: fields_of(call, plan), make)


def fields(words: Sequence[int], _: TilingContext) -> dict[str, int]:
    return words_as_fields(words, STRUCT)


SPACE = Templates(tiling, lines, upper_case, fields).space()
