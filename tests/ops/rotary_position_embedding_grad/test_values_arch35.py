"""The 950's kernels against the golden: equal bits in every template, mode, dtype and tail, with x and without."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from helpers.formulas import forward
from helpers.runs_arch35 import (
    FLOATS,
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

OP = operator_named("rotary_position_embedding_grad")
TEMPLATES = [layout for layout in SHAPES if "-" not in layout]
MODES = {"half": 0, "interleave": 1, "quarter": 2, "interleave-half": 3}
WITHOUT_X = {name: WholeLines(OP, mode) for name, mode in MODES.items()}
WITH_X = {name: WholeLines(OP, mode, with_x=True) for name, mode in MODES.items()}
EVERY = [(mode, layout) for mode in MODES for layout in TEMPLATES]


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize(("mode", "layout"), EVERY)
def test_kernels_equal_golden_for_every_tail(mode: str, layout: str, dtype: str) -> None:
    """dx, dcos and dsin."""
    for length in whole_lengths(mode, dtype):
        inputs = WITH_X[mode].inputs(layout, FLOATS[dtype], length)
        tiling = WITH_X[mode].agrees(inputs, cores=2, ub_bytes=65_536)
        assert (tiling.path, tiling.block_dim, tiling.data["dCosFlag"]) == (layout, 2, 1)


@pytest.mark.parametrize("mode", ["quarter", "interleave-half"])
@pytest.mark.parametrize("cut", WHOLE_CUTS, ids=lambda cut: f"{cut.layout}-{'-'.join(cut.uneven)}")
def test_tiles_that_divide_unevenly(cut: Cut, mode: str) -> None:
    length = 72 if mode == "quarter" else cut.length  # the same bytes in unified buffer
    inputs = WITH_X[mode].inputs(cut.layout, np.float16, length, cut.x)
    tiling = WITH_X[mode].agrees(inputs, cores=cut.cores, ub_bytes=cut.ub_bytes)
    assert tiling.path == cut.layout
    if mode != "quarter":
        assert [axis for axis in cut.uneven if not has_shorter_tile(tiling, axis)] == []


@pytest.mark.parametrize(("mode", "layout"), EVERY)
def test_dx_alone(mode: str, layout: str) -> None:
    tiling = WITHOUT_X[mode].agrees(WITHOUT_X[mode].inputs(layout, FLOATS["bf16"], 140))
    assert (tiling.path, tiling.data["dCosFlag"]) == (layout, 0)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("layout", ["A", "B", "BA"])
@pytest.mark.parametrize("mode", MODES)
def test_infinities_subnormals_and_signed_zeros(mode: str, layout: str, dtype: str) -> None:
    inputs = WITH_X[mode].inputs(layout, FLOATS[dtype], 140)
    specials(inputs)
    _, _, outputs = WITH_X[mode].run(inputs, ub_bytes=65_536)
    for name, wanted in WITH_X[mode].golden(inputs).items():
        assert same_numbers(outputs[name], wanted), name


@pytest.mark.parametrize("layout", SHAPES)
def test_block_order_changes_nothing(layout: str) -> None:
    bench = WITH_X["interleave"]
    inputs = bench.inputs(layout, np.float16, 62)
    tiling, _, forwards = bench.run(inputs)
    assert tiling.path == layout.partition("-")[0]
    assert tiling.block_dim > 1
    _, _, backwards = bench.run(inputs, backwards=True)
    for name, wanted in bench.golden(inputs).items():
        assert forwards[name].tobytes() == wanted.tobytes()
        assert backwards[name].tobytes() == wanted.tobytes()


@pytest.mark.parametrize(("mode", "layout"), EVERY)
def test_ub_holds_what_the_tiling_planned(mode: str, layout: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ascend_sim.asc.TPipe", SpyPipe)
    SpyPipe.asked.clear()
    bench = WITHOUT_X[mode]
    tiling, _, _ = bench.run(bench.inputs(layout, np.float16, 36), values=False)
    planned = [(buffer.nbytes, buffer.count) for buffer in tiling.buffers]
    assert SpyPipe.asked == planned * tiling.block_dim
    assert tiling.ub_used_bytes <= tiling.ub_bytes


@pytest.mark.parametrize("nothing", [(0, 3, 4), (2, 3, 0), (0, 0, 0)])
@pytest.mark.parametrize("with_x", [False, True])
def test_an_empty_dy(nothing: tuple[int, ...], with_x: bool) -> None:
    """dcos and dsin, where there are any, become zeros."""
    cos = np.ones((1, nothing[1], 1, 64), np.float16)
    dy = np.ones((*nothing, 64), np.float16)
    inputs = {"dy": dy, "cos": cos, "sin": cos} | ({"x": dy} if with_x else {})
    result = ascend_sim.run(OP.name, soc="ascend950", mode=2, **inputs)
    assert result.values.exact
    assert result.tiling is not None
    assert result.tiling.data["isEmptyDy"] == 1
    assert result.duration_us > 0


# what one changed instruction makes wrong, by mode
BOTH = ["sub for add", "add for mul", "truncated", "one lane less"]
PARTS = [*BOTH, "add for sub", "bytes missing"]
CHANGES = {
    "half": {"dx": PARTS, "dsin": ["plus one for minus one"]},
    "interleave": {
        "dx": [*BOTH, "no negation", "even for odd", "woven the other way"],
        "dsin": ["plus one for minus one", "even for odd", "woven the other way"],
    },
    "quarter": {"dx": PARTS, "dsin": ["plus one for minus one"]},
    "interleave-half": {
        "dx": [*PARTS, "woven the other way"],
        "dcos": ["even for odd"],
        "dsin": ["plus one for minus one", "even for odd"],
    },
}


@pytest.mark.parametrize(
    ("mode", "output", "mutant", "layout"),
    [
        *(
            (mode, output, name, layout)
            for mode, found in CHANGES.items()
            for output, names in found.items()
            for name in names
            for layout in ("A", "BAB")
        ),
        ("half", "dsin", "no synchronisation", "BAB"),  # in A a core reads nothing but what it has written
        ("interleave-half", "dcos", "no synchronisation", "BAB"),
        ("interleave-half", "dsin", "no synchronisation", "BAB"),
    ],
)
def test_one_changed_instruction_gives_wrong_values(
    mode: str, output: str, mutant: str, layout: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    inputs = WITH_X[mode].inputs(layout, np.float16, 140)
    expected = WITH_X[mode].golden(inputs)
    seen = mutate(monkeypatch, mutant)
    _, _, outputs = WITH_X[mode].run(inputs)
    assert seen
    assert np.any(outputs[output] != expected[output])


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("layout", ["A", "AB", "BAB"])
@pytest.mark.parametrize("mode", MODES)
def test_against_torch_autograd_in_float64(mode: str, layout: str, dtype: str) -> None:
    """Within a rounding to the dtype, float32's in the sums, and float16's subnormals, which are zeros."""
    torch = pytest.importorskip("torch", reason="PyTorch is not installed: pip install 'ascend-sim[torch]'")
    inputs = WITH_X[mode].inputs(layout, FLOATS[dtype], 72)
    x, cos, sin = (torch.tensor(inputs[name].astype(np.float64), requires_grad=True) for name in ("x", "cos", "sin"))

    def cat(parts: list[Any]) -> Any:
        return torch.cat(parts, -1)

    def stack(parts: list[Any]) -> Any:
        return torch.stack(parts, -1)

    out = forward(x, cos, sin, MODES[mode], cat, stack)
    out.backward(torch.tensor(inputs["dy"].astype(np.float64)))
    _, _, outputs = WITH_X[mode].run(inputs)
    rounding = {"fp16": 2.0**-11, "bf16": 2.0**-8, "fp32": 2.0**-24}[dtype]
    for name, leaf in (("dx", x), ("dcos", cos), ("dsin", sin)):
        exact = leaf.grad.numpy()
        error = np.abs(outputs[name].astype(np.float64) - exact)
        slack = (2.0**-18 if name == "dx" else 2.0**-15) + (2.0**-14 if dtype == "fp16" else 0)
        assert (error <= rounding * np.abs(exact) + slack).all(), name
