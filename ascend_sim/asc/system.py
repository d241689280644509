"""What a kernel can ask about itself and the chip."""

from __future__ import annotations

from typing import Any

from ascend_sim.asc.recorder import RECORDER
from ascend_sim.asc.scalars import SCALARS, Int32, IntScalar
from ascend_sim.errors import KernelError
from ascend_sim.isa import dtypes

__all__ = [
    "ascend_is_aic",
    "ascend_is_aiv",
    "get_block_idx",
    "get_block_num",
    "get_data_block_size_in_bytes",
    "get_sub_block_idx",
    "get_sub_block_num",
    "get_task_ratio",
    "init_soc_state",
    "trap",
]

_Int64: type[IntScalar] = SCALARS[dtypes.int64]


def _inside(call: str) -> None:
    if RECORDER.launch is None:
        raise KernelError(f"asc.{call}() can only be called inside a kernel")


def get_block_idx() -> int:
    """Index of this block, from 0 (a run-time int32)."""
    _inside("get_block_idx")
    return Int32(RECORDER.block)


def get_block_num() -> int:
    """Number of blocks of the launch (a run-time int32)."""
    _inside("get_block_num")
    return Int32(RECORDER.block_dim)


def get_sub_block_idx() -> int:
    """Index of the vector core within its AI Core: 0 in kernels that run on vector cores alone."""
    _inside("get_sub_block_idx")
    return _Int64(0)


def get_sub_block_num() -> int:
    """Vector cores per block: 1 in kernels that run on vector cores alone."""
    _inside("get_sub_block_num")
    return _Int64(1)


def get_task_ratio() -> int:
    """Vector cores per cube core of the task: 1 in kernels that run on vector cores alone."""
    _inside("get_task_ratio")
    return _Int64(1)


def get_data_block_size_in_bytes() -> int:
    return Int32(32)


def ascend_is_aiv() -> bool:
    """Whether this core is a vector core: always, cube kernels are not simulated yet."""
    return True


def ascend_is_aic() -> bool:
    return False


def init_soc_state() -> None:
    """Resets the core's registers; a block starts with them reset."""


def trap() -> Any:
    """Abort the kernel."""
    raise KernelError("asc.trap() was called")
