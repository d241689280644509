"""The gradient kernels against the golden: equal bits for every layout, dtype and alignment, with and without x."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, ClassVar

import numpy as np
import pytest
from ascend_sim.oplib.rotary_position_embedding.golden import rotate
from ascend_sim.oplib.rotary_position_embedding_grad.golden import golden, sum_to, unrotate

import ascend_sim
from ascend_sim import asc

DTYPES = ("float16", "bfloat16", "float32")
HALF, INTERLEAVE = 0, 1

# leading dims of dy and of cos
LAYOUTS = {
    "BSND": ((2, 10, 3), (1, 10, 1)),
    "BSND, cos with B": ((3, 5, 4), (3, 5, 1)),
    "BSND, all of dy": ((2, 3, 10), (2, 3, 10)),
    "BNSD": ((2, 3, 20), (1, 1, 20)),
    "BNSD, cos with B": ((2, 3, 20), (2, 1, 20)),
    "SBND": ((10, 2, 3), (10, 1, 1)),
    "SBND, cos with B": ((5, 3, 4), (5, 3, 1)),
    "TND": ((10, 3), (10, 1)),
}
PAIRS = {
    "BSND": ((2, 10, 3), (1, 10, 1), "small"),
    "BNSD": ((2, 3, 10), (1, 1, 10), "small"),
    "SBND": ((10, 2, 3), (10, 1, 1), "small"),
    "BSND, heads cut": ((2, 6, 40), (1, 6, 1), "large"),
    "BNSD, heads cut": ((2, 40, 6), (1, 1, 6), "large"),
    "SBND, heads cut": ((6, 2, 40), (6, 1, 1), "large"),
}


def half_calls() -> Iterator[Any]:
    for name, (dy, cos) in LAYOUTS.items():
        for dim in (64, 20, 72):
            for dtype in DTYPES if dim == 64 else DTYPES[::2]:
                yield pytest.param(dy, cos, dim, dtype, id=f"{name}-{dim}-{dtype}")


def pair_calls() -> Iterator[Any]:
    for name, (dy, cos, path) in PAIRS.items():
        for dim in (64, 20):
            for dtype in DTYPES:
                yield pytest.param(dy, cos, dim, dtype, path, id=f"{name}-{dim}-{dtype}")


def run(dy: tuple[int, ...], cos: tuple[int, ...], dim: int, dtype: str, with_x: bool, **options: Any) -> Any:
    """Random inputs on a device of 4 cores and little UB; the result knows whether the gradients are right."""
    inputs = {"dy": ((*dy, dim), dtype), "cos": ((*cos, dim), dtype), "sin": ((*cos, dim), dtype)}
    if with_x:
        inputs["x"] = inputs["dy"]
    overrides = {"cores.aiv": 4, "ub.bytes": "48 KiB" if dim == 72 else "32 KiB"}
    return ascend_sim.run("rotary_position_embedding_grad", **inputs, overrides=overrides, **options)


@pytest.mark.parametrize("with_x", [False, True])
@pytest.mark.parametrize(("dy", "cos", "dim", "dtype"), list(half_calls()))
def test_half(dy: tuple[int, ...], cos: tuple[int, ...], dim: int, dtype: str, with_x: bool) -> None:
    result = run(dy, cos, dim, dtype, with_x, mode=HALF)
    assert result.tiling.path == "half"
    assert list(result.outputs) == (["dx", "dcos", "dsin"] if with_x else ["dx"])
    assert result.values.exact
    assert not result.warnings


@pytest.mark.parametrize("with_x", [False, True])
@pytest.mark.parametrize(("dy", "cos", "dim", "dtype", "path"), list(pair_calls()))
def test_interleave(dy: tuple[int, ...], cos: tuple[int, ...], dim: int, dtype: str, path: str, with_x: bool) -> None:
    result = run(dy, cos, dim, dtype, with_x, mode=INTERLEAVE)
    assert result.tiling.path == path
    assert list(result.outputs) == (["dx", "dcos", "dsin"] if with_x else ["dx"])
    assert result.values.exact
    assert not result.warnings


@pytest.mark.parametrize("mode", [HALF, INTERLEAVE])
def test_golden_is_the_gradient(mode: int) -> None:
    """In float64 the golden's formulas agree with differences of y along random directions."""
    rng = np.random.default_rng(7)
    x, dy = rng.standard_normal((2, 2, 3, 2, 8))
    cos, sin = rng.standard_normal((2, 1, 3, 1, 8))

    def y(x: Any, cos: Any, sin: Any) -> Any:
        return x * cos + rotate(x, mode) * sin

    found = {
        "x": dy * cos + unrotate(dy * sin, mode),
        "cos": sum_to(dy * x, cos.shape),
        "sin": sum_to(dy * rotate(x, mode), sin.shape),
    }
    for name, gradient in found.items():
        step = 1e-6 * rng.standard_normal(gradient.shape)
        moved = {"x": x, "cos": cos, "sin": sin}
        moved[name] = moved[name] + step
        difference = ((y(**moved) - y(x, cos, sin)) * dy).sum()
        assert difference == pytest.approx((gradient * step).sum(), rel=1e-4)


def test_golden_names_only_what_was_asked_for() -> None:
    one = np.ones((1, 1, 1, 2), np.float32)
    inputs = {"dy": one, "cos": one, "sin": one}
    assert golden(inputs, {"mode": HALF})["dx"].ravel().tolist() == [2.0, 0.0]
    assert list(golden(inputs, {"mode": HALF})) == ["dx"]
    assert list(golden(inputs | {"x": one}, {"mode": HALF})) == ["dx", "dcos", "dsin"]


class SpyPipe(asc.TPipe):
    """Notes the size and number of the buffers that a kernel asks for, in order."""

    asked: ClassVar[list[tuple[int, int]]] = []

    def init_buffer(self, que: Any, num: int, len: int | None = None) -> None:  # type: ignore[override] # noqa: A002
        self.asked.append((num, 1) if len is None else (len, num))
        super().init_buffer(que, num, len)


@pytest.mark.parametrize("with_x", [False, True])
@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_half_ub_holds_what_the_tiling_planned(dtype: str, with_x: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asc, "TPipe", SpyPipe)
    SpyPipe.asked.clear()
    result = run((2, 10, 3), (1, 10, 1), 72, dtype, with_x, mode=HALF, values=False)
    planned = [(buffer.nbytes, buffer.count) for buffer in result.tiling.buffers]
    assert SpyPipe.asked[: len(planned)] == planned
    assert result.tiling.ub_used_bytes <= result.chip.ub.usable_bytes


@pytest.mark.parametrize("with_x", [False, True])
@pytest.mark.parametrize("dtype", ["float16", "float32"])
@pytest.mark.parametrize("layout", PAIRS)
def test_interleave_ub_holds_what_the_tiling_planned(
    layout: str, dtype: str, with_x: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    dy, cos, _ = PAIRS[layout]
    monkeypatch.setattr(asc, "TPipe", SpyPipe)
    SpyPipe.asked.clear()
    result = run(dy, cos, 64, dtype, with_x, mode=INTERLEAVE, values=False)
    planned = [(buffer.nbytes, buffer.count) for buffer in result.tiling.buffers]
    assert SpyPipe.asked[: len(planned)] == planned


KERNELS = {
    "half": ((2, 10, 3), (1, 10, 1), HALF),
    "small": (*PAIRS["BNSD"][:2], INTERLEAVE),
    "large": (*PAIRS["SBND, heads cut"][:2], INTERLEAVE),
}


def unsigned(call: Callable[..., None], dst: Any, src: Any, scalar: Any, *rest: Any) -> None:
    call(dst, src, abs(scalar), *rest)


def unsigned_table(call: Callable[..., None], table: Any, index: int, value: Any) -> None:
    call(table, index, abs(value))


def doubled(call: Callable[..., None], dst: Any, src0: Any, _: Any, count: int) -> None:
    call(dst, src0, src0, count)


def floored(call: Callable[..., None], dst: Any, src: Any, mode: asc.RoundMode, count: int) -> None:
    call(dst, src, asc.RoundMode.CAST_FLOOR if dst.dtype.itemsize < 4 else mode, count)


@pytest.mark.parametrize(
    ("path", "owner", "name", "change"),
    [
        ("half", asc, "muls", unsigned),
        ("small", asc.LocalTensor, "set_value", unsigned_table),
        ("large", asc.LocalTensor, "set_value", unsigned_table),
        *((path, asc, "add", doubled) for path in KERNELS),
        *((path, asc, "cast", floored) for path in KERNELS),
    ],
)
def test_one_changed_instruction_gives_wrong_values(
    path: str, owner: Any, name: str, change: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    dy, cos, mode = KERNELS[path]
    original = getattr(owner, name)
    monkeypatch.setattr(owner, name, lambda *args: change(original, *args))
    result = run(dy, cos, 20, "float16", True, mode=mode)
    assert result.tiling.path == path
    assert not result.values.ok
