"""Where the data that ships with the simulator lives: `configs` (chips) and `ops` (operators).

An installed wheel carries them inside the package (`ascend_sim/_data/...`); a clone has them beside it.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Literal

from ascend_sim.errors import ConfigError

_PACKAGE = Path(__file__).resolve().parent


@cache
def directory(name: Literal["configs", "ops"]) -> Path:
    """The directory of `name`; raises `ConfigError` when neither an installation nor a clone has it."""
    return locate(name, _PACKAGE)


def locate(name: str, package: Path) -> Path:
    """The directory of `name` for an `ascend_sim` package at `package`."""
    installed, clone = package / "_data" / name, package.parent / name
    if installed.is_dir():
        return installed
    # Beside an installed package lies site-packages, where a directory called `ops` is somebody else's.
    if clone.is_dir() and (package.parent / "pyproject.toml").is_file():
        return clone
    raise ConfigError(
        f"cannot find the {name!r} directory of ascend-sim: looked for {installed} (installed wheel) "
        f"and {clone} (clone, beside pyproject.toml); reinstall the package or run from a complete clone"
    )
