"""The options of `pypto.frontend.jit`: accepted as PyPTO has them, and checked where PyPTO says what it takes.

They steer PyPTO's scheduler and compiler passes, which are not simulated, so none changes what a kernel computes or
how long it takes here.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from typing import Any

from ascend_sim.frontends.pypto.dtypes import RunMode
from ascend_sim.frontends.pypto.errors import FeRuntimeError, FeTypeError, FeValueError

INT_MAX = (1 << 31) - 1
_RANGES = {
    "device_sched_mode": (0, 3),
    "stitch_function_max_num": (1, 1024),
    "max_workspace_kb": (0, INT_MAX),
    "valid_shape_optimize": (0, 1),
    "device_sched_parallelism": (1, 8),
    "launch_sched_aicpu_num": (1, 7),
    "launch_early_mode": (0, 2),
}
_SETTINGS = ("cube_l1_reuse_setting", "cube_nbuffer_setting", "vec_nbuffer_setting")  # dicts of merge counts
_NOTED: set[str] = set()


def check_options(name: str, groups: Mapping[str, Any]) -> None:
    """Check the keyword groups of `jit` for kernel `name`."""
    for group, options in groups.items():
        if options is None:
            continue
        if not isinstance(options, Mapping) or not all(isinstance(key, str) for key in options):
            raise FeTypeError(f"kernel {name!r}: {group} is {options!r}; it must be a dict with option names as keys")
    for option, value in (groups.get("runtime_options") or {}).items():
        _check_runtime(name, option, value)
    for option, value in (groups.get("pass_options") or {}).items():
        _check_pass(name, option, value)


def _check_runtime(kernel: str, option: str, value: Any) -> None:
    if option == "run_mode":
        if isinstance(value, bool) or not isinstance(value, int) or value not in (0, 1):
            raise FeRuntimeError(
                f"kernel {kernel!r}: Invalid run mode {value!r}; allowed are pypto.RunMode.NPU (0) and SIM (1)"
            )
    elif option == "ready_on_host_tensors":
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            raise FeTypeError(f"kernel {kernel!r}: ready_on_host_tensors is {value!r}; it must be a list of names")
    elif option in _RANGES:
        low, high = _RANGES[option]
        if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
            raise FeValueError(f"kernel {kernel!r}: {option} is {value!r}; allowed are {low}..{high}")
    else:
        names = ", ".join(sorted((*_RANGES, "run_mode", "ready_on_host_tensors")))
        raise FeValueError(f"kernel {kernel!r}: runtime_options has no {option!r}; there are {names}")


def _check_pass(kernel: str, option: str, value: Any) -> None:
    """The merge settings are checked; other passes have options of many kinds, which are taken as they are."""
    if option not in _SETTINGS:
        return
    good = isinstance(value, Mapping) and all(
        isinstance(key, int | str) and isinstance(count, int) and not isinstance(count, bool) and count >= 1
        for key, count in value.items()
    )
    if not good:
        raise FeValueError(
            f"kernel {kernel!r}: {option} is {value!r}; it must be a dict from sub-graph (-1 or a name) to a count of "
            "at least 1"
        )


def run_mode(groups: Mapping[str, Any]) -> RunMode:
    """What `run_mode` says, else what the environment says, as PyPTO decides it."""
    given = (groups.get("runtime_options") or {}).get("run_mode")
    if os.environ.get("CAMODEL_LOG_PATH"):
        return RunMode.SIM
    if given is not None:
        return RunMode(given)
    return RunMode.NPU if os.environ.get("ASCEND_HOME_PATH") else RunMode.SIM


def device_id() -> int:
    """TILE_FWK_DEVICE_ID: accepted, and checked to be a device number; every number means the simulated device."""
    text = os.environ.get("TILE_FWK_DEVICE_ID", "0")
    if not text.isdecimal():
        raise FeValueError(f"TILE_FWK_DEVICE_ID is {text!r}; it must be a device number such as 0")
    return int(text)


def note_once(text: str) -> None:
    """Tell the user on stderr, once per process."""
    if text not in _NOTED:
        _NOTED.add(text)
        print(f"note: {text}", file=sys.stderr)
