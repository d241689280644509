"""The operator's tiling data and key, and how an answer is put together from the fields.

101 words: 66 of CANN's reduce library, one struct for the templates BAB and A, one for AB, and one word of two 32-bit
fields. The key packs what the reduce library asks for, the template and a flag. What belongs to the library is not
modelled: its words are None where it fills them, and its part of the key is that of the published cases.
"""

from __future__ import annotations

from collections.abc import Mapping

from ascend_sim.host.tiling import SYSTEM_WORKSPACE_BYTES, CoreShare, Tiling, TilingContext, UbBuffer

# Field order of ops-transformer, apply_rotary_pos_emb_grad_tiling_data.h, 2026-08; all int64 but dCosFlag.
REDUCE_WORDS = 66
PARAMS = (
    *("b", "s", "d", "nQ", "nK", "blockNumB", "blockFactorB", "blockNumS", "blockFactorS", "ubFactorS"),
    *("ubLoopNumN", "ubFactorN", "ubTailFactorN", "usedCoreNum", "rotaryMode", "layout", "dCosFlag"),
)
PARAMS_AB = (
    *("b", "s", "d", "nQ", "nK", "dAlign", "dSplitCoef", "blockNumBS", "blockFactorBS", "blockTailBS"),
    *("blockNumN", "blockFactorN", "blockTailN", "ubFactorBS", "ubFactorN", "usedCoreNum", "rotaryMode"),
)
TEMPLATES = {"BAB": 203, "AB": 204, "A": 205}
SPECIFIC = {"BAB": "ropeGradParams", "AB": "ropeGradABParams", "A": "ropeGradParams"}

# Bits of the key: 2 for "contiguous" (always 1), 8 for the pattern of axes (A kept, R reduced), 8 for 10 * the number
# of kept axes that are looped over plus that of reduced ones, 8 for the loops inside; then 8 for the template, 1 flag.
PATTERN_BIT, LOOPS_BIT, TEMPLATE_BIT, FLAG_BIT = 2, 10, 26, 34
REDUCE_EMPTY = 1
REDUCE_ARA = 1 | 20 << PATTERN_BIT | 10 << LOOPS_BIT  # one run of reduced axes
REDUCE_ARARARARA = 1 | 80 << PATTERN_BIT | 40 << LOOPS_BIT  # two runs apart; the library pads the pattern
NOTE = (
    f"words 0 to {REDUCE_WORDS - 1} are those of CANN's reduce library, which is not modelled; so are its part of the "
    "workspace and of the block dim, and its loop counts in the key are those of sums that fit UB"
)


def pack_key(reduce_key: int, template: str, flag: int) -> int:
    """The tiling key."""
    number = TEMPLATES[template] - min(TEMPLATES.values())
    return reduce_key | (number << TEMPLATE_BIT) | (flag << FLAG_BIT)


def answer(
    context: TilingContext,
    *,
    template: str,
    meaning: str,
    reduce_key: int,
    params: Mapping[str, int],
    params_ab: Mapping[str, int],
    flag: int,
    layout: int,
    workspace_bytes: int,
    shares: tuple[CoreShare, ...],
    buffers: tuple[UbBuffer, ...],
) -> Tiling:
    """A tiling whose structs hold `params` and `params_ab`, 0 where they say nothing."""
    first = {name: params.get(name, 0) for name in PARAMS}
    second = {name: params_ab.get(name, 0) for name in PARAMS_AB}
    summed = reduce_key != REDUCE_EMPTY
    reduce_words: tuple[int | None, ...] = (None if summed else 0,) * REDUCE_WORDS
    data: dict[str, int | str] = {f"ropeGradParams.{name}": value for name, value in first.items()}
    data |= {f"ropeGradABParams.{name}": value for name, value in second.items()}
    data |= {"dCosFlag": flag, "layout": layout, "template": TEMPLATES[template], "reduceKey": reduce_key}
    return Tiling(
        op=context.op,
        soc=context.soc,
        variant=context.variant,
        key=pack_key(reduce_key, template, flag),
        meaning=meaning,
        block_dim=(second if template == "AB" else first)["usedCoreNum"],
        workspace_bytes=workspace_bytes + (SYSTEM_WORKSPACE_BYTES if flag and not summed else 0),
        data=data | {"path": template},
        words=(*reduce_words, *first.values(), *second.values(), flag | layout << 32),
        ub_bytes=context.ub_bytes,
        shares=shares,
        buffers=buffers,
        notes=(NOTE,) if summed else (),
        not_runnable=_overflow(sum(buffer.total for buffer in buffers), context.ub_bytes),
    )


def _overflow(used_bytes: int, ub_bytes: int) -> str:
    """Why the kernel cannot run, or nothing."""
    if used_bytes <= ub_bytes:
        return ""
    return f"its buffers take {used_bytes} B of unified buffer, {ub_bytes} B are there; the host code lets this pass"
