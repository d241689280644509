"""Medium calls of every operator: some hundred tiles a core, half a second to simulate in full."""

from __future__ import annotations

from typing import Any

HALF, BRAIN, SINGLE = "float16", "bfloat16", "float32"


def call(op: str, soc: str, attrs: dict[str, Any], **inputs: Any) -> tuple[str, str, dict[str, Any], dict[str, Any]]:
    return op, soc, inputs, attrs


MEDIUM = {
    "split S": call(
        "inplace_partial_rotary_mul",
        "Ascend910B3",
        {"partial_slice": (0, 128)},
        x=((1, 3200, 16, 128), HALF),
        cos=((1, 3200, 1, 128), HALF),
        sin=((1, 3200, 1, 128), HALF),
    ),
    "split BSN": call(
        "inplace_partial_rotary_mul",
        "Ascend910B3",
        {"partial_slice": (0, 512)},
        x=((1, 400, 64, 512), HALF),
        cos=((1, 400, 1, 512), HALF),
        sin=((1, 400, 1, 512), HALF),
    ),
    "fast": call(
        "inplace_partial_rotary_mul",
        "Ascend910B3",
        {"partial_slice": (0, 64)},
        x=((12000, 1, 16, 128), HALF),
        cos=((12000, 1, 1, 64), HALF),
        sin=((12000, 1, 1, 64), HALF),
    ),
    "A": call(
        "inplace_partial_rotary_mul",
        "ascend950",
        {"partial_slice": (0, 128)},
        x=((2, 4096, 8, 128), SINGLE),
        cos=((2, 4096, 8, 128), SINGLE),
        sin=((2, 4096, 8, 128), SINGLE),
    ),
    "grad AB": call(
        "inplace_partial_rotary_mul_grad",
        "ascend950",
        {"partial_slice": (0, 128)},
        dy=((2, 4096, 32, 128), HALF),
        cos=((2, 4096, 1, 128), HALF),
        sin=((2, 4096, 1, 128), HALF),
    ),
    "half": call(
        "rotary_position_embedding",
        "Ascend910B3",
        {"mode": 0},
        x=((8, 24, 1024, 128), HALF),
        cos=((1, 1, 1024, 128), HALF),
        sin=((1, 1, 1024, 128), HALF),
    ),
    "interleave": call(
        "rotary_position_embedding",
        "Ascend910B3",
        {"mode": 1},
        x=((2, 1024, 32, 128), HALF),
        cos=((1, 1024, 1, 128), HALF),
        sin=((1, 1024, 1, 128), HALF),
    ),
    "half grad": call(
        "rotary_position_embedding_grad",
        "Ascend910B3",
        {"mode": 0},
        dy=((8, 16, 600, 128), HALF),
        cos=((1, 1, 600, 128), HALF),
        sin=((1, 1, 600, 128), HALF),
        x=((8, 16, 600, 128), HALF),
    ),
    "interleave grad": call(
        "rotary_position_embedding_grad",
        "Ascend910B3",
        {"mode": 1},
        dy=((2, 1024, 16, 128), HALF),
        cos=((1, 1024, 1, 128), HALF),
        sin=((1, 1024, 1, 128), HALF),
    ),
    "pieces": call(
        "apply_rotary_pos_emb",
        "Ascend910B3",
        {"layout": 1},
        query=((2, 4096, 16, 128), BRAIN),
        key=((2, 4096, 2, 128), BRAIN),
        cos=((2, 4096, 1, 128), BRAIN),
        sin=((2, 4096, 1, 128), BRAIN),
    ),
    "atb": call(
        "atb_rope",
        "Ascend910B3",
        {"rotaryCoeff": 2, "cosFormat": 0},
        q=((4000, 1024), HALF),
        k=((4000, 128), HALF),
        cos=((4000, 128), HALF),
        sin=((4000, 128), HALF),
        seqlen=((1,), "int32"),
    ),
    "head per core": call(
        "rope_grad",
        "Ascend910B3",
        {"qSeqLen": (3000, 2000)},
        q_embedded_grad=((5000, 1024), HALF),
        k_embedded_grad=((5000, 1024), HALF),
        cos=((3000, 128), HALF),
        sin=((3000, 128), HALF),
    ),
}
