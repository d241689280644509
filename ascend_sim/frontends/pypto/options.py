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
    "stitch_function_inner_memory": (0, INT_MAX),  # of older releases, as the next one
    "stitch_function_outcast_memory": (0, INT_MAX),
}
_AICPUS_2201 = 5  # launch_sched_aicpu_num of A2 and A3; the 950 has more
_SETTINGS = ("cube_l1_reuse_setting", "cube_nbuffer_setting", "vec_nbuffer_setting")  # dicts of merge counts
_NOTED: set[str] = set()


def check_options(what: str, groups: Mapping[str, Any]) -> None:
    """Check the keyword groups of `jit`, or those of a `set_..._options` call; `what` begins the texts of errors."""
    for group, options in groups.items():
        if options is None:
            continue
        if not isinstance(options, Mapping) or not all(isinstance(key, str) for key in options):
            raise FeTypeError(f"{what}: {group} is {options!r}; it must be a dict with option names as keys")
    for option, value in (groups.get("runtime_options") or {}).items():
        _check_runtime(what, option, value)
    for option, value in (groups.get("pass_options") or {}).items():
        _check_pass(what, option, value)


def _check_runtime(what: str, option: str, value: Any) -> None:
    if option == "run_mode":
        if isinstance(value, bool) or not isinstance(value, int) or value not in (0, 1):
            raise FeRuntimeError(f"{what}: Invalid run mode {value!r}; allowed are pypto.RunMode.NPU (0) and SIM (1)")
    elif option == "ready_on_host_tensors":
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            raise FeTypeError(f"{what}: ready_on_host_tensors is {value!r}; it must be a list of names")
    elif option in _RANGES:
        low, high = _RANGES[option]
        if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
            raise FeValueError(f"{what}: {option} is {value!r}; allowed are {low}..{high}")
    else:
        names = ", ".join(sorted((*_RANGES, "run_mode", "ready_on_host_tensors")))
        raise FeValueError(f"{what}: runtime_options has no {option!r}; there are {names}")


def check_for_chip(what: str, groups: Mapping[str, Any], chip: str, arch: str) -> None:
    """Check what depends on the chip that the kernel goes to."""
    number = (groups.get("runtime_options") or {}).get("launch_sched_aicpu_num")
    if number is not None and arch == "2201" and number > _AICPUS_2201:
        raise FeValueError(f"{what}: launch_sched_aicpu_num is {number}; {chip} takes 1..{_AICPUS_2201}")


def _check_pass(what: str, option: str, value: Any) -> None:
    """Merge settings and scopes are checked; other passes have options of many kinds, which are taken as they are."""
    if option == "sg_set_scope":
        _check_scope(what, value)
        return
    if option not in _SETTINGS:
        return
    good = isinstance(value, Mapping) and all(
        isinstance(key, int | str) and isinstance(count, int) and not isinstance(count, bool) and count >= 1
        for key, count in value.items()
    )
    if not good:
        raise FeValueError(
            f"{what}: {option} is {value!r}; it must be a dict from sub-graph (-1 or a name) to a count of at least 1"
        )


def _check_scope(what: str, value: Any) -> None:
    """A number from -1 (none) on, or with two flags that only a scope can have."""
    scope, *flags = value if isinstance(value, tuple) else (value, False, False)
    good = isinstance(scope, int) and not isinstance(scope, bool) and -1 <= scope <= INT_MAX
    if not good or len(flags) != 2 or not all(isinstance(flag, bool) for flag in flags) or (scope == -1 and any(flags)):
        raise FeValueError(
            f"{what}: sg_set_scope is {value!r}; it must be a scope -1..{INT_MAX}, or (scope, parallel, across) with "
            "two bools, which are False for scope -1"
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
