"""Which copies and vector functions the 950's templates issue, in which order, and what is in a vector function."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

import numpy as np
import pytest
from helpers.runs_arch35 import WholeLines, counts, steps_of, vector_functions, work_of_block

from ascend_sim.host.registry import operator_named
from ascend_sim.program import CopyWork, Memory, Program

MODES = {"half": 0, "interleave": 1, "quarter": 2, "interleave-half": 3}
BENCHES = {name: WholeLines(operator_named("rotary_position_embedding"), mode) for name, mode in MODES.items()}


def program_of(
    mode: str, layout: str, length: int, x: tuple[int, ...], dtype: Any = np.float16, ub_bytes: int = 65_536
) -> tuple[Program, dict[str, Any]]:
    """On one core, and the kernel's arguments."""
    bench = BENCHES[mode]
    inputs = bench.inputs(layout, dtype, length, x)
    tiling, program, outputs = bench.run(inputs, cores=1, ub_bytes=ub_bytes, values=False)
    assert tiling.path == layout
    return program, {**inputs, **outputs}


TILE = ["x", "half_lines_vf", "> y"]
BATCH = ["x", "half_batches_vf", "> y"]
TABLES = ["cos", "sin"]
ROW = 192  # bytes of 70 halves: 2 x 35, each padded to 96


@pytest.mark.parametrize(
    ("layout", "x", "ub_bytes", "wanted"),
    [
        ("A", (1, 1, 3), 16 * ROW, [*TABLES, *BATCH] * 2),
        ("B", (1, 1, 8), 16 * ROW, [*TABLES, *TILE * 3]),
        ("AB", (2, 1, 3), 12 * ROW, [*TABLES, *TILE * 2] * 2),
        ("BAB", (2, 2, 2), 12 * ROW, [*TABLES[::-1], *TILE] * 4),
        ("BA", (2, 3, 2), 32 * ROW, [*TABLES, *BATCH * 2]),
        ("ABA", (2, 2, 2), 16 * ROW, [*TABLES, *BATCH * 2] * 2),
    ],
)
def test_order_of_copies_and_vector_functions(
    layout: str, x: tuple[int, ...], ub_bytes: int, wanted: list[str]
) -> None:
    program, arguments = program_of("half", layout, 70, x, ub_bytes=ub_bytes)
    assert steps_of(program, arguments) == wanted


# of one round, without what 16-bit elements need; UpdateMask stands beside it
PARTS = Counter(UpdateMask=1, LoadAlign=6, Mul=4, Sub=1, Add=1, StoreAlign=2)
FOUR_PARTS = Counter(UpdateMask=1, LoadAlign=12, Mul=8, Sub=2, Add=2, StoreAlign=4)
NEIGHBOURS = Counter(LoadAlign=6, Mul=4, DeInterleave=1, Muls=1, Interleave=1, Add=2, StoreAlign=2)
WOVEN = Counter(LoadAlign=6, Mul=4, DeInterleave=1, Muls=1, Add=2, StoreAlign=2)
MASKS = Counter(UpdateMask=3)


def times(count: int, found: Counter[str]) -> Counter[str]:
    return Counter({name: number * count for name, number in found.items()})


@pytest.mark.parametrize("dtype", [np.float16, np.float32])
@pytest.mark.parametrize(
    ("mode", "layout", "length", "wanted"),
    [
        ("half", "B", 128, PARTS),
        ("half", "A", 140, times(2, PARTS)),
        ("quarter", "B", 280, times(2, FOUR_PARTS)),
        ("quarter", "ABA", 256, FOUR_PARTS),
        ("interleave", "A", 192, times(2, NEIGHBOURS + MASKS)),
        ("interleave", "B", 192, times(2, NEIGHBOURS) + Counter(CreateMask=1, UpdateMask=1)),
        ("interleave-half", "A", 192, times(2, WOVEN + MASKS)),
        ("interleave-half", "B", 128, WOVEN),
        ("interleave-half", "B", 250, times(2, WOVEN)),  # a tail of two registers
        ("interleave-half", "B", 192, times(2, WOVEN) - Counter(LoadAlign=1)),  # of one
    ],
)
def test_rounds_of_a_line(mode: str, layout: str, length: int, wanted: Counter[str], dtype: Any) -> None:
    x = (2, 2, 2) if layout == "ABA" else (1, 1, 2)
    program, _ = program_of(mode, layout, length, x, dtype)
    (one,) = vector_functions(program)
    expected = times(math.prod(x), wanted)
    if mode == "interleave-half" and layout == "B":
        expected += Counter(CreateMask=1, UpdateMask=2)  # made for the position, not for a line
    if dtype is np.float16:
        expected += Counter(Cast=expected["LoadAlign"] + expected["StoreAlign"])
    assert counts(one.work.body) == expected  # type: ignore[union-attr]


def blocks(program: Program) -> list[tuple[bool, int, int, int]]:
    """(whether to UB, blocks, bytes of a block, bytes from block to block in UB) of the copies."""
    found = []
    for item in work_of_block(program):
        if isinstance(item.work, CopyWork):
            (in_ub,) = [region for region in (*item.reads, *item.writes) if region.memory is Memory.UB]
            pitch = in_ub.dims[0][1] if in_ub.dims else in_ub.length // item.work.blocks
            found.append((item.work.to_ub, item.work.blocks, item.work.block_bytes, pitch))
    return found


@pytest.mark.parametrize(
    ("mode", "layout", "line", "parts"),
    [
        ("half", "B", (6, 36, 64), (6, 36, 64)),
        ("quarter", "B", (12, 18, 32), (12, 18, 32)),
        ("interleave", "B", (3, 72, 96), (3, 72, 96)),
        ("interleave-half", "B", (3, 72, 96), (6, 36, 64)),  # whole lines come in, halves go out
        ("interleave-half", "A", (3, 72, 128), (6, 36, 64)),  # as far apart as the halves of the result
    ],
)
def test_parts_of_lines(mode: str, layout: str, line: tuple[int, int, int], parts: tuple[int, int, int]) -> None:
    """Three lines of 36 halves."""
    program, _ = program_of(mode, layout, 36, (1, 1, 3))
    lines = 3 if layout == "A" else 1
    table = (parts[0] * lines // 3, *parts[1:])
    assert blocks(program) == [(True, *table), (True, *table), (True, *line), (False, *parts)]


def test_loop_mode_moves_a_tile_at_once() -> None:
    """[2 batches][3 heads][2 positions] of 72 halves in two parts."""
    program, _ = program_of("half", "ABA", 72, (2, 3, 2))
    copies = [item.work for item in work_of_block(program) if isinstance(item.work, CopyWork)]
    assert [(work.to_ub, work.blocks, work.block_bytes, work.loops) for work in copies] == [
        (True, 4, 72, ((2, 288),)),
        (True, 4, 72, ((2, 288),)),
        (True, 4, 72, ((2, 864), (3, 288))),
        (False, 4, 72, ((2, 864), (3, 288))),
    ]
