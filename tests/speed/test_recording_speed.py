"""Recording without values: instructions a second (flags count, framework calls do not) and bytes kept."""

from __future__ import annotations

import gc
import time
import tracemalloc

from ascend_sim import asc
from ascend_sim.asc.launch import Session
from ascend_sim.asc.memory import DeviceArray
from ascend_sim.host.device import Device
from ascend_sim.program import Program
from tests.speed.yardstick import reference_seconds

CORES = 48
TILE = 128
RATE = 400_000  # instructions a second
BYTES = 200  # per instruction
FRAMEWORK_US = 1.0  # per call that emits a flag; 0.6 on a quiet machine


class RecordingDevice(Device):
    """Keeps the record and leaves the timing out."""

    program: Program

    def complete(self, program: Program, session: Session, begun: tuple[float, bool]) -> None:
        self.abandon(begun)
        self.program = program


@asc.jit
def copy_in(i: int, x_gm: asc.GlobalTensor, y_gm: asc.GlobalTensor, in_x: asc.TQue, in_y: asc.TQue) -> None:
    x_local = in_x.alloc_tensor(asc.float32)
    y_local = in_y.alloc_tensor(asc.float32)
    asc.data_copy(x_local, x_gm[i * TILE :], TILE)
    asc.data_copy(y_local, y_gm[i * TILE :], TILE)
    in_x.enque(x_local)
    in_y.enque(y_local)


@asc.jit
def compute(in_x: asc.TQue, in_y: asc.TQue, out_z: asc.TQue) -> None:
    x_local = in_x.deque(asc.float32)
    y_local = in_y.deque(asc.float32)
    z_local = out_z.alloc_tensor(asc.float32)
    asc.add(z_local, x_local, y_local, TILE)
    out_z.enque(z_local)
    in_x.free_tensor(x_local)
    in_y.free_tensor(y_local)


@asc.jit
def copy_out(i: int, z_gm: asc.GlobalTensor, out_z: asc.TQue) -> None:
    z_local = out_z.deque(asc.float32)
    asc.data_copy(z_gm[i * TILE :], z_local, TILE)
    out_z.free_tensor(z_local)


@asc.jit
def add(x: asc.GlobalAddress, y: asc.GlobalAddress, z: asc.GlobalAddress, tiles: int) -> None:
    offset = asc.get_block_idx() * tiles * TILE
    x_gm, y_gm, z_gm = asc.GlobalTensor(), asc.GlobalTensor(), asc.GlobalTensor()
    x_gm.set_global_buffer(x + offset)
    y_gm.set_global_buffer(y + offset)
    z_gm.set_global_buffer(z + offset)
    pipe = asc.TPipe()
    in_x, in_y = asc.TQue(asc.TPosition.VECIN, 2), asc.TQue(asc.TPosition.VECIN, 2)
    out_z = asc.TQue(asc.TPosition.VECOUT, 2)
    for queue in (in_x, in_y, out_z):
        pipe.init_buffer(queue, 2, TILE * 4)
    for i in range(tiles):
        copy_in(i, x_gm, y_gm, in_x, in_y)
        compute(in_x, in_y, out_z)
        copy_out(i, z_gm, out_z)


@asc.jit
def queue_only(tiles: int) -> None:
    pipe, queue = asc.TPipe(), asc.TQue(asc.TPosition.VECIN, 1)
    pipe.init_buffer(queue, 2, TILE * 4)
    for _ in range(tiles):
        tensor = queue.alloc_tensor(asc.float32)
        queue.enque(tensor)
        tensor = queue.deque(asc.float32)
        queue.free_tensor(tensor)


def operands(tiles: int) -> list[DeviceArray]:
    return [DeviceArray((CORES * tiles * TILE,), "float32") for _ in range(3)]


def best_seconds(device: RecordingDevice, kernel: asc.Kernel[..., None], blocks: int, *args: object) -> float:
    """Processor time of a launch without its timing."""

    def once() -> float:
        start = time.process_time()
        kernel[blocks](*args)
        return time.process_time() - start

    return reference_seconds(once, tries=8)


def test_instructions_a_second() -> None:
    with RecordingDevice(values=False) as device:
        seconds = best_seconds(device, add, CORES, *operands(60), 60)
    rate = device.program.instructions / seconds
    assert device.program.instructions == CORES * (60 * 16 + 1)
    assert rate >= RATE, f"{rate:,.0f} instructions a second"


def test_framework_calls() -> None:
    with RecordingDevice(values=False) as device:
        seconds = best_seconds(device, queue_only, 1, 5_000)
    us = seconds * 1e6 / (4 * 5_000)
    assert us <= FRAMEWORK_US, f"{us:.2f} us a call"


def test_bytes_an_instruction() -> None:
    with Device(values=False) as device:
        add[CORES](*operands(2), 2)  # what a process keeps once does not count
        gc.collect()
        tracemalloc.start()
        try:
            before = tracemalloc.get_traced_memory()[0]
            add[CORES](*operands(60), 60)
            gc.collect()
            kept = tracemalloc.get_traced_memory()[0] - before
        finally:
            tracemalloc.stop()
    instructions = device.launches[-1].program.instructions
    assert instructions == CORES * (60 * 16 + 1)
    assert kept / instructions <= BYTES, f"{kept / instructions:.0f} bytes an instruction"
