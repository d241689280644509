"""The sums of the 950's gradients: every pattern of axes, in memory order, however tiles are cut."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from ascend_sim.oplib.shared.float32_arch35 import loaded, product, stored
from ascend_sim.oplib.shared.rope_arch35 import summed
from ascend_sim.oplib.shared.sums_arch35 import Sums, SumShape, SumSteps, sum_lines
from ascend_sim.oplib.shared.tiles_arch35 import Line

from ascend_sim import asc
from ascend_sim.asc import reg
from ascend_sim.host.device import Device
from ascend_sim.soc import load

FORMS = {  # leading dims of the lines, of the results: groups, rows, terms, inner
    "R": ((3, 5, 4), (1, 1, 1), (1, 1, 60, 1)),
    "AR": ((3, 5, 4), (3, 5, 1), (1, 15, 4, 1)),
    "AR, of two axes": ((3, 5, 4), (3, 1, 1), (1, 3, 20, 1)),
    "RA": ((3, 5, 4), (1, 5, 4), (1, 1, 3, 20)),
    "RA, of two axes": ((3, 5, 4), (1, 1, 4), (1, 1, 15, 4)),
    "ARA": ((3, 5, 4), (3, 1, 4), (1, 3, 5, 4)),
    "RAR": ((3, 5, 4), (1, 5, 1), (3, 5, 4, 1)),
    "R, ones beside it": ((1, 7, 1), (1, 1, 1), (1, 1, 7, 1)),
    "AR, rank 3": ((6, 4), (6, 1), (1, 6, 4, 1)),
}
BF16: Any = ml_dtypes.bfloat16


@asc.jit
def sum_kernel(a: asc.GlobalAddress, b: asc.GlobalAddress, out: asc.GlobalAddress, sums: asc.ConstExpr[Sums]) -> None:
    sum_lines(asc.TPipe(), (a, b), out, sums)


@asc.jit
def sum_one_kernel(a: asc.GlobalAddress, out: asc.GlobalAddress, sums: asc.ConstExpr[Sums]) -> None:
    sum_lines(asc.TPipe(), (a,), out, sums)


def total(
    factors: tuple[Any, ...], results: tuple[int, ...], dtype: Any, cores: int = 4, ub_bytes: int = 100_000
) -> Any:
    """What the kernel makes of them."""
    length = factors[0].shape[-1]
    sums = Sums(SumShape.of(factors[0].shape[:-1], results, length), cores, ub_bytes)
    out = np.full((*results, length), np.nan, dtype)
    with Device(load("ascend950")):
        (sum_kernel if len(factors) > 1 else sum_one_kernel)[cores](*factors, out, sums)
    return out


def golden(factors: tuple[Any, ...], results: tuple[int, ...], dtype: Any) -> Any:
    terms = loaded(factors[0]) if len(factors) == 1 else product(*(loaded(factor) for factor in factors))
    return stored(summed(terms, (*results, terms.shape[-1])), dtype)


def lines(shape: tuple[int, ...], length: int, dtype: Any, count: int = 2) -> tuple[Any, ...]:
    rng = np.random.default_rng(3)
    return tuple(rng.standard_normal((*shape, length)).astype(dtype) for _ in range(count))


@pytest.mark.parametrize("form", FORMS)
def test_shape(form: str) -> None:
    shape, results, wanted = FORMS[form]
    assert SumShape.of(shape, results, 8) == SumShape(*wanted, 8)


@pytest.mark.parametrize("dtype", [np.float16, BF16, np.float32])
@pytest.mark.parametrize("form", FORMS)
def test_products_in_every_dtype(form: str, dtype: Any) -> None:
    shape, results, _ = FORMS[form]
    factors = lines(shape, 70, dtype)
    assert total(factors, results, dtype).tobytes() == golden(factors, results, dtype).tobytes()


@pytest.mark.parametrize(("cores", "ub_bytes"), [(1, 100_000), (1, 3000), (2, 6000), (3, 4000), (64, 9000)])
@pytest.mark.parametrize("form", FORMS)
def test_any_cut_gives_the_same_bits(form: str, cores: int, ub_bytes: int) -> None:
    """One float32 factor; 40 elements are 160 B a line."""
    shape, results, _ = FORMS[form]
    factors = lines(shape, 40, np.float32, count=1)
    found = total(factors, results, np.float16, cores, ub_bytes)
    assert found.tobytes() == golden(factors, results, np.float16).tobytes()


def steps(form: str, cores: int, ub_bytes: int) -> SumSteps:
    shape, results, _ = FORMS[form]
    line = Line(asc.float32, 40, 40)
    return SumSteps(Sums(SumShape.of(shape, results, 40), cores, ub_bytes), (line,), Line(asc.float16, 40, 40))


@pytest.mark.parametrize(
    ("form", "cores", "ub_bytes", "grid", "tile"),
    [
        ("AR", 1, 3000, (1, 15, 1, 1), (1, 4)),  # 160 + 2 * 96 B a row, 320 a term
        ("AR", 4, 6000, (4, 4, 1, 1), (3, 4)),
        ("R", 4, 3000, (1, 1, 1, 1), (1, 8)),  # terms in several tiles
        ("RAR", 4, 3000, (3, 2, 1, 1), (1, 4)),
        ("RA", 4, 3000, (1, 1, 4, 5), (4, 1)),  # of one row, four results and one term of each
        ("RA", 4, 100_000, (1, 1, 4, 5), (5, 3)),
        ("ARA", 1, 3000, (1, 3, 1, 4), (4, 1)),
        ("ARA", 3, 3000, (3, 1, 1, 4), (4, 1)),
    ],
)
def test_tiles_by_hand(form: str, cores: int, ub_bytes: int, grid: tuple[int, ...], tile: tuple[int, int]) -> None:
    found = steps(form, cores, ub_bytes)
    g = found.grid
    assert (g.num_b, g.factor_b, g.num_s, g.factor_s) == grid
    assert (found.results, found.terms) == tile


def test_few_results_are_cut_into_pieces_of_lines() -> None:
    """256 halves are 4 pieces of 128 B; there must be a whole number of them, and fewer results than cores."""
    shape = SumShape(3, 5, 4, 1, 256)
    assert shape.spread(6, 2) == SumShape(3, 5, 4, 4, 64)
    assert shape.spread(5, 2) == shape
    assert SumShape(1, 1, 15, 4, 128).spread(64, 4) == SumShape(1, 1, 15, 16, 32)
    odd = SumShape(1, 1, 60, 1, 100)
    assert odd.spread(64, 2) == odd
    factors = lines((3, 5, 4), 256, np.float16)
    whole, cut = (SumShape.of((3, 5, 4), (1, 5, 1), 256), SumShape.of((3, 5, 4), (1, 5, 1), 256).spread(64, 2))
    found = []
    for each in (whole, cut):
        out = np.full((1, 5, 1, 256), np.nan, np.float16)
        with Device(load("ascend950")):
            sum_kernel[8](*factors, out, Sums(each, 8, 9000))
        found.append(out.tobytes())
    assert found[0] == found[1] == golden(factors, (1, 5, 1), np.float16).tobytes()


def test_terms_go_in_memory_order() -> None:
    """((BIG + 1) - BIG) + 1 in float32, groups in front of terms."""
    big = 2.0**24
    terms = np.array([[[big, 1]], [[-big, 1]]], np.float32)[..., None].repeat(8, -1)
    assert total((terms,), (1, 1, 1), np.float32).ravel().tolist() == [1] * 8
    assert total((terms[::-1].copy(),), (1, 1, 1), np.float32).ravel().tolist() == [2] * 8


def test_signs_of_zeros_and_one_term() -> None:
    zeros = np.full((2, 3, 1, 8), -0.0, np.float32)
    assert np.signbit(total((zeros,), (1, 3, 1), np.float32)).all()
    assert np.signbit(total((zeros,), (2, 3, 1), np.float32, cores=1)).all()


@pytest.mark.parametrize("name", ["add", "mul"])
def test_one_changed_instruction_gives_wrong_sums(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    factors = lines((3, 5, 4), 40, BF16)
    wanted = golden(factors, (1, 5, 1), BF16)
    monkeypatch.setattr(reg, name, reg.sub)
    assert (total(factors, (1, 5, 1), BF16) != wanted).any()
