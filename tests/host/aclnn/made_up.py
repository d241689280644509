"""An operator of this folder's own, with interfaces: what a real one would need a certain chip or kernel for."""

from __future__ import annotations

from typing import Any

import numpy as np

from ascend_sim import asc
from ascend_sim.asc.memory import DeviceArray
from ascend_sim.host.aclnn.interface import Interface, attribute, out, tensor
from ascend_sim.host.aclnn.status import Status
from ascend_sim.host.attributes import Attribute
from ascend_sim.host.operator import Call, Example, Input, Operator, Output, Support
from ascend_sim.host.tiling import DOES_NOT_FIT, Tiling, TilingContext

WORKSPACE_BYTES = 64


def tiling(context: TilingContext) -> Tiling:
    context.require(context.inputs["x"].rank == 2, "x must have two dims")
    context.require(context.shape("x")[0] < 100, "x has too many rows", DOES_NOT_FIT)
    return Tiling(
        *(context.op, context.soc, context.variant, 7, "the only way", 2, WORKSPACE_BYTES, {"path": "only"}, ()),
        context.ub_bytes,
    )


OP = Operator(
    name="scaled",
    type_name="Scaled",
    summary="x * factor, in place, and its row sums; with bias also x + bias",
    package="made_up",
    inputs=(Input("x", ""), Input("bias", "", optional=True)),
    outputs=(Output("x", "x", inplace="x"), Output("sum", "x"), Output("biased", "bias", needs="bias")),
    attributes=(Attribute("factor", "int", 1, ""),),
    supports={"ascend910b": Support(tiling, (("float32", "float32"), ("float16", "float32")), ())},
    infer_shapes=lambda shapes, attrs: (shapes["x"], shapes["x"][:1], shapes["x"]),
    example=Example({}),
    ub_reads="configured",
)

SCALED = Interface(
    "aclnnScaled",
    parameters=(
        tensor("xRef", "x", strided=True),
        tensor("biasOptional", "bias", optional=True),
        attribute("factor"),
        out("sumOut", "sum"),
        out("biasedOut", "biased"),
    ),
    refusal=Status.ACLNN_ERR_PARAM_INVALID,
)
# No sum for callers that do not want it, a default for the factor, no strides, nothing to do for empty outputs.
SCALED_V2 = Interface(
    "aclnnScaledV2",
    parameters=(
        tensor("xRef", "x"),
        attribute("factorOptional", "factor", optional=True, default=3, allowed=(2, 3)),
        out("sumOut", "sum", optional=True),
    ),
    refusal=Status.ACLNN_ERR_INNER_TILING_ERROR,
    empty_is_done=True,
)


@asc.jit
def nothing(x: asc.GlobalAddress) -> None:
    """A kernel that only shows that it ran."""
    asc.pipe_barrier(asc.PipeID.PIPE_V)


def compute(call: Call) -> None:
    nothing[call.tiling.block_dim](call.tensors["x"])
    tensors: Any = call.tensors
    if isinstance(tensors["x"], DeviceArray):
        return
    if "bias" in tensors:
        tensors["biased"][...] = tensors["x"] + tensors["bias"]
    tensors["x"] *= call.attrs["factor"]
    tensors["sum"][...] = tensors["x"].sum(1)
    assert call.workspace.nbytes >= WORKSPACE_BYTES
    call.workspace[:WORKSPACE_BYTES] = np.arange(WORKSPACE_BYTES, dtype=np.uint8)
