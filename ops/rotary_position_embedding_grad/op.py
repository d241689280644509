"""Declaration of RotaryPositionEmbeddingGrad (ops-transformer, posembedding)."""

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
        "half: cos the shape of dy, or 1S1D, BS1D (B < S), 11SD, B1SD (B < S), S11D, SB1D; TND with T1D",
        "interleave: 1S1D, 11SD, S11D with B * N < 1000; TND with T1D",
    ),
    space="space",
)

ASCEND950 = Support(
    tiling=tiling_arch35,
    dtypes=DTYPES,
    layouts=(
        "all modes: cos the shape of dy, or 1 in some of the first three dims: 111D, 1S1D, S11D, SB1D, BS1D, 11SD, "
        "B1SD, 1SND; TND with T1D, 1ND and 11D",
        "D at most 1024; mode quarter takes multiples of 4; dims may be 0",
    ),
    kernel="kernel_arch35",
    golden="golden_arch35",
    space="space_arch35",
)


def infer_shapes(shapes: Mapping[str, Shape], attrs: Mapping[str, Any]) -> tuple[Shape, ...]:
    """dx like dy, dcos like cos, dsin like sin."""
    return shapes["dy"], shapes["cos"], shapes["sin"]


OP = Operator(
    name="rotary_position_embedding_grad",
    type_name="RotaryPositionEmbeddingGrad",
    summary="gradient of rotary_position_embedding: dx, and dcos and dsin where x is given",
    package=__package__,
    inputs=(
        Input("dy", "gradient of the output, rank 4 (BSND, BNSD or SBND) or 3 (TND)", aliases=("grad",)),
        Input("cos", "cosines, broadcast to dy", aliases=("r1",)),
        Input("sin", "sines, shape and dtype of cos", aliases=("r2",)),
        Input("x", "the forward input; with it dcos and dsin are computed too", optional=True),
    ),
    outputs=(
        Output("dx", dtype_of="dy"),
        Output("dcos", dtype_of="cos", needs="x"),
        Output("dsin", dtype_of="sin", needs="x"),
    ),
    attributes=(
        Attribute(
            "mode",
            "int",
            default=0,
            strings={"half": 0, "interleave": 1, "quarter": 2, "interleave-half": 3},
            aliases=("rotary_mode",),
            description="how elements pair up, as in the forward operator; A2 and A3 take half and interleave",
        ),
    ),
    supports={"ascend910b": A2_A3, "ascend910_93": A2_A3, "ascend950": ASCEND950},
    infer_shapes=infer_shapes,
    example=Example(
        inputs={
            "dy": TensorInfo((256, 1, 16, 128), "bfloat16"),
            "cos": TensorInfo((256, 1, 1, 128), "bfloat16"),
            "sin": TensorInfo((256, 1, 1, 128), "bfloat16"),
        },
        attrs={"mode": 0},
    ),
    ub_reads="reduced",
    cann=("8.3", "master"),
)
