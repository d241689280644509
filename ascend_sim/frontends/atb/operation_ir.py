"""What `atb_ops_info.ini` says of an operation: the combinations of dtypes and formats that its tensors may have."""

from __future__ import annotations

from collections.abc import Sequence

from ascend_sim.frontends.atb.types import Format, TensorDesc
from ascend_sim.host.operator import Operator


class OperationIr:
    """The combinations of one operation; a column of the file is one combination of all inputs and outputs."""

    def __init__(self, operator: Operator, soc: str = "ascend910b") -> None:
        order = [declared.name for declared in operator.inputs]
        sources = [order.index(output.dtype_of) for output in operator.outputs]
        self.names = (*order, *(output.name for output in operator.outputs))
        self.columns = [(*inputs, *(inputs[source] for source in sources)) for inputs in operator.supports[soc].dtypes]

    def match(self, descs: Sequence[TensorDesc]) -> bool:
        """Whether the first tensors of some combination, all in ND, are as `descs`."""
        if any(desc.format is not Format.ACL_FORMAT_ND for desc in descs):
            return False
        given = tuple(desc.dtype.text for desc in descs)
        return any(column[: len(given)] == given for column in self.columns)

    def text(self, descs: Sequence[TensorDesc]) -> str:
        """What was given and what is allowed."""
        count = len(descs)
        allowed = dict.fromkeys(f"({', '.join(column[:count])})" for column in self.columns)
        given = ", ".join(f"{desc.dtype.text} {desc.format.name.removeprefix('ACL_FORMAT_')}" for desc in descs)
        return f"({', '.join(self.names[:count])}) are ({given}); allowed are {' or '.join(allowed)}, all in ND"
