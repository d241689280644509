"""aclnnRotaryPositionEmbedding and its second version, which takes a matrix that rotates in place of the mode.

Codes are those of the second version's page; the first version's has none of its own.
"""

from __future__ import annotations

from ascend_sim.host.aclnn.interface import Interface, attribute, out, tensor
from ascend_sim.host.aclnn.status import Status

INPUTS = (tensor("x", strided=True), tensor("cos", strided=True), tensor("sin", strided=True), attribute("mode"))

INTERFACES = (
    Interface(
        "aclnnRotaryPositionEmbedding",
        parameters=(*INPUTS, out("out", "y")),
        refusal=Status.ACLNN_ERR_INNER_TILING_ERROR,
        empty_is_done=True,
    ),
    Interface(
        "aclnnRotaryPositionEmbeddingV2",
        parameters=(*INPUTS, tensor("rotate", optional=True, strided=True), out("out", "y")),
        refusal=Status.ACLNN_ERR_INNER_TILING_ERROR,
        empty_is_done=True,
    ),
)
