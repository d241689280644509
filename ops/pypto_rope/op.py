"""Declaration of the rotary position embeddings that are written in PyPTO."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ascend_sim.host.attributes import Attribute
from ascend_sim.host.operator import Example, Input, Operator, Output, Support, Tolerance
from ascend_sim.host.tensors import Shape, TensorInfo
from ascend_sim.host.tiling import Tiling, TilingContext


def tiling(context: TilingContext) -> Tiling:
    """See tiling.py, which brings the front end with it and is imported when a call is planned."""
    from .tiling import tiling as lowered  # noqa: PLC0415

    return lowered(context)


A2_A3 = Support(
    tiling=tiling,
    dtypes=tuple((name,) * 5 for name in ("float16", "bfloat16", "float32")),
    layouts=(
        "skeleton: the shape of x",
        "vision: (S, D) with x (S, N, D)",
        "mrope: (3, B, S, D) with x (B, N, S, D)",
        "rms_norm: (S, 128) with x (S, N, 128), bfloat16",
        "interleave: (B, 1, S, D) or (B, 1, 1, D) with x (B, N, S, D)",
    ),
    space="space",
)


def infer_shapes(shapes: Mapping[str, Shape], attrs: Mapping[str, Any]) -> tuple[Shape, ...]:
    """The outputs have the shapes of x and k."""
    return shapes["x"], shapes.get("k", ())


OP = Operator(
    name="pypto_rope",
    type_name="PyptoRope",
    summary="rotary position embeddings written in PyPTO: view, neg, concat, mul, add and assemble",
    package=__package__,
    inputs=(
        Input("x", "what is rotated; its layout depends on the kernel", aliases=("q",)),
        Input("cos", "cosines"),
        Input("sin", "sines, shape of cos"),
        Input("k", "kernel vision: rotated as well, (S, Nk, D)", optional=True),
        Input("weight", "kernel rms_norm: (128,)", optional=True),
    ),
    outputs=(Output("y", dtype_of="x"), Output("k_out", dtype_of="k", needs="k")),
    attributes=(
        Attribute(
            "kernel",
            "int",
            default=0,
            strings={"skeleton": 0, "vision": 1, "mrope": 2, "rms_norm": 3, "interleave": 4},
            description="which of the documents' kernels",
        ),
        Attribute(
            "tile",
            "ints",
            default=(),
            description="skeleton, vision, mrope: the vector tile; interleave: heads and positions of it; rms_norm: "
            "its positions; empty: the kernel's own",
        ),
        Attribute("unroll", "ints", default=(1,), description="unroll factors of the innermost loop"),
        Attribute(
            "sections", "ints", default=(16, 24, 24), description="mrope: elements per position axis, half a head"
        ),
    ),
    supports={"ascend910b": A2_A3, "ascend910_93": A2_A3},
    infer_shapes=infer_shapes,
    example=Example(
        inputs={
            "x": TensorInfo((64, 64, 128), "float16"),
            "cos": TensorInfo((64, 64, 128), "float16"),
            "sin": TensorInfo((64, 64, 128), "float16"),
        },
        attrs={"kernel": "skeleton"},
    ),
    ub_reads="reduced",
    tolerance=Tolerance(absolute=0.01, relative=0.01),
)
