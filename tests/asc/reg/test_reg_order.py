"""Evaluating a body at once for all rounds gives what walking its rounds one by one gives, and touches the bytes that
the record says."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from reg_bench import UB_BYTES, VfBench

from ascend_sim import asc
from ascend_sim.asc import reg
from ascend_sim.asc.recorder import RECORDER
from ascend_sim.asc.reg.engine import Engine
from ascend_sim.asc.reg.footprint import nodes_of
from ascend_sim.asc.reg.pointer import UbPointer
from ascend_sim.asc.reg.trace import Body, Loop

ZONE = 16384  # bytes in which a random body loads and stores; rounds often meet there
INT = asc.int32


def draw_body(draw: Any, body: Body, tensor: asc.LocalTensor) -> None:
    """Random loops of loads, additions and masked stores, with accumulators."""
    registers = [reg.RegTensor(INT) for _ in range(3)]
    everything = reg.create_mask(INT)
    base = UbPointer.of(tensor)
    for register in registers:
        reg.duplicate(register, draw(st.integers(0, 5)), everything)

    def statement(depth: int, indices: tuple[Any, ...]) -> None:
        kind = draw(st.sampled_from(["load", "add", "store", "loop"] if depth < 3 else ["load", "add", "store"]))
        if kind == "loop":
            loop(depth, indices)
            return
        one, two = draw(st.sampled_from(registers)), draw(st.sampled_from(registers))
        if kind == "add":
            mode = draw(st.sampled_from(list(reg.MaskMergeMode)))
            reg.add(one, one, two, draw(st.sampled_from([everything, half])), mode)
            return
        at = base + draw(st.integers(0, 9)) * 8
        for index in indices:
            at = at + index * draw(st.sampled_from([0, 8, 64, 128]))
        if kind == "load":
            reg.load_align(one, at)
        else:
            mask = reg.update_mask(INT, counters[-1]) if counters and draw(st.booleans()) else everything
            reg.store_align(at, one, mask)

    def loop(depth: int, indices: tuple[Any, ...]) -> None:
        for index in asc.range(draw(st.integers(2, 4))):
            counters.append(reg.Counter(draw(st.integers(0, 200))))
            for _ in range(draw(st.integers(2, 5))):
                statement(depth + 1, (*indices, index))
            counters.pop()

    half = reg.create_mask(INT, reg.MaskPattern.H)
    counters: list[reg.Counter] = []
    for _ in range(draw(st.integers(1, 3))):
        loop(0, ())


DRAWING: list[Any] = []


def body_vf(_: Any) -> None:
    draw, tensor = DRAWING
    draw_body(draw, RECORDER.vf, tensor)


def loops_of(items: Any) -> set[Loop]:
    return {loop for item in items if isinstance(item, Loop) for loop in ({item} | loops_of(item.items))}


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_all_rounds_at_once_or_one_by_one(data: st.DataObject) -> None:
    with VfBench() as bench:
        tensor = asc.LocalTensor(INT, asc.TPosition.VECCALC, 8192, ZONE // 4)

        DRAWING[:] = [data.draw, tensor]
        bodies: list[Body] = []
        function = asc.vf(body_vf)
        trace = function._trace
        function._trace = lambda *given: bodies.append(trace(*given)) or bodies[-1]  # type: ignore[method-assign, func-returns-value]
        start = np.random.default_rng(data.draw(st.integers(0, 9))).integers(0, 1000, UB_BYTES // 4).astype(np.int32)
        bench.ub.view(np.int32)[:] = start
        function(tensor)
        body = bodies[0]
        serial = np.array(start)
        everything = frozenset(loops_of(body.items))
        Engine(body.items, len(body.kinds), everything, serial.view(np.uint8)).run()
        assert (bench.ub.view(np.int32) == serial).all()
        written = np.zeros(UB_BYTES, np.bool_)
        for region in bench.last.writes:
            starts = [region.start]
            for count, stride in region.dims:
                starts = [at + k * stride for at in starts for k in range(count)]
            for at in starts:
                written[at : at + region.length] = True
        changed = serial.view(np.uint8) != start.view(np.uint8)
        assert not (changed & ~written).any()
        assert written.sum() <= 4 * sum(_lanes(node) for node in nodes_of(body.items))


def _lanes(node: Any) -> int:
    rounds = 1
    for loop in node.path:
        rounds *= loop.trips
    return 64 * rounds if node.name == "StoreAlign" else 0
