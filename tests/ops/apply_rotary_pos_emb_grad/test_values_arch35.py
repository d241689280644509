"""The kernels against the golden: equal bits in every template, dtype and tail, however tiles are cut."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
import pytest
from helpers.runs_arch35 import FLOATS, MUTANTS, has_shorter_tile, mutate, same_numbers, specials

import ascend_sim
from ascend_sim import asc
from ascend_sim.asc import reg
from ascend_sim.asc.memory import GM_ALIGNMENT_BYTES, DeviceArray
from ascend_sim.host.device import Device
from ascend_sim.host.operator import Call
from ascend_sim.host.planning import plan
from ascend_sim.soc import load

from .calls_arch35 import LAYOUTS, LENGTHS, OP, Layout, agrees, attrs_of, golden, inputs_of, run


@pytest.mark.parametrize(("forward", "lengths"), [(True, LENGTHS), (False, (70, 128))])
@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("layout", ["BAB-BSND", "AB-S11D", "A-SBND"])
def test_kernels_equal_golden_for_every_tail(layout: str, dtype: str, forward: bool, lengths: tuple[int, ...]) -> None:
    for length in lengths:
        inputs = inputs_of(LAYOUTS[layout], FLOATS[dtype], length, forward)
        tiling = agrees(LAYOUTS[layout], inputs, cores=2, ub_bytes=65_536)
        assert (tiling.path, tiling.block_dim) == (layout.partition("-")[0], 2)


@pytest.mark.parametrize("forward", [True, False])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_layout(layout: str, forward: bool) -> None:
    inputs = inputs_of(LAYOUTS[layout], np.float16, 70, forward)
    assert agrees(LAYOUTS[layout], inputs, cores=2, ub_bytes=65_536).path == layout.partition("-")[0]


CUTS: dict[str, tuple[Layout, int, int]] = {  # call, cores, UB
    "BAB positions": ((1, (2, 7, 2), 1, (1, 7, 1)), 1, 40_000),
    "BAB heads": ((4, (3, 7), 4, (3, 1)), 1, 20_000),
    "BAB heads of key": ((4, (3, 3), 7, (3, 1)), 2, 20_000),
    "AB positions": ((2, (7, 1, 2), 1, (7, 1, 1)), 1, 40_000),
    "AB heads": ((2, (2, 2, 7), 3, (2, 2, 1)), 1, 20_000),
    "A heads": ((1, (1, 9, 1), 1, (1, 9, 1)), 2, 20_000),
}


@pytest.mark.parametrize("dtype", ["fp16", "fp32"])
@pytest.mark.parametrize("what", CUTS)
def test_tiles_that_divide_unevenly(what: str, dtype: str) -> None:
    call, cores, ub_bytes = CUTS[what]
    tiling = agrees(call, inputs_of(call, FLOATS[dtype], 70), cores=cores, ub_bytes=ub_bytes)
    template, axis, *_ = what.split()
    assert tiling.path == template
    assert has_shorter_tile(tiling, axis)


@pytest.mark.parametrize(("cores", "shares"), [(4, (2, 3, 2)), (16, (5, 1, 1))])
def test_few_positions_leave_cores_for_the_heads(cores: int, shares: tuple[int, int, int]) -> None:
    """Query has 5 heads, key 2: cores on the last heads have none of key."""
    call: Layout = (2, (2, 1, 5), 2, (2, 1, 1))
    tiling = agrees(call, inputs_of(call, np.float16, 70), cores=cores)
    names = ("blockNumN", "blockFactorN", "blockTailN")
    assert tuple(tiling.data[f"ropeGradABParams.{name}"] for name in names) == shares


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("layout", ["BAB-TND", "AB-S11D", "A-SBND"])
def test_infinities_subnormals_and_signed_zeros(layout: str, dtype: str) -> None:
    call = LAYOUTS[layout]
    inputs = inputs_of(call, FLOATS[dtype], 140)
    specials(inputs)
    _, _, outputs = run(call, inputs, ub_bytes=65_536)
    expected = golden(call, inputs)
    assert [name for name in expected if not same_numbers(outputs[name], expected[name])] == []


@pytest.mark.parametrize("layout", LAYOUTS)
def test_block_order_and_number_of_cores_change_nothing(layout: str) -> None:
    """The sums have one order."""
    inputs = inputs_of(LAYOUTS[layout], np.float32, 62)
    _, _, alone = run(LAYOUTS[layout], inputs, cores=1)
    tiling, _, forward = run(LAYOUTS[layout], inputs)
    assert tiling.block_dim > 1
    _, _, backward = run(LAYOUTS[layout], inputs, backwards=True)
    for name in alone:
        assert alone[name].tobytes() == forward[name].tobytes() == backward[name].tobytes()


class Spy(asc.TPipe):
    """Notes the size and number of the buffers of each phase."""

    phases: ClassVar[list[list[tuple[int, int]]]] = []

    def __init__(self) -> None:
        super().__init__()
        self.phases.append([])

    def reset(self) -> None:
        super().reset()
        self.phases.append([])

    def init_buffer(self, que: Any, num: int, len: int | None = None) -> None:  # type: ignore[override] # noqa: A002
        self.phases[-1].append((num, 1) if len is None else (len, num))
        super().init_buffer(que, num, len)


@pytest.mark.parametrize("forward", [True, False])
@pytest.mark.parametrize("dtype", ["fp32", "bf16"])
@pytest.mark.parametrize("layout", ["BAB-BSND", "AB-SBND", "A-SBND"])
def test_ub_holds_what_the_tiling_planned(
    layout: str, dtype: str, forward: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The phase with the most of it."""
    monkeypatch.setattr(asc, "TPipe", Spy)
    Spy.phases.clear()
    inputs = inputs_of(LAYOUTS[layout], FLOATS[dtype], 64, forward)
    tiling, _, _ = run(LAYOUTS[layout], inputs, cores=1, values=False)
    planned = sorted((buffer.nbytes, buffer.count) for buffer in tiling.buffers)
    assert planned in [sorted(phase) for phase in Spy.phases]
    assert tiling.ub_used_bytes <= tiling.ub_bytes


SAME = {"dx": ("grad_query", "grad_key"), "sums": ("grad_cos", "grad_sin")}


@pytest.mark.parametrize(
    ("layout", "mutant"),
    [
        *(
            (layout, name)
            for layout in ("BAB-BSND", "AB-S11D", "A-SBND")
            for name in ("add for sub", "sub for add", "add for mul", "no negation", "truncated", "one lane less")
        ),
        ("A-SBND", "bytes missing"),
    ],
)
def test_one_changed_instruction_gives_wrong_values(layout: str, mutant: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert mutant in MUTANTS
    call = LAYOUTS[layout]
    inputs = inputs_of(call, np.float16, 70)
    expected = golden(call, inputs)
    seen = mutate(monkeypatch, mutant)
    _, _, outputs = run(call, inputs)
    assert seen
    assert any(np.any(outputs[name] != expected[name]) for name in expected)


def test_every_multiplication_matters(monkeypatch: pytest.MonkeyPatch) -> None:
    """One at a time an addition instead: four of dx, four of the terms."""
    call = LAYOUTS["BAB-BSND"]
    inputs = inputs_of(call, np.float32, 70)
    expected = golden(call, inputs)
    original = reg.mul
    for index, outputs_hit in enumerate([SAME["dx"]] * 4 + [("grad_cos",)] * 2 + [("grad_sin",)] * 2):
        calls: list[int] = []

        def mutated(*operands: Any, at: int = index, seen: list[int] = calls) -> None:
            seen.append(len(seen) % 8)
            (reg.add if seen[-1] == at else original)(*operands)

        with monkeypatch.context() as patch:
            patch.setattr(reg, "mul", mutated)
            _, _, outputs = run(call, inputs)
        assert len(calls) % 8 == 0
        wrong = tuple(name for name in expected if outputs[name].tobytes() != expected[name].tobytes())
        assert wrong == outputs_hit


@pytest.mark.parametrize(("name", "wrong"), [("mul", ("grad_cos", "grad_sin")), ("add", ("grad_cos", "grad_sin"))])
def test_the_products_of_template_a_matter(name: str, wrong: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    call = LAYOUTS["A-SBND"]
    inputs = inputs_of(call, np.float16, 70)
    expected = golden(call, inputs)
    monkeypatch.setattr(asc, name, asc.sub)
    _, _, outputs = run(call, inputs)
    assert tuple(one for one in expected if outputs[one].tobytes() != expected[one].tobytes()) == wrong


@pytest.mark.parametrize(
    ("template", "query", "cos"),
    [
        ("BAB", (1, 70_000, 32), (1, 70_000, 1)),
        ("AB", (2, 35_000, 32), (2, 35_000, 1)),
        ("A", (2, 1_100_000, 1), (2, 1_100_000, 1)),
    ],
)
def test_offsets_past_two_to_the_31_elements(
    template: str, query: tuple[int, ...], cos: tuple[int, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Heads of 1024 halves, without data, on the last of 64 cores alone: its last tile ends near the end of query."""
    key = (*query[:2], 1)
    shapes = {"grad_query_embed": query, "grad_key_embed": key, "cos": cos, "sin": cos}
    inputs = {name: DeviceArray((*shape, 1024), "float16") for name, shape in shapes.items()}
    outputs = {name: inputs[f"{name}_embed"] for name in ("grad_query", "grad_key")}
    infos = {name: (array.shape, array.dtype.name) for name, array in inputs.items()}
    chip, attrs = load("ascend950"), OP.bind_attrs({})
    tiling = plan(OP, infos, attrs, chip, 64, 253_952)
    assert (tiling.path, tiling.block_dim) == (template, 64)
    monkeypatch.setattr(asc, "get_block_idx", lambda: 63)
    with Device(chip, values=False) as device:
        device.timing = False
        OP.launch(Call({**inputs, **outputs}, attrs, replace(tiling, block_dim=1), chip.arch))
    offsets = [address - GM_ALIGNMENT_BYTES for address in device.launches[0].program.blocks[0].gm_addresses]
    last = max(offset for offset in offsets if offset < inputs["grad_query_embed"].nbytes)
    assert inputs["grad_query_embed"].nbytes > 2 * 2**31
    assert 0.99 * inputs["grad_query_embed"].nbytes < last


@pytest.mark.parametrize("layout", ["BAB-TND", "AB-S11D", "A-BSND"])
def test_the_public_call_has_nothing_to_warn_of(layout: str) -> None:
    call = LAYOUTS[layout]
    infos = [(array.shape, array.dtype.name) for array in inputs_of(call, np.float16, 70).values()]
    result = ascend_sim.run("apply_rotary_pos_emb_grad", *infos, **attrs_of(call))
    assert result.values.exact
    assert not result.warnings
