"""Declaration of ApplyRotaryPosEmb (ops-transformer, posembedding)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ascend_sim.host.attributes import Attribute
from ascend_sim.host.operator import Example, Input, Operator, Output, Support
from ascend_sim.host.tensors import Shape, TensorInfo

from .tiling import tiling
from .tiling_arch35 import tiling as tiling_arch35

DTYPES = tuple((dtype,) * 4 for dtype in ("float16", "float32", "bfloat16"))

A2_A3 = Support(
    tiling=tiling,
    dtypes=DTYPES,
    layouts=(
        "layout 1, BSND: query (B, S, Nq, D), key (B, S, Nk, D), cos and sin (B, S, 1, D)",
        "layout 4, TND: query (T, Nq, D), key (T, Nk, D), cos and sin (T, 1, D)",
        "D 64 or 128, Nq + Nk at most 255; with D 128 cos may have 64: the first 64 elements rotate",
    ),
    space="space",
)

ASCEND950 = Support(
    tiling=tiling_arch35,
    dtypes=DTYPES,
    layouts=(
        "layout 1, BSND: query (B, S, Nq, D), key (B, S, Nk, D), cos and sin (B, S, 1, L) or (1, S, 1, L)",
        "layout 2, SBND: query (S, B, Nq, D), key (S, B, Nk, D), cos and sin (S, B, 1, L) or (S, 1, 1, L)",
        "layout 3, BNSD: query (B, Nq, S, D), key (B, Nk, S, D), cos and sin (B, 1, S, L) or (1, 1, S, L)",
        "layout 4, TND: query (T, Nq, D), key (T, Nk, D), cos and sin (T, 1, L)",
        "D at most 1024, L at most D: the first L elements rotate",
    ),
    kernel="kernel_arch35",
    golden="golden_arch35",
    space="space_arch35",
)


def infer_shapes(shapes: Mapping[str, Shape], attrs: Mapping[str, Any]) -> tuple[Shape, ...]:
    """query and key keep their shapes; the attributes do not matter."""
    return shapes["query"], shapes["key"]


OP = Operator(
    name="apply_rotary_pos_emb",
    type_name="ApplyRotaryPosEmb",
    summary="rotates pairs of elements of the last axis of query and key by cos and sin, in place",
    package=__package__,
    inputs=(
        Input("query", "rotated in place", aliases=("q",)),
        Input("key", "rotated in place; like query but for its number of heads", aliases=("k",)),
        Input("cos", "cosines, one row per position, the same for all heads"),
        Input("sin", "sines, shape and dtype of cos"),
    ),
    outputs=(
        Output("query", dtype_of="query", inplace="query"),
        Output("key", dtype_of="key", inplace="key"),
    ),
    attributes=(
        Attribute(
            "layout",
            "int",
            default=1,
            strings={"BSND": 1, "SBND": 2, "BNSD": 3, "TND": 4},
            description="how the axes follow each other",
        ),
        Attribute(
            "rotary_mode",
            "str",
            default="half",
            description="how elements pair up: half (i with i + L/2); on the 950 also interleave (2k with 2k + 1) and "
            "quarter (halves of halves); A2 and A3 do not read it",
        ),
    ),
    supports={"ascend910b": A2_A3, "ascend910_93": A2_A3, "ascend950": ASCEND950},
    infer_shapes=infer_shapes,
    example=Example(
        inputs={
            "query": TensorInfo((2, 64, 8, 128), "bfloat16"),
            "key": TensorInfo((2, 64, 2, 128), "bfloat16"),
            "cos": TensorInfo((2, 64, 1, 128), "bfloat16"),
            "sin": TensorInfo((2, 64, 1, 128), "bfloat16"),
        },
        attrs={"layout": 1, "rotary_mode": "half"},
    ),
    ub_reads="configured",
)
