"""Evaluating a body at once for all rounds gives what walking its rounds one by one gives, and touches the bytes that
the record says."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reg_bench import UB_BYTES, VfBench

from ascend_sim import asc
from ascend_sim.asc import reg
from ascend_sim.asc.recorder import RECORDER
from ascend_sim.asc.reg.engine import Engine
from ascend_sim.asc.reg.footprint import conflicting_loops, footprints, unordered
from ascend_sim.asc.reg.needed import needed_bytes
from ascend_sim.asc.reg.pointer import UbPointer
from ascend_sim.asc.reg.trace import Body, Loop, nodes_of

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


# --- loads that reach into the line behind ---------------------------------------------------------------------------


@asc.vf
def add_lines_vf(sums: Any, terms: Any, length: int, pitch: int, masked: bool, step: int) -> None:
    """sums[-line * step] += terms[line] for five lines, from the last sum down: a load of 64 numbers may reach into the
    sum behind, which has been stored."""
    before, term, total = (reg.RegTensor(INT) for _ in range(3))
    everything = reg.create_mask(INT)
    for line in asc.range(5):
        left = reg.Counter(length)
        for i in asc.range(-(-length // 64)):
            mask = reg.update_mask(INT, left)
            to = sums + 4 * step - line * step + i * 64
            reg.load_align(before, to)
            reg.load_align(term, terms + line * pitch + i * 64)
            reg.add(total, before, term, mask if masked else everything)
            reg.store_align(to, total, mask)


def body_of_lines(bench: VfBench, length: int, pitch: int, masked: bool = True, step: int = 0) -> Body:
    """The body of a call with five lines on the numbers 1, 2, ... and 0, 1, ...; it has run when this returns."""
    sums = bench.local(INT, 0, np.zeros(1024, np.int32))
    terms = bench.local(INT, 4096, np.arange(1, 1025))
    bodies: list[Body] = []
    trace = add_lines_vf._trace
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(add_lines_vf, "_trace", lambda *given: bodies.append(trace(*given)) or bodies[-1])
        add_lines_vf(sums, terms, length, pitch, masked, step or pitch)
    return bodies[0]


@pytest.mark.parametrize(("length", "pitch"), [(24, 24), (40, 40), (95, 96), (64, 64)])
def test_lanes_behind_a_line_take_no_part_in_the_order(length: int, pitch: int) -> None:
    with VfBench() as bench:
        body = body_of_lines(bench, length, pitch)
        prints = needed_bytes(body, footprints(body, UB_BYTES))
        assert conflicting_loops(prints) == set()
        assert unordered(body, prints) is None
        sums = bench.ub[: 4 * 5 * pitch].view(np.int32).reshape(5, pitch)
        assert (sums[::-1, :length] == np.arange(1, 5 * pitch + 1).reshape(5, pitch)[:, :length]).all()
        assert not sums[:, length:].any()


@pytest.mark.parametrize(("length", "pitch", "masked", "step"), [(95, 96, False, 96), (40, 40, True, 8)])
def test_lanes_that_an_instruction_uses_do(length: int, pitch: int, masked: bool, step: int) -> None:
    """An instruction without the mask, or sums that overlap."""
    with VfBench() as bench:
        body = body_of_lines(bench, length, pitch, masked, step)
        prints = needed_bytes(body, footprints(body, UB_BYTES))
        assert conflicting_loops(prints) == loops_of(body.items)
        late = unordered(body, prints)
        assert late is not None
        assert late.node.name == "LoadAlign"
        terms, sums = np.arange(1, 1025), np.zeros(1024, np.int64)
        for line in range(5):
            at = (4 - line) * step
            sums[at : at + length] += terms[line * pitch : line * pitch + length]
        assert (bench.ub[:4096].view(np.int32) == sums).all()


def test_what_a_load_reads_is_recorded_whole() -> None:
    with VfBench() as bench:
        body_of_lines(bench, 24, 24)
        (region,) = bench.last.reads  # sums and terms
        assert (region.start, region.length, region.dims) == (0, 4 * (4 * 24 + 64), ((2, 4096),))
