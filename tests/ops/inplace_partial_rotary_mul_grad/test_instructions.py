"""What the vector functions of the gradient consist of: masks decide everything, no line has a tail of its own."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from helpers.in_place_arch35 import Bench
from helpers.runs_arch35 import counts, work_of_block

from ascend_sim.host.registry import operator_named
from ascend_sim.program import VfWork

BENCH = Bench(operator_named("inplace_partial_rotary_mul_grad"), {})


@pytest.mark.parametrize("layout", ["A", "B", "ABA"])
@pytest.mark.parametrize(("length", "rounds"), [(64, 1), (128, 1), (130, 2)])
def test_rounds_of_a_line(layout: str, length: int, rounds: int) -> None:
    inputs = BENCH.inputs(layout, (np.float32, np.float16), length, (1, 1, 1) if layout != "ABA" else (2, 2, 1))
    tiling, program = BENCH.run(inputs, cores=1, ub_bytes=65_536, values=False)
    (one,) = [item.work for item in work_of_block(program) if isinstance(item.work, VfWork)]
    lines = inputs["dy"].size // inputs["dy"].shape[-1]
    a_round = Counter(
        UpdateMask=3, LoadAlign=6, Cast=4, Mul=4, DeInterleave=1, Muls=1, Interleave=1, Add=2, StoreAlign=2
    )
    assert counts(one.body) == Counter({name: count * rounds * lines for name, count in a_round.items()}), tiling.path
