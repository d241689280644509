"""y = x + bias by TPipe queues: msopprof's samples of blocks, tile size, buffers and framework overhead.

Where TPipe is a member of the kernel class, the compiler cannot keep its fields in registers: each queue call goes
through the object in memory again. `MEMBER_ALU` is what that costs per queue call, in ALU operations of 2 cycles; it
is the difference of the two overhead samples, which differ in nothing else (0.74 us over 130 queue calls at 1650 MHz).
"""

from __future__ import annotations

from dataclasses import dataclass

from ascend_sim import asc
from ascend_sim.accuracy.kernels.case import Case, arrays
from ascend_sim.accuracy.rows import Row

BYTES = 2  # fp16
MEMBER_ALU = 5


@dataclass(frozen=True, slots=True)
class Shape:
    """`elements` in all, `tile` elements a copy; `adds` equal Adds per tile."""

    elements: int
    tile: int
    buffers: int
    adds: int
    pipe_in_class: bool


class Queue:
    """A queue of the class under test, with the cost of reaching it."""

    def __init__(self, pipe: asc.TPipe, position: asc.TPosition, shape: Shape) -> None:
        self.queue = asc.TQue(position, shape.buffers)
        pipe.init_buffer(self.queue, shape.buffers, shape.tile * BYTES)
        self.through_object = shape.pipe_in_class

    def reach(self) -> asc.TQue:
        if self.through_object:
            pointer = asc.number(0, asc.int32)
            for _ in range(MEMBER_ALU):
                pointer + 1  # charged to the scalar unit
        return self.queue


@asc.jit
def add_bias(
    x: asc.GlobalAddress, bias: asc.GlobalAddress, y: asc.GlobalAddress, limit: int, shape: asc.ConstExpr[Shape]
) -> None:
    asc.init_soc_state()
    pipe = asc.TPipe()
    each = shape.elements // int(asc.get_block_num())
    first = each * int(asc.get_block_idx())
    tensors = [asc.GlobalTensor() for _ in range(3)]
    for tensor, address in zip(tensors, (x, bias, y), strict=True):
        tensor.set_global_buffer(address + first, each)
    queues = [Queue(pipe, position, shape) for position in (asc.TPosition.VECIN,) * 2 + (asc.TPosition.VECOUT,)]
    for i in range(min(each // shape.tile, int(limit))):
        load(queues[:2], tensors[:2], i * shape.tile, shape)
        compute(queues, shape)
        store(queues[2], tensors[2][i * shape.tile], shape)


def load(queues: list[Queue], tensors: list[asc.GlobalTensor], start: int, shape: Shape) -> None:
    locals_ = [queue.reach().alloc_tensor(asc.float16) for queue in queues]
    for local, gm in zip(locals_, tensors, strict=True):
        asc.data_copy(local, gm[start], shape.tile)
    for queue, local in zip(queues, locals_, strict=True):
        queue.reach().enque(local)


def compute(queues: list[Queue], shape: Shape) -> None:
    in_x, in_bias, out = queues
    x, bias = in_x.reach().deque(asc.float16), in_bias.reach().deque(asc.float16)
    y = out.reach().alloc_tensor(asc.float16)
    for _ in range(shape.adds):
        asc.add(y, x, bias, shape.tile)
    out.reach().enque(y)
    in_x.reach().free_tensor(x)
    in_bias.reach().free_tensor(bias)


def store(queue: Queue, gm: asc.GlobalTensor, shape: Shape) -> None:
    y = queue.reach().deque(asc.float16)
    asc.data_copy(gm, y, shape.tile)
    queue.reach().free_tensor(y)


def build(row: Row) -> Case:
    """The fields of `Shape`, shared out evenly over `block_dim` blocks."""
    shape = Shape(**row.params)
    blocks = row.block_dim or 1
    tensors = arrays(3, (shape.elements,), "float16")
    return Case(lambda limit: add_bias[blocks](*tensors, limit, shape), shape.elements // blocks // shape.tile)
