"""aclnnRotaryPositionEmbeddingGrad. Its page gives 161002 for dtypes and formats, 561002 for shapes and modes."""

from __future__ import annotations

from ascend_sim.host.aclnn.interface import Interface, attribute, out, tensor
from ascend_sim.host.aclnn.status import Status

INTERFACES = (
    Interface(
        "aclnnRotaryPositionEmbeddingGrad",
        parameters=(
            tensor("dy", strided=True),
            tensor("cos", strided=True),
            tensor("sin", strided=True),
            tensor("xOptional", "x", optional=True, strided=True),
            attribute("mode"),
            out("dxOut", "dx"),
            out("dcosOut", "dcos"),
            out("dsinOut", "dsin"),
        ),
        refusal=Status.ACLNN_ERR_INNER_TILING_ERROR,
    ),
)
