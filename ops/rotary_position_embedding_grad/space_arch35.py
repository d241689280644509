"""The tilings that the 950's kernels of rotary_position_embedding_grad take.

With x a launch has three phases. dx is cut as in the forward operator. The pass that rotates x has fields of its own:
lines of a core and of a step, in the unified buffer that dx has left. The sums have none: the block dim cuts them.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from ascend_sim.host.space import step_sizes, words_as_fields
from ascend_sim.host.tiling import Tiling, TilingContext

from ..rotary_position_embedding.checks_arch35 import RopeCall
from ..shared.cuts_arch35 import TEMPLATES
from ..shared.rotations import INTERLEAVE_HALF
from ..shared.space_arch35 import Lines, Templates
from .struct_arch35 import ROTARY_X_PARAMS, WORDS, params_of
from .tiling_arch35 import DOUBLE_BUFFER, check, fields_of, tiling, tiling_of

STEP = f"{ROTARY_X_PARAMS}.ubFactorN"
CORES = f"{ROTARY_X_PARAMS}.usedCoreNum"
STEP_SIZES = 6
"""Of the pass that rotates x, beside the host's own dx."""


def lines(context: TilingContext) -> Lines | None:
    call = check(context)
    if context.inputs["dy"].size == 0:
        return None
    row = call.rows().nbytes
    # where cos has a row for every line there is nothing to sum, and only template A multiplies instead
    only = ("A",) if "x" in context.inputs and context.shape("cos") == context.shape("dy") else TEMPLATES
    return Lines(call.dims, row, row, partial(fields_of, context, call), partial(tiling_of, context, call), only)


def name(template: str, field: str) -> str:
    return f"{params_of(template)}.{field}"


def fields(words: Sequence[int], _: TilingContext) -> dict[str, int]:
    return words_as_fields(words, WORDS)


# --- the pass that rotates x -----------------------------------------------------------------------------------------


def step_bytes(call: RopeCall, template: str) -> int:
    """Unified buffer that a line of a step takes: x and rot(x), in mode interleave-half x as y has it as well.

    Template A's products take lines of three tensors, which are not padded.
    """
    queues = 3 if call.mode == INTERLEAVE_HALF else 2
    products = 3 * call.dim * call.itemsize if template == "A" else 0
    return DOUBLE_BUFFER * max(queues * call.rows().nbytes, products)


def steps(context: TilingContext, made: Tiling, every: bool) -> list[dict[str, int]]:
    """Other sizes of a step: the largest that fits, which the host code does not choose in all modes, or several."""
    if "x" not in context.inputs or context.inputs["dy"].size == 0:
        return []
    share = int(made.data[f"{ROTARY_X_PARAMS}.blockFactorN"])
    most = context.ub_bytes // step_bytes(check(context), made.path)
    return [{STEP: size} for size in step_sizes(share, most, STEP_SIZES)[: STEP_SIZES if every else 1]]


def choices(made: Tiling) -> dict[str, int | str]:
    return {"lines per loop of rot(x)": made.data[STEP]} if made.data["dCosFlag"] else {}


def problems(made: Tiling, context: TilingContext) -> list[str]:
    """With x: of its rotation, and of the barrier behind it."""
    if "x" not in context.inputs:
        return []
    step, cores = int(made.data[STEP]), int(made.data[CORES])
    if step < 1:
        return [f"{STEP} is {step}, the pass that rotates x needs at least 1"]
    found = []
    needed = step * step_bytes(check(context), made.path)
    if needed > context.ub_bytes:
        found.append(
            f"with {STEP} {step} the pass that rotates x takes {needed:,} B of unified buffer, {context.ub_bytes:,} B "
            "are there"
        )
    if cores > made.block_dim:
        found.append(f"x is rotated by {cores} blocks, the block dim is {made.block_dim}")
    if made.block_dim > context.cores:
        found.append(
            f"{made.block_dim} blocks wait for each other, and the chip has {context.cores} vector cores to run them on"
        )
    return found


SPACE = Templates(tiling, lines, name, fields, others=steps, more_choices=choices, more_problems=problems).space()
