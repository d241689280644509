"""Timing of a record that is made by hand: instructions a second (flags count, framework calls do not)."""

from __future__ import annotations

import time
from array import array

import pytest

from ascend_sim.machine import Machine
from ascend_sim.program import CoreProgram, Program, ScalarCall
from ascend_sim.soc import load
from tests.machine.build import BlockBuilder
from tests.speed.yardstick import reference_seconds

CORES = 48
TENSOR = 1 << 30  # bytes from one tensor to the next
QUEUES = {"MTE2_V": "V_MTE2", "V_MTE3": "MTE3_V"}


class Queued(BlockBuilder):
    """A block whose buffers go through queues: each call charges its framework calls and sets or waits for its flag."""

    def __init__(self, block: int) -> None:
        super().__init__(block)
        self.freed: set[tuple[str, int]] = set()

    def alloc(self, event: str, number: int) -> Queued:
        self.call(ScalarCall.ALLOC_TENSOR)
        if (event, number) in self.freed:
            self.wait(QUEUES[event], number)
        return self

    def hand_over(self, event: str, number: int) -> Queued:
        self.call(ScalarCall.EN_QUE).set(event, number)
        self.call(ScalarCall.DE_QUE).wait(event, number)
        return self

    def free(self, event: str, number: int) -> Queued:
        self.freed.add((event, number))
        self.call(ScalarCall.FREE_TENSOR).set(QUEUES[event], number)
        return self


def split_s(steps: int, heads: int = 8, rows: int = 4, head_bytes: int = 256) -> Program:
    """Like the split-S kernel of inplace_partial_rotary_mul: half of each head of fp16 rotated, one buffer each."""
    block = Queued(0)
    part = rows * heads * head_bytes // 2
    for step in range(steps):
        x, table = step * rows * heads * head_bytes, step * rows * head_bytes // 2
        block.alloc("MTE2_V", 0).load(x, 0, head_bytes // 2, rows=rows * heads, pitch=head_bytes)
        block.hand_over("MTE2_V", 0)
        block.vector("Cast", 16384, 0, nbytes=part)
        block.free("MTE2_V", 0)
        for half in range(2):
            block.alloc("MTE2_V", 1).load((1 + half) * TENSOR + table, 8192, rows * head_bytes // 2)
            block.hand_over("MTE2_V", 1)
            for head in range(1, heads):
                block.vector("DataCopyUB", 8192 + head * 512, 8192, nbytes=512, count=False)
            block.vector("Cast", 32768, 8192, nbytes=part)
            block.free("MTE2_V", 1)
            if half == 0:
                block.vector("Mul", 49152, 16384, 32768, nbytes=2 * part)
                for row in range(rows):
                    block.vector("Gather", 16384 + row * 2048, 16384 + row * 2048, 65536, nbytes=2048, half=False)
        block.vector("Mul", 16384, 16384, 32768, nbytes=2 * part).vector("Muls", 16384, 16384, nbytes=2 * part)
        block.vector("Add", 49152, 49152, 16384, nbytes=2 * part)
        block.alloc("V_MTE3", 0).vector("Cast", 98304, 49152, nbytes=2 * part)
        block.hand_over("V_MTE3", 0)
        block.store(x, 98304, head_bytes // 2, rows=rows * heads, pitch=head_bytes)
        block.free("V_MTE3", 0)
    table_bytes = steps * rows * head_bytes // 2
    return on_all_cores(block.program, (steps * rows * heads * head_bytes, table_bytes, table_bytes))


def add(tiles: int, nbytes: int = 8192) -> Program:
    """z = x + y tile by tile, two buffers each: three transfers to one vector instruction."""
    block = Queued(0)
    for tile in range(tiles):
        slot, at = tile % 2, tile * nbytes
        for source in range(2):
            block.alloc("MTE2_V", 2 * source + slot)
            block.load(source * TENSOR + at, (2 * source + slot) * nbytes, nbytes)
            block.call(ScalarCall.EN_QUE).set("MTE2_V", 2 * source + slot)
        for source in range(2):
            block.call(ScalarCall.DE_QUE).wait("MTE2_V", 2 * source + slot)
        block.alloc("V_MTE3", slot)
        block.vector("Add", (4 + slot) * nbytes, slot * nbytes, (2 + slot) * nbytes, nbytes=nbytes)
        block.call(ScalarCall.EN_QUE).set("V_MTE3", slot)
        for source in range(2):
            block.free("MTE2_V", 2 * source + slot)
        block.call(ScalarCall.DE_QUE).wait("V_MTE3", slot)
        block.store(2 * TENSOR + at, (4 + slot) * nbytes, nbytes)
        block.free("V_MTE3", slot)
    return on_all_cores(block.program, (tiles * nbytes,) * 3)


def on_all_cores(first: CoreProgram, share_bytes: tuple[int, ...]) -> Program:
    """`first` on every core, each with its own part of every tensor: `share_bytes`, by tensor."""
    blocks = [
        CoreProgram(
            number,
            list(first.instrs),
            array("q", (address + number * share_bytes[address // TENSOR] for address in first.gm_addresses)),
        )
        for number in range(CORES)
    ]
    return Program("test", blocks)


def timed(launched: Program) -> float:
    """Processor seconds of one launch on a new machine."""
    machine = Machine(load("Ascend910B1"))
    begun = time.process_time()
    machine.run(launched)
    return time.process_time() - begun


@pytest.mark.parametrize(
    ("make", "repeats", "goal"), [(split_s, 60, 400_000), (add, 80, 250_000)], ids=["split_s", "add"]
)
def test_instructions_a_second(make, repeats, goal, benchmark):
    launched = make(repeats)
    benchmark.extra_info["instructions"] = launched.instructions
    benchmark.pedantic(timed, (launched,), rounds=1)
    rate = launched.instructions / reference_seconds(lambda: timed(launched), tries=5)
    assert rate >= goal, f"{rate:,.0f} instructions a second"


@pytest.mark.slow
def test_a_million_instructions():
    launched = split_s(455)
    assert launched.instructions > 1_000_000
    rate = launched.instructions / reference_seconds(lambda: timed(launched), tries=2)
    assert rate >= 400_000, f"{rate:,.0f} instructions a second"
