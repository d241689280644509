"""One call for every kernel, with parts of whole blocks and with neighbours, and what each costs."""

from __future__ import annotations

import ascend_sim

CALLS = {
    "fp16, few tokens": (32, "float16", "float16"),
    "fp16, many tokens": (256, "float16", "float16"),
    "fp32 tables": (256, "float16", "float32"),
    "bfloat16, few tokens": (32, "bfloat16", "bfloat16"),
    "bfloat16, many tokens": (256, "bfloat16", "bfloat16"),
}

for what, (tokens, dtype, table) in CALLS.items():
    for coeff in (2, 128):
        result = ascend_sim.run(
            "atb_rope",
            ((tokens, 1024), dtype),
            ((tokens, 128), dtype),
            ((tokens, 128), table),
            ((tokens, 128), table),
            ((1,), "int32"),
            rotaryCoeff=coeff,
            values=False,
        )
        parts = "halves" if coeff == 2 else "neighbours"
        key, blocks = result.tiling.key, result.program.block_dim
        print(f"{what:22} {parts:10} id {key} {blocks:2} blocks {result.duration_us:7.2f} us")
