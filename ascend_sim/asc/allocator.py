"""LocalMemAllocator: hands out unified buffer without a TPipe."""

from __future__ import annotations

from enum import IntEnum

from ascend_sim.asc.plain import data_type as numeric_type
from ascend_sim.asc.plain import integer
from ascend_sim.asc.recorder import RECORDER
from ascend_sim.asc.tensors import LocalTensor, TPosition, ub_position
from ascend_sim.errors import KernelError, UnsupportedError
from ascend_sim.isa.dtypes import DataType
from ascend_sim.program import BLOCK_BYTES

__all__ = ["Hardware", "LocalMemAllocator"]


class Hardware(IntEnum):
    """Physical memories."""

    GM = 0
    UB = 1
    L1 = 2
    L0A = 3
    L0B = 4
    L0C = 5
    BIAS = 6
    FIXBUF = 7
    MAX = 8


class LocalMemAllocator:
    """Tensors one after another from address 0 of the unified buffer; not to be mixed with a TPipe."""

    def __init__(self, hard: Hardware = Hardware.UB) -> None:
        if hard is not Hardware.UB:
            raise UnsupportedError(
                f"LocalMemAllocator({hard!r}): only Hardware.UB is simulated, not the cube's memories"
            )
        self._next = 0

    def alloc(self, pos: TPosition, data_type: DataType, tile_size: int) -> LocalTensor:
        """`tile_size` elements; the next tensor starts on the next 32 B."""
        what = "LocalMemAllocator.alloc"
        pos = ub_position(what, pos)
        dtype, size = numeric_type(what, data_type), integer(f"{what}: tile_size", tile_size)
        limit = RECORDER.launch.ub_usable_bytes if RECORDER.launch is not None else 0
        nbytes = size * dtype.itemsize
        if self._next + nbytes > limit:
            raise KernelError(
                f"{what}: {nbytes} B asked for with {self._next} B in use, but the unified buffer has {limit} B"
            )
        tensor = LocalTensor(dtype, pos, self._next, size)
        self._next += -(-nbytes // BLOCK_BYTES) * BLOCK_BYTES
        return tensor

    def get_cur_addr(self) -> int:
        """The address of the next tensor."""
        return self._next
