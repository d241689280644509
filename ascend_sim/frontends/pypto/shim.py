"""`import pypto` for files written for PyPTO: opt-in, and never in the place of an installed PyPTO."""

from __future__ import annotations

import importlib
import importlib.util
import sys

from ascend_sim.frontends.pypto.errors import FeRuntimeError

_PACKAGE = "ascend_sim.frontends.pypto"


def install_shim() -> None:
    """Make `import pypto` and `import pypto.frontend` mean this front end, in this process."""
    present = sys.modules.get("pypto")
    if present is not None and present.__name__ != _PACKAGE:
        raise FeRuntimeError(
            f"pypto is imported already, from {present.__file__}: the shim does not replace it; install it before"
        )
    sys.modules["pypto"] = importlib.import_module(_PACKAGE)
    sys.modules["pypto.frontend"] = importlib.import_module(f"{_PACKAGE}.frontend")


def remove_shim() -> None:
    """Undo `install_shim`."""
    for name in ("pypto", "pypto.frontend"):
        module = sys.modules.get(name)
        if module is not None and module.__name__.startswith(_PACKAGE):
            del sys.modules[name]
