from __future__ import annotations

import sys
from types import SimpleNamespace

import pytest

from ascend_sim.host.aclnn import get_recent_err_msg

from .made_up import compute


@pytest.fixture(autouse=True)
def kernel(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """The made-up operator's kernel module: give it another `launch` to see that one run."""
    found = SimpleNamespace(launch=compute)
    monkeypatch.setitem(sys.modules, "made_up", SimpleNamespace())
    monkeypatch.setitem(sys.modules, "made_up.kernel", found)
    get_recent_err_msg()
    return found
