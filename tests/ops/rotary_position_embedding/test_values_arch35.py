"""The 950's kernels against the golden: equal bits in every template, mode, dtype and tail, however tiles are cut."""

from __future__ import annotations

import numpy as np
import pytest
from helpers.runs_arch35 import (
    FLOATS,
    MUTANTS,
    SHAPES,
    WHOLE_CUTS,
    Cut,
    SpyPipe,
    WholeLines,
    has_shorter_tile,
    mutate,
    same_numbers,
    specials,
    whole_lengths,
)

import ascend_sim
from ascend_sim.host.registry import operator_named

OP = operator_named("rotary_position_embedding")
TEMPLATES = [layout for layout in SHAPES if "-" not in layout]
MODES = {"half": 0, "interleave": 1, "quarter": 2, "interleave-half": 3}
BENCHES = {name: WholeLines(OP, mode) for name, mode in MODES.items()}


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize(("mode", "layout"), [(mode, layout) for mode in MODES for layout in TEMPLATES])
def test_kernel_equals_golden_for_every_tail(mode: str, layout: str, dtype: str) -> None:
    for length in whole_lengths(mode, dtype):
        inputs = BENCHES[mode].inputs(layout, FLOATS[dtype], length)
        tiling = BENCHES[mode].agrees(inputs, cores=2, ub_bytes=65_536)
        assert (tiling.path, tiling.block_dim) == (layout, 2)


@pytest.mark.parametrize("mode", ["half", "interleave-half"])
@pytest.mark.parametrize("cut", WHOLE_CUTS, ids=lambda cut: f"{cut.layout}-{'-'.join(cut.uneven)}")
def test_tiles_that_divide_unevenly(cut: Cut, mode: str) -> None:
    inputs = BENCHES[mode].inputs(cut.layout, np.float16, cut.length, cut.x)
    tiling = BENCHES[mode].agrees(inputs, cores=cut.cores, ub_bytes=cut.ub_bytes)
    assert tiling.path == cut.layout
    assert [axis for axis in cut.uneven if not has_shorter_tile(tiling, axis)] == []


def test_few_positions_leave_cores_for_the_heads() -> None:
    bench = BENCHES["quarter"]
    tiling = bench.agrees(bench.inputs("AB", np.float16, 72, (2, 1, 9)), cores=8)
    assert (tiling.data["blockNumBS"], tiling.data["blockNumN"], tiling.data["blockTailN"]) == (2, 3, 3)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("layout", ["A", "B"])
@pytest.mark.parametrize("mode", MODES)
def test_infinities_subnormals_and_signed_zeros(mode: str, layout: str, dtype: str) -> None:
    inputs = BENCHES[mode].inputs(layout, FLOATS[dtype], 140)
    specials(inputs)
    _, _, outputs = BENCHES[mode].run(inputs, ub_bytes=65_536)
    assert same_numbers(outputs["y"], BENCHES[mode].golden(inputs)["y"])


@pytest.mark.parametrize("layout", SHAPES)
def test_block_order_changes_nothing(layout: str) -> None:
    inputs = BENCHES["half"].inputs(layout, np.float16, 62)
    tiling, _, forward = BENCHES["half"].run(inputs)
    assert forward["y"].tobytes() == BENCHES["half"].golden(inputs)["y"].tobytes()
    assert tiling.path == layout.partition("-")[0]
    assert tiling.block_dim > 1
    _, _, backward = BENCHES["half"].run(inputs, backwards=True)
    assert forward["y"].tobytes() == backward["y"].tobytes()


@pytest.mark.parametrize("ub_kib", [16, 64, 1024])
def test_other_sizes_of_ub(ub_kib: int) -> None:
    x, table = ((64, 1, 4, 64), "float16"), ((64, 1, 1, 64), "float16")
    result = ascend_sim.run(OP.name, x, table, table, soc="ascend950", overrides={"ub.bytes": ub_kib * 1024})
    assert result.values.exact
    assert result.duration_us > 0


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("layout", TEMPLATES)
def test_ub_holds_what_the_tiling_planned(layout: str, mode: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ascend_sim.asc.TPipe", SpyPipe)
    SpyPipe.asked.clear()
    tiling, _, _ = BENCHES[mode].run(BENCHES[mode].inputs(layout, np.float16, 36), values=False)
    planned = [(buffer.nbytes, buffer.count) for buffer in tiling.buffers]
    assert SpyPipe.asked == planned * tiling.block_dim
    assert tiling.ub_used_bytes <= tiling.ub_bytes


PARTS = ["add for sub", "sub for add", "add for mul", "truncated", "one lane less", "bytes missing"]
NEIGHBOURS = ["no negation", "sub for add", "add for mul", "even for odd", "truncated", "one lane less"]
CHANGES = {
    "half": PARTS,
    "interleave": [*NEIGHBOURS, "woven the other way"],
    "quarter": PARTS,
    "interleave-half": [*NEIGHBOURS, "bytes missing"],
}


@pytest.mark.parametrize(
    ("mode", "layout", "mutant"),
    [
        *((mode, layout, name) for mode, names in CHANGES.items() for layout in ("B", "ABA") for name in names),
        ("half", "ABA", "every head the first"),
    ],
)
def test_one_changed_instruction_gives_wrong_values(
    mode: str, layout: str, mutant: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert mutant in MUTANTS
    inputs = BENCHES[mode].inputs(layout, np.float16, 140)
    expected = BENCHES[mode].golden(inputs)["y"]
    seen = mutate(monkeypatch, mutant)
    _, _, outputs = BENCHES[mode].run(inputs)
    assert seen
    assert np.any(outputs["y"] != expected)
