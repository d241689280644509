"""The operator's tiling data and key, and how an answer is put together from the fields.

101 words: 66 of CANN's reduce library, one struct for the templates BAB and A, one for AB, and one word of two 32-bit
fields. The key packs what the reduce library asks for, the template and a flag (see ops/shared/reduce_key.py).
"""

from __future__ import annotations

from collections.abc import Mapping

from ascend_sim.host.space import Word
from ascend_sim.host.tiling import CoreShare, Tiling, TilingContext, UbBuffer

from ..shared import reduce_key as reduce

# Field order of ops-transformer, apply_rotary_pos_emb_grad_tiling_data.h, 2026-08; all int64 but dCosFlag.
PARAMS = (
    *("b", "s", "d", "nQ", "nK", "blockNumB", "blockFactorB", "blockNumS", "blockFactorS", "ubFactorS"),
    *("ubLoopNumN", "ubFactorN", "ubTailFactorN", "usedCoreNum", "rotaryMode", "layout", "dCosFlag"),
)
PARAMS_AB = (
    *("b", "s", "d", "nQ", "nK", "dAlign", "dSplitCoef", "blockNumBS", "blockFactorBS", "blockTailBS"),
    *("blockNumN", "blockFactorN", "blockTailN", "ubFactorBS", "ubFactorN", "usedCoreNum", "rotaryMode"),
)
PARAMS_NAME, PARAMS_AB_NAME = "ropeGradParams", "ropeGradABParams"
WORDS: tuple[Word, ...] = (
    *(None,) * reduce.REDUCE_WORDS,
    *(f"{PARAMS_NAME}.{name}" for name in PARAMS),
    *(f"{PARAMS_AB_NAME}.{name}" for name in PARAMS_AB),
    ("dCosFlag", "layout"),
)
"""What the words hold: nothing here looks at those of the reduce library, and the last two fields have 32 bits each."""
NAMES = tuple(name for word in WORDS if word for name in (word if isinstance(word, tuple) else (word,)))
TEMPLATES = {"BAB": 203, "AB": 204, "A": 205}


def answer(
    context: TilingContext,
    *,
    template: str,
    meaning: str,
    reduce_key: int,
    fields: Mapping[str, int],
    flag: int,
    block_dim: int,
    workspace_bytes: int,
    shares: tuple[CoreShare, ...],
    buffers: tuple[UbBuffer, ...],
) -> Tiling:
    """A tiling whose structs hold `fields`, 0 where they say nothing; `flag`: for grad_cos and grad_sin, too."""
    values = {name: fields.get(name, 0) for name in NAMES}
    summed = reduce_key != reduce.EMPTY
    reduce_words: tuple[int | None, ...] = (None if summed else 0,) * reduce.REDUCE_WORDS
    data: dict[str, int | str] = {**values, "template": TEMPLATES[template], "reduceKey": reduce_key}
    of_structs = [values[word] for word in WORDS if isinstance(word, str)]
    return Tiling(
        op=context.op,
        soc=context.soc,
        variant=context.variant,
        key=reduce.pack(reduce_key, TEMPLATES[template], min(TEMPLATES.values()), flag),
        meaning=meaning,
        block_dim=block_dim,
        workspace_bytes=workspace_bytes + (context.library_workspace_bytes if flag and not summed else 0),
        data=data | {"path": template},
        words=(*reduce_words, *of_structs, values["dCosFlag"] | values["layout"] << 32),
        ub_bytes=context.ub_bytes,
        shares=shares,
        buffers=buffers,
        notes=(reduce.NOTE,) if summed else (),
        not_runnable=_overflow(sum(buffer.total for buffer in buffers), context.ub_bytes),
    )


def _overflow(used_bytes: int, ub_bytes: int) -> str:
    """Why the kernel cannot run, or nothing."""
    if used_bytes <= ub_bytes:
        return ""
    return f"its buffers take {used_bytes} B of unified buffer, {ub_bytes} B are there; the host code lets this pass"
