"""Options of `asc.jit` and of a launch, under pyasc's names.

Most steer a compiler that is not there, and only need to exist and be valid.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from enum import IntEnum
from typing import Any

from ascend_sim.errors import OptionError, UnsupportedError

__all__ = ["CodegenOptions", "CompileOptions", "KernelType", "LaunchOptions"]


class KernelType(IntEnum):
    """Which cores of an AI Core run a kernel."""

    AIV_ONLY = 0
    AIC_ONLY = 1
    MIX_AIV_HARD_SYNC = 2
    MIX_AIC_HARD_SYNC = 3
    MIX_AIV_1_0 = 4
    MIX_AIC_1_0 = 5
    MIX_AIC_1_1 = 6
    MIX_AIC_1_2 = 7


VECTOR_KERNEL_TYPES = (KernelType.AIV_ONLY, KernelType.MIX_AIV_HARD_SYNC, KernelType.MIX_AIV_1_0)


@dataclass(frozen=True)
class CodegenOptions:
    """Options of pyasc's code generation."""

    capture_exceptions: bool = True
    ir_multithreading: bool = True


@dataclass(frozen=True)
class CompileOptions:
    """Options of pyasc's compiler. `auto_sync` decides whether the compiler's own barriers are timed."""

    kernel_type: KernelType | None = None
    insert_sync: bool | None = None
    auto_sync: bool = True
    auto_sync_log: str = ""
    always_compile: bool = False
    matmul_cube_only: bool = False
    opt_level: int = 3
    debug: bool = False
    bisheng_options: Any = None
    verify_sync: bool = False
    strip_loc: bool = False
    print_ir_before_all: bool = False
    run_passes: bool = True


@dataclass(frozen=True)
class LaunchOptions:
    """What stands in `kernel[core_num, stream]`."""

    core_num: int = 1
    stream: Any = None


OPTION_NAMES = frozenset(field.name for kind in (CodegenOptions, CompileOptions) for field in fields(kind))
LAUNCH_NAMES = frozenset(field.name for field in fields(LaunchOptions))
RESERVED_NAMES = OPTION_NAMES | LAUNCH_NAMES
_OPT_LEVELS = (1, 2, 3)


def check_options(options: Mapping[str, Any]) -> dict[str, Any]:
    """`options` as given, refused when one does not exist or has a value that it does not take."""
    for name in options:
        if name not in OPTION_NAMES:
            hint = " (it stands in the brackets: kernel[core_num, stream])" if name in LAUNCH_NAMES else ""
            raise OptionError(f"asc.jit has no option {name!r}{hint}; allowed are {', '.join(sorted(OPTION_NAMES))}")
    if options.get("opt_level", 3) not in _OPT_LEVELS:
        raise OptionError(f"asc.jit: opt_level {options['opt_level']!r}, allowed are 1, 2 and 3")
    _check_kernel_type(options.get("kernel_type"))
    if options.get("matmul_cube_only"):
        raise UnsupportedError("asc.jit: matmul_cube_only needs the cube unit, which is not simulated yet")
    return dict(options)


def _check_kernel_type(kind: Any) -> None:
    if kind is None:
        return
    if not isinstance(kind, KernelType):
        raise OptionError(f"asc.jit: kernel_type takes a KernelType such as KernelType.AIV_ONLY, not {kind!r}")
    if kind not in VECTOR_KERNEL_TYPES:
        raise UnsupportedError(
            f"asc.jit: KernelType.{kind.name} needs cube cores, which are not simulated yet; allowed are "
            f"{', '.join(k.name for k in VECTOR_KERNEL_TYPES)}"
        )
