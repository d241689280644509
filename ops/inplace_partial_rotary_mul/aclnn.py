"""aclnnInplacePartialRotaryMul. Its page gives 161002 for every refused dtype, mode, range and shape."""

from __future__ import annotations

from ascend_sim.host.aclnn.interface import Interface, attribute, tensor
from ascend_sim.host.aclnn.status import Status

INTERFACES = (
    Interface(
        "aclnnInplacePartialRotaryMul",
        parameters=(
            tensor("xRef", "x"),
            tensor("cos"),
            tensor("sin"),
            attribute("rotaryMode", "rotary_mode"),
            attribute("partialSlice", "partial_slice", optional=True, default=()),  # null means the whole last axis
        ),
        refusal=Status.ACLNN_ERR_PARAM_INVALID,
    ),
)
