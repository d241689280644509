"""Step 1: pairs of neighbours are rotated by the formula, element by element."""

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
    for i in range(S // CORES):
        # CopyIn
        x_in = inputs.alloc_tensor(asc.float32)
        asc.data_copy(x_in, x_gm[i * ROW :], ROW)
        asc.data_copy(x_in[ROW:], angles_gm[i * 2 * D :], 2 * D)
        inputs.enque(x_in)
        # Compute: y[2k] = x[2k] cos - x[2k+1] sin, y[2k+1] = x[2k+1] cos + x[2k] sin
        x_in, y_out = inputs.deque(asc.float32), outputs.alloc_tensor(asc.float32)
        cos_in, sin_in = x_in[ROW:], x_in[ROW + D :]
        for k in range(0, ROW, 2):
            even, odd, a = x_in.get_value(k), x_in.get_value(k + 1), k % D
            y_out.set_value(k, even * cos_in.get_value(a) - odd * sin_in.get_value(a))
            y_out.set_value(k + 1, odd * cos_in.get_value(a + 1) + even * sin_in.get_value(a + 1))
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
