"""What the 950's vector core has: 32 vector registers, 8 mask registers, 4 loop levels. The last one fits."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from reg_bench import VfBench

from ascend_sim import asc
from ascend_sim.asc import reg
from ascend_sim.errors import KernelError

F32 = asc.float32
LANES = 64


def with_registers(p: Any, count: int) -> None:
    """Loads `count` registers, then adds them all into the first and stores it."""
    every = reg.create_mask(F32)
    held = [reg.RegTensor(F32) for _ in range(count)]
    for index, register in enumerate(held):
        reg.load_align(register, p + index * LANES)
    for register in held[1:]:
        reg.add(held[0], held[0], register, every)
    reg.store_align(p, held[0], every)


def with_masks(p: Any, count: int) -> None:
    """`count` masks of 1, 2, ... lanes, all of them needed at once: lane i is stored as often as masks have it."""
    masks = [reg.update_mask(F32, reg.Counter(index + 1)) for index in range(count)]
    one = reg.RegTensor(F32)
    reg.load_align(one, p)
    for index, mask in enumerate(masks):
        reg.store_align(p + (index + 1) * LANES, one, mask)


def with_loops(p: Any, depth: int) -> None:
    def nest(left: int, at: Any) -> None:
        if left:
            for i in asc.range(2):
                nest(left - 1, at + i * LANES * 2 ** (left - 1))
            return
        x = reg.RegTensor(F32)
        mask = reg.create_mask(F32)
        reg.load_align(x, p + at)
        reg.adds(x, x, 1.0, mask)
        reg.store_align(p + at, x, mask)

    nest(depth, 0)


def test_all_registers_can_be_in_use() -> None:
    with VfBench() as bench:
        data = np.arange(32 * LANES)
        tensor = bench.local(F32, 0, data)
        asc.vf(with_registers)(tensor, 32)
        assert (bench.of(tensor)[:LANES] == data.reshape(32, LANES).sum(0)).all()


def test_all_masks_can_be_in_use() -> None:
    with VfBench() as bench:
        tensor = bench.local(F32, 0, np.ones(9 * LANES) * np.repeat(np.arange(9), LANES) * 10 + 1)
        asc.vf(with_masks)(tensor, 8)
        stored = (bench.of(tensor).reshape(9, LANES)[1:] == 1).sum(1)
        assert stored.tolist() == list(range(1, 9))


def test_four_loops_nest() -> None:
    with VfBench() as bench:
        tensor = bench.local(F32, 0, np.zeros(16 * LANES))
        asc.vf(with_loops)(tensor, 4)
        assert (bench.of(tensor) == 1).all()


@pytest.mark.parametrize(
    ("body", "count", "text"),
    [
        (
            with_registers,
            33,
            "with_registers: 33 vector registers hold values that are still needed at PLACE, the hardware has 32: "
            "store some, or split the vector function",
        ),
        (
            with_masks,
            9,
            "with_masks: 9 mask registers hold values that are still needed at PLACE, the hardware has 8: store some, "
            "or split the vector function",
        ),
        (with_loops, 5, "with_loops: loops are nested 5 deep, the hardware has 4 levels"),
    ],
)
def test_one_more_is_refused(body: Any, count: int, text: str) -> None:
    with VfBench() as bench, pytest.raises(KernelError) as caught:
        asc.vf(body)(bench.local(F32, 0, np.zeros(33 * LANES)), count)
    place = rf"\S*{re.escape(Path(__file__).name)}:\d+"
    assert re.fullmatch(re.escape(text).replace("PLACE", place), str(caught.value)), caught.value


def test_a_register_is_free_once_its_value_is_not_needed() -> None:
    """Forty loads into forty variables, each stored before the next: one register does."""

    def one_by_one(p: Any) -> None:
        every = reg.create_mask(F32)
        for index in range(40):
            x = reg.RegTensor(F32)
            reg.load_align(x, p + index * LANES)
            reg.store_align(p + index * LANES, x, every)

    with VfBench() as bench:
        asc.vf(one_by_one)(bench.local(F32, 0, np.zeros(40 * LANES)))
