"""Vector functions in launched kernels: one item of PIPE_V, timed, warned about where a memory barrier is missing."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from ascend_sim import asc
from ascend_sim.asc import reg
from ascend_sim.asc.memory import DeviceArray
from ascend_sim.asc.tensors import GlobalAddress
from ascend_sim.host.device import Device
from ascend_sim.program import VfWork

F32 = asc.float32


@asc.vf
def twice_vf(out: Any, middle: Any, x: Any, rounds: int, barrier: bool) -> None:
    """out = 4 x by way of UB."""
    value, again = reg.RegTensor(F32), reg.RegTensor(F32)
    everything = reg.create_mask(F32)
    for i in asc.range(rounds):
        reg.load_align(value, x + i * 64)
        reg.muls(value, value, 2.0, everything)
        reg.store_align(middle + i * 64, value, everything)
    if barrier:
        reg.local_mem_bar(reg.MemType.VEC_STORE, reg.MemType.VEC_LOAD)
    for i in asc.range(rounds):
        reg.load_align(again, middle + i * 64)
        reg.muls(again, again, 2.0, everything)
        reg.store_align(out + i * 64, again, everything)


@asc.jit
def four_times(x: GlobalAddress, y: GlobalAddress, tiles: int, barrier: asc.ConstExpr[bool]) -> None:
    source, target = asc.GlobalTensor(), asc.GlobalTensor()
    source.set_global_buffer(x)
    target.set_global_buffer(y)
    pipe = asc.TPipe()
    in_x, out_y, scratch = asc.TQue(asc.TPosition.VECIN, 1), asc.TQue(asc.TPosition.VECOUT, 1), asc.TBuf()
    pipe.init_buffer(in_x, 2, 1024)
    pipe.init_buffer(out_y, 2, 1024)
    pipe.init_buffer(scratch, 1024)
    for i in asc.range(tiles):
        local = in_x.alloc_tensor(F32)
        asc.data_copy(local, source[i * 256], 256)
        in_x.enque(local)
        local, result = in_x.deque(F32), out_y.alloc_tensor(F32)
        twice_vf(result, scratch.get(F32), local, 4, barrier)
        out_y.enque(result)
        in_x.free_tensor(local)
        result = out_y.deque(F32)
        asc.data_copy(target[i * 256], result, 256)
        out_y.free_tensor(result)


@pytest.mark.parametrize("barrier", [True, False])
def test_a_queue_kernel_with_a_vector_function(barrier: bool) -> None:
    x = np.random.default_rng(1).normal(size=256 * 6).astype(np.float32)
    y = np.zeros_like(x)
    with Device("ascend950") as device:
        four_times[1](x, y, 6, barrier)
    assert (y == 4 * x).all()
    launch = device.launches[0]
    core = launch.timeline.cores[0]
    functions = [i for i, instr in enumerate(core.program.instrs) if isinstance(instr.work, VfWork)]
    assert len(functions) == 6
    assert len({id(core.program.instrs[i].work) for i in functions}) == 2  # two buffers, so two distinct calls
    assert len({core.end[i] - core.start[i] for i in functions}) == 1
    for one, two in pairwise(functions):
        assert core.start[two] >= core.end[one]  # the hardware keeps the order of PIPE_V
    assert [text.split(" at ")[0] for text in launch.warnings] == ([] if barrier else ["twice_vf: LoadAlign"])


def test_times_without_values() -> None:
    with Device("ascend950", values=False) as device:
        four_times[64](DeviceArray((1536,), "float32"), DeviceArray((1536,), "float32"), 6, True)
    assert device.launches[0].timeline.duration_cycles > 0
