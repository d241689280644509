"""aclnnInplacePartialRotaryMul. Its page gives 161002 for dtypes, 561002 for the mode, the slice and shapes.

Earlier versions of the page gave 161002 for those, too; tiling refuses them, and that answers 561002.
"""

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
            attribute("rotary_mode"),
            attribute("partialSlice", "partial_slice", optional=True, default=()),  # null means the whole last axis
        ),
        refusal=Status.ACLNN_ERR_INNER_TILING_ERROR,
    ),
)
