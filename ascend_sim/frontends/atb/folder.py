"""The operators' folders as the front end sees them."""

from __future__ import annotations

import importlib
from types import ModuleType

from ascend_sim.host.registry import operator_named


def folder_module(operator_name: str, module: str) -> ModuleType:
    """A module of an operator's folder: its checks, its tiling."""
    return importlib.import_module(f"{operator_named(operator_name).package}.{module}")
