"""What the front end does not take, and what cannot be lowered: every refusal with its full text."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from ascend_sim.frontends import pypto
from ascend_sim.frontends.pypto.errors import FeError, LoweringError, PyptoError

from .refusing import FP16, FP32, HERE, A, Rules, refusal, tiled

FRONT_END: Rules = {
    "slice step": (lambda a: a[::2], [A], "a[...]: slice 0 has step 2; only a step of 1 is a view"),
    "two ellipses": (lambda a: a[..., ...], [A], "a[...]: only one ... may stand in an index"),
    "too many indices": (lambda a: a[0, 0, 0], [A], "a[...]: 3 indices for a tensor of 2 dims"),
    "bool index": (
        lambda a: a[True],
        [A],
        "a[...]: index 0 is True; allowed are integers, symbolic integers, slices and one ...",
    ),
    "tensor index": (
        lambda a: a[a],
        [A],
        "a[...]: index 0 is Tensor(a, [8, 64], DT_FP32); allowed are integers, symbolic integers, slices and one ...",
    ),
    "index outside": (lambda a: a[9], [A], "a[...]: 9 lies outside dim 0, which has 8"),
    "empty slice": (lambda a: a[4:4], [A], "a[...]: slice 0 runs from 4 to 4 and holds nothing"),
    "slice of a symbolic size": (
        lambda a: a[: a.shape[0] // 2],
        [(["S", 64], FP32)],
        "a[...]: the slice has sizes [(a.shape[0] // 2), 64], but a view's shape must be known when the kernel is "
        "written; use pypto.view(x, shape, offsets, valid_shape=...) for a part that varies",
    ),
    "iteration": (list, [A], "a cannot be iterated: use pypto.loop and pypto.view"),
    "length": (len, [A], "a has no len(): use .shape[0]"),
    "number assigned": (lambda a: a.__setitem__(0, 3.0), [A], "a[...] = 3.0: only a tensor can be assigned"),
    "if on a dim": (
        lambda a: 1 if a.shape[0] > 8 else 0,
        [(["S", 64], FP32)],
        "(a.shape[0] > 8) is only known when the kernel runs, so it cannot stand in an if or while outside a "
        "pypto.loop: it may bound a pypto.loop and be part of an offset or a valid_shape",
    ),
    "range over a dim": (
        lambda a: range(a.shape[0]),
        [(["S", 64], FP32)],
        "a.shape[0] is only known when the kernel runs, so it cannot stand in a list subscript, range() or a shape: it "
        "may bound a pypto.loop and be part of an offset or a valid_shape",
    ),
    "dim as a list's index": (
        lambda a: [1, 2, 3][a.shape[0]],
        [(["S", 64], FP32)],
        "a.shape[0] is only known when the kernel runs, so it cannot stand in a list subscript, range() or a shape: it "
        "may bound a pypto.loop and be part of an offset or a valid_shape",
    ),
    "dim as a number": (
        lambda a: int(a.shape[0]),
        [(["S", 64], FP32)],
        "a.shape[0] is only known when the kernel runs, so it cannot stand in int(): it may bound a pypto.loop and be "
        "part of an offset or a valid_shape",
    ),
    "least of a dim and a fraction": (
        lambda a: pypto.min(a.shape[0], 2.5),
        [(["S", 64], FP32)],
        "symbolic integers compute with integers, not float (2.5)",
    ),
    "matrix product": (
        lambda a: a @ a,
        [A],
        "a @ Tensor(a, [8, 64], DT_FP32): matrix products run on the cube unit, which is not simulated",
    ),
    "matmul": (
        lambda a: pypto.matmul(a, a, FP32),
        [A],
        "pypto.matmul: this front end has no such name; the cube unit is not simulated; its README lists what it takes",
    ),
    "power": (lambda a: a**2, [A], "a ** 2: this front end has no power; multiply, or take sqrt"),
    "comparison": (lambda a: a > 0, [A], "a compared with 0: this front end has no comparisons of tensors"),
    "truth of a tensor": (
        lambda a: 1 if a else 0,
        [A],
        "a has no truth value when the kernel is written: its elements are not known yet",
    ),
    "operation of PyPTO's that is not here": (
        lambda a: pypto.sigmoid(a) + 1,
        [A],
        "pypto.sigmoid: this front end has no such name; its README lists what it takes",
    ),
    "method of torch's": (
        lambda a: a.to(FP16),
        [A],
        "Tensor has no attribute 'to'; the README of this front end lists what it takes",
    ),
    "scope of the compiler's": (
        lambda a: pypto.set_pass_options(sg_set_scope=(-1, True, False)),
        [A],
        "set_pass_options: sg_set_scope is (-1, True, False); it must be a scope -1..2147483647, or (scope, parallel, "
        "across) with two bools, which are False for scope -1",
    ),
    "label": (lambda a: pypto.set_semantic_label(3), [A], "set_semantic_label: label is 3; it must be a string"),
    "joined axes": (
        lambda a: pypto.experimental.set_operation_options(combine_axis=1),
        [A],
        "set_operation_options: combine_axis is 1; it must be True or False",
    ),
    "division of a dim": (
        lambda a: a.shape[0] / 2,
        [(["S", 64], FP32)],
        "a.shape[0] / 2: symbolic integers have no /, write // for whole quotients",
    ),
    "end of no loop": (
        lambda a: pypto.is_loop_end(a.shape[0]),
        [(["S", 64], FP32)],
        "is_loop_end(a.shape[0]): it takes the index of a pypto.loop",
    ),
    "nothing written": (
        tiled(8, 64)(pypto.neg),
        [A],
        "kernel 'one' writes nothing: assemble a result into an output parameter, or assign it to a slice of one",
    ),
    "shapeless tensor": (
        lambda a: pypto.tensor(),
        [A],
        "pypto.tensor(shape, dtype) inside a kernel needs both, the shape with at least one dim",
    ),
}


@pytest.mark.parametrize("name", FRONT_END)
def test_what_the_front_end_does_not_take(name: str) -> None:
    body, tensors, text = FRONT_END[name]
    assert refusal(body, *tensors, kind=FeError) == text


def whole(value: Any, out: Any) -> None:
    out[:] = value


LOWERING: Rules = {
    "a tile that does not fit": (
        tiled(1024, 64)(lambda a, b: whole(pypto.exp(a) * a + a, b)),
        [([1024, 64], FP32), ([1024, 64], FP32)],
        "kernel 'two': the vector tile [1024, 64] of add (stored at HERE) needs 524288 B of unified buffer, "
        "Ascend910B3 has 196352 B; the tile [256, 64] would fit. Buffers, those alive at one time sharing nothing:\n"
        "  a [1024, 64] DT_FP32: 262144 B (input at HERE)\n"
        "  exp [1024, 64] DT_FP32: 262144 B (exp at HERE)\n"
        "  mul [1024, 64] DT_FP32: 262144 B (mul at HERE)\n"
        "  add [1024, 64] DT_FP32: 262144 B (add at HERE)",
    ),
    "part of a local tensor": (
        tiled(8, 64)(lambda a, b: whole(pypto.neg(_half_filled(a)), b)),
        [A, A],
        "t: its elements [0:8, 0:64] are read, but not all of them have been assembled; assemble the rest first",
    ),
}


def _half_filled(a: Any) -> Any:
    t = pypto.tensor([8, 64], FP32, "t")
    pypto.assemble(a[:, :32], [0, 0], t)
    return t


@pytest.mark.parametrize("name", LOWERING)
def test_what_cannot_be_lowered(name: str) -> None:
    body, tensors, text = LOWERING[name]
    found = refusal(body, *tensors, kind=LoweringError)
    assert re.fullmatch(re.escape(text).replace("HERE", HERE), found), found


def test_nz_tensors_are_refused() -> None:
    def kernel(a: pypto.Tensor([16, 16], FP16, format=pypto.TileOpFormat.TILEOP_NZ)) -> None:
        pypto.set_vec_tile_shapes(16, 16)
        pypto.neg(a)

    with pytest.raises(PyptoError, match=re.escape("neg: input has format TILEOP_NZ; allowed is TILEOP_ND")):
        pypto.frontend.jit(kernel).lowered(((16, 16), "float16"))


def test_a_tail_that_reaches_past_the_tensor() -> None:
    """valid_shape is the user's word; what it would touch outside is refused when it comes to it."""

    @pypto.frontend.jit
    def kernel(a: pypto.Tensor([pypto.DYNAMIC, 64], FP32), out: pypto.Tensor([pypto.DYNAMIC, 64], FP32)) -> None:
        pypto.set_vec_tile_shapes(8, 64)
        for i in pypto.loop((a.shape[0] + 7) // 8):
            block = pypto.view(a, [8, 64], [i * 8, 0], valid_shape=[8, 64])
            pypto.assemble(pypto.neg(block), [i * 8, 0], out)

    a = np.zeros((12, 64), np.float32)
    text = (
        rf"\[0xf00002\] {HERE}: elements 8\.\.15 of dim 0 of a are asked for, which has 12; give the tail's size as "
        "valid_shape"
    )
    with pytest.raises(PyptoError, match=f"^{text}$"):
        kernel(a, np.zeros_like(a))
