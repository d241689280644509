"""Loop mode of data_copy_pad, and what else is wider in it on the 950."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ascend_sim import asc
from ascend_sim.asc.tensors import GlobalAddress
from ascend_sim.errors import KernelError
from ascend_sim.host.device import Device
from ascend_sim.program import CopyWork

ROWS, HEADS, BATCH, LENGTH, PITCH = 3, 4, 2, 10, 16
UB_ROW = 32  # 10 halves fill one block of 32 B


@asc.jit
def move(x: GlobalAddress, y: GlobalAddress) -> None:
    source, target = asc.GlobalTensor(), asc.GlobalTensor()
    source.set_global_buffer(x)
    target.set_global_buffer(y)
    tile = asc.LocalTensor(asc.float16, asc.TPosition.VECIN, 0, BATCH * HEADS * ROWS * UB_ROW // 2)
    head, batch = ROWS * PITCH * 2, HEADS * ROWS * PITCH * 2
    loops = asc.LoopModeParams(HEADS, BATCH, head, ROWS * UB_ROW, batch, HEADS * ROWS * UB_ROW)
    asc.set_loop_mode_para(loops, asc.DataCopyMVType.OUT_TO_UB)
    params = asc.DataCopyExtParams(ROWS, LENGTH * 2, (PITCH - LENGTH) * 2, 0)
    asc.data_copy_pad(tile, source, params, asc.DataCopyPadExtParams(asc.float16, False, 0, 0, 0))
    asc.reset_loop_mode_para(asc.DataCopyMVType.OUT_TO_UB)
    asc.set_flag(asc.HardEvent.MTE2_MTE3, 0)
    asc.wait_flag(asc.HardEvent.MTE2_MTE3, 0)
    back = asc.LoopModeParams(HEADS, BATCH, ROWS * UB_ROW, head, HEADS * ROWS * UB_ROW, batch)
    asc.set_loop_mode_para(back, asc.DataCopyMVType.UB_TO_OUT)
    asc.data_copy_pad(target, tile, asc.DataCopyExtParams(ROWS, LENGTH * 2, 0, (PITCH - LENGTH) * 2))
    asc.reset_loop_mode_para(asc.DataCopyMVType.UB_TO_OUT)
    asc.data_copy_pad(target, tile, asc.DataCopyExtParams(1, 2, 0, 0))  # once, no longer in loops


def test_one_copy_moves_four_dimensions() -> None:
    x = np.random.default_rng(0).normal(size=(BATCH, HEADS, ROWS, PITCH)).astype(np.float16)
    y = np.zeros_like(x)
    with Device("ascend950") as device:
        move[1](x, y)
    assert (y[..., :LENGTH] == x[..., :LENGTH]).all()
    assert (y[..., LENGTH:] == 0).all()
    work = [instr.work for instr in device.launches[0].program.blocks[0].instrs if isinstance(instr.work, CopyWork)]
    assert [w.nbytes for w in work] == [x[..., :LENGTH].nbytes] * 2 + [2]
    copies = [instr for instr in device.launches[0].program.blocks[0].instrs if isinstance(instr.work, CopyWork)]
    assert copies[0].writes[0].dims == ((BATCH, 384), (HEADS, 96))
    assert copies[0].reads[0].dims == ((BATCH, 384), (HEADS, 96), (ROWS, 32))


@asc.jit
def same_row(x: GlobalAddress, y: GlobalAddress, rows: int) -> None:
    source, target = asc.GlobalTensor(), asc.GlobalTensor()
    source.set_global_buffer(x)
    target.set_global_buffer(y)
    tile = asc.LocalTensor(asc.float32, asc.TPosition.VECIN, 0, 8 * rows)
    params = asc.DataCopyExtParams(rows, 32, -32, 0)
    asc.data_copy_pad(tile, source, params, asc.DataCopyPadExtParams(asc.float32, False, 0, 0, 0))
    asc.set_flag(asc.HardEvent.MTE2_MTE3, 0)
    asc.wait_flag(asc.HardEvent.MTE2_MTE3, 0)
    asc.data_copy_pad(target, tile, asc.DataCopyExtParams(1, 32 * rows, 0, 0))


def test_a_negative_gap_reads_a_row_again() -> None:
    x = np.arange(8, dtype=np.float32)
    y = np.zeros((5, 8), np.float32)
    with Device("ascend950"):
        same_row[1](x, y, 5)
    assert (y == x).all()
    with Device("ascend910b"), pytest.raises(KernelError) as caught:
        same_row[1](x, y, 5)
    assert "DataCopyExtParams.src_stride is -32, allowed are 0..4294967295" in str(caught.value)


@asc.jit
def wrong(x: GlobalAddress, case: asc.ConstExpr[object]) -> None:
    source = asc.GlobalTensor()
    source.set_global_buffer(x)
    case(source)


def _plain_copy_in_loop_mode(source: Any) -> None:
    asc.set_loop_mode_para(asc.LoopModeParams(2, 1, 64, 64), asc.DataCopyMVType.OUT_TO_UB)
    asc.data_copy(asc.LocalTensor(asc.float32, asc.TPosition.VECIN, 0, 64), source, 16)


@pytest.mark.parametrize(
    ("soc", "case", "text"),
    [
        (
            "ascend950",
            lambda _: asc.set_loop_mode_para(asc.LoopModeParams(2, 1, 64, 40), asc.DataCopyMVType.OUT_TO_UB),
            "SetLoopModePara: loop1_dst_stride is 40 B, allowed are multiples of 32 B: rows in UB start on a 32 B "
            "block",
        ),
        (
            "ascend950",
            lambda _: asc.set_loop_mode_para(asc.LoopModeParams(0), asc.DataCopyMVType.OUT_TO_UB),
            "SetLoopModePara: loop1_size is 0, allowed are 1..2097151",
        ),
        (
            "ascend950",
            lambda _: asc.set_loop_mode_para(asc.LoopModeParams(2), 1),
            "SetLoopModePara: mv_type must be DataCopyMVType.OUT_TO_UB or DataCopyMVType.UB_TO_OUT, not 1",
        ),
        (
            "ascend950",
            _plain_copy_in_loop_mode,
            "DataCopy: loop mode is set for OUT_TO_UB: it repeats data_copy_pad only; call reset_loop_mode_para first",
        ),
        (
            "ascend910b",
            lambda _: asc.reset_loop_mode_para(asc.DataCopyMVType.OUT_TO_UB),
            "ResetLoopModePara: Ascend 910B / 910_93 (arch 2201) has no loop mode: repeat the copy, or use its rows",
        ),
    ],
)
def test_refusals(soc: str, case: Any, text: str) -> None:
    with Device(soc), pytest.raises(KernelError) as caught:
        wrong[1](np.zeros(64, np.float32), case)
    assert text in str(caught.value)
