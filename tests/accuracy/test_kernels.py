"""The rebuilt kernels: they compute what they say, on as many blocks as were measured, with the measured counts."""

from __future__ import annotations

from types import SimpleNamespace

import ml_dtypes
import numpy as np
import pytest

from ascend_sim.accuracy.kernels import FAMILIES, build
from ascend_sim.accuracy.kernels.add_steps import Step, add_rows
from ascend_sim.accuracy.kernels.bias_add import Shape as BiasShape
from ascend_sim.accuracy.kernels.bias_add import add_bias
from ascend_sim.accuracy.kernels.nd_to_nz import Layout, nd_to_nz
from ascend_sim.accuracy.kernels.queued_elementwise import Split, add4, mul, split
from ascend_sim.accuracy.kernels.read_only_copies import Pattern
from ascend_sim.accuracy.kernels.tile_probe import Probe, probe_tiles
from ascend_sim.accuracy.kernels.v41_rope import Sizes, rope_by_heads, rope_by_rows
from ascend_sim.accuracy.rows import all_rows
from ascend_sim.errors import InputError
from ascend_sim.host.device import Device
from ascend_sim.program import CopyWork, VectorWork

RNG = np.random.default_rng(7)
REBUILT = [row for row in all_rows() if row.family is not None and row.family != "operator"]


def random(*shape, dtype=np.float16):
    return RNG.standard_normal(shape).astype(dtype)


def device(soc="Ascend910B3"):
    return Device(soc, timing=False)


@pytest.mark.parametrize(
    ("tiles", "blocks", "each", "last"),
    [
        (12, 12, 1, 1),
        (24, 12, 2, 2),
        (48, 16, 3, 3),
        (96, 20, 5, 1),
        (192, 20, 10, 2),
        (384, 20, 20, 4),
        (768, 20, 39, 27),
    ],
)
def test_host_split_of_the_queue_kernels(tiles, blocks, each, last):
    assert split(tiles) == (blocks, each, last)


def test_queue_kernels():
    xs = [random(7 * 256) for _ in range(4)]
    tiling = Split(blocks=3, tiles=3, last_tiles=1, limit=9)
    y = np.zeros_like(xs[0])
    with device():
        mul[3](xs[0], xs[1], y, tiling, 256)
        np.testing.assert_array_equal(y, xs[0] * xs[1])
        add4[3](*xs, y, tiling, 256)
    np.testing.assert_array_equal(y, xs[0] + xs[1] + xs[2] + xs[3])


@pytest.mark.parametrize("double_buffer", [False, True])
@pytest.mark.parametrize("conflict_free", [False, True])
def test_add_steps(double_buffer, conflict_free):
    step = Step(256, 7, 512, False, double_buffer or conflict_free, False, conflict_free)
    x, y = random(7, 256), random(7, 256)
    z = np.zeros_like(x)
    with device():
        add_rows[2](x, y, z, 100, step)
    np.testing.assert_array_equal(z, x + y)


@pytest.mark.parametrize("stride", [144, 145])
def test_nd_to_nz(stride):
    rows, columns = 6 * 144 - 16, 8 * 128
    x = random(rows, columns)
    y = np.zeros((columns // 16, rows, 16), np.float16)
    with device("Ascend910B1"):
        nd_to_nz[48](x, y, 100, Layout(rows, columns, stride))
    np.testing.assert_array_equal(y, x.reshape(rows, columns // 16, 16).transpose(1, 0, 2))


@pytest.mark.parametrize("adds", [1, 8])
def test_bias_add(adds):
    x, bias = random(8 * 512), random(8 * 512)
    y = np.zeros_like(x)
    with device():
        add_bias[2](x, bias, y, 100, BiasShape(8 * 512, 512, 2, adds, True))
    np.testing.assert_array_equal(y, x + bias)


@pytest.mark.parametrize("grid_stride", [False, True])
@pytest.mark.parametrize(
    ("body", "dtype"), [("copy", "float16"), ("add3", "float32"), ("lerp", "float16"), ("lerp", "float32")]
)
def test_tile_probes(body, dtype, grid_stride):
    a, b, w = (random(2000, dtype=dtype) for _ in range(3))
    out = np.zeros_like(a)
    with device():
        probe_tiles[3](a, b, w, out, 100, Probe(2000, 256, body, grid_stride, dtype))
    wide = [v.astype(np.float32) for v in (a, b, w)]
    want = {"copy": a, "add3": a + b + w, "lerp": (wide[0] + (wide[1] - wide[0]) * wide[2]).astype(dtype)}[body]
    np.testing.assert_array_equal(out, want)


@pytest.mark.parametrize("kernel", [rope_by_rows, rope_by_heads])
def test_v41_rope(kernel):
    tokens, heads, width = 5, 4, 128
    x = random(tokens, heads, width, dtype=ml_dtypes.bfloat16)
    cos, sin = random(tokens, 32, dtype=np.float32), random(tokens, 32, dtype=np.float32)
    y = np.zeros_like(x)
    with device():
        sizes = Sizes(tokens=tokens, heads=heads, width=width, limit=100)
        kernel[3](x, cos, sin, np.arange(tokens), y, sizes)
    even, odd = (x[..., 64 + i :: 2].astype(np.float32) for i in (0, 1))
    c, s = cos[:, None], sin[:, None]
    want = x.copy()
    want[..., 64::2] = (even * c - odd * s).astype(ml_dtypes.bfloat16)
    want[..., 65::2] = (even * s + odd * c).astype(ml_dtypes.bfloat16)
    np.testing.assert_array_equal(y.view(np.uint16), want.view(np.uint16))


@pytest.mark.parametrize(
    ("pattern", "copies"),
    [
        (Pattern(12288, 12288, (1, 64)), 49152),
        (Pattern(12288, 12287, (64, 1024)), 48),
        (Pattern(12288, 12288, (64, 1024), passes=4, slices=4), 192),
        (Pattern(6144, 512, (128, 64), shared="rotated"), 384),
    ],
)
def test_copies_per_block(pattern, copies):
    assert pattern.count(48) == copies
    tiles = list(pattern.tiles(48, 5))
    assert len(tiles) == copies
    last = pattern.columns - 1
    assert {column // pattern.tile[1] for _, column in tiles} == set(range(last // pattern.tile[1] + 1))


def one_of_each():
    """The row of each family with the least to record."""
    chosen = {}
    for row in sorted(REBUILT, key=lambda row: (row.measured_us, row.id)):
        chosen.setdefault(row.family, row)
    return list(chosen.values())


@pytest.mark.parametrize("row", one_of_each(), ids=lambda row: row.family)
def test_launches_have_the_measured_number_of_blocks(row):
    board = Device(row.soc, values=False, timing=False)
    with board:
        build(row).launch(2)
    assert row.block_dim in (None, board.launches[0].program.block_dim)


def test_every_family_has_a_row():
    assert {row.family for row in all_rows() if row.family} == set(FAMILIES)


def test_counts_of_the_overhead_sample():
    """msprof counted one more than 20 loads and 10 stores."""
    row = next(row for row in REBUILT if "overhead-sample-after" in row.id)
    board = Device(row.soc, values=False, timing=False)
    with board:
        build(row).launch(100)
    (block,) = board.launches[0].program.blocks
    copies = [instr.work.to_ub for instr in block.instrs if isinstance(instr.work, CopyWork)]
    assert (copies.count(True), copies.count(False)) == (20, 10)
    assert sum(isinstance(instr.work, VectorWork) for instr in block.instrs) == 10


def test_unknown_family():
    with pytest.raises(InputError, match=r"^row 'x': family 'y' is unknown; there are queued_elementwise, add_steps, "):
        build(SimpleNamespace(id="x", family="y"))
