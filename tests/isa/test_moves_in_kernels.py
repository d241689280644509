"""Moving and permuting instructions inside launched kernels, timed by the machine."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ascend_sim import asc
from ascend_sim.host.device import Device


@asc.jit
def pack_odd(x: asc.GlobalAddress, z: asc.GlobalAddress, tile: asc.ConstExpr[int], tiles: asc.ConstExpr[int]) -> None:
    """CopyIn, keep the odd positions, CopyOut as many elements as were kept."""
    x_gm, z_gm = asc.GlobalTensor(), asc.GlobalTensor()
    x_gm.set_global_buffer(x)
    z_gm.set_global_buffer(z)
    pipe = asc.TPipe()
    in_x, out_z = asc.TQue(asc.TPosition.VECIN, 1), asc.TQue(asc.TPosition.VECOUT, 1)
    pipe.init_buffer(in_x, 2, tile * x.dtype.sizeof())
    pipe.init_buffer(out_z, 2, tile * x.dtype.sizeof())
    for i in asc.range(tiles):
        x_local = in_x.alloc_tensor(x.dtype)
        asc.data_copy(x_local, x_gm[i * tile], tile)
        in_x.enque(x_local)
        x_local = in_x.deque(x.dtype)
        z_local = out_z.alloc_tensor(x.dtype)
        kept = asc.gather_mask(z_local, x_local, 2, True, tile, asc.GatherMaskParams(1, 1, 8, 0))
        out_z.enque(z_local)
        z_local = out_z.deque(x.dtype)
        asc.data_copy_pad(z_gm[i * kept], z_local, asc.DataCopyExtParams(1, kept * x.dtype.sizeof(), 0, 0))
        out_z.free_tensor(z_local)
        in_x.free_tensor(x_local)


@asc.jit
def to_nc1hwc0(x: asc.GlobalAddress, z: asc.GlobalAddress, size: asc.ConstExpr[int]) -> None:
    """(n, c, 16, 16) 16-bit elements into blocks of 16 channels, by tensors of addresses."""
    x_gm, z_gm = asc.GlobalTensor(), asc.GlobalTensor()
    x_gm.set_global_buffer(x)
    z_gm.set_global_buffer(z)
    pipe = asc.TPipe()
    queues = asc.TQue(asc.TPosition.VECIN, 1), asc.TQue(asc.TPosition.VECOUT, 1)
    for queue in queues:
        pipe.init_buffer(queue, 1, size * 2)
    lists = asc.TBuf(asc.TPosition.VECCALC), asc.TBuf(asc.TPosition.VECCALC)
    for item in lists:
        pipe.init_buffer(item, 128)
    source = queues[0].alloc_tensor(x.dtype)
    asc.data_copy(source, x_gm, count=size)
    queues[0].enque(source)
    source, target = queues[0].deque(x.dtype), queues[1].alloc_tensor(x.dtype)
    to, out_of = (item.get(asc.uint64) for item in lists)
    for j in range(size // 4096):
        for i in range(16):
            to.set_value(i, target[j * 4096 + i * 16].get_phy_addr())
            out_of.set_value(i, source[j * 4096 + i * 256].get_phy_addr())
        asc.trans_data_to_5hd(to, out_of, asc.TransDataTo5HDParams(False, False, 16, 16, 1))
    queues[1].enque(target)
    target = queues[1].deque(x.dtype)
    asc.data_copy(z_gm, target, size)
    queues[1].free_tensor(target)
    queues[0].free_tensor(source)


@pytest.mark.parametrize("dtype", [np.float16, np.int16, np.float32])
def test_kept_counts_steer_the_copy(dtype: Any) -> None:
    x, z = np.arange(256).astype(dtype), np.zeros(128, dtype)
    with Device("Ascend910B4") as device:
        pack_odd[1](x, z, 64, 4)
    assert z.tolist() == list(range(1, 256, 2))
    assert device.launches[-1].timeline.duration_cycles > 0


def test_trans_data_to_5hd_by_address_tensors() -> None:
    x = np.random.default_rng(0).integers(0, 99, (2, 32, 16, 16)).astype(np.int16)
    z = np.zeros_like(x)
    with Device() as device:
        to_nc1hwc0[1](x, z, x.size)
    expected = x.reshape(2, 2, 16, 16, 16).transpose(0, 1, 3, 4, 2)
    assert (z.reshape(expected.shape) == expected).all()
    assert device.launches[-1].timeline.duration_cycles > 0


def test_atomic_add_sums_over_blocks() -> None:
    @asc.jit
    def accumulate(x: asc.GlobalAddress, z: asc.GlobalAddress) -> None:
        x_gm, z_gm = asc.GlobalTensor(), asc.GlobalTensor()
        x_gm.set_global_buffer(x + asc.get_block_idx() * 64)
        z_gm.set_global_buffer(z)
        tile = asc.LocalTensor(x.dtype, asc.TPosition.VECIN, 0, 64)
        asc.data_copy(tile, x_gm, 64)
        asc.set_flag(asc.HardEvent.MTE2_MTE3, 0)
        asc.wait_flag(asc.HardEvent.MTE2_MTE3, 0)
        asc.set_atomic_add(x.dtype)
        asc.data_copy(z_gm, tile, 64)
        asc.set_atomic_none()

    x, z = np.arange(8 * 64, dtype=np.float32), np.zeros(64, np.float32)
    with Device():
        accumulate[8](x, z)
    assert (z == x.reshape(8, 64).sum(axis=0)).all()
