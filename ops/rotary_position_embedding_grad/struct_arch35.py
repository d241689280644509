"""The operator's tiling data and key on the 950, and how an answer is put together from the fields.

108 words: 66 of CANN's reduce library, one struct for all templates but AB, one for AB, one for the pass that rotates
x, one word of two 32-bit flags and the elements of cos. The key packs what the reduce library asks for, the template
and a flag (see ops/shared/reduce_key.py). The library is asked in every call, whether its sums are wanted or not.
"""

from __future__ import annotations

from collections.abc import Mapping

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


def answer(
    context: TilingContext,
    *,
    template: str,
    meaning: str,
    reduce_key: int,
    fields: Mapping[str, int],
    rotary_x: Mapping[str, int],
    flag: int,
    empty: int,
    workspace_bytes: int,
    shares: tuple[CoreShare, ...],
    buffers: tuple[UbBuffer, ...],
) -> Tiling:
    """A tiling whose template's struct holds `fields`, 0 where they say nothing."""
    is_ab = template == "AB"
    first = {name: 0 if is_ab else fields.get(name, 0) for name in PARAMS}
    second = {name: fields.get(name, 0) if is_ab else 0 for name in PARAMS_AB}
    third = {name: rotary_x[name] for name in ROTARY_X}
    cos_size = context.inputs["cos"].size
    data: dict[str, int | str] = {f"ropeGradParams.{name}": value for name, value in first.items()}
    data |= {f"ropeGradABParams.{name}": value for name, value in second.items()}
    data |= {f"rotaryXParams.{name}": value for name, value in third.items()}
    data |= {"dCosFlag": flag, "isEmptyDy": empty, "cosShapeSize": cos_size}
    data |= {"template": TEMPLATES[template], "reduceKey": reduce_key, "path": template}
    own_words = (*first.values(), *second.values(), *third.values(), flag | empty << 32, cos_size)
    return Tiling(
        op=context.op,
        soc=context.soc,
        variant=context.variant,
        key=reduce.pack(reduce_key, TEMPLATES[template], min(TEMPLATES.values()), flag),
        meaning=meaning,
        block_dim=fields["usedCoreNum"],
        workspace_bytes=workspace_bytes,
        data=data,
        words=((None,) * reduce.REDUCE_WORDS + own_words),
        ub_bytes=context.ub_bytes,
        shares=shares,
        buffers=buffers,
        notes=(reduce.NOTE,),
    )
