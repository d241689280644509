"""Declaration of ATB's Rope (ascend-transformer-boost, ops_infer/rope)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from ascend_sim.host.attributes import Attribute
from ascend_sim.host.operator import Example, Input, Operator, Output, Reference, Support
from ascend_sim.host.tensors import Shape, TensorInfo
from ascend_sim.isa.dtypes import DataType

from .checks import flattened
from .tiling import DTYPES, tiling

A2_A3 = Support(
    tiling=tiling,
    dtypes=DTYPES,
    layouts=(
        "ND: q and k (tokens, hidden) or (batch, positions, heads, head size), tables (rows, head size), "
        "seqlen (samples,)",
    ),
    space="space",
)


def infer_shapes(shapes: Mapping[str, Shape], attrs: Mapping[str, Any]) -> tuple[Shape, ...]:
    """Outputs have the shapes of q and k."""
    return shapes["q"], shapes["k"]


def even_lengths(infos: Mapping[str, TensorInfo]) -> npt.NDArray[Any]:
    """Sample lengths that add up to the tokens: as even as can be, the first ones longer."""
    tokens, (samples,) = flattened(infos["q"].shape)[0], infos["seqlen"].shape
    short, longer = divmod(tokens, samples)
    lengths = np.full(samples, short, DataType(infos["seqlen"].dtype).numpy)
    lengths[:longer] += 1
    return lengths


OP = Operator(
    name="atb_rope",
    type_name="AtbRope",
    summary="ATB's rotary position embedding of q and k: halves, halves of halves, or neighbours",
    package=__package__,
    inputs=(
        Input("q", "(tokens, heads * head size), or (batch, positions, heads, head size)"),
        Input("k", "as q, with as many heads or a divisor of them"),
        Input("cos", "cosines: (rows, head size); which row is a token's, cosFormat says"),
        Input("sin", "sines, shape and dtype of cos"),
        Input("seqlen", "tokens of every sample; read with cosFormat 1 only", draw=even_lengths),
    ),
    outputs=(Output("q_embedded", dtype_of="q"), Output("k_embedded", dtype_of="k")),
    attributes=(
        Attribute(
            "rotaryCoeff",
            "int",
            default=4,
            aliases=("rotary_coeff",),
            description="2: halves of a head, 4: halves of its halves, the head size: neighbours",
        ),
        Attribute(
            "cosFormat",
            "int",
            default=0,
            aliases=("cos_format",),
            description="row of the tables: 0 the token's number, 1 its position in its sample",
        ),
    ),
    supports={"ascend910b": A2_A3, "ascend910_93": A2_A3},
    infer_shapes=infer_shapes,
    example=Example(
        inputs={
            "q": TensorInfo((256, 1024), "float16"),
            "k": TensorInfo((256, 128), "float16"),
            "cos": TensorInfo((256, 128), "float16"),
            "sin": TensorInfo((256, 128), "float16"),
            "seqlen": TensorInfo((1,), "int32"),
        },
        attrs={"rotaryCoeff": 2, "cosFormat": 0},
    ),
    ub_reads="configured",
    references=(Reference("exact", "the formula in float64, unrounded", function="exact"),),
)
