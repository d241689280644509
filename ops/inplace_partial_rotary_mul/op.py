"""Declaration of InplacePartialRotaryMul (ops-transformer, posembedding)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ascend_sim.host.attributes import Attribute
from ascend_sim.host.operator import Example, Input, Operator, Output, Support
from ascend_sim.host.tensors import Shape, TensorInfo

from .tiling import tiling
from .tiling_arch35 import tiling as tiling_arch35

# (x, cos, sin), as the operator definition pairs them
DTYPES = (
    ("float16", "float16", "float16"),
    ("float32", "float32", "float32"),
    ("bfloat16", "bfloat16", "bfloat16"),
    ("float16", "float32", "float32"),
    ("bfloat16", "float32", "float32"),
)

A2_A3 = Support(
    tiling=tiling,
    dtypes=DTYPES,
    layouts=(
        "BS1D: (B, S, 1, L) with x (B, S, N, D), L the length of partial_slice",
        "B11D: (B, 1, 1, L)",
    ),
    space="space",
)

ASCEND950 = Support(
    tiling=tiling_arch35,
    dtypes=DTYPES,
    layouts=(
        "the shape of x with L for D",
        "111D: (1, 1, 1, L)",
        "1S1D, BS1D, B11D: (1, S, 1, L), (B, S, 1, L), (B, 1, 1, L)",
        "B1ND, 11ND: (B, 1, N, L), (1, 1, N, L)",
        "1SND: (1, S, N, L)",
    ),
    kernel="kernel_arch35",
    golden="golden_arch35",
    space="space_arch35",
)


def infer_shapes(shapes: Mapping[str, Shape], attrs: Mapping[str, Any]) -> tuple[Shape, ...]:
    """x keeps its shape; the attributes do not matter."""
    return (shapes["x"],)


OP = Operator(
    name="inplace_partial_rotary_mul",
    type_name="InplacePartialRotaryMul",
    summary="rotates pairs of neighbours in a slice of the last axis of x by cos and sin, in place",
    package=__package__,
    inputs=(
        Input("x", "tensor (B, S, N, D), changed in place"),
        Input("cos", "cosines, one row of L per position", aliases=("r1",)),
        Input("sin", "sines, shape and dtype of cos", aliases=("r2",)),
    ),
    outputs=(Output("x", dtype_of="x", inplace="x"),),
    attributes=(
        Attribute(
            "rotary_mode",
            "int",
            default=1,  # the definition says 0, which the host code refuses; the Python API fills in interleave
            strings={"interleave": 1},
            description="how elements pair up; the only mode is interleave (0 with 1, 2 with 3, ...)",
        ),
        Attribute(
            "partial_slice",
            "ints",
            default=(0, 0),
            description="[start, end) of the last axis to rotate; [0, 0] rotates nothing, an empty list all of it",
        ),
    ),
    supports={"ascend910b": A2_A3, "ascend910_93": A2_A3, "ascend950": ASCEND950},
    infer_shapes=infer_shapes,
    example=Example(
        inputs={
            "x": TensorInfo((2, 32, 8, 128), "float16"),
            "cos": TensorInfo((2, 32, 1, 64), "float16"),
            "sin": TensorInfo((2, 32, 1, 64), "float16"),
        },
        attrs={"partial_slice": (0, 64)},
    ),
    ub_reads="configured",
    contiguous_only=True,
)
