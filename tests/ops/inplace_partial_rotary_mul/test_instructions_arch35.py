"""Which copies and vector functions the 950's templates issue, in which order, and what is in a vector function."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from helpers.in_place_arch35 import Bench
from helpers.runs_arch35 import counts, work_of_block

from ascend_sim.host.registry import operator_named
from ascend_sim.program import CopyWork, Program, VfWork

FP16, FP32 = (np.float16, np.float16), (np.float32, np.float32)
BENCH = Bench(operator_named("inplace_partial_rotary_mul"), {"fp16": FP16, "fp32": FP32})


def letters(program: Program, inputs: Mapping[str, Any]) -> str:
    """Block 0 as letters: cos, sin, x in, o(ut), V. In GM x comes first, then cos, then sin."""
    addresses = iter(program.blocks[0].gm_addresses)
    said = [
        ("V", 0) if isinstance(item.work, VfWork) else ("i" if item.work.to_ub else "o", next(addresses))
        for item in work_of_block(program)
        if isinstance(item.work, CopyWork | VfWork)
    ]
    behind_x = min(address for kind, address in said if kind != "V") + inputs["x"].nbytes
    behind_cos = min(address for _, address in said if address >= behind_x) + inputs["cos"].nbytes

    def tensor(address: int) -> str:
        return "x" if address < behind_x else "c" if address < behind_cos else "s"

    return "".join(tensor(address) if kind == "i" else kind for kind, address in said)


@pytest.mark.parametrize(
    ("layout", "x", "ub_bytes", "wanted"),
    [
        ("A", (1, 1, 3), 16 * 160, "csxVocsxVo"),
        ("B", (1, 1, 8), 16 * 160, "csxVoxVoxVo"),
        ("AB", (2, 1, 3), 3 * 4 * 160, "csxVoxVocsxVoxVo"),
        ("BAB", (2, 2, 2), 6 * 16 * 160, "scxVoscxVo"),
        ("BA", (2, 3, 2), 8 * 4 * 160, "csxVoxVo"),
        ("ABA", (2, 2, 2), 4 * 4 * 160, "csxVoxVocsxVoxVo"),
    ],
)
def test_order_of_copies_and_vector_functions(layout: str, x: tuple[int, ...], ub_bytes: int, wanted: str) -> None:
    """70 halves take 160 B in UB."""
    inputs = BENCH.inputs(layout, FP16, 70, x)
    tiling, program = BENCH.run(inputs, cores=1, ub_bytes=ub_bytes, values=False)
    assert (tiling.path, letters(program, inputs)) == (layout, wanted)


def vector_functions(layout: str, dtypes: tuple[Any, Any], length: int) -> list[Any]:
    _, program = BENCH.run(BENCH.inputs(layout, dtypes, length, (1, 1, 2)), cores=1, ub_bytes=65_536, values=False)
    return [item for item in work_of_block(program) if isinstance(item.work, VfWork)]


def pairs_of_registers(times: int, narrow: bool) -> Counter[str]:
    """A round of 128 elements, `times` times."""
    found = Counter(
        LoadAlign=6, Mul=4, DeInterleave=1, Muls=1, Interleave=1, Add=2, StoreAlign=2, Cast=8 if narrow else 0
    )
    return Counter({name: count * times for name, count in found.items()})


@pytest.mark.parametrize(("dtypes", "narrow"), [(FP16, True), (FP32, False)])
def test_a_full_line_has_a_wasted_pass_over_one_register(dtypes: Any, narrow: bool) -> None:
    """L = 128: the tail's mask is empty, and its loads read what lies behind the line."""
    (one,) = vector_functions("B", dtypes, 128)
    wasted = Counter(
        LoadAlign=3, Mul=2, DeInterleave=1, Muls=1, Interleave=1, Add=1, StoreAlign=1, Cast=4 if narrow else 0
    )
    masks = Counter(CreateMask=2, UpdateMask=2)  # two lines
    assert counts(one.work.body) == +(pairs_of_registers(2, narrow) + wasted + wasted + masks)
    itemsize = np.dtype(dtypes[0]).itemsize
    x = min(one.reads, key=lambda region: region.start)
    assert (x.start, x.length, x.dims) == (0, (2 * 128 + 64) * itemsize, ())


def test_a_tail_of_64_takes_two_registers() -> None:
    (one,) = vector_functions("B", FP32, 192)
    assert counts(one.work.body) == +(pairs_of_registers(4, False) + Counter(CreateMask=2, UpdateMask=2))


def test_templates_with_a_cos_row_per_line_mask_every_round() -> None:
    (one,) = vector_functions("A", FP32, 192)
    assert counts(one.work.body) == +(pairs_of_registers(4, False) + Counter(UpdateMask=12))


def test_loop_mode_moves_a_tile_at_once() -> None:
    """[2 batches][3 heads][2 positions] of 70 halves, 78 in GM."""
    inputs = BENCH.inputs("ABA", FP16, 70, (2, 3, 2))
    _, program = BENCH.run(inputs, cores=1, ub_bytes=65_536, values=False)
    copies = [item.work for item in work_of_block(program) if isinstance(item.work, CopyWork)]
    assert [(work.to_ub, work.blocks, work.block_bytes, work.gm_pitch_bytes, work.loops) for work in copies] == [
        (True, 2, 140, 140, ((2, 280),)),
        (True, 2, 140, 140, ((2, 280),)),
        (True, 2, 140, 156, ((2, 936), (3, 312))),
        (False, 2, 140, 156, ((2, 936), (3, 312))),
    ]
