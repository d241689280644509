"""aclnnApplyRotaryPosEmb and its second version, which asks for the mode. Both pages give 161002 for every refusal."""

from __future__ import annotations

from ascend_sim.host.aclnn.interface import Interface, attribute, tensor
from ascend_sim.host.aclnn.status import Status

TENSORS = (
    tensor("queryRef", "query", strided=True),
    tensor("keyRef", "key", strided=True),
    tensor("cos", strided=True),
    tensor("sin", strided=True),
    attribute("layout"),
)

INTERFACES = (
    Interface(
        "aclnnApplyRotaryPosEmb",
        parameters=TENSORS,
        refusal=Status.ACLNN_ERR_PARAM_INVALID,
        fixed={"rotary_mode": "half"},
    ),
    Interface(
        "aclnnApplyRotaryPosEmbV2",
        parameters=(*TENSORS, attribute("rotaryMode", "rotary_mode", allowed=("half", "interleave", "quarter"))),
        refusal=Status.ACLNN_ERR_PARAM_INVALID,
    ),
)
