"""Which copies and vector functions the templates issue, phase by phase, and what is in a vector function."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
from helpers.letters_arch35 import letters
from helpers.runs_arch35 import Tensors, counts, vector_functions, work_of_block

from ascend_sim.program import CopyWork, Program

from .calls_arch35 import LAYOUTS, Layout, inputs_of, run

# In the kernels' order: gradients of query and key, cos, sin, query, key, the four results x, y, d, e; the workspace.
LETTERS = {"grad_query_embed": "p", "grad_key_embed": "r", "cos": "c", "sin": "s", "query": "q", "key": "k"}
RESULTS = {"grad_query": "x", "grad_key": "y", "grad_cos": "d", "grad_sin": "e"}


def told(program: Program, inputs: Tensors, outputs: Tensors) -> str:
    nbytes = {letter: inputs[name].nbytes for name, letter in LETTERS.items() if name in inputs}
    nbytes |= {letter: outputs[name].nbytes for name, letter in RESULTS.items() if name in outputs}
    return letters(program, nbytes | {"w": 1 << 30})


@pytest.mark.parametrize(
    ("call", "dtype", "wanted"),
    [
        ((1, (1, 2, 3), 2, (1, 2, 1)), np.float16, "scpqVXrkVYWW|wVVDwVVE"),
        ((1, (1, 2, 3), 4, (1, 2, 1)), np.float32, "scrkVYpqVXWW|wVVDwVVE"),  # the one with more heads stores
        ((1, (2, 2, 3), 2, (1, 2, 1)), np.float16, "scpqVXrkVYWW" * 2 + "|wVwVVDwVwVVE"),  # batch by batch
        ((2, (2, 2, 3), 2, (2, 2, 1)), np.float16, "scpqVXrkVYWW|wVVDwVVE"),  # AB
        ((1, (1, 5, 1), 1, (1, 5, 1)), np.float32, "cspVXrVYqVWkVW|pqwvvrkwvvvvDE"),
        ((1, (1, 5, 1), 1, (1, 5, 1)), np.float16, "cspVXrVYqVWkVW|pqwvvvvvrkwvvvvvvvvvDE"),  # with casts
    ],
)
def test_phases(call: Layout, dtype: Any, wanted: str) -> None:
    inputs = inputs_of(call, dtype, 64)
    _, program, outputs = run(call, inputs, cores=1, ub_bytes=65_536, values=False)
    assert told(program, inputs, outputs) == wanted


@pytest.mark.parametrize(
    ("call", "wanted"),
    [
        ((1, (1, 2, 3), 2, (1, 2, 1)), "scpVXrVY"),
        ((4, (2, 3), 5, (2, 1)), "scrVYpVX"),
        ((1, (1, 5, 1), 1, (1, 5, 1)), "cspVXrVY"),
    ],
)
def test_without_query_and_key(call: Layout, wanted: str) -> None:
    inputs = inputs_of(call, np.float16, 64, forward=False)
    _, program, outputs = run(call, inputs, cores=1, ub_bytes=65_536, values=False)
    assert told(program, inputs, outputs) == wanted


def test_heads_in_steps() -> None:
    """Four rows of 128 B: three heads beside a row of cos. Query has five, key two: the second step has none of key."""
    call: Layout = (4, (1, 5), 2, (1, 1))
    inputs = inputs_of(call, np.float32, 32)
    tiling, program, outputs = run(call, inputs, cores=1, ub_bytes=4 * 16 * 128, values=False)
    assert tiling.data["ropeGradParams.ubFactorN"] == 3
    assert told(program, inputs, outputs) == "scpqVXrkVYWWpqVXWW|wVVDwVVE"


def test_a_row_of_many_terms_is_summed_in_several_tiles() -> None:
    """UB takes the float32 lines of 1024 numbers of 29 heads twice, beside the total and two results."""
    call: Layout = (4, (2, 40), 1, (2, 1))
    inputs = inputs_of(call, np.float32, 1024)
    _, program, outputs = run(call, inputs, cores=1, ub_bytes=253_952, values=False)
    assert told(program, inputs, outputs).partition("|")[2] == "wVwVVD" * 2 + "wVwVVE" * 2


def of_one_round(first: bool, narrow: bool) -> Counter[str]:
    found = Counter(UpdateMask=1, LoadAlign=8, Mul=8, Muls=1, Add=1, Sub=1, StoreAlign=6, Cast=10 if narrow else 0)
    return +(found if first else found + Counter(LoadAlign=4, Add=4))


@pytest.mark.parametrize(("dtype", "narrow"), [(np.float16, True), (np.float32, False)])
def test_a_round_of_the_products(dtype: Any, narrow: bool) -> None:
    """Halves of 70 take two rounds: three heads of query at five positions of two batches, then two of key."""
    call = LAYOUTS["BAB-BSND"]
    _, program, _ = run(call, inputs_of(call, dtype, 140), cores=1, ub_bytes=253_952, values=False)
    functions = [item for item in vector_functions(program) if item.name == "half_back_with_sums_vf"]
    for item, heads, first in zip(functions, (3, 2, 3, 2), (True, False, True, False), strict=True):
        wanted = of_one_round(first, narrow)
        assert counts(item.work.body) == Counter({name: count * heads * 5 * 2 for name, count in wanted.items()})


@pytest.mark.parametrize(("length", "blocks"), [(64, (1, 10 * 128)), (70, (10 * 2, 70))])
def test_template_a_moves_whole_blocks_at_once(length: int, blocks: tuple[int, int]) -> None:
    """Ten lines; halves of 32 elements fill blocks of 32 B, halves of 35 do not. Rotated ones are always in halves."""
    call: Layout = (1, (1, 10, 1), 1, (1, 10, 1))
    _, program, _ = run(call, inputs_of(call, np.float16, length), cores=1, ub_bytes=253_952, values=False)
    works = [item.work for item in work_of_block(program) if isinstance(item.work, CopyWork)]
    assert {(work.blocks, work.block_bytes) for work in works[:6]} == {blocks}
    assert {(work.blocks, work.block_bytes) for work in works[6:10]} == {(20, length)}
    assert {(work.blocks, work.block_bytes) for work in works[10:]} == {(1, 20 * length)}


@pytest.mark.parametrize(("layout", "wanted"), [("BAB-BSND", "prpr"), ("AB-SBND", "pr"), ("A-BSND", "pr")])
def test_gradients_are_read_past_l2(layout: str, wanted: str) -> None:
    inputs = inputs_of(LAYOUTS[layout], np.float16, 64, forward=False)
    _, program, outputs = run(LAYOUTS[layout], inputs, cores=1, ub_bytes=253_952, values=False)
    works = [item.work for item in work_of_block(program) if isinstance(item.work, CopyWork)]
    names = [letter for letter in told(program, inputs, outputs) if letter != "V"]
    assert "".join(letter for letter, work in zip(names, works, strict=True) if work.l2_bypass) == wanted
