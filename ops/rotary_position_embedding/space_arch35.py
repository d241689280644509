"""The tilings that the 950's kernels of rotary_position_embedding take."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from ascend_sim.host.tiling import TilingContext

from ..shared.space_arch35 import Lines, Templates, sorted_words, upper_case
from .checks_arch35 import check
from .struct_arch35 import STRUCT, STRUCT_AB
from .tiling_arch35 import fields_of, in_ab, same_in_all, tiling, tiling_of


def lines(context: TilingContext) -> Lines:
    call = check(context)
    row = call.rows().nbytes
    return Lines(call.dims, row, row, lambda plan, _: fields_of(call, plan), partial(tiling_of, context, call))


def fields(words: Sequence[int], context: TilingContext) -> dict[str, int]:
    call = check(context)
    return sorted_words(words, STRUCT, STRUCT_AB, same_in_all(call) | in_ab(call))


SPACE = Templates(tiling, lines, upper_case, fields).space()
