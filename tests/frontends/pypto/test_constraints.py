"""What PyPTO and the front end refuse: every rule with its full text."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from ascend_sim.frontends import pypto
from ascend_sim.frontends.pypto.errors import FeError, LoweringError, PyptoError

FP32, FP16, BF16, INT32 = pypto.DT_FP32, pypto.DT_FP16, pypto.DT_BF16, pypto.DT_INT32
HERE = r"test_constraints\.py:\d+"


def refusal(body: Callable[..., Any], *tensors: tuple[list[Any], pypto.DataType], kind: type[Exception]) -> str:
    """The text that `body(a, b, ..., out)` is refused with; the tensors are the kernel's parameters."""
    marks = [pypto.Tensor([pypto.DYNAMIC if d == "S" else d for d in shape], dtype) for shape, dtype in tensors]
    shapes = [(tuple(40 if d == "S" else d for d in shape), dtype.asc.name) for shape, dtype in tensors]

    def one(a: marks[0]) -> None:
        body(a)

    def two(a: marks[0], b: marks[-1]) -> None:
        body(a, b)

    def three(a: marks[0], b: marks[1 if len(marks) > 1 else 0], c: marks[-1]) -> None:
        body(a, b, c)

    with pytest.raises(kind) as refused:
        pypto.frontend.jit((one, two, three)[len(marks) - 1]).lowered(*shapes)
    return str(refused.value)


def tiled(*sizes: int) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """The body with a vector tile set first."""

    def decorate(body: Callable[..., Any]) -> Callable[..., Any]:
        def set_and_run(*tensors: Any) -> Any:
            pypto.set_vec_tile_shapes(*sizes)
            return body(*tensors)

        return set_and_run

    return decorate


A = ([8, 64], FP32)
RULES: dict[str, tuple[Callable[..., Any], list[Any], str]] = {
    "no tile": (
        pypto.neg,
        [A],
        "[0xf00003] neg: no vector tile shape is set; call pypto.set_vec_tile_shapes(...) with 2 sizes before the "
        "first vector operation",
    ),
    "tile of another rank": (
        tiled(8, 8, 8)(pypto.exp),
        [A],
        f"[0xf00002] exp: the vector tile [8, 8, 8] (set at {HERE}) has 3 dims, but its output has 2; they must agree",
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
        "[0xf00002] view: shape [4] has 1 entries, the tensor 2 dims",
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
        "[0xf00002] concat: 1 tensors; allowed are lists of 2 to 128",
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
    "reading what was never assembled": (
        tiled(8, 64)(lambda a: pypto.neg(pypto.tensor([8, 64], FP32, "t"))),
        [A],
        "[0xf00002] neg: nothing has been assembled into t yet",
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
    assert re.fullmatch(re.escape(text).replace(re.escape(HERE), HERE), found), found


FRONT_END: dict[str, tuple[Callable[..., Any], list[Any], str]] = {
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


LOWERING: dict[str, tuple[Callable[..., Any], list[Any], str]] = {
    "a tile that does not fit": (
        tiled(1024, 64)(lambda a, b: whole(pypto.exp(a) * a + a, b)),
        [([1024, 64], FP32), ([1024, 64], FP32)],
        rf"kernel 'two': the vector tile [1024, 64] of add (stored at {HERE}) needs 524288 B of unified buffer, "
        rf"Ascend910B3 has 196352 B; the tile [256, 64] would fit. Buffers, those alive at one time sharing nothing:\n"
        rf"  a [1024, 64] DT_FP32: 262144 B (input at {HERE})\n"
        rf"  exp [1024, 64] DT_FP32: 262144 B (exp at {HERE})\n"
        rf"  mul [1024, 64] DT_FP32: 262144 B (mul at {HERE})\n"
        rf"  add [1024, 64] DT_FP32: 262144 B (add at {HERE})",
    ),
    "integers summed along rows": (
        tiled(8, 64)(lambda a, b: whole(pypto.sum(a, -1, keepdim=True), b)),
        [([8, 64], INT32), ([8, 1], INT32)],
        "sum: sum along the last dim of DT_INT32: the chip reduces half and float only; cast to pypto.DT_FP32 first, "
        "or reduce another dim",
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
    pattern = re.escape(text).replace(re.escape(HERE), HERE).replace(r"\\n", "\n")
    assert re.fullmatch(pattern, found), found


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
