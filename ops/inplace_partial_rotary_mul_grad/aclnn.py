"""aclnnInplacePartialRotaryMulGrad. Its page gives 161002 for dtypes and formats, 561002 for shapes and modes."""

from __future__ import annotations

from ascend_sim.host.aclnn.interface import Interface, attribute, tensor
from ascend_sim.host.aclnn.status import Status

INTERFACES = (
    Interface(
        "aclnnInplacePartialRotaryMulGrad",
        parameters=(
            tensor("dyRef", "dy"),
            tensor("cos"),
            tensor("sin"),
            attribute("rotaryMode", "rotary_mode"),
            attribute("partialSlice", "partial_slice"),
        ),
        refusal=Status.ACLNN_ERR_INNER_TILING_ERROR,
    ),
)
