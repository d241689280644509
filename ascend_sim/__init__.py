"""ascend-sim: a cycle-level simulator of Ascend AI Cores."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ascend_sim.api import infer_shapes as infer_shapes
    from ascend_sim.api import tiling as tiling
    from ascend_sim.errors import AscendSimError as AscendSimError
    from ascend_sim.errors import ConfigError as ConfigError
    from ascend_sim.errors import DeadlockError as DeadlockError
    from ascend_sim.errors import InputError as InputError
    from ascend_sim.errors import KernelError as KernelError
    from ascend_sim.errors import TilingError as TilingError
    from ascend_sim.errors import UnsupportedError as UnsupportedError

__version__ = "0.1.0"

# Where `ascend_sim.NAME` comes from when it is first asked for: importing the package alone must stay fast.
_LAZY = {
    **dict.fromkeys(("device", "infer_shapes", "run", "tiling"), "ascend_sim.api"),
    **dict.fromkeys(
        (
            *("AscendSimError", "ConfigError", "DeadlockError", "InputError", "KernelError", "TilingError"),
            "UnsupportedError",
        ),
        "ascend_sim.errors",
    ),
}


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = getattr(importlib.import_module(_LAZY[name]), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *_LAZY})
