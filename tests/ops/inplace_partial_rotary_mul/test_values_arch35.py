"""The 950's kernels against the golden: equal bits in every template, dtype pair and tail, however tiles are cut."""

from __future__ import annotations

import math

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
from ascend_sim.asc.memory import DeviceArray
from ascend_sim.host.registry import operator_named

DTYPES = {
    **{name: (dtype, dtype) for name, dtype in FLOATS.items()},
    "fp16_cos32": (np.float16, np.float32),
    "bf16_cos32": (FLOATS["bf16"], np.float32),
}
BENCH = Bench(operator_named("inplace_partial_rotary_mul"), DTYPES)
CUTS = (
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


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("layout", SHAPES)
def test_kernel_equals_golden_for_every_tail(layout: str, dtype: str) -> None:
    for length in LENGTHS:
        inputs = BENCH.inputs(layout, DTYPES[dtype], length)
        tiling = BENCH.agrees(inputs, ub_bytes=65_536)
        assert tiling.path == layout.partition("-")[0]
        assert tiling.block_dim > 1


@pytest.mark.parametrize("cut", CUTS, ids=lambda cut: f"{cut.layout}-{'-'.join(cut.uneven)}")
def test_tiles_that_divide_unevenly(cut: Cut) -> None:
    for dtype in ("fp16", "bf16_cos32"):
        inputs = BENCH.inputs(cut.layout, DTYPES[dtype], cut.length, cut.x)
        tiling = BENCH.agrees(inputs, cores=cut.cores, ub_bytes=cut.ub_bytes)
        assert tiling.path == cut.layout
        if dtype == "fp16":
            assert [axis for axis in cut.uneven if not has_shorter_tile(tiling, axis)] == []


def test_few_positions_leave_cores_for_the_heads() -> None:
    tiling = BENCH.agrees(BENCH.inputs("AB", DTYPES["fp16"], 70, (2, 1, 9)), cores=8)
    assert (tiling.data["blockNumBS"], tiling.data["blockNumN"], tiling.data["blockTailN"]) == (2, 3, 3)


@pytest.mark.parametrize("dtype", ["fp16", "fp32", "bf16_cos32"])
@pytest.mark.parametrize("layout", ["A", "B", "BA"])
def test_infinities_subnormals_and_signed_zeros(layout: str, dtype: str) -> None:
    inputs = BENCH.inputs(layout, DTYPES[dtype], 190)
    specials(inputs)
    expected = BENCH.golden(inputs)
    BENCH.run(inputs, ub_bytes=65_536)
    start, end = 3, 193
    assert same_numbers(inputs[BENCH.changed][..., start:end], expected[..., start:end])


@pytest.mark.parametrize("layout", SHAPES)
def test_block_order_changes_nothing(layout: str) -> None:
    forward, backward = (BENCH.inputs(layout, DTYPES["fp16"], 62) for _ in range(2))
    tiling, _ = BENCH.run(forward)
    assert tiling.block_dim > 1
    BENCH.run(backward, backwards=True)
    assert forward[BENCH.changed].tobytes() == backward[BENCH.changed].tobytes()


@pytest.mark.parametrize("dtype", ["fp32", "bf16_cos32"])
@pytest.mark.parametrize("layout", SHAPES)
def test_ub_holds_what_the_tiling_planned(layout: str, dtype: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asc, "TPipe", SpyPipe)
    SpyPipe.asked.clear()
    tiling, _ = BENCH.run(BENCH.inputs(layout, DTYPES[dtype], 62), values=False)
    planned = [(buffer.nbytes, buffer.count) for buffer in tiling.buffers]
    assert SpyPipe.asked == planned * tiling.block_dim
    assert tiling.ub_used_bytes <= tiling.ub_bytes


LOOPED = {"every head the first"}  # only ABA and BA copy in loop mode


@pytest.mark.parametrize(
    ("layout", "mutant"),
    [*(("B", name) for name in IN_PLACE_MUTANTS if name not in LOOPED), *(("ABA", name) for name in IN_PLACE_MUTANTS)],
)
def test_one_changed_instruction_gives_wrong_values(layout: str, mutant: str, monkeypatch: pytest.MonkeyPatch) -> None:
    inputs = BENCH.inputs(layout, DTYPES["fp16"], 70)
    expected = BENCH.golden(inputs)
    seen = mutate(monkeypatch, mutant)
    BENCH.run(inputs)
    assert seen
    assert np.any(inputs[BENCH.changed] != expected)


@pytest.mark.parametrize(("x", "cos"), [((1, 70_000, 32), (1, 70_000, 32)), ((2, 16, 70_000), (2, 1, 70_000))])
def test_offsets_past_two_to_the_31_elements(x: tuple[int, ...], cos: tuple[int, ...]) -> None:
    """Slices of 16 halves in heads of 1024, without data: the last core's last tile ends near the end of x."""
    shapes = {"x": (*x, 1024), "cos": (*cos, 16), "sin": (*cos, 16)}
    tensors = {name: DeviceArray(shape, "float16") for name, shape in shapes.items()}
    _, program = BENCH.run(tensors, cores=64, ub_bytes=253_952, values=False)
    nbytes = 2 * math.prod(shapes["x"])
    offsets = [address - min(program.blocks[0].gm_addresses) for address in program.blocks[-1].gm_addresses]
    last = max(offset for offset in offsets if offset < nbytes)
    assert nbytes > 2 * 2**31
    assert 0.999 * nbytes < last < nbytes
