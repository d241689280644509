"""What becomes of tensor code: the tiles, the map of unified buffer and the instructions of one tile, by line."""

from __future__ import annotations

from ascend_sim.frontends import pypto  # on a board: import pypto

FP16 = pypto.DT_FP16


@pypto.frontend.jit
def turn(
    x: pypto.Tensor([pypto.DYNAMIC, 128], FP16),
    cos: pypto.Tensor([pypto.DYNAMIC, 128], FP16),
    sin: pypto.Tensor([pypto.DYNAMIC, 128], FP16),
    y: pypto.Tensor([pypto.DYNAMIC, 128], FP16),
):
    pypto.set_vec_tile_shapes(32, 128)
    for i in pypto.loop((x.shape[0] + 31) // 32, name="ROWS", idx_name="i"):
        rows = (x.shape[0] - 32 * i).min(32)
        block, c, s = (pypto.view(t, [32, 128], [32 * i, 0], valid_shape=[rows, 128]) for t in (x, cos, sin))
        rotated = pypto.concat([-block[:, 64:], block[:, :64]], -1)
        pypto.assemble(block * c + rotated * s, [32 * i, 0], y)


print(turn.lowered(*[((100, 128), "float16")] * 4))
