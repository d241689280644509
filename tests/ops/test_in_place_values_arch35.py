"""The 950's in-place kernels against the golden: equal bits in every template, dtype pair and tail, however tiles are
cut."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
import pytest
from helpers.in_place_arch35 import IN_PLACE_MUTANTS, LENGTHS, Bench
from helpers.runs_arch35 import (
    FLOATS,
    SHAPES,
    Cut,
    SpyPipe,
    has_shorter_tile,
    mutate,
    same_numbers,
    specials,
)

from ascend_sim import asc
from ascend_sim.host.registry import operator_named

Pair = tuple[Any, Any]  # dtypes of x (or dy) and of cos and sin

ALIKE: dict[str, Pair] = {name: (dtype, dtype) for name, dtype in FLOATS.items()}
MIXED: dict[str, Pair] = {
    f"{name}_cos_{cos_name}": (dtype, cos_dtype)
    for name, dtype in FLOATS.items()
    for cos_name, cos_dtype in FLOATS.items()
    if name != cos_name
}
FORWARD = "inplace_partial_rotary_mul"
FORWARD_CUTS = (
    Cut("A", (3, 5, 2), 4, 8000, ("lines",)),
    Cut("B", (3, 5, 2), 2, 8000, ("lines",)),
    Cut("AB", (3, 3, 2), 1, 8000, ("positions",)),
    Cut("AB", (2, 2, 9), 2, 5000, ("heads",)),
    Cut("BAB", (2, 4, 2), 1, 28000, ("positions",)),
    Cut("BAB", (2, 3, 3), 3, 15000, ("heads",), 130),
    Cut("ABA", (2, 2, 9), 1, 6000, ("positions",)),
    Cut("ABA", (3, 3, 2), 1, 11000, ("batches",)),
    Cut("ABA", (3, 3, 3), 4, 7000, ("heads",)),
    Cut("BA", (2, 2, 9), 1, 6000, ("positions",)),
    Cut("BA", (3, 3, 2), 1, 9000, ("batches",)),
    Cut("BA", (2, 4, 2), 2, 6000, ("heads",)),
)
GRAD = "inplace_partial_rotary_mul_grad"
GRAD_CUTS = (
    Cut("A", (3, 5, 2), 4, 8000, ("lines",)),
    Cut("B", (3, 5, 2), 2, 8000, ("lines",)),
    Cut("AB", (3, 3, 2), 1, 8000, ("positions",)),
    Cut("AB", (2, 2, 9), 2, 5000, ("heads",)),
    Cut("BAB", (2, 5, 2), 1, 8000, ("positions",)),
    Cut("BAB", (2, 3, 9), 2, 5000, ("heads",)),
    Cut("ABA", (3, 3, 3), 4, 7000, ("positions",)),
    Cut("ABA", (3, 2, 2), 1, 4480, ("batches",)),
    Cut("ABA", (2, 9, 3), 1, 4000, ("heads",)),
    Cut("BA", (2, 1, 9), 1, 7680, ("positions",)),
    Cut("BA", (3, 3, 2), 1, 6000, ("batches",)),
    Cut("BA", (2, 9, 3), 1, 5000, ("heads",)),
)


class Case(NamedTuple):
    """One operator: its bench, the dtype pairs it takes, calls whose tiles divide unevenly."""

    bench: Bench
    dtypes: dict[str, Pair]
    cuts: tuple[Cut, ...]


def _case(name: str, mixed: Iterable[str], cuts: tuple[Cut, ...]) -> Case:
    dtypes = ALIKE | {pair: MIXED[pair] for pair in mixed}
    return Case(Bench(operator_named(name), dtypes), dtypes, cuts)


CASES = {
    FORWARD: _case(FORWARD, ("fp16_cos_fp32", "bf16_cos_fp32"), FORWARD_CUTS),
    GRAD: _case(GRAD, MIXED, GRAD_CUTS),
}


@pytest.mark.parametrize(("name", "dtype"), [(name, dtype) for name in CASES for dtype in CASES[name].dtypes])
@pytest.mark.parametrize("layout", SHAPES)
def test_kernel_equals_golden_for_every_tail(name: str, layout: str, dtype: str) -> None:
    bench, dtypes, _ = CASES[name]
    for length in LENGTHS:
        inputs = bench.inputs(layout, dtypes[dtype], length)
        tiling = bench.agrees(inputs, ub_bytes=65_536)
        assert tiling.path == layout.partition("-")[0]
        assert tiling.block_dim > 1


@pytest.mark.parametrize(
    ("name", "cut"),
    [
        pytest.param(name, cut, id=f"{name}-{cut.layout}-{'-'.join(cut.uneven)}")
        for name in CASES
        for cut in CASES[name].cuts
    ],
)
def test_tiles_that_divide_unevenly(name: str, cut: Cut) -> None:
    bench, dtypes, _ = CASES[name]
    for dtype in ("fp16", "bf16_cos_fp32"):
        inputs = bench.inputs(cut.layout, dtypes[dtype], cut.length, cut.x)
        tiling = bench.agrees(inputs, cores=cut.cores, ub_bytes=cut.ub_bytes)
        assert tiling.path == cut.layout
        if dtype == "fp16":
            assert [axis for axis in cut.uneven if not has_shorter_tile(tiling, axis)] == []


@pytest.mark.parametrize("name", CASES)
def test_few_positions_leave_cores_for_the_heads(name: str) -> None:
    bench, dtypes, _ = CASES[name]
    tiling = bench.agrees(bench.inputs("AB", dtypes["fp16"], 70, (2, 1, 9)), cores=8)
    assert (tiling.data["blockNumBS"], tiling.data["blockNumN"], tiling.data["blockTailN"]) == (2, 3, 3)


@pytest.mark.parametrize("dtype", ["fp16", "fp32", "bf16_cos_fp32"])
@pytest.mark.parametrize("layout", ["A", "B", "BA"])
@pytest.mark.parametrize("name", CASES)
def test_infinities_subnormals_and_signed_zeros(name: str, layout: str, dtype: str) -> None:
    bench, dtypes, _ = CASES[name]
    inputs = bench.inputs(layout, dtypes[dtype], 190)
    specials(inputs)
    expected = bench.golden(inputs)
    bench.run(inputs, ub_bytes=65_536)
    start, end = 3, 193
    assert same_numbers(inputs[bench.changed][..., start:end], expected[..., start:end])


@pytest.mark.parametrize("layout", SHAPES)
@pytest.mark.parametrize("name", CASES)
def test_block_order_changes_nothing(name: str, layout: str) -> None:
    bench, dtypes, _ = CASES[name]
    forward, backward = (bench.inputs(layout, dtypes["fp16"], 62) for _ in range(2))
    tiling, _ = bench.run(forward)
    assert tiling.block_dim > 1
    bench.run(backward, backwards=True)
    assert forward[bench.changed].tobytes() == backward[bench.changed].tobytes()


@pytest.mark.parametrize("dtype", ["fp32", "bf16_cos_fp32"])
@pytest.mark.parametrize("layout", SHAPES)
@pytest.mark.parametrize("name", CASES)
def test_ub_holds_what_the_tiling_planned(name: str, layout: str, dtype: str, monkeypatch: pytest.MonkeyPatch) -> None:
    bench, dtypes, _ = CASES[name]
    monkeypatch.setattr(asc, "TPipe", SpyPipe)
    SpyPipe.asked.clear()
    tiling, _ = bench.run(bench.inputs(layout, dtypes[dtype], 62), values=False)
    planned = [(buffer.nbytes, buffer.count) for buffer in tiling.buffers]
    assert SpyPipe.asked == planned * tiling.block_dim
    assert tiling.ub_used_bytes <= tiling.ub_bytes


LOOPED = {"every head the first"}  # only ABA and BA copy in loop mode


@pytest.mark.parametrize(
    ("layout", "mutant"),
    [*(("B", name) for name in IN_PLACE_MUTANTS if name not in LOOPED), *(("ABA", name) for name in IN_PLACE_MUTANTS)],
)
@pytest.mark.parametrize("name", CASES)
def test_one_changed_instruction_gives_wrong_values(
    name: str, layout: str, mutant: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench, dtypes, _ = CASES[name]
    inputs = bench.inputs(layout, dtypes["fp16"], 70)
    expected = bench.golden(inputs)
    seen = mutate(monkeypatch, mutant)
    bench.run(inputs)
    assert seen
    assert np.any(inputs[bench.changed] != expected)
