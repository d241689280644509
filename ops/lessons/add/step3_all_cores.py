"""Step 3: all cores, each with a part of the vectors."""

import numpy as np

from ascend_sim import asc

CORES = 40  # vector cores of an Ascend910B3
LENGTH = 163_840  # elements of x, y and z, float32
TILE = 128  # elements of a copy: 512 B


@asc.jit
def add(x: asc.GlobalAddress, y: asc.GlobalAddress, z: asc.GlobalAddress) -> None:
    per_core = LENGTH // CORES
    first = asc.get_block_idx() * per_core
    x_gm, y_gm, z_gm = asc.GlobalTensor(), asc.GlobalTensor(), asc.GlobalTensor()
    x_gm.set_global_buffer(x + first)
    y_gm.set_global_buffer(y + first)
    z_gm.set_global_buffer(z + first)
    pipe = asc.TPipe()
    in_x, in_y = asc.TQue(asc.TPosition.VECIN, 1), asc.TQue(asc.TPosition.VECIN, 1)
    out_z = asc.TQue(asc.TPosition.VECOUT, 1)
    pipe.init_buffer(in_x, 1, TILE * 4)
    pipe.init_buffer(in_y, 1, TILE * 4)
    pipe.init_buffer(out_z, 1, TILE * 4)
    for i in range(per_core // TILE):
        # CopyIn
        x_local, y_local = in_x.alloc_tensor(x.dtype), in_y.alloc_tensor(y.dtype)
        asc.data_copy(x_local, x_gm[i * TILE :], TILE)
        asc.data_copy(y_local, y_gm[i * TILE :], TILE)
        in_x.enque(x_local)
        in_y.enque(y_local)
        # Compute
        x_local, y_local = in_x.deque(x.dtype), in_y.deque(y.dtype)
        z_local = out_z.alloc_tensor(z.dtype)
        asc.add(z_local, x_local, y_local, TILE)
        in_x.free_tensor(x_local)
        in_y.free_tensor(y_local)
        out_z.enque(z_local)
        # CopyOut
        z_local = out_z.deque(z.dtype)
        asc.data_copy(z_gm[i * TILE :], z_local, TILE)
        out_z.free_tensor(z_local)


if __name__ == "__main__":
    rng = np.random.default_rng(0)
    x, y = rng.random(LENGTH, np.float32), rng.random(LENGTH, np.float32)
    z = np.zeros_like(x)
    add[CORES](x, y, z)
    assert np.array_equal(z, x + y)
