"""A file for a board, with no word of the simulator; `ascend-sim exec --pypto plain_pypto.py` prints its time too."""

import numpy as np
import pypto

HEADS, D, BLOCK = 8, 64, 16


@pypto.frontend.jit(runtime_options={"run_mode": pypto.RunMode.NPU})
def rope(
    x: pypto.Tensor([pypto.DYNAMIC, HEADS, D], pypto.DT_FP16),
    cos: pypto.Tensor([pypto.DYNAMIC, D], pypto.DT_FP16),
    sin: pypto.Tensor([pypto.DYNAMIC, D], pypto.DT_FP16),
    y: pypto.Tensor([pypto.DYNAMIC, HEADS, D], pypto.DT_FP16),
):
    pypto.set_vec_tile_shapes(BLOCK, HEADS, D)
    for i in pypto.loop((x.shape[0] + BLOCK - 1) // BLOCK, name="POSITIONS", idx_name="i"):
        first = i * BLOCK
        rows = (x.shape[0] - first).min(BLOCK)
        block = pypto.view(x, [BLOCK, HEADS, D], [first, 0, 0], valid_shape=[rows, HEADS, D])
        c, s = (pypto.view(t, [BLOCK, D], [first, 0], valid_shape=[rows, D]).unsqueeze(1) for t in (cos, sin))
        rotated = pypto.concat([pypto.neg(block[..., D // 2 :]), block[..., : D // 2]], dim=-1)
        pypto.assemble(block * c + rotated * s, [first, 0, 0], y)


rng = np.random.default_rng(0)
for length in (16, 100):
    x = rng.standard_normal((length, HEADS, D)).astype(np.float16)
    cos, sin = (rng.uniform(-1, 1, (length, D)).astype(np.float16) for _ in range(2))
    y = np.empty_like(x)
    rope(x, cos, sin, y)
    rotated = np.concatenate([-x[..., D // 2 :], x[..., : D // 2]], axis=-1)
    print(f"{length} positions:", "exact" if np.array_equal(y, x * cos[:, None] + rotated * sin[:, None]) else "wrong")
