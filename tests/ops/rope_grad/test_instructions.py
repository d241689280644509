"""The instruction sequence of a core, against the published kernel's: order, pipes, flags, barriers, addresses."""

from __future__ import annotations

from typing import Any

import pytest

from ascend_sim.program import CopyWork, FlagWork, Instr, Memory, PipeID, VectorWork

from .calls import timed

BUFFER = 24576
Q_IN, K_IN, COS, SIN, Q_OUT, K_OUT, WORK = (i * BUFFER for i in range(7))


def flags(event: str, ids: range, wait: bool) -> list[tuple[Any, ...]]:
    return [("WaitFlag" if wait else "SetFlag", event, i) for i in ids]


def expected_tile(first: bool) -> list[tuple[Any, ...]]:
    """Names, pipes of barriers, flags with their event ids."""
    barrier = ("PipeBarrier", "PIPE_V")
    return [
        *([] if first else flags("V_MTE2", range(4), True)),  # AllocTensor of the inputs
        *[("DataCopy", "PIPE_MTE2")] * 4,
        *flags("MTE2_V", range(4), False),  # EnQue
        *flags("MTE2_V", range(4), True),  # DeQue
        *([] if first else flags("MTE3_V", range(2), True)),  # AllocTensor of the outputs
        ("DataCopy", "PIPE_V"), barrier,
        ("Muls", "PIPE_V"), barrier,
        ("Add", "PIPE_V"), barrier,
        ("Mul", "PIPE_V"), barrier,
        ("Mul", "PIPE_V"), barrier,
        *flags("V_MTE3", range(2), False),  # EnQue
        *flags("V_MTE2", range(4), False),  # FreeTensor
        *flags("V_MTE3", range(2), True),  # DeQue
        *[("DataCopy", "PIPE_MTE3")] * 2,
        *flags("MTE3_V", range(2), False),  # FreeTensor
    ]  # fmt: skip


def told(instr: Instr) -> tuple[Any, ...]:
    if isinstance(instr.work, FlagWork):
        return instr.name, instr.work.event.name, instr.work.event_id
    if instr.name == "PipeBarrier":
        return instr.name, instr.detail
    return instr.name, instr.pipe.name


def instructions(lengths: list[int], heads: int = 1, block: int = 0) -> list[Instr]:
    return timed(lengths, heads).program.blocks[block].instrs


GM_LOAD, BARRIER_ALL = ("GetValue", "PIPE_S"), ("PipeBarrier", "PIPE_ALL")
END = [*flags("V_MTE2", range(4), True), *flags("MTE3_V", range(2), True), BARRIER_ALL]  # the TPipe's destructor


@pytest.mark.parametrize("lengths", [[1], [96], [97, 3], [2, 1, 4, 4]])
def test_the_sequence(lengths: list[int]) -> None:
    expected = [GM_LOAD] * 5 + [BARRIER_ALL]
    first = True
    for length in lengths:
        expected.append(GM_LOAD)
        for _ in range(-(-length // 96)):
            expected += expected_tile(first)
            first = False
        expected.append(BARRIER_ALL)
    assert [told(instr) for instr in instructions(lengths)] == [*expected, *END]


def tile(rows: int, heads: int = 3, block: int = 2) -> list[Instr]:
    """The data instructions of a single tile."""
    return [i for i in instructions([rows], heads, block) if isinstance(i.work, CopyWork | VectorWork)]


@pytest.mark.parametrize("rows", [1, 50, 96])
def test_what_the_copies_move(rows: int) -> None:
    instrs = tile(rows)
    loads, stores = instrs[:4], instrs[-2:]
    by_row = (rows, 256, 3 * 256)  # one head of three
    assert [(i.work.blocks, i.work.block_bytes, i.work.gm_pitch_bytes) for i in (*loads[:2], *stores)] == [by_row] * 4
    assert [i.work.blocks for i in loads[2:]] == [1, 1]
    assert [i.work.nbytes for i in (*loads, *stores)] == [256 * rows] * 6
    assert [i.writes[0].start for i in loads] == [Q_IN, K_IN, COS, SIN]
    assert [i.reads[0].start for i in stores] == [Q_OUT, K_OUT]


@pytest.mark.parametrize("rows", [1, 50, 96])
def test_what_the_vector_unit_works_on(rows: int) -> None:
    halves, muls, add, q, k = (instr for instr in tile(rows) if instr.pipe is PipeID.PIPE_V)
    places = [[access.start for access in instr.work.accesses] for instr in (halves, muls, add, q, k)]
    assert places == [[WORK, SIN + 128], [WORK + 128, SIN], [WORK, COS, WORK], [Q_OUT, Q_IN, WORK], [K_OUT, K_IN, WORK]]
    assert [instr.work.elements for instr in (halves, muls, add, q, k)] == [64 * rows] * 2 + [128 * rows] * 3
    assert [instr.work.repeats for instr in (muls, add, q, k)] == [rows] * 4
    assert [instr.work.count_form for instr in (muls, add, q, k)] == [False, True, True, True]
    assert [access.repeat_stride for access in muls.work.accesses] == [256, 256]
    assert {region.memory for instr in (halves, muls, add, q, k) for region in instr.writes} == {Memory.UB}


def test_where_in_gm() -> None:
    """Row and head of every tile; the tables begin anew with every sample."""
    result = timed([100, 3], 3)
    block = result.program.blocks[2]
    moves = [
        a
        for a, i in zip(block.gm_addresses, [i for i in block.instrs if i.uses_gm], strict=True)
        if i.name == "DataCopy"
    ]
    q, k, cos, sin, q_out, k_out = ([moves[6 * t + i] for t in range(3)] for i in range(6))
    row = 3 * 256
    for found in (q, k, q_out, k_out):
        assert [address - found[0] for address in found] == [0, 96 * row, 100 * row]
        assert found[0] % 512 == 0  # the third head: 512 B behind a tensor's begin
    for found in (cos, sin):
        assert [address - found[0] for address in found] == [0, 96 * 256, 0]
