"""Cache control: global memory is coherent in the simulator, so these calls only cost their scalar issue."""

from __future__ import annotations

from enum import IntEnum
from typing import Any

from ascend_sim.asc.operands import whole
from ascend_sim.asc.recorder import RECORDER
from ascend_sim.asc.tensors import GlobalTensor, LocalTensor
from ascend_sim.errors import KernelError
from ascend_sim.program import ScalarCall

__all__ = ["CacheLine", "DcciDst", "data_cache_clean_and_invalid", "data_cache_preload"]


class CacheLine(IntEnum):
    """How much of the data cache a call speaks of."""

    SINGLE_CACHE_LINE = 0
    ENTIRE_DATA_CACHE = 1


class DcciDst(IntEnum):
    """Which lines `data_cache_clean_and_invalid` writes back."""

    CACHELINE_ALL = 0
    CACHELINE_UB = 1
    CACHELINE_OUT = 2
    CACHELINE_ATOMIC = 3


def data_cache_clean_and_invalid(
    entire_type: CacheLine, dst: GlobalTensor | LocalTensor, dcci_dst: DcciDst | None = None
) -> None:
    """Write the scalar data cache back to `dst` and forget it."""
    if not isinstance(entire_type, CacheLine):
        raise KernelError(f"data_cache_clean_and_invalid takes a CacheLine, not {entire_type!r}")
    if dcci_dst is not None and not isinstance(dcci_dst, DcciDst):
        raise KernelError(f"data_cache_clean_and_invalid takes a DcciDst, not {dcci_dst!r}")
    _charge("data_cache_clean_and_invalid", dst)


def data_cache_preload(src: GlobalTensor, cache_offset: Any) -> None:
    """Load the cache line of `src` (uint64) at byte `cache_offset` ahead of its use."""
    whole("data_cache_preload", "cache_offset", cache_offset, 0, (1 << 63) - 1)
    _charge("data_cache_preload", src)


def _charge(call: str, tensor: Any) -> None:
    if not isinstance(tensor, GlobalTensor | LocalTensor):
        raise KernelError(f"{call} takes a GlobalTensor, not {type(tensor).__name__}")
    RECORDER.charge(ScalarCall.ALU)
