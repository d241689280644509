"""The 950's kernels against the golden: equal bits in every template, mode, dtype and tail, however tiles are cut."""

from __future__ import annotations

import math

import numpy as np
import pytest
from helpers.runs_arch35 import FLOATS, MUTANTS, SpyPipe, has_shorter_tile, mutate, same_numbers, specials

import ascend_sim
from ascend_sim.asc.memory import DeviceArray

from .calls_arch35 import LAYOUTS, LENGTHS, Layout, agrees, attrs_of, golden, inputs_of, run

MODES = ("half", "interleave", "quarter")


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("layout", ["AB-BSND", "BAB", "ABA", "BA"])
@pytest.mark.parametrize("mode", MODES)
def test_kernel_equals_golden_for_every_tail(mode: str, layout: str, dtype: str) -> None:
    """In turns whole heads, and heads of which the last 8 elements stay."""
    for index, length in enumerate(LENGTHS[mode]):
        inputs = inputs_of(LAYOUTS[layout], FLOATS[dtype], length, length + index % 2 * 8)
        tiling = agrees(LAYOUTS[layout], inputs, mode, cores=2, ub_bytes=65_536)
        assert (tiling.path, tiling.block_dim) == (layout.partition("-")[0], 2)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("mode", MODES)
def test_every_layout(mode: str, layout: str) -> None:
    """Whole heads where the test of tails has parts of them, and the other way round."""
    for full in (72, 80):
        inputs = inputs_of(LAYOUTS[layout], np.float16, 72, full)
        assert agrees(LAYOUTS[layout], inputs, mode, cores=2).path == layout.partition("-")[0]


CUTS: dict[str, tuple[Layout, int, int]] = {  # call, cores, rows that a quarter of UB takes
    "AB positions": ((1, (1, 7, 3), 2, (1, 7, 1)), 1, 18),
    "AB heads": ((4, (3, 5), 4, (3, 1)), 2, 6),
    "BAB positions": ((1, (2, 7, 2), 1, (1, 7, 1)), 1, 11),
    "BAB heads": ((1, (2, 3, 5), 7, (1, 3, 1)), 2, 5),
    "ABA positions": ((3, (2, 2, 9), 3, (2, 1, 9)), 1, 10),
    "ABA batches": ((3, (3, 2, 2), 1, (3, 1, 2)), 1, 12),
    "ABA heads": ((3, (2, 3, 3), 5, (2, 1, 3)), 4, 8),
    "BA positions": ((3, (2, 2, 9), 3, (1, 1, 9)), 1, 10),
    "BA batches": ((3, (3, 2, 2), 1, (1, 1, 2)), 1, 10),
    "BA heads": ((3, (2, 5, 2), 3, (1, 1, 2)), 2, 8),
}
ROW_BYTES = {"half": 192, "quarter": 256}  # of 72 halves or of 80


@pytest.mark.parametrize("mode", ROW_BYTES)
@pytest.mark.parametrize("what", CUTS)
def test_tiles_that_divide_unevenly(what: str, mode: str) -> None:
    call, cores, rows = CUTS[what]
    inputs = inputs_of(call, np.float16, 72, 80)
    tiling = agrees(call, inputs, mode, cores=cores, ub_bytes=4 * rows * ROW_BYTES[mode])
    template, axis = what.split()
    assert tiling.path == template
    data = tiling.data
    if axis != "heads":
        assert has_shorter_tile(tiling, axis)
    elif template == "AB":
        assert (data["ubFactorBS"], data["ubFactorN"], data["ubTailN"]) == (1, 5, 4)
    elif template == "BAB":
        assert (data["ubFactorKN"], data["ubTailFactorKN"]) == (4, 3)
    else:
        assert (data["ubFactorQN"], data["QN"] % 3, data["KN"] % 3) in ((3, 0, 2), (3, 2, 0))


@pytest.mark.parametrize("mode", MODES)
def test_a_tile_holds_the_end_of_query_and_the_start_of_key(mode: str) -> None:
    """The list of 5 query and 4 key heads in steps of 3: the second one has 2 of query and 1 of key."""
    call: Layout = (4, (3, 5), 4, (3, 1))
    row_bytes = {"interleave": 160, **ROW_BYTES}[mode]
    tiling = agrees(call, inputs_of(call, np.float16, 72, 80), mode, cores=1, ub_bytes=4 * 5 * row_bytes)
    assert (tiling.data["ubFactorBS"], tiling.data["ubFactorN"], tiling.data["ubTailN"]) == (1, 3, 3)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("layout", ["AB-TND", "BA"])
@pytest.mark.parametrize("mode", MODES)
def test_infinities_subnormals_and_signed_zeros(mode: str, layout: str, dtype: str) -> None:
    call = LAYOUTS[layout]
    inputs = inputs_of(call, FLOATS[dtype], 140)
    specials(inputs)
    expected = golden(call, inputs, mode)
    run(call, inputs, mode, ub_bytes=65_536)
    assert all(same_numbers(inputs[name], wanted) for name, wanted in expected.items())


@pytest.mark.parametrize("layout", LAYOUTS)
def test_block_order_changes_nothing(layout: str) -> None:
    forward, backward = (inputs_of(LAYOUTS[layout], np.float16, 62) for _ in range(2))
    tiling, _ = run(LAYOUTS[layout], forward, "half")
    assert tiling.block_dim > 1
    run(LAYOUTS[layout], backward, "half", backwards=True)
    assert all(forward[name].tobytes() == backward[name].tobytes() for name in forward)


@pytest.mark.parametrize("full", [36, 48])
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("layout", ["AB-BSND", "BAB", "ABA", "BA"])
def test_ub_holds_what_the_tiling_planned(layout: str, mode: str, full: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ascend_sim.asc.TPipe", SpyPipe)
    SpyPipe.asked.clear()
    call = LAYOUTS[layout]
    tiling, _ = run(call, inputs_of(call, np.float16, 36, full), mode, values=False)
    planned = [(buffer.nbytes, buffer.count) for buffer in tiling.buffers]
    assert SpyPipe.asked == planned * tiling.block_dim
    assert tiling.ub_used_bytes <= tiling.ub_bytes


PARTS = ("add for sub", "sub for add", "add for mul", "truncated", "one lane less", "bytes missing", "rows too close")
NEIGHBOURS = ("no negation", "sub for add", "add for mul", "even for odd", "woven the other way", "truncated")
CHANGES = {"half": PARTS, "quarter": PARTS, "interleave": (*NEIGHBOURS, "one lane less", "rows too close")}


@pytest.mark.parametrize(
    ("mode", "layout", "mutant"),
    [
        *((mode, layout, name) for mode, names in CHANGES.items() for layout in ("AB-BSND", "BA") for name in names),
        ("half", "ABA", "every head the first"),
        ("quarter", "BAB", "sub for add"),
    ],
)
def test_one_changed_instruction_gives_wrong_values(
    mode: str, layout: str, mutant: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert mutant in MUTANTS
    call = LAYOUTS[layout]
    inputs = inputs_of(call, np.float16, 140, 148)
    expected = golden(call, inputs, mode)
    seen = mutate(monkeypatch, mutant)
    run(call, inputs, mode)
    assert seen
    assert all(np.any(inputs[name] != wanted) for name, wanted in expected.items())


@pytest.mark.parametrize(
    ("layout", "query", "cos"),
    [(1, (1, 70_000, 32), (1, 70_000, 1)), (1, (2, 35_000, 32), (1, 35_000, 1))],
)
def test_offsets_past_two_to_the_31_elements(layout: int, query: tuple[int, ...], cos: tuple[int, ...]) -> None:
    """32 halves of heads of 1024, without data: the last core's last tile of query ends near the end of query."""
    call: Layout = (layout, query, 1, cos)
    key = (*query[:2], 1) if layout == 1 else (query[0], 1, query[2])
    shapes = {"query": (*query, 1024), "key": (*key, 1024), "cos": (*cos, 32), "sin": (*cos, 32)}
    tensors = {name: DeviceArray(shape, "float16") for name, shape in shapes.items()}
    _, program = run(call, tensors, "half", cores=64, ub_bytes=253_952, values=False)
    nbytes = 2 * math.prod(shapes["query"])
    offsets = [address - min(program.blocks[0].gm_addresses) for address in program.blocks[-1].gm_addresses]
    last = max(offset for offset in offsets if offset < nbytes)
    assert nbytes > 2 * 2**31
    assert 0.999 * nbytes < last < nbytes


@pytest.mark.parametrize("mode", MODES)
def test_the_public_call_has_nothing_to_warn_of(mode: str) -> None:
    call = LAYOUTS["ABA"]
    infos = [(array.shape, array.dtype.name) for array in inputs_of(call, np.float32, 72, 96).values()]
    result = ascend_sim.run("apply_rotary_pos_emb", *infos, **attrs_of(call, mode), soc="ascend950")
    assert result.values.exact
    assert not result.warnings
