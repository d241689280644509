"""What PyPTO refuses of tiles, arithmetic, reductions and loops: every rule with its full text."""

from __future__ import annotations

import re

import numpy as np
import pytest

from ascend_sim.frontends import pypto
from ascend_sim.frontends.pypto.errors import PyptoError

from .refusing import BF16, FP16, FP32, HERE, INT8, INT32, A, Rules, refusal, tiled

RULES: Rules = {
    "no tile": (
        pypto.neg,
        [A],
        "[0xf00003] neg: no vector tile shape is set; call pypto.set_vec_tile_shapes(...) with 2 sizes before the "
        "first vector operation",
    ),
    "tile of another rank": (
        tiled(8, 8, 8)(pypto.exp),
        [A],
        "[0xf00002] exp: the vector tile [8, 8, 8] (set at HERE) has 3 dims, but its output has 2; they must agree",
    ),
    "tile size 0": (
        lambda a: pypto.set_vec_tile_shapes(8, 0),
        [A],
        "[0xf00002] set_vec_tile_shapes(8, 0): size 1 is 0; every dim must be above 0",
    ),
    "five tile dims": (
        lambda a: pypto.set_vec_tile_shapes(1, 1, 1, 1, 8),
        [A],
        "[0xf00002] set_vec_tile_shapes(1, 1, 1, 1, 8): 5 dims; a vector tile has 1 to 4",
    ),
    "fractional tile": (
        lambda a: pypto.set_vec_tile_shapes(8, 2.5),
        [A],
        "[0xf00002] set_vec_tile_shapes: size 1 is 2.5; tile sizes are whole numbers known when the kernel is written",
    ),
    "not a tensor": (
        tiled(8, 64)(lambda a: pypto.add(3, a)),
        [A],
        "[0xf00001] add: input is 3; it must be a Tensor",
    ),
    "two types": (
        tiled(8, 64)(pypto.add),
        [A, ([8, 64], FP16)],
        "[0xf00001] add: the operands are a DT_FP32, b DT_FP16; they must have one data type (pypto.cast converts)",
    ),
    "type without the operation": (
        tiled(8, 64)(pypto.exp),
        [([8, 64], INT32)],
        "[0xf00001] exp: input is DT_INT32; allowed are DT_FP32, DT_FP16, DT_BF16",
    ),
    "float to integers": (
        tiled(8, 64)(lambda a: a * 0.5),
        [([8, 64], INT32)],
        "[0xf00001] mul: a is DT_INT32 and other is 0.5; an integer tensor takes integers only",
    ),
    "neither tensor nor number": (
        tiled(8, 64)(lambda a: pypto.mul(a, "2")),
        [A],
        "[0xf00001] mul: other is '2'; it must be a Tensor, an int or a float",
    ),
    "shapes that do not broadcast": (
        tiled(8, 64)(lambda a, b: a + b),
        [A, ([8, 32], FP32)],
        "[0xf00002] add: a [8, 64] and b [8, 32] differ in dim 1: 32 and 64; sizes must be equal or 1",
    ),
    "dynamic dim": (
        tiled(8, 64)(pypto.neg),
        [(["S", 64], FP32)],
        "[0xf00002] neg: dim 0 of input (a) is a.shape[0], known only when the kernel runs; cut it with pypto.loop and "
        "pypto.view into blocks of a fixed shape first",
    ),
    "five dims": (
        tiled(1, 1, 8, 64)(lambda a: pypto.neg(pypto.unsqueeze(pypto.unsqueeze(pypto.unsqueeze(a, 0), 0), 0))),
        [A],
        "[0xf00002] neg: input has 5 dims; allowed are 1 to 4",
    ),
    "sum of half": (
        tiled(8, 64)(lambda a: pypto.sum(a, -1)),
        [([8, 64], FP16)],
        "[0xf00001] sum: input is DT_FP16; allowed are DT_FP32, DT_BF16, DT_INT32, DT_INT16",
    ),
    "sum over a large tile": (
        tiled(512, 64)(lambda a: pypto.sum(a, -1)),
        [([512, 64], FP32)],
        "[0xf00002] sum: a tile of [512, 64] DT_FP32 is 131072 B; a reduction takes at most 65536 B a tile: make dim "
        "0 of the tile smaller",
    ),
    "cast half to bfloat16": (
        tiled(8, 64)(lambda a: pypto.cast(a, BF16)),
        [([8, 64], FP16)],
        "[0xf00001] cast: DT_FP16 to DT_BF16 is no conversion of the simulated chips; a converts to int8, uint8, "
        "int16, int32, float32",
    ),
    "type that has no instructions": (
        tiled(8, 64)(lambda a: pypto.cast(a, pypto.DataType.DT_FP8E4M3)),
        [A],
        "[0xf00001] DT_FP8E4M3 has no vector instructions on the simulated chips; allowed are DT_INT8, DT_INT16, "
        "DT_INT32, DT_INT64, DT_FP16, DT_FP32, DT_BF16, DT_UINT8, DT_UINT16, DT_UINT32, DT_UINT64",
    ),
    "rms_norm with a short gamma": (
        tiled(8, 64)(pypto.rms_norm),
        [A, ([32], FP32)],
        "[0xf00002] rms_norm: gamma is [32]; it must be [64], the last dim of a",
    ),
    "loop of a fraction": (
        lambda a: next(pypto.loop(2.5)),
        [A],
        "[0xf00001] loop: 2.5 cannot bound a loop; allowed are integers and symbolic integers",
    ),
    "loop with step 0": (
        lambda a: next(pypto.loop(0, 8, 0)),
        [A],
        "[0xf00002] loop: step is 0; it must be an integer of at least 1",
    ),
    "unroll by 0": (
        lambda a: next(pypto.loop(8, unroll_list=[0])),
        [A],
        "[0xf00002] loop: unroll_list [0] holds 0; factors are integers of at least 1",
    ),
    "no tile dims": (
        lambda a: pypto.set_vec_tile_shapes(),
        [A],
        "[0xf00002] set_vec_tile_shapes(): 0 dims; a vector tile has 1 to 4",
    ),
    "symbolic tile": (
        lambda a: pypto.set_vec_tile_shapes(a.shape[0], 8),
        [(["S", 64], FP32)],
        "[0xf00002] set_vec_tile_shapes: size 0 is a.shape[0]; tile sizes are whole numbers known when the kernel is "
        "written",
    ),
    "tile of too many elements": (
        lambda a: pypto.set_vec_tile_shapes(1 << 16, 1 << 16),
        [A],
        "[0xf00002] set_vec_tile_shapes(65536, 65536): 4294967296 elements; at most 2147483647",
    ),
    "tensor of too many elements": (
        tiled(1, 64)(lambda a: pypto.expand_clone(a, [1 << 26, 64]) * 1),
        [([1, 64], FP32)],
        "[0xf00002] mul: input has 4294967296 elements; at most 2147483647",
    ),
    "sum under a tile of another rank": (
        tiled(8)(lambda a: pypto.sum(a, -1)),
        [A],
        "[0xf00002] sum: the vector tile [8] (set at HERE) has 1 dim, but its input has 2; they must agree",
    ),
    "8 bit sums": (
        tiled(8, 64)(lambda a: a + a),
        [([8, 64], INT8)],
        "[0xf00001] add: input is DT_INT8; allowed are DT_FP32, DT_FP16, DT_BF16, DT_INT32, DT_INT16",
    ),
    "axpy into a smaller tensor": (
        tiled(8, 64)(pypto.axpy_),
        [([1, 64], FP32), A],
        "[0xf00002] axpy_: y is [1, 64] and x [8, 64]; x broadcasts to y, y does not broadcast",
    ),
    "axpy into half": (
        tiled(8, 64)(pypto.axpy_),
        [([8, 64], FP16), A],
        "[0xf00001] axpy_: y is DT_FP16 and x DT_FP32; allowed are equal types, and DT_FP32 with a DT_FP16 x",
    ),
    "axpy by no number": (
        tiled(8, 64)(lambda a: pypto.axpy_(a, a, "2")),
        [A],
        "[0xf00001] axpy_: alpha is '2'; it must be an int or a float",
    ),
    "integers filled with a fraction": (
        tiled(8, 64)(lambda a: pypto.full([8, 64], 1.5, INT32)),
        [A],
        "[0xf00001] full: fill_value is 1.5 and dtype DT_INT32; an integer tensor takes integers",
    ),
    "full of nothing": (
        tiled(8, 64)(lambda a: pypto.full([8, 0], 1.5, FP32)),
        [A],
        "[0xf00002] full: size is [8, 0]; allowed are 1 to 4 dims, each above 0",
    ),
    "dim that is no integer": (
        tiled(8, 64)(lambda a: pypto.sum(a, True)),
        [A],
        "[0xf00001] sum: dim is True; it must be an integer",
    ),
    "precision": (
        tiled(8, 64)(lambda a: pypto.exp(a, "high")),
        [A],
        "[0xf00001] exp: precision_type is 'high'; it must be a pypto.PrecisionType",
    ),
    "cast mode": (
        tiled(8, 64)(lambda a: pypto.cast(a, FP16, "RINT")),
        [A],
        "[0xf00001] cast: mode 'RINT' and satmode <SaturationMode.OFF: 0> must be a CastMode and a SaturationMode",
    ),
    "array as an operand": (
        tiled(8, 64)(lambda a: a * np.ones((8, 64), np.float32)),
        [A],
        "[0xf00001] mul: other is an array [8, 64] of float32; it must be a Tensor, an int or a float",
    ),
    "loop with four bounds": (
        lambda a: next(pypto.loop(1, 2, 3, 4)),
        [A],
        "[0xf00001] loop takes (stop), (start, stop) or (start, stop, step), not 4 bounds",
    ),
    "too many ways through a loop": (
        tiled(8, 64)(lambda a: _branching()),
        [A],
        "[0xf00002] loop 'loop_0': more than 64 ways through the ifs of its body",
    ),
}


def _branching() -> None:
    """Seven conditions that do not depend on each other."""
    for i in pypto.loop(1000):
        for bit in range(7):
            if i % (bit + 2) == 0:
                pass


@pytest.mark.parametrize("name", RULES)
def test_a_rule_of_pypto(name: str) -> None:
    body, tensors, text = RULES[name]
    found = refusal(body, *tensors, kind=PyptoError)
    assert re.fullmatch(re.escape(text).replace("HERE", HERE), found), found
