"""ascend-sim: a cycle-level simulator of Ascend AI Cores.

`from ascend_sim import asc` is the kernel language. `run`, `tiling`, `infer_shapes`, `device` and `session` are the
entry points, `aclnn` the two-phase interfaces, `atb` the operations of ascend-transformer-boost; they and the errors
are imported when first asked for, so that `import ascend_sim` costs nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from ascend_sim.version import VERSION

if TYPE_CHECKING:
    from ascend_sim.api import device, infer_shapes, run, tiling
    from ascend_sim.errors import (
        AscendSimError,
        ConfigError,
        DeadlockError,
        InputError,
        KernelError,
        TilingError,
        UnsupportedError,
    )
    from ascend_sim.frontends import atb
    from ascend_sim.host import aclnn
    from ascend_sim.sessions import session

__version__ = VERSION

__all__ = [
    "AscendSimError",
    "ConfigError",
    "DeadlockError",
    "InputError",
    "KernelError",
    "TilingError",
    "UnsupportedError",
    "__version__",
    "aclnn",
    "atb",
    "device",
    "infer_shapes",
    "run",
    "session",
    "tiling",
]

_HOMES = {
    **dict.fromkeys(("device", "infer_shapes", "run", "tiling"), "ascend_sim.api"),
    **dict.fromkeys((name for name in __all__ if name.endswith("Error")), "ascend_sim.errors"),
    "session": "ascend_sim.sessions",
}
_MODULES = {"aclnn": "ascend_sim.host.aclnn", "atb": "ascend_sim.frontends.atb"}


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return importlib.import_module(_MODULES[name])
    if name not in _HOMES:
        raise AttributeError(f"module 'ascend_sim' has no attribute {name!r}")
    value = globals()[name] = getattr(importlib.import_module(_HOMES[name]), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
