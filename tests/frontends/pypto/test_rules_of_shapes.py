"""What PyPTO refuses of views, joins, reshapes and moves: every rule with its full text."""

from __future__ import annotations

import re

import pytest

from ascend_sim.frontends import pypto
from ascend_sim.frontends.pypto.errors import PyptoError

from .refusing import FP16, FP32, HERE, INT8, INT32, A, Rules, refusal, tiled

RULES: Rules = {
    "view outside": (
        lambda a: pypto.view(a, [4, 64], [8, 0]),
        [A],
        "[0xf00002] view: offsets[0] is 8, but dim 0 of a has 8; an offset lies below it",
    ),
    "view before the start": (
        lambda a: pypto.view(a, [4, 64], [-1, 0]),
        [A],
        "[0xf00002] view: offsets[0] is -1; offsets must not be negative",
    ),
    "view of another rank": (
        lambda a: pypto.view(a, [4], [0, 0]),
        [A],
        "[0xf00002] view: shape [4] has 1 entry, the tensor 2 dims",
    ),
    "view of a symbolic shape": (
        lambda a: pypto.view(a, [a.shape[0], 64], [0, 0]),
        [(["S", 64], FP32)],
        "[0xf00001] view: shape[0] is a.shape[0], known only when the kernel runs; shape takes plain integers",
    ),
    "valid_shape above the shape": (
        lambda a: pypto.view(a, [4, 64], [0, 0], valid_shape=[5, 64]),
        [A],
        "[0xf00002] view: valid_shape[0] is 5; allowed are 0..4, the view's size there",
    ),
    "reinterpreted unevenly": (
        lambda a: pypto.view(a, dtype=FP32),
        [([8, 63], FP16)],
        "[0xf00002] view: the last dim of a has 63 elements of DT_FP16 = 126 B, which is no whole number of DT_FP32",
    ),
    "assemble of another rank": (
        lambda a, b: pypto.assemble(a, [0, 0], b),
        [A, ([1, 8, 64], FP32)],
        "[0xf00002] assemble: a has 2 dims and b 3; they must have the same",
    ),
    "assemble of another type": (
        lambda a, b: pypto.assemble(a, [0, 0], b),
        [A, ([8, 64], FP16)],
        "[0xf00001] assemble: a is DT_FP32 and b DT_FP16; they must agree",
    ),
    "assemble outside": (
        lambda a, b: pypto.assemble(a, [8, 0], b),
        [A, A],
        "[0xf00002] assemble: offsets[0] is 8, but dim 0 of b has 8; an offset lies inside it",
    ),
    "assemble into a result": (
        tiled(8, 64)(lambda a: pypto.assemble(a, [0, 0], pypto.neg(a))),
        [A],
        "[0xf00001] assemble: neg is the result of an operation; it cannot be written to",
    ),
    "concat of one": (
        tiled(8, 64)(lambda a: pypto.concat([a], dim=0)),
        [A],
        "[0xf00002] concat: 1 tensor; allowed are lists of 2 to 128",
    ),
    "concat of unequal tensors": (
        tiled(8, 64)(lambda a, b: pypto.concat([a, b], dim=0)),
        [A, ([8, 32], FP32)],
        "[0xf00002] concat: tensors[0] is [8, 64] and tensors[1] [8, 32]; all dims but dim 0 must agree",
    ),
    "concat along a partly filled dim": (
        tiled(8, 64)(lambda a: pypto.concat([pypto.view(a, [8, 64], [0, 0], valid_shape=[5, 64]), a], dim=0)),
        [A],
        "[0xf00002] concat: view holds data in 5 of 8 along dim 0; the dim that is joined must be full",
    ),
    "concat past the last dim": (
        tiled(8, 64)(lambda a: pypto.concat([a, a], dim=2)),
        [A],
        "[0xf00002] concat: dim is 2; allowed are -2..1 for a tensor of 2 dims",
    ),
    "reshape to another size": (
        lambda a: pypto.reshape(a, [8, 65]),
        [A],
        "[0xf00002] reshape: a [8, 64] has 512 elements, shape [8, 65] does not; they must agree",
    ),
    "reshape of a view in place": (
        lambda a: pypto.reshape(pypto.view(a, [4, 64], [4, 0]), [256], inplace=True),
        [A],
        "[0xf00002] reshape: view is a view; it can only be reshaped with inplace=False",
    ),
    "squeeze of a wide dim": (
        lambda a: pypto.squeeze(a, 0),
        [A],
        "[0xf00002] squeeze: dim 0 of a is 8; only a dim of 1 can go",
    ),
    "expand of a wide dim": (
        tiled(8, 64)(lambda a: pypto.expand_clone(a, [16, 64])),
        [A],
        "[0xf00002] expand_clone: dim 0 of a is 8, asked for 16; only dims of 1 can be expanded",
    ),
    "transpose of dims 0 and 3": (
        tiled(1, 1, 8, 64)(lambda a: pypto.transpose(a, 0, 3)),
        [([2, 2, 8, 64], FP32)],
        "[0xf00002] transpose: dims 0 and 3 of 4; allowed pairs are (0, 2), (1, 2), (1, 3), (2, 3)",
    ),
    "transpose without an exchange": (
        tiled(8, 3)(lambda a: pypto.transpose(a, 1, 1)),
        [A],
        "[0xf00002] transpose: dims 1 and 1 of a need no exchange, and then the tile's last dim must be a multiple of "
        "32 B; 3 elements of DT_FP32 are 12 B",
    ),
    "odd deinterleave": (
        tiled(8, 63)(pypto.deinterleave),
        [([8, 63], FP32)],
        "[0xf00002] deinterleave: the last dim of a is 63; it must be even",
    ),
    "odd tile for deinterleave": (
        tiled(8, 63)(pypto.deinterleave),
        [A],
        "[0xf00002] deinterleave: the last dim of the tile is 63; it must be even",
    ),
    "gathermask pattern": (
        tiled(8, 64)(lambda a: pypto.gathermask(a, 8)),
        [A],
        "[0xf00002] gathermask: pattern_mode is 8; allowed are 1..7",
    ),
    "gathermask of an odd width": (
        tiled(8, 64)(lambda a: pypto.gathermask(a, 3)),
        [([8, 62], FP32)],
        "[0xf00002] gathermask: the last dim is 62; with pattern_mode 3 it must be a multiple of 4",
    ),
    "reading what was never assembled": (
        tiled(8, 64)(lambda a: pypto.neg(pypto.tensor([8, 64], FP32, "t"))),
        [A],
        "[0xf00002] neg: nothing has been assembled into t yet",
    ),
    "size of a view": (
        lambda a: pypto.view(a, [0, 64], [0, 0]),
        [A],
        "[0xf00002] view: shape[0] is 0; sizes must be above 0",
    ),
    "mark in a view": (
        lambda a: pypto.view(a, [pypto.DYNAMIC, 64], [0, 0]),
        [A],
        "[0xf00001] view: shape[0] is pypto.DYNAMIC; it must be an integer",
    ),
    "fractional offset": (
        lambda a: pypto.view(a, [4, 64], [0.5, 0]),
        [A],
        "[0xf00001] view: offsets[0] is 0.5; it must be an integer or symbolic integer",
    ),
    "view of bits and of a block": (
        lambda a: pypto.view(a, [8, 64], [0, 0], dtype=INT32),
        [A],
        "[0xf00002] view: dtype reads the whole tensor anew; give no shape and offsets with it",
    ),
    "assemble before the start": (
        lambda a, b: pypto.assemble(a, [-1, 0], b),
        [A, A],
        "[0xf00002] assemble: offsets[0] is -1, but dim 0 of b has 8; an offset lies inside it",
    ),
    "assemble of no pairs": (
        lambda a, b: pypto.assemble([a], b),
        [A, A],
        "[0xf00001] assemble: the list holds (tensor, offsets) pairs",
    ),
    "assemble into a number": (
        lambda a: pypto.assemble(a, [0, 0], 3),
        [A],
        "[0xf00001] assemble: out is 3; it must be a Tensor",
    ),
    "concat of too many": (
        tiled(8, 64)(lambda a: pypto.concat([a] * 129)),
        [A],
        "[0xf00002] concat: 129 tensors; allowed are lists of 2 to 128",
    ),
    "concat of no list": (
        tiled(8, 64)(pypto.concat),
        [A],
        "[0xf00002] concat: tensors is Tensor(a, [8, 64], DT_FP32); allowed are lists of 2 to 128",
    ),
    "concat of two types": (
        tiled(8, 64)(lambda a, b: pypto.concat([a, b])),
        [A, ([8, 64], FP16)],
        "[0xf00001] concat: the operands are a DT_FP32, b DT_FP16; they must have one data type (pypto.cast converts)",
    ),
    "concat of two ranks": (
        tiled(8, 64)(lambda a, b: pypto.concat([a, b])),
        [A, ([64], FP32)],
        "[0xf00002] concat: tensors[0] is [8, 64] and tensors[1] [64]; all dims but dim 0 must agree",
    ),
    "reshape with two unknowns": (
        lambda a: pypto.reshape(a, [-1, -1]),
        [A],
        "[0xf00002] reshape: shape [-1, -1]; sizes must be above 0, and one may be -1",
    ),
    "reshape of dynamic dims with -1": (
        lambda a: pypto.reshape(a, [-1], inplace=True),
        [(["S", 64], FP32)],
        "[0xf00002] reshape: shape [-1] holds -1, but a [a.shape[0], 64] has dynamic dims; -1 stands for a dim of a "
        "static tensor",
    ),
    "reshape of dynamic dims into others": (
        lambda a: pypto.reshape(a, [a.shape[0] * 64], inplace=True),
        [(["S", 64], FP32)],
        "[0xf00002] reshape: a [a.shape[0], 64] has dynamic dims, so only dims of 1 can come and go; asked for "
        "[64*a.shape[0]]",
    ),
    "reshape of dynamic dims out of place": (
        lambda a: pypto.reshape(a, [1, a.shape[0], 64]),
        [(["S", 64], FP32)],
        "[0xf00002] reshape: dim 0 of input (a) is a.shape[0], known only when the kernel runs; cut it with pypto.loop "
        "and pypto.view into blocks of a fixed shape first",
    ),
    "output that was reshaped in place": (
        lambda a, b: b.__setitem__(slice(None), pypto.reshape(a, [512], inplace=True)),
        [A, ([512], FP32)],
        "[0xf00002] assemble: reshape was reshaped in place, which cannot be an output; reshape it with inplace=False",
    ),
    "unsqueeze past the end": (
        lambda a: pypto.unsqueeze(a, 3),
        [A],
        "[0xf00002] unsqueeze: dim is 3; allowed are -3..2 for a tensor of 2 dims",
    ),
    "expand to a symbolic size": (
        tiled(8, 64)(lambda a, b: pypto.expand_clone(a, [b.shape[0], 64])),
        [([1, 64], FP32), (["S", 64], FP32)],
        "[0xf00001] expand_clone: shape[0] is b.shape[0], known only when the kernel runs; shape takes plain integers",
    ),
    "deinterleave of two with a cut last dim": (
        tiled(8, 32)(lambda a: pypto.deinterleave(a, a)),
        [A],
        "[0xf00002] deinterleave: the tile's last dim is 32 and the tensors' 64; with two inputs the last dim must not "
        "be cut",
    ),
    "deinterleave of unequal tensors": (
        tiled(8, 64)(pypto.deinterleave),
        [A, ([4, 64], FP32)],
        "[0xf00002] deinterleave: input is [8, 64] and other [4, 64]; they must agree",
    ),
    "odd interleave": (
        tiled(8, 63)(lambda a: pypto.interleave(a, a)),
        [([8, 63], FP32)],
        "[0xf00002] interleave: the last dim of a is 63; it must be even",
    ),
    "interleave of two types": (
        tiled(8, 64)(pypto.interleave),
        [A, ([8, 64], FP16)],
        "[0xf00001] interleave: the operands are a DT_FP32, b DT_FP16; they must have one data type (pypto.cast "
        "converts)",
    ),
    "gathermask of an odd tile": (
        tiled(8, 63)(lambda a: pypto.gathermask(a, 1)),
        [A],
        "[0xf00002] gathermask: the tile's last dim is 63; with pattern_mode 1 it must be a multiple of 2",
    ),
    "gathermask of bytes": (
        tiled(8, 64)(lambda a: pypto.gathermask(a, 1)),
        [([8, 64], INT8)],
        "[0xf00001] gathermask: self is DT_INT8; allowed are DT_FP32, DT_FP16, DT_BF16, DT_INT16, DT_UINT16, DT_INT32, "
        "DT_UINT32",
    ),
    "slices of unequal size": (
        lambda a, b: b.__setitem__(slice(0, 4), a),
        [A, A],
        "[0xf00002] b[...] = a: dim 0 of the slice is 4, that of the tensor 8; they must agree",
    ),
}


@pytest.mark.parametrize("name", RULES)
def test_a_rule_of_pypto(name: str) -> None:
    body, tensors, text = RULES[name]
    found = refusal(body, *tensors, kind=PyptoError)
    assert re.fullmatch(re.escape(text).replace("HERE", HERE), found), found
