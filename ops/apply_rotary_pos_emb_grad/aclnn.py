"""aclnnApplyRotaryPosEmbGrad. Its page gives 161002 for every refusal but null pointers."""

from __future__ import annotations

from ascend_sim.host.aclnn.interface import Interface, attribute, out, tensor
from ascend_sim.host.aclnn.status import Status

INTERFACES = (
    Interface(
        "aclnnApplyRotaryPosEmbGrad",
        parameters=(
            tensor("gradQueryEmbed", "grad_query_embed", strided=True),
            tensor("gradKeyEmbed", "grad_key_embed", strided=True),
            tensor("cos", strided=True),
            tensor("sin", strided=True),
            tensor("queryOptional", "query", optional=True, strided=True),
            tensor("keyOptional", "key", optional=True, strided=True),
            attribute("rotaryModeOptional", "rotary_mode", optional=True, default="half"),
            attribute("layout"),
            out("gradQueryOut", "grad_query"),
            out("gradKeyOut", "grad_key"),
            out("gradCosOut", "grad_cos", optional=True),
            out("gradSinOut", "grad_sin", optional=True),
        ),
        refusal=Status.ACLNN_ERR_PARAM_INVALID,
    ),
)
