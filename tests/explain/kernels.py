"""What is explained in these tests: the operators' examples, and small kernels each with one thing wrong."""

from __future__ import annotations

import ascend_sim
from ascend_sim import asc
from ascend_sim.explain import account
from ascend_sim.host.registry import operator_named, operator_names


def _simulated(soc: str) -> list[str]:
    found = (operator_named(name) for name in operator_names())
    return [op.name for op in found if soc in op.supports and op.supports[soc].simulated]


EXAMPLES = [(name, soc) for soc in ("ascend910b", "ascend950") for name in _simulated(soc)]
"""Operators and chips on which their examples run."""


@asc.jit
def scale(
    x: asc.GlobalAddress,
    y: asc.GlobalAddress,
    tiles: asc.ConstExpr[int],
    tile: asc.ConstExpr[int],
    buffers: asc.ConstExpr[int],
    times: asc.ConstExpr[int],
) -> None:
    """y = x * 0.5 ** times, `tiles` tiles of `tile` elements per block, `buffers` buffers per queue."""
    move(x, y, tiles, tile, buffers, times)


@asc.jit
def uneven(x: asc.GlobalAddress, y: asc.GlobalAddress, tiles: asc.ConstExpr[int], tile: asc.ConstExpr[int]) -> None:
    """The last block has four times as many tiles as the others."""
    last = asc.get_block_idx() == asc.get_block_num() - 1
    move(x, y, 4 * tiles if last else tiles, tile, 2, 1)


def move(x, y, tiles, tile, buffers, times):
    offset = asc.get_block_idx() * tiles * tile
    x_gm, y_gm = asc.GlobalTensor(), asc.GlobalTensor()
    x_gm.set_global_buffer(x + offset)
    y_gm.set_global_buffer(y + offset)
    pipe = asc.TPipe()
    in_x, out_y = asc.TQue(asc.TPosition.VECIN, 1), asc.TQue(asc.TPosition.VECOUT, 1)
    pipe.init_buffer(in_x, buffers, tile * x.dtype.sizeof())
    pipe.init_buffer(out_y, buffers, tile * y.dtype.sizeof())
    for i in asc.range(tiles):
        x_local = in_x.alloc_tensor(x.dtype)
        asc.data_copy(x_local, x_gm[i * tile :], tile)
        in_x.enque(x_local)
        x_local, y_local = in_x.deque(x.dtype), out_y.alloc_tensor(y.dtype)
        asc.muls(y_local, x_local, 0.5, tile)
        for _ in range(times - 1):
            asc.muls(y_local, y_local, 0.5, tile)
        in_x.free_tensor(x_local)
        out_y.enque(y_local)
        y_local = out_y.deque(y.dtype)
        asc.data_copy(y_gm[i * tile :], y_local, tile)
        out_y.free_tensor(y_local)


@asc.jit
def adds(x: asc.GlobalAddress, z: asc.GlobalAddress, second: asc.ConstExpr[int], count: asc.ConstExpr[int]) -> None:
    """Adds of 4096 elements whose second source lies at UB byte `second`."""
    x_gm, z_gm = asc.GlobalTensor(), asc.GlobalTensor()
    x_gm.set_global_buffer(x)
    z_gm.set_global_buffer(z)
    first = asc.LocalTensor(asc.float32, asc.TPosition.VECIN, 0, 4096)
    other = asc.LocalTensor(asc.float32, asc.TPosition.VECIN, second, 4096)
    result = asc.LocalTensor(asc.float32, asc.TPosition.VECOUT, 131072, 4096)
    asc.data_copy(first, x_gm, 4096)
    asc.data_copy(other, x_gm, 4096)
    asc.set_flag(asc.HardEvent.MTE2_V, 0)
    asc.wait_flag(asc.HardEvent.MTE2_V, 0)
    for _ in range(count):
        asc.add(result, first, other, 4096)
    asc.set_flag(asc.HardEvent.V_MTE3, 0)
    asc.wait_flag(asc.HardEvent.V_MTE3, 0)
    asc.data_copy(z_gm, result, 4096)


@asc.jit
def one_by_one(x: asc.GlobalAddress, y: asc.GlobalAddress, count: asc.ConstExpr[int]) -> None:
    """Short vector instructions, each beside a GetValue: the scalar unit has no rest."""
    x_gm, y_gm = asc.GlobalTensor(), asc.GlobalTensor()
    x_gm.set_global_buffer(x)
    y_gm.set_global_buffer(y)
    local = asc.LocalTensor(asc.float32, asc.TPosition.VECIN, 0, 4096)
    asc.data_copy(local, x_gm, 4096)
    asc.pipe_barrier(asc.PipeID.PIPE_ALL)
    for i in range(count):
        local.get_value(2048 + i)
        asc.muls(local[64 * (i % 16) :], local[64 * (i % 16) :], 0.5, 64)
    asc.pipe_barrier(asc.PipeID.PIPE_ALL)
    asc.data_copy(y_gm, local, 4096)


def launched(kernel, blocks, elements, *arguments, soc="ascend910b", l2="warm"):
    """The account of one launch on `elements` float32 in and out."""
    with ascend_sim.device(soc, values=False, l2=l2) as device:
        x, y = (asc.memory.DeviceArray((elements,), "float32") for _ in range(2))
        kernel[blocks](x, y, *arguments)
    (launch,) = device.launches
    return account(launch.program, launch.timeline, launch.soc)
