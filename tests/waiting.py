"""Marks for tests of what is not there yet: they must fail until it lands, and pass from then on without an edit."""

from __future__ import annotations

import pytest

from ascend_sim.host.registry import operator_named, operator_names


def simulated(op: str, soc: str) -> bool:
    """Whether the operator's kernels run on that chip."""
    if op not in operator_names():
        return False
    support = operator_named(op).supports.get(soc)
    return support is not None and support.simulated


def waits_for_operator(*ops: str) -> pytest.MarkDecorator:
    """The test needs the declarations of these operators."""
    missing = [op for op in ops if op not in operator_names()]
    return pytest.mark.xfail(bool(missing), reason=f"waits for the declaration of {' and '.join(missing)}", strict=True)


def waits_for_kernels(soc: str, *ops: str) -> pytest.MarkDecorator:
    """The test needs the kernels of these operators for that chip."""
    missing = [op for op in ops if not simulated(op, soc)]
    return pytest.mark.xfail(
        bool(missing), reason=f"waits for the {soc} kernels of {' and '.join(missing)}", strict=True
    )
