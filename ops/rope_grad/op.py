"""Declaration of ATB's RopeGrad (ascend-transformer-boost, ops_train/rope_grad)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ascend_sim.host.attributes import Attribute
from ascend_sim.host.operator import Example, Input, Operator, Output, Reference, Support
from ascend_sim.host.tensors import Shape, TensorInfo

from .tiling import DTYPES, tiling

A2_A3 = Support(
    tiling=tiling,
    dtypes=DTYPES,
    layouts=("ND, 2-D: gradients (tokens, heads * 128), tables (positions, 128)",),
    space="space",
)


def infer_shapes(shapes: Mapping[str, Shape], attrs: Mapping[str, Any]) -> tuple[Shape, ...]:
    """q_grad and k_grad have the shapes of the gradients that come in."""
    return shapes["q_embedded_grad"], shapes["k_embedded_grad"]


OP = Operator(
    name="rope_grad",
    type_name="RopeGrad",
    summary="ATB's backward operator of rotary position embedding for q and k, with its own idea of the gradient",
    package=__package__,
    inputs=(
        Input("q_embedded_grad", "gradient of the rotated q: (tokens, heads * 128)"),
        Input("k_embedded_grad", "gradient of the rotated k, shape of q_embedded_grad"),
        Input("cos", "cosines: (positions, 128); every sample starts at row 0"),
        Input("sin", "sines, shape of cos"),
    ),
    outputs=(
        Output("q_grad", dtype_of="q_embedded_grad"),
        Output("k_grad", dtype_of="k_embedded_grad"),
    ),
    attributes=(
        Attribute(
            "qSeqLen",
            "ints",
            default=(),  # which the operator refuses: it has no default
            aliases=("q_seq_len",),
            description="rows of every sample, one after the other; 1 to 32 samples, none longer than cos has rows",
        ),
    ),
    supports={"ascend910b": A2_A3, "ascend910_93": A2_A3},
    infer_shapes=infer_shapes,
    example=Example(
        inputs={
            "q_embedded_grad": TensorInfo((11, 1024), "float16"),
            "k_embedded_grad": TensorInfo((11, 1024), "float16"),
            "cos": TensorInfo((64, 128), "float16"),
            "sin": TensorInfo((64, 128), "float16"),
        },
        attrs={"qSeqLen": (2, 1, 4, 4)},
    ),
    ub_reads="configured",
    references=(
        Reference(
            "true",
            "the gradient of the forward rotation, g cos + [g2 sin2, -g1 sin1], which the operator does not compute",
            function="true_gradient",
        ),
    ),
)
