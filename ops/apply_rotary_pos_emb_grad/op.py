"""Declaration of ApplyRotaryPosEmbGrad (ops-transformer, posembedding)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ascend_sim.host.attributes import Attribute
from ascend_sim.host.operator import Example, Input, Operator, Output, Support
from ascend_sim.host.tensors import Shape, TensorInfo

from .tiling import tiling

ASCEND950 = Support(
    tiling=tiling,
    dtypes=tuple((dtype,) * 6 for dtype in ("float16", "float32", "bfloat16")),
    layouts=(
        "layout 1, BSND: gradients (B, S, Nq, D) and (B, S, Nk, D), cos and sin (B, S, 1, D) or (1, S, 1, D)",
        "layout 2, SBND: gradients (S, B, Nq, D) and (S, B, Nk, D), cos and sin (S, B, 1, D) or (S, 1, 1, D), or all "
        "of one shape",
        "layout 4, TND: gradients (T, Nq, D) and (T, Nk, D), cos and sin (T, 1, D)",
        "query and key, both or none, have the shapes of their gradients; D even and at most 1024",
    ),
    kernel="kernel_arch35",
    space="space_arch35",
)


def infer_shapes(shapes: Mapping[str, Shape], attrs: Mapping[str, Any]) -> tuple[Shape, ...]:
    """Gradients have the shapes of what they are gradients of."""
    return shapes["grad_query_embed"], shapes["grad_key_embed"], shapes["cos"], shapes["sin"]


OP = Operator(
    name="apply_rotary_pos_emb_grad",
    type_name="ApplyRotaryPosEmbGrad",
    summary="gradient of apply_rotary_pos_emb: grad_query, grad_key, and grad_cos and grad_sin where query and key are "
    "given",
    package=__package__,
    inputs=(
        Input("grad_query_embed", "gradient of the rotated query", aliases=("gq",)),
        Input("grad_key_embed", "gradient of the rotated key; may have another number of heads", aliases=("gk",)),
        Input("cos", "cosines of the forward call"),
        Input("sin", "sines, shape and dtype of cos"),
        Input("query", "the forward input; with it and key grad_cos and grad_sin are computed", optional=True),
        Input("key", "the forward input; goes with query", optional=True),
    ),
    outputs=(
        Output("grad_query", dtype_of="grad_query_embed"),
        Output("grad_key", dtype_of="grad_key_embed"),
        Output("grad_cos", dtype_of="cos", needs="query"),
        Output("grad_sin", dtype_of="sin", needs="query"),
    ),
    attributes=(
        Attribute("rotary_mode", "str", default="half", description="how elements pair up: half, the only mode"),
        Attribute(
            "layout",
            "int",
            default=1,
            strings={"BSND": 1, "SBND": 2, "TND": 4},
            description="how the axes follow each other",
        ),
    ),
    supports={"ascend950": ASCEND950},
    infer_shapes=infer_shapes,
    example=Example(
        inputs={
            "grad_query_embed": TensorInfo((2, 64, 8, 128), "bfloat16"),
            "grad_key_embed": TensorInfo((2, 64, 2, 128), "bfloat16"),
            "cos": TensorInfo((1, 64, 1, 128), "bfloat16"),
            "sin": TensorInfo((1, 64, 1, 128), "bfloat16"),
            "query": TensorInfo((2, 64, 8, 128), "bfloat16"),
            "key": TensorInfo((2, 64, 2, 128), "bfloat16"),
        },
        attrs={"rotary_mode": "half", "layout": 1},
    ),
    ub_reads="configured",
)
