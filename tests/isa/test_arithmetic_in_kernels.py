"""Arithmetic, reductions and selection inside launched kernels, timed by the machine."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from ascend_sim import asc
from ascend_sim.errors import KernelError
from ascend_sim.host.device import Device

Array = npt.NDArray[Any]


@asc.jit
def softmax_rows(
    x: asc.GlobalAddress, y: asc.GlobalAddress, rows: asc.ConstExpr[int], width: asc.ConstExpr[int]
) -> None:
    """Each block: `rows` rows of `width` float32, exp(x - max) / sum, negative inputs doubled beforehand."""
    first = asc.get_block_idx() * rows * width
    x_gm, y_gm = asc.GlobalTensor(), asc.GlobalTensor()
    x_gm.set_global_buffer(x + first)
    y_gm.set_global_buffer(y + first)
    pipe = asc.TPipe()
    in_x, out_y = asc.TQue(asc.TPosition.VECIN, 1), asc.TQue(asc.TPosition.VECOUT, 1)
    work = asc.TBuf(asc.TPosition.VECCALC)
    pipe.init_buffer(in_x, 2, width * 4)
    pipe.init_buffer(out_y, 2, width * 4)
    pipe.init_buffer(work, 1024)
    scratch = work.get(asc.float32)
    bits = work.get_with_offset(256, 512, asc.uint8)
    for row in asc.range(rows):
        a = in_x.alloc_tensor(asc.float32)
        asc.data_copy(a, x_gm[row * width], width)
        in_x.enque(a)
        a, b = in_x.deque(asc.float32), out_y.alloc_tensor(asc.float32)
        asc.compare_scalar(bits, a, 0.0, asc.CMPMODE.LT, width)
        asc.muls(b, a, 2.0, width)
        asc.select(a, bits, b, a, asc.SelMode.VSEL_TENSOR_TENSOR_MODE, width)
        asc.reduce_max(scratch, a, scratch[8], width)
        asc.adds(a, a, -scratch.get_value(0), width)
        asc.exp(b, a, width)
        asc.reduce_sum(scratch, b, scratch[8], width)
        asc.muls(b, b, asc.number(1.0, asc.float32) / scratch.get_value(0), width)
        out_y.enque(b)
        in_x.free_tensor(a)
        b = out_y.deque(asc.float32)
        asc.data_copy(y_gm[row * width], b, width)
        out_y.free_tensor(b)


def softmax(x: Array) -> Array:
    """The same in float64."""
    doubled = np.where(x < 0, 2.0 * x, x).astype(np.float64)
    powers = np.exp(doubled - doubled.max(axis=1, keepdims=True))
    result: Array = powers / powers.sum(axis=1, keepdims=True)
    return result


def launch(values: bool) -> tuple[Any, Array, Array]:
    x = np.random.default_rng(0).standard_normal((12, 512)).astype(np.float32)
    y = np.zeros_like(x)
    with Device("Ascend910B3", values=values) as device:
        softmax_rows[4](x, y, 3, 512)
    return device.launches[-1], x, y


def test_values_and_time() -> None:
    first, x, y = launch(True)
    np.testing.assert_allclose(y, softmax(x), rtol=1e-6)
    assert 0 < first.timeline.duration_cycles == launch(True)[0].timeline.duration_cycles
    names = {instr.name for block in first.program.blocks for instr in block.instrs}
    assert {"CompareScalar", "Select", "ReduceMax", "ReduceSum", "Exp", "Muls", "Adds", "GetValue"} <= names


def test_equal_tiles_share_their_instructions() -> None:
    block = launch(True)[0].program.blocks[0]
    vector = [instr for instr in block.instrs if instr.pipe is asc.PipeID.PIPE_V]
    # two buffers each for input and output: rows 0 and 2 are the same calls, scalars included
    assert len(set(map(id, vector))) <= len(vector) * 2 // 3


def test_without_values_scalars_read_from_a_tensor_are_unknown() -> None:
    with pytest.raises(KernelError) as error:
        launch(False)
    assert "this run computes no values: run it with values" in str(error.value)
