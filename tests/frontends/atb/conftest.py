from __future__ import annotations

from collections.abc import Iterator

import pytest

from ascend_sim.frontends import atb
from ascend_sim.host.device import Device

from .making import Ready


@pytest.fixture
def device() -> Iterator[Device]:
    with Device("Ascend910B1") as found:
        yield found


@pytest.fixture
def ready(device: Device) -> Ready:
    """A RopeGrad operation, a context with a stream, and a pack that fit each other."""
    return Ready(device)


@pytest.fixture
def context(device: Device) -> atb.Context:
    _, found = atb.CreateContext()
    assert found is not None
    found.SetExecuteStream(object())
    return found
