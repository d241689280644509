"""Declaration of InplacePartialRotaryMulGrad (ops-transformer, posembedding)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ascend_sim.host.attributes import Attribute
from ascend_sim.host.operator import Example, Input, Operator, Output, Support
from ascend_sim.host.tensors import Shape, TensorInfo

from .tiling import tiling

FLOATS = ("float16", "float32", "bfloat16")

ASCEND950 = Support(
    tiling=tiling,
    dtypes=tuple((dy, cos, cos) for dy in FLOATS for cos in FLOATS),
    layouts=(
        "each of the first three dims of cos and sin is 1 or that of dy (B, S, N, D), L the length of partial_slice:",
        "BSND: (B, S, N, L)",
        "111D: (1, 1, 1, L)",
        "1S1D, BS1D, B11D: (1, S, 1, L), (B, S, 1, L), (B, 1, 1, L)",
        "B1ND, 11ND: (B, 1, N, L), (1, 1, N, L)",
        "1SND: (1, S, N, L)",
        "a dim of 0 anywhere: nothing to do",
    ),
    kernel="kernel_arch35",
    space="space_arch35",
)


def infer_shapes(shapes: Mapping[str, Shape], attrs: Mapping[str, Any]) -> tuple[Shape, ...]:
    """dy keeps its shape; the attributes do not matter."""
    return (shapes["dy"],)


OP = Operator(
    name="inplace_partial_rotary_mul_grad",
    type_name="InplacePartialRotaryMulGrad",
    summary="gradient of inplace_partial_rotary_mul: turns pairs in a slice of the last axis of dy back, in place",
    package=__package__,
    inputs=(
        Input("dy", "gradient of the rotated x (B, S, N, D), changed in place to that of x", aliases=("grad",)),
        Input("cos", "cosines of the forward call, broadcast to dy", aliases=("r1",)),
        Input("sin", "sines, shape and dtype of cos", aliases=("r2",)),
    ),
    outputs=(Output("dy", dtype_of="dy", inplace="dy"),),
    attributes=(
        Attribute(
            "rotary_mode",
            "int",
            default=1,  # the definition says 0, which the host code refuses
            strings={"half": 0, "interleave": 1, "quarter": 2, "interleave-half": 3},
            description="how elements pair up; the operator accepts interleave (2k with 2k + 1) alone",
        ),
        Attribute(
            "partial_slice",
            "ints",
            default=(0, 0),
            description="[start, end) of the last axis that was rotated; [0, 0] means nothing",
        ),
    ),
    supports={"ascend950": ASCEND950},
    infer_shapes=infer_shapes,
    example=Example(
        inputs={
            "dy": TensorInfo((2, 64, 8, 128), "bfloat16"),
            "cos": TensorInfo((2, 64, 1, 64), "float32"),
            "sin": TensorInfo((2, 64, 1, 64), "float32"),
        },
        attrs={"partial_slice": (64, 128)},
    ),
    ub_reads="configured",
    contiguous_only=True,
)
