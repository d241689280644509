"""The tilings that the kernels of inplace_partial_rotary_mul_grad take."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from ascend_sim.host.space import words_as_fields
from ascend_sim.host.tiling import TilingContext

from ..shared.space_arch35 import Lines, Templates, lower_case, sorted_words
from .checks import Slice, check
from .struct import STRUCT, STRUCT_AB
from .tiling import fields_of, in_ab, same_in_all, tiling, tiling_of


def lines(context: TilingContext) -> Lines | None:
    call = check(context)
    if isinstance(call, Slice):
        return None
    make = partial(tiling_of, context, call)
    return Lines(call.dims, call.dy_row, call.cos_row, lambda plan, _: fields_of(call, plan), make)


def fields(words: Sequence[int], context: TilingContext) -> dict[str, int]:
    call = check(context)
    if isinstance(call, Slice):
        return words_as_fields(words, STRUCT)
    return sorted_words(words, STRUCT, STRUCT_AB, same_in_all(call) | in_ab(call))


SPACE = Templates(tiling, lines, lower_case, fields).space()
