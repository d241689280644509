"""Step 2: Gather swaps the neighbours of a tile, and whole tiles are multiplied and added."""

import numpy as np

from ascend_sim import asc

CORES = 40
S, N, D = 160, 4, 64  # positions, heads, elements of a head
ROW = N * D  # a tile: one position with all its heads


@asc.jit
def rope(x: asc.GlobalAddress, angles: asc.GlobalAddress, y: asc.GlobalAddress) -> None:
    first = asc.get_block_idx() * (S // CORES)
    x_gm, angles_gm, y_gm = asc.GlobalTensor(), asc.GlobalTensor(), asc.GlobalTensor()
    x_gm.set_global_buffer(x + first * ROW)
    angles_gm.set_global_buffer(angles + first * 2 * D)
    y_gm.set_global_buffer(y + first * ROW)
    pipe = asc.TPipe()
    inputs, outputs = asc.TQue(asc.TPosition.VECIN, 2), asc.TQue(asc.TPosition.VECOUT, 2)
    pipe.init_buffer(inputs, 2, (ROW + 2 * D) * 4)  # x, cos, sin
    pipe.init_buffer(outputs, 2, ROW * 4)
    per_head = asc.BinaryRepeatParams(1, 1, 1, 8, 8, 0)  # a repeat is a head, all heads share one row of angles
    tables = asc.TBuf(asc.TPosition.VECCALC)
    pipe.init_buffer(tables, (2 * ROW + D) * 4)
    swap, swapped = tables.get(asc.uint32), tables.get(asc.float32)[ROW:]
    sign = tables.get(asc.float32)[2 * ROW :]
    for k in range(ROW):
        swap.set_value(k, 4 * (k ^ 1))  # byte offsets 4, 0, 12, 8, ...
        sign.set_value(k % D, 2 * (k % 2) - 1)  # -1, 1, -1, 1, ...
    for i in range(S // CORES):
        # CopyIn
        x_in = inputs.alloc_tensor(asc.float32)
        asc.data_copy(x_in, x_gm[i * ROW :], ROW)
        asc.data_copy(x_in[ROW:], angles_gm[i * 2 * D :], 2 * D)
        inputs.enque(x_in)
        # Compute: y = x cos + sign swapped(x) sin
        x_in, y_out = inputs.deque(asc.float32), outputs.alloc_tensor(asc.float32)
        cos_in, sin_in = x_in[ROW:], x_in[ROW + D :]
        asc.gather(swapped, x_in, swap, 0, ROW)
        asc.mul(swapped, swapped, sign, D, N, per_head)
        asc.mul(swapped, swapped, sin_in, D, N, per_head)
        asc.mul(y_out, x_in, cos_in, D, N, per_head)
        asc.add(y_out, y_out, swapped, ROW)
        inputs.free_tensor(x_in)
        outputs.enque(y_out)
        # CopyOut
        y_out = outputs.deque(asc.float32)
        asc.data_copy(y_gm[i * ROW :], y_out, ROW)
        outputs.free_tensor(y_out)


if __name__ == "__main__":
    rng = np.random.default_rng(0)
    x, angles, y = rng.random((S, N, D), np.float32), rng.random((S, 2, D), np.float32), np.zeros((S, N, D), np.float32)
    rope[CORES](x, angles, y)
    rotated = np.stack([-x[..., 1::2], x[..., ::2]], -1).reshape(x.shape)
    assert np.array_equal(y, x * angles[:, :1] + rotated * angles[:, 1:])
