"""What is explained in these tests: the operators' examples, and small kernels each with one thing wrong."""

from __future__ import annotations

from ascend_sim.host.registry import operator_named, operator_names


def _runs(name: str) -> bool:
    operator = operator_named(name)
    return operator.support_on(operator.default_soc).kernel is not None


OPERATORS = [name for name in operator_names() if _runs(name)]
"""Those whose example runs on their default chip."""
