"""The operator's tiling data and key on the 950, and how an answer is put together from the fields.

108 words: 66 of CANN's reduce library, one struct for all templates but AB, one for AB, one for the pass that rotates
x, one word of two 32-bit flags and the elements of cos. The key packs what the reduce library asks for, the template
and a flag (see ops/shared/reduce_key.py). The library is asked in every call, whether its sums are wanted or not.
"""

from __future__ import annotations

from collections.abc import Mapping

from ascend_sim.host.space import Word
from ascend_sim.host.tiling import CoreShare, Tiling, TilingContext, UbBuffer

from ..shared import reduce_key as reduce

# Field order of ops-transformer, rotary_position_embedding_grad_tiling_data.h, 2026-08; all int64 but the two flags.
PARAMS = (
    *("b", "s", "d", "n", "blockNumB", "blockFactorB", "blockNumS", "blockFactorS", "ubFactorS", "ubFactorB"),
    *("ubLoopNumN", "ubFactorN", "ubTailFactorN", "usedCoreNum", "rotaryMode"),
)
PARAMS_AB = (
    *("b", "s", "d", "n", "dAlign", "dSplitCoef", "blockNumBS", "blockFactorBS", "blockTailBS"),
    *("blockNumN", "blockFactorN", "blockTailN", "ubFactorBS", "ubFactorN", "usedCoreNum", "rotaryMode"),
)
ROTARY_X = ("b", "s", "d", "n", "usedCoreNum", "blockFactorN", "blockTailFactorN", "ubFactorN", "rotaryMode")
TEMPLATES = {"ABA": 201, "BA": 202, "BAB": 203, "AB": 204, "A": 205, "B": 206}


PARAMS_NAME, PARAMS_AB_NAME, ROTARY_X_PARAMS = "ropeGradParams", "ropeGradABParams", "rotaryXParams"
WORDS: tuple[Word, ...] = (
    *(None,) * reduce.REDUCE_WORDS,
    *(f"{PARAMS_NAME}.{name}" for name in PARAMS),
    *(f"{PARAMS_AB_NAME}.{name}" for name in PARAMS_AB),
    *(f"{ROTARY_X_PARAMS}.{name}" for name in ROTARY_X),
    ("dCosFlag", "isEmptyDy"),
    "cosShapeSize",
)
"""What the words hold: nothing here looks at those of the reduce library, and the two flags have 32 bits each."""
NAMES = tuple(name for word in WORDS if word for name in (word if isinstance(word, tuple) else (word,)))


def params_of(template: str) -> str:
    """The struct of a template."""
    return PARAMS_AB_NAME if template == "AB" else PARAMS_NAME


def answer(
    context: TilingContext,
    *,
    template: str,
    meaning: str,
    reduce_key: int,
    fields: Mapping[str, int],
    block_dim: int,
    workspace_bytes: int,
    shares: tuple[CoreShare, ...],
    buffers: tuple[UbBuffer, ...],
) -> Tiling:
    """A tiling whose structs hold `fields`, 0 where they say nothing."""
    values = {name: fields.get(name, 0) for name in NAMES}
    data: dict[str, int | str] = {**values, "template": TEMPLATES[template], "reduceKey": reduce_key, "path": template}
    return Tiling(
        op=context.op,
        soc=context.soc,
        variant=context.variant,
        key=reduce.pack(reduce_key, TEMPLATES[template], min(TEMPLATES.values()), values["dCosFlag"]),
        meaning=meaning,
        block_dim=block_dim,
        workspace_bytes=workspace_bytes,
        data=data,
        words=tuple(_word(word, values) for word in WORDS),
        ub_bytes=context.ub_bytes,
        shares=shares,
        buffers=buffers,
        notes=(reduce.NOTE,),
    )


def _word(word: Word, values: Mapping[str, int]) -> int | None:
    if word is None:
        return None
    if isinstance(word, str):
        return values[word]
    return sum(values[name] << 32 * place for place, name in enumerate(word))
