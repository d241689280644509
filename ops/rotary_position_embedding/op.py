"""Declaration of RotaryPositionEmbedding (ops-transformer, posembedding)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ascend_sim.host.attributes import Attribute
from ascend_sim.host.operator import Example, Input, Operator, Output, Support
from ascend_sim.host.tensors import Shape, TensorInfo

from .tiling import tiling
from .tiling_arch35 import tiling as tiling_arch35

DTYPES = tuple((dtype,) * 4 for dtype in ("float16", "float32", "bfloat16"))
MODE_TEXT = (
    "how elements pair up: half (i with i + D/2), interleave (2k with 2k + 1), quarter (halves of halves), "
    "interleave-half (read interleaved, written as halves); A2 and A3 run the last two as half"
)

A2_A3 = Support(
    tiling=tiling,
    dtypes=DTYPES,
    layouts=(
        "half: cos the shape of x, or 1 in some of the first three dims: 11SD, B1SD, 1S1D, BS1D, S11D, SB1D, 111D; "
        "TND with T1D",
        "interleave: 11SD, 1S1D, S11D; TND with T1D",
    ),
    space="space",
)

ASCEND950 = Support(
    tiling=tiling_arch35,
    dtypes=DTYPES,
    layouts=(
        "all modes: cos the shape of x, or 1 in some of the first three dims: 111D, 1S1D, S11D, SB1D, BS1D, 11SD, "
        "B1SD, 1SND; TND with T1D, 1ND and 11D",
        "D at most 1024; mode quarter takes multiples of 4",
    ),
    kernel="kernel_arch35",
    golden="golden_arch35",
    space="space_arch35",
)


def infer_shapes(shapes: Mapping[str, Shape], attrs: Mapping[str, Any]) -> tuple[Shape, ...]:
    """y has the shape of x."""
    return (shapes["x"],)


OP = Operator(
    name="rotary_position_embedding",
    type_name="RotaryPositionEmbedding",
    summary="rotates pairs of elements of the last axis of x by cos and sin",
    package=__package__,
    inputs=(
        Input("x", "tensor of rank 4 (BSND, BNSD or SBND) or 3 (TND)", aliases=("input",)),
        Input("cos", "cosines, broadcast to x", aliases=("r1",)),
        Input("sin", "sines, shape and dtype of cos", aliases=("r2",)),
        Input("rotate", "D x D matrix that rotates x in place of mode; needs the cube core", optional=True),
    ),
    outputs=(Output("y", dtype_of="x"),),
    attributes=(
        Attribute(
            "mode",
            "int",
            default=0,
            strings={"half": 0, "interleave": 1, "quarter": 2, "interleave-half": 3},
            aliases=("rotary_mode",),
            description=MODE_TEXT,
        ),
    ),
    supports={"ascend910b": A2_A3, "ascend910_93": A2_A3, "ascend950": ASCEND950},
    infer_shapes=infer_shapes,
    example=Example(
        inputs={
            "x": TensorInfo((256, 1, 16, 128), "bfloat16"),
            "cos": TensorInfo((256, 1, 1, 128), "bfloat16"),
            "sin": TensorInfo((256, 1, 1, 128), "bfloat16"),
        },
        attrs={"mode": 0},
    ),
    ub_reads="reduced",
    cann=("8.3", "master"),
)
