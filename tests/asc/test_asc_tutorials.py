"""The shapes of pyasc's first two tutorials: add with flags at explicit addresses, and add with queues.

16,384 float32 elements on 8 cores, 16 tiles of 128 per core. Only the import lines differ from a pyasc source.
"""

import runpy
from pathlib import Path

import numpy as np
import pytest

import ascend_sim.asc.lib.runtime as rt
from ascend_sim import asc
from ascend_sim.asc.runtime import config
from ascend_sim.host.device import default_device, set_default_device

CORES = 8
TILE_NUM = 8
BUFFER_NUM = 2


@asc.jit
def add_with_flags(x: asc.GlobalAddress, y: asc.GlobalAddress, z: asc.GlobalAddress, block_length: int):
    offset = asc.get_block_idx() * block_length
    x_gm = asc.GlobalTensor()
    y_gm = asc.GlobalTensor()
    z_gm = asc.GlobalTensor()
    x_gm.set_global_buffer(x + offset)
    y_gm.set_global_buffer(y + offset)
    z_gm.set_global_buffer(z + offset)

    tile_length = block_length // TILE_NUM // BUFFER_NUM
    tile_bytes = tile_length * x.dtype.sizeof()
    buffer_bytes = tile_bytes * BUFFER_NUM
    x_local = asc.LocalTensor(x.dtype, asc.TPosition.VECIN, 0, tile_length * BUFFER_NUM)
    y_local = asc.LocalTensor(y.dtype, asc.TPosition.VECIN, buffer_bytes, tile_length * BUFFER_NUM)
    z_local = asc.LocalTensor(z.dtype, asc.TPosition.VECOUT, 2 * buffer_bytes, tile_length * BUFFER_NUM)

    for i in range(TILE_NUM * BUFFER_NUM):
        slot = i % BUFFER_NUM
        start = slot * tile_length
        if i >= BUFFER_NUM:
            asc.wait_flag(asc.HardEvent.MTE3_MTE2, slot)
        asc.data_copy(x_local[start:], x_gm[i * tile_length :], tile_length)
        asc.data_copy(y_local[start:], y_gm[i * tile_length :], tile_length)
        asc.set_flag(asc.HardEvent.MTE2_V, slot)
        asc.wait_flag(asc.HardEvent.MTE2_V, slot)
        asc.add(z_local[start:], x_local[start:], y_local[start:], tile_length)
        asc.set_flag(asc.HardEvent.V_MTE3, slot)
        asc.wait_flag(asc.HardEvent.V_MTE3, slot)
        asc.data_copy(z_gm[i * tile_length :], z_local[start:], tile_length)
        if i < (TILE_NUM - 1) * BUFFER_NUM:
            asc.set_flag(asc.HardEvent.MTE3_MTE2, slot)


@asc.jit
def copy_in(i: int, x_gm: asc.GlobalTensor, y_gm: asc.GlobalTensor, in_x: asc.TQue, in_y: asc.TQue, tile_length: int):
    x_local = in_x.alloc_tensor(x_gm.dtype)
    y_local = in_y.alloc_tensor(y_gm.dtype)
    asc.data_copy(x_local, x_gm[i * tile_length :], tile_length)
    asc.data_copy(y_local, y_gm[i * tile_length :], tile_length)
    in_x.enque(x_local)
    in_y.enque(y_local)


@asc.jit
def compute(dtype: asc.ConstExpr, in_x: asc.TQue, in_y: asc.TQue, out_z: asc.TQue, tile_length: int):
    x_local = in_x.deque(dtype)
    y_local = in_y.deque(dtype)
    z_local = out_z.alloc_tensor(dtype)
    asc.add(z_local, x_local, y_local, tile_length)
    out_z.enque(z_local)
    in_x.free_tensor(x_local)
    in_y.free_tensor(y_local)


@asc.jit
def copy_out(i: int, z_gm: asc.GlobalTensor, out_z: asc.TQue, tile_length: int):
    z_local = out_z.deque(z_gm.dtype)
    asc.data_copy(z_gm[i * tile_length :], z_local, tile_length)
    out_z.free_tensor(z_local)


@asc.jit
def add_with_queues(
    x: asc.GlobalAddress,
    y: asc.GlobalAddress,
    z: asc.GlobalAddress,
    block_length: asc.ConstExpr[int],
    buffer_num: asc.ConstExpr[int],
    tile_length: asc.ConstExpr[int],
    tile_num: asc.ConstExpr[int],
):
    offset = asc.get_block_idx() * block_length
    x_gm = asc.GlobalTensor()
    y_gm = asc.GlobalTensor()
    z_gm = asc.GlobalTensor()
    x_gm.set_global_buffer(x + offset, block_length)
    y_gm.set_global_buffer(y + offset, block_length)
    z_gm.set_global_buffer(z + offset, block_length)
    pipe = asc.TPipe()
    in_x = asc.TQue(asc.TPosition.VECIN, buffer_num)
    in_y = asc.TQue(asc.TPosition.VECIN, buffer_num)
    out_z = asc.TQue(asc.TPosition.VECOUT, buffer_num)
    pipe.init_buffer(que=in_x, num=buffer_num, len=tile_length * x.dtype.sizeof())
    pipe.init_buffer(que=in_y, num=buffer_num, len=tile_length * y.dtype.sizeof())
    pipe.init_buffer(que=out_z, num=buffer_num, len=tile_length * z.dtype.sizeof())
    for i in range(tile_num * buffer_num):
        copy_in(i, x_gm, y_gm, in_x, in_y, tile_length)
        compute(z_gm.dtype, in_x, in_y, out_z, tile_length)
        copy_out(i, z_gm, out_z, tile_length)


@pytest.fixture(autouse=True)
def _own_default_device():
    before = set_default_device(None)
    yield
    set_default_device(before)


def operands():
    random = np.random.default_rng(0)
    size = CORES * TILE_NUM * BUFFER_NUM * 128
    return random.random(size, np.float32), random.random(size, np.float32), np.zeros(size, np.float32)


def test_tutorial_01_add():
    config.set_platform(config.Backend.Model, config.Platform.Ascend910B4)
    x, y, z = operands()
    add_with_flags[CORES, rt.current_stream()](x, y, z, z.size // CORES)
    assert np.array_equal(z, x + y)
    (launch,) = default_device().launches
    assert launch.soc.variant == "Ascend910B4"
    assert launch.program.instructions == CORES * (16 * 8 + 2 * 14)


def test_tutorial_02_add_framework():
    config.set_platform("Model")
    x, y, z = operands()
    block_length = z.size // CORES
    tile_length = block_length // TILE_NUM // BUFFER_NUM
    add_with_queues[CORES, rt.current_stream()](x, y, z, block_length, BUFFER_NUM, tile_length, TILE_NUM)
    assert np.array_equal(z, x + y)
    (launch,) = default_device().launches
    assert launch.soc.variant == "Ascend910B1"
    assert launch.program.instructions == CORES * (16 * 16 + 1)
    assert launch.warnings == []


def test_tutorials_give_the_same_on_every_platform():
    results = []
    for platform in config.Platform:
        config.set_platform(config.Backend.Model, platform)
        x, y, z = operands()
        add_with_flags[CORES](x, y, z, z.size // CORES)
        results.append(z.tobytes())
    assert len(results) == 12
    assert len(set(results)) == 1


@pytest.mark.parametrize(("number", "prints"), [(1, "scale on Ascend910B4"), (2, "")])
def test_the_examples_of_the_language_page_run_as_they_stand(tmp_path, capsys, number, prints):
    page = Path(__file__).parents[2] / "docs" / "kernel_language.md"
    source = page.read_text(encoding="utf-8").split("```python\n")[number].split("```")[0]
    script = tmp_path / "page.py"
    script.write_text(source, encoding="utf-8")
    runpy.run_path(str(script))
    assert prints in capsys.readouterr().out
