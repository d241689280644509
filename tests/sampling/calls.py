"""Medium calls of every operator and template: some dozen to hundred tiles a core, half a second to simulate."""

from __future__ import annotations

from typing import Any

HALF, BRAIN, SINGLE = "float16", "bfloat16", "float32"


def call(op: str, soc: str, attrs: dict[str, Any], **inputs: Any) -> tuple[str, str, dict[str, Any], dict[str, Any]]:
    return op, soc, inputs, attrs


MUL, ROTARY = "inplace_partial_rotary_mul", "rotary_position_embedding"


def both(
    op: str, soc: str, attrs: dict[str, Any], x: tuple[int, ...], table: tuple[int, ...], dtype: str = HALF
) -> tuple[str, str, dict[str, Any], dict[str, Any]]:
    """x, or dy, and both tables."""
    name = "dy" if op.endswith("_grad") else "x"
    return call(op, soc, attrs, **{name: (x, dtype), "cos": (table, dtype), "sin": (table, dtype)})


def mul(soc: str, x: tuple[int, ...], table: tuple[int, ...]) -> tuple[str, str, dict[str, Any], dict[str, Any]]:
    return both(MUL, soc, {"partial_slice": (0, x[-1])}, x, table)


def with_x(x: tuple[int, ...], table: tuple[int, ...]) -> tuple[str, str, dict[str, Any], dict[str, Any]]:
    """All gradients of rotary_position_embedding."""
    op, soc, inputs, attrs = both(f"{ROTARY}_grad", "ascend950", {"mode": 0}, x, table)
    return op, soc, {**inputs, "x": (x, HALF)}, attrs


def lists(
    op: str, query: tuple[int, ...], key: tuple[int, ...], table: tuple[int, ...], layout: int = 1
) -> tuple[str, str, dict[str, Any], dict[str, Any]]:
    """Query and key, and for the gradient their own gradients before them."""
    tables = {"cos": (table, BRAIN), "sin": (table, BRAIN)}
    values = {"query": (query, BRAIN), "key": (key, BRAIN)}
    if op.endswith("_grad"):
        gradients = {"grad_query_embed": (query, BRAIN), "grad_key_embed": (key, BRAIN)}
        return call(op, "ascend950", {"layout": layout}, **gradients, **tables, **values)
    return call(op, "ascend950", {"layout": layout}, **values, **tables)


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
    "uneven samples": call(
        "rope_grad",
        "Ascend910B3",
        {"qSeqLen": (4000, 900, 2100, 3000)},
        q_embedded_grad=((10000, 1024), HALF),
        k_embedded_grad=((10000, 1024), HALF),
        cos=((4000, 128), HALF),
        sin=((4000, 128), HALF),
    ),
    "B": mul("ascend950", x=(8, 4096, 16, 128), table=(1, 1, 1, 128)),
    "AB": mul("ascend950", x=(4, 4096, 16, 128), table=(4, 4096, 1, 128)),
    "BAB": mul("ascend950", x=(8, 1024, 16, 128), table=(1, 1024, 1, 128)),
    "ABA": both(ROTARY, "ascend950", {"mode": 1}, (16, 16, 1024, 128), (16, 1, 1024, 128)),
    "BA": both(ROTARY, "ascend950", {"mode": 0}, (16, 16, 1024, 128), (1, 1, 1024, 128)),
    "quarter": both(ROTARY, "ascend950", {"mode": 2}, (8, 2048, 16, 128), (1, 2048, 1, 128)),
    "interleave half": both(ROTARY, "ascend950", {"mode": 3}, (8, 2048, 16, 128), (8, 2048, 1, 128)),
    "grad A": both(f"{MUL}_grad", "ascend950", {"partial_slice": (0, 128)}, (4, 4096, 8, 128), (4, 4096, 8, 128)),
    "grad B": both(f"{MUL}_grad", "ascend950", {"partial_slice": (0, 128)}, (8, 4096, 16, 128), (1, 1, 1, 128)),
    "grad BAB": both(f"{ROTARY}_grad", "ascend950", {"mode": 0}, (16, 1024, 16, 128), (1, 1024, 1, 128)),
    "grad BA": both(f"{ROTARY}_grad", "ascend950", {"mode": 1}, (16, 16, 1024, 128), (1, 1, 1024, 128)),
    "grad with x A": with_x((16, 512, 16, 128), (16, 512, 16, 128)),
    "grad with x AB": with_x((16, 512, 16, 128), (16, 512, 1, 128)),
    "grad with x BAB": with_x((16, 512, 16, 128), (1, 512, 1, 128)),
    "list AB": lists("apply_rotary_pos_emb", (4, 2048, 16, 128), (4, 2048, 2, 128), (4, 2048, 1, 128)),
    "list BAB": lists("apply_rotary_pos_emb", (8, 1024, 16, 128), (8, 1024, 2, 128), (1, 1024, 1, 128)),
    "list ABA": lists("apply_rotary_pos_emb", (8, 16, 1024, 128), (8, 2, 1024, 128), (8, 1, 1024, 128), layout=3),
    "list grad AB": lists("apply_rotary_pos_emb_grad", (2, 1024, 16, 128), (2, 1024, 2, 128), (2, 1024, 1, 128)),
    "list grad BAB": lists("apply_rotary_pos_emb_grad", (4, 512, 16, 128), (4, 512, 2, 128), (1, 512, 1, 128)),
    "list grad A": lists("apply_rotary_pos_emb_grad", (2, 8192, 1, 128), (2, 8192, 1, 128), (2, 8192, 1, 128)),
    "atb samples": call(
        "atb_rope",
        "Ascend910B3",
        {"rotaryCoeff": 4, "cosFormat": 0},
        q=((1600, 1024), BRAIN),
        k=((1600, 256), BRAIN),
        cos=((1600, 128), BRAIN),
        sin=((1600, 128), BRAIN),
        seqlen=((1,), "int32"),
    ),
    "PyPTO skeleton": both("pypto_rope", "Ascend910B3", {"kernel": 0}, (3072, 16, 128), (3072, 16, 128)),
    "PyPTO m-rope": both("pypto_rope", "Ascend910B3", {"kernel": 2}, (1, 16, 2048, 128), (3, 1, 2048, 128)),
    "PyPTO norm": call(
        "pypto_rope",
        "Ascend910B3",
        {"kernel": 3},
        x=((8192, 4, 128), BRAIN),
        cos=((8192, 128), BRAIN),
        sin=((8192, 128), BRAIN),
        weight=((128,), BRAIN),
    ),
    "PyPTO interleave": both("pypto_rope", "Ascend910B3", {"kernel": 4}, (1, 16, 4096, 128), (1, 1, 4096, 128)),
}
