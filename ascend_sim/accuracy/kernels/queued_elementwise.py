"""Add4 (three chained Adds) and Mul by TPipe queues, double buffered: cannbot's AscendC kernels.

Every tile is copied in, computed and copied out before the next is begun; overlap comes from the two buffers alone.
"""

from __future__ import annotations

from typing import Any

from ascend_sim import asc
from ascend_sim.accuracy.kernels.case import Case, arrays
from ascend_sim.accuracy.rows import Row

MOST_BLOCKS = 20
BUFFERS = 2
BYTES = 2  # fp16


class Split(asc.Struct):
    """Tiling data: tiles of each block but the last, and of the last."""

    blocks = asc.Field(asc.int32)
    tiles = asc.Field(asc.int32)
    last_tiles = asc.Field(asc.int32)
    limit = asc.Field(asc.int32)


def split(tiles: int) -> tuple[int, int, int]:
    """`(blocks, tiles per block, tiles of the last)`: even, and a block that would get nothing is dropped."""
    blocks = min(MOST_BLOCKS, tiles)
    while True:
        each = -(-tiles // blocks)
        last = tiles - each * (blocks - 1)
        if last > 0:
            return blocks, each, last
        blocks -= 1


class Operand:
    """One tensor of the kernel with its queue."""

    def __init__(self, pipe: asc.TPipe, address: asc.GlobalAddress, position: asc.TPosition, tile: int) -> None:
        self.queue = asc.TQue(position, 1)
        pipe.init_buffer(self.queue, BUFFERS, tile * BYTES)
        self.address = address
        self.gm = asc.GlobalTensor()

    def window(self, first: int, tile: int) -> asc.GlobalTensor:
        self.gm.set_global_buffer(self.address + first, tile)
        return self.gm


def copy_in(operand: Operand, first: int, tile: int) -> None:
    local = operand.queue.alloc_tensor(asc.float16)
    params = asc.DataCopyExtParams(1, tile * BYTES, 0, 0)
    asc.data_copy_pad(local, operand.window(first, tile), params, asc.DataCopyPadExtParams(asc.float16))
    operand.queue.enque(local)


def copy_out(operand: Operand, first: int, tile: int) -> None:
    local = operand.queue.deque(asc.float16)
    asc.data_copy_pad(operand.window(first, tile), local, asc.DataCopyExtParams(1, tile * BYTES, 0, 0))
    operand.queue.free_tensor(local)


def own_tiles(tiling: Split) -> tuple[int, int]:
    """`(first tile, number of tiles)` of this block."""
    block = int(asc.get_block_idx())
    count = tiling.last_tiles if block == tiling.blocks - 1 else tiling.tiles
    return block * int(tiling.tiles), min(int(count), int(tiling.limit))


@asc.jit
def mul(
    x1: asc.GlobalAddress, x2: asc.GlobalAddress, y: asc.GlobalAddress, tiling: Split, tile: asc.ConstExpr[int]
) -> None:
    pipe = asc.TPipe()
    first, tiles = own_tiles(tiling)
    inputs = [Operand(pipe, x, asc.TPosition.VECIN, tile) for x in (x1, x2)]
    output = Operand(pipe, y, asc.TPosition.VECOUT, tile)
    for i in range(first, first + tiles):
        for operand in inputs:
            copy_in(operand, i * tile, tile)
        a, b = (operand.queue.deque(asc.float16) for operand in inputs)
        result = output.queue.alloc_tensor(asc.float16)
        asc.mul(result, a, b, tile)
        output.queue.enque(result)
        for operand, local in zip(inputs, (a, b), strict=True):
            operand.queue.free_tensor(local)
        copy_out(output, i * tile, tile)


@asc.jit
def add4(
    x1: asc.GlobalAddress,
    x2: asc.GlobalAddress,
    x3: asc.GlobalAddress,
    x4: asc.GlobalAddress,
    y: asc.GlobalAddress,
    tiling: Split,
    tile: asc.ConstExpr[int],
) -> None:
    pipe = asc.TPipe()
    first, tiles = own_tiles(tiling)
    inputs = [Operand(pipe, x, asc.TPosition.VECIN, tile) for x in (x1, x2, x3, x4)]
    scratch = asc.TBuf(asc.TPosition.VECCALC)
    pipe.init_buffer(scratch, tile * BYTES)
    output = Operand(pipe, y, asc.TPosition.VECOUT, tile)
    for i in range(first, first + tiles):
        for operand in inputs:
            copy_in(operand, i * tile, tile)
        locals_ = [operand.queue.deque(asc.float16) for operand in inputs]
        tmp = scratch.alloc_tensor(asc.float16)
        result = output.queue.alloc_tensor(asc.float16)
        asc.add(tmp, locals_[0], locals_[1], tile)
        asc.add(tmp, tmp, locals_[2], tile)
        asc.add(result, tmp, locals_[3], tile)
        output.queue.enque(result)
        for operand, local in zip(inputs, locals_, strict=True):
            operand.queue.free_tensor(local)
        scratch.free_tensor(tmp)
        copy_out(output, i * tile, tile)


KERNELS: dict[str, tuple[Any, int]] = {"mul": (mul, 2), "add4": (add4, 4)}  # kernel, inputs


def build(row: Row) -> Case:
    """`op` ("mul", "add4"), `elements`, `tile` (elements)."""
    kernel, inputs = KERNELS[row.params["op"]]
    tile = row.params["tile"]
    blocks, tiles, last = split(row.params["elements"] // tile)
    tensors = arrays(inputs + 1, (row.params["elements"],), "float16")

    def launch(limit: int) -> None:
        kernel[blocks](*tensors, Split(blocks=blocks, tiles=tiles, last_tiles=last, limit=min(limit, tiles)), tile)

    return Case(launch, tiles)
