"""LocalMemAllocator: hands out unified buffer without a TPipe."""

from __future__ import annotations

from enum import IntEnum

from ascend_sim.asc.recorder import RECORDER
from ascend_sim.asc.tensors import UB_POSITIONS, LocalTensor, TPosition
from ascend_sim.errors import KernelError, UnsupportedError
from ascend_sim.isa.dtypes import DataType

__all__ = ["Hardware", "LocalMemAllocator"]
_BLOCK_BYTES = 32


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
        if pos not in UB_POSITIONS:
            raise KernelError(
                f"LocalMemAllocator.alloc at {TPosition(pos).name}: allowed are VECIN, VECOUT and VECCALC"
            )
        limit = RECORDER.launch.ub_usable_bytes if RECORDER.launch is not None else 0
        nbytes = int(tile_size) * data_type.itemsize
        if self._next + nbytes > limit:
            raise KernelError(
                f"LocalMemAllocator.alloc: {nbytes} B asked for with {self._next} B in use, but the unified buffer has "
                f"{limit} B"
            )
        tensor = LocalTensor(data_type, pos, self._next, int(tile_size))
        self._next += -(-nbytes // _BLOCK_BYTES) * _BLOCK_BYTES
        return tensor

    def get_cur_addr(self) -> int:
        """The address of the next tensor."""
        return self._next
