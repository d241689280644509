"""The kernels of mode half and interleave against the golden: equal bits for every layout, dtype and alignment."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

import ml_dtypes
import numpy as np
import pytest
from ascend_sim.oplib.rotary_position_embedding.golden import exact, golden, rotate

import ascend_sim
from ascend_sim import asc

DTYPES = ("float16", "bfloat16", "float32")
HALF, INTERLEAVE = 0, 1

# leading dims of x and of cos, by tilingMode and the rule that finds it
LAYOUTS = {
    "BNSD": ((2, 2, 80), (1, 1, 80)),
    "BSND": ((2, 10, 3), (1, 10, 1)),
    "SBND": ((10, 2, 3), (10, 1, 1)),
    "SBND, cos with B and S": ((3, 5, 4), (3, 5, 1)),
    "no broadcast": ((2, 3, 10), (2, 3, 10)),
    "BND": ((1, 3, 10), (1, 1, 1)),
    "R_B1SD": ((2, 3, 10), (2, 1, 10)),
    "TND": ((10, 3), (10, 1)),
}
SMALL = {
    "cos per group": ((3, 5, 4), (3, 5, 1)),
    "one head": ((3, 5, 1), (3, 5, 1)),
    "one cos": ((3, 5, 4), (1, 1, 1)),
    "one cos, one head": ((4, 1, 1), (1, 1, 1)),
    "more groups than fit": ((2, 40, 2), (2, 40, 1)),
}
PAIRS = {
    "BNSD": ((2, 3, 10), (1, 1, 10), "split_s"),
    "BSND": ((2, 10, 3), (1, 10, 1), "split_s"),
    "SBND": ((10, 2, 2), (10, 1, 1), "split_s"),
    "batches cut": ((30, 9, 2), (1, 9, 1), "split_bs"),
    "batches cut, one head": ((90, 5, 1), (1, 5, 1), "split_bs"),
    "heads cut": ((2, 7, 60), (1, 7, 1), "split_bsn"),
}
UB = {20: "8 KiB", 24: "8 KiB", 64: "8 KiB", 136: "24 KiB"}


def half_calls() -> Iterator[Any]:
    for name, (x, cos) in LAYOUTS.items():
        for dim in (64, 20, 136):
            for dtype in DTYPES if dim == 64 else DTYPES[::2]:
                yield pytest.param(x, cos, dim, dtype, id=f"{name}-{dim}-{dtype}")


def small_calls() -> Iterator[Any]:
    for name, (x, cos) in SMALL.items():
        for dim in (64, 20, 136):
            for dtype in DTYPES if dim == 64 else DTYPES[::2]:
                yield pytest.param(x, cos, dim, dtype, id=f"{name}-{dim}-{dtype}")


def pair_calls() -> Iterator[Any]:
    for name, (x, cos, path) in PAIRS.items():
        for dim in (64, 24):
            for dtype in DTYPES:
                yield pytest.param(x, cos, dim, dtype, path, id=f"{name}-{dim}-{dtype}")


def run(x: tuple[int, ...], cos: tuple[int, ...], dim: int, dtype: str, **options: Any) -> Any:
    """Random inputs on a device of `aiv` cores (default 4) and little UB; the result knows whether y is right."""
    overrides = {"cores.aiv": options.pop("aiv", 4), "ub.bytes": UB[dim]}
    shapes = (((*x, dim), dtype), ((*cos, dim), dtype), ((*cos, dim), dtype))
    return ascend_sim.run("rotary_position_embedding", *shapes, overrides=overrides, **options)


@pytest.mark.parametrize(("x", "cos", "dim", "dtype"), list(half_calls()))
def test_half(x: tuple[int, ...], cos: tuple[int, ...], dim: int, dtype: str) -> None:
    result = run(x, cos, dim, dtype, mode=HALF, cann="8.3")
    assert result.tiling.path == "half"
    assert result.values.exact
    assert not result.warnings


@pytest.mark.parametrize(("x", "cos", "dim", "dtype"), list(small_calls()))
def test_half_small(x: tuple[int, ...], cos: tuple[int, ...], dim: int, dtype: str) -> None:
    result = run(x, cos, dim, dtype, mode=HALF, aiv=64)
    assert result.tiling.path == "half_full_load"
    assert result.values.exact
    assert not result.warnings


@pytest.mark.parametrize(("x", "cos", "dim", "dtype", "path"), list(pair_calls()))
def test_interleave(x: tuple[int, ...], cos: tuple[int, ...], dim: int, dtype: str, path: str) -> None:
    result = run(x, cos, dim, dtype, mode=INTERLEAVE)
    assert result.tiling.path == path
    assert result.values.exact
    assert not result.warnings


@pytest.mark.parametrize("mode", [HALF, INTERLEAVE])
def test_float32_error_bound(mode: int) -> None:
    result = run((2, 3, 10), (1, 1, 10), 64, "float32", mode=mode)
    y, scale = exact(result.inputs, {"mode": mode})
    assert (np.abs(result.outputs["y"] - y) <= 2 * 2.0**-24 * scale).all()


def test_quarter_runs_as_half_on_these_chips() -> None:
    result = run((2, 3, 10), (1, 1, 10), 64, "float16", mode="quarter")
    assert result.values.exact
    assert np.array_equal(result.outputs["y"], golden(result.inputs, {"mode": HALF})["y"])


def test_golden_follows_the_formula() -> None:
    v = np.arange(4.0, dtype=np.float32)
    assert rotate(v, HALF).tolist() == [-2, -3, 0, 1]
    assert rotate(v, INTERLEAVE).tolist() == [-1, 0, -3, 2]
    x, cos, sin = (np.array([a, b], ml_dtypes.bfloat16) for a, b in ((3, 5), (0.5, 2), (0.25, 4)))
    y = golden({"x": x, "cos": cos, "sin": sin}, {"mode": HALF})["y"]
    assert y.tolist() == [3 * 0.5 - 5 * 0.25, 5 * 2 + 3 * 4]


class SpyPipe(asc.TPipe):
    """Notes the size and number of the buffers that a kernel asks for, in order."""

    asked: ClassVar[list[tuple[int, int]]] = []

    def init_buffer(self, que: Any, num: int, len: int | None = None) -> None:  # type: ignore[override] # noqa: A002
        self.asked.append((num, 1) if len is None else (len, num))
        super().init_buffer(que, num, len)


KERNELS = {
    "half": ((2, 10, 3), (1, 10, 1), 20, HALF, 4),
    "half_full_load": ((4, 5, 4), (4, 5, 1), 20, HALF, 64),
    "split_s": ((2, 10, 3), (1, 10, 1), 24, INTERLEAVE, 4),
    "split_bs": ((30, 9, 2), (1, 9, 1), 24, INTERLEAVE, 4),
    "split_bsn": ((2, 7, 60), (1, 7, 1), 24, INTERLEAVE, 4),
}


@pytest.mark.parametrize("path", KERNELS)
@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_ub_holds_what_the_tiling_planned(path: str, dtype: str, monkeypatch: pytest.MonkeyPatch) -> None:
    x, cos, dim, mode, aiv = KERNELS[path]
    monkeypatch.setattr(asc, "TPipe", SpyPipe)
    SpyPipe.asked.clear()
    result = run(x, cos, dim, dtype, mode=mode, aiv=aiv, values=False)
    assert result.tiling.path == path
    planned = [(buffer.nbytes, buffer.count) for buffer in result.tiling.buffers]
    assert SpyPipe.asked[: len(planned)] == planned
    assert result.tiling.ub_used_bytes <= result.chip.ub.usable_bytes


MUTANTS = {
    "sign": ("muls", lambda call, dst, src, scalar, *rest, **more: call(dst, src, abs(scalar), *rest, **more)),
    "cast mode": ("cast", lambda call, dst, src, mode, count: call(dst, src, _truncate(mode), count)),
}


def _truncate(mode: asc.RoundMode) -> asc.RoundMode:
    return asc.RoundMode.CAST_TRUNC if mode is asc.RoundMode.CAST_RINT else mode


@pytest.mark.parametrize("mutant", MUTANTS)
@pytest.mark.parametrize("path", KERNELS)
def test_one_changed_instruction_gives_wrong_values(path: str, mutant: str, monkeypatch: pytest.MonkeyPatch) -> None:
    x, cos, dim, mode, aiv = KERNELS[path]
    name, change = MUTANTS[mutant]
    original = getattr(asc, name)
    monkeypatch.setattr(asc, name, lambda *args, **more: change(original, *args, **more))
    assert not run(x, cos, dim, "float16", mode=mode, aiv=aiv).values.ok
