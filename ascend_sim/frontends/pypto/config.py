"""Options that a kernel or its host code sets by calls: taken as PyPTO has them, checked, and read back.

They steer PyPTO's compiler, scheduler and verification, which are not simulated, so none changes what a kernel computes
or how long it takes here.
"""

from __future__ import annotations

from typing import Any

from ascend_sim.asc.launch import current_device
from ascend_sim.frontends.pypto.errors import FeTypeError
from ascend_sim.frontends.pypto.options import check_options

_GROUPS = ("pass_options", "host_options", "runtime_options", "codegen_options", "verify_options", "debug_options")
_SET: dict[str, dict[str, Any]] = {group: {} for group in _GROUPS}


def _set(group: str, options: dict[str, Any]) -> None:
    given = {name: value for name, value in options.items() if value is not None}
    check_options(f"set_{group}", {group: given})
    _SET[group] |= given


def set_pass_options(**options: Any) -> None:
    """Options of the compiler's passes, such as sg_set_scope and vec_nbuffer_setting."""
    _set("pass_options", options)


def set_host_options(**options: Any) -> None:
    _set("host_options", options)


def set_runtime_options(**options: Any) -> None:
    _set("runtime_options", options)


def set_codegen_options(**options: Any) -> None:
    _set("codegen_options", options)


def set_verify_options(**options: Any) -> None:
    _set("verify_options", options)


def set_debug_options(**options: Any) -> None:
    _set("debug_options", options)


def get_pass_options() -> dict[str, Any]:
    return dict(_SET["pass_options"])


def get_host_options() -> dict[str, Any]:
    return dict(_SET["host_options"])


def get_runtime_options() -> dict[str, Any]:
    return dict(_SET["runtime_options"])


def get_codegen_options() -> dict[str, Any]:
    return dict(_SET["codegen_options"])


def get_verify_options() -> dict[str, Any]:
    return dict(_SET["verify_options"])


def get_debug_options() -> dict[str, Any]:
    return dict(_SET["debug_options"])


def reset_options() -> None:
    """Forget what the `set_..._options` calls have set."""
    for group in _SET.values():
        group.clear()


def set_semantic_label(label: str) -> None:
    """A name for the operations that follow, which PyPTO shows in its swim lanes."""
    if not isinstance(label, str):
        raise FeTypeError(f"set_semantic_label: label is {label!r}; it must be a string")


def set_cube_tile_shapes(*sizes: Any, **settings: Any) -> None:
    """Tiles of matrix products; there are none here (the cube unit is not simulated), so they mean nothing."""


class _Platform:
    """`pypto.platform`."""

    @property
    def npuarch(self) -> str:
        """The architecture of the current device: "DAV_2201" of A2 and A3, "DAV_3510" of the 950."""
        return f"DAV_{current_device().arch}"


platform = _Platform()
