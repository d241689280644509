"""The 950's kernels on tensors of more than 2^31 elements; `test_in_place_values_arch35` has the values."""

from __future__ import annotations

import math

import pytest
from helpers.in_place_arch35 import Bench

from ascend_sim.asc.memory import DeviceArray
from ascend_sim.host.registry import operator_named

BENCH = Bench(operator_named("inplace_partial_rotary_mul"), {})


@pytest.mark.parametrize(("x", "cos"), [((1, 70_000, 32), (1, 70_000, 32)), ((2, 16, 70_000), (2, 1, 70_000))])
def test_offsets_past_two_to_the_31_elements(x: tuple[int, ...], cos: tuple[int, ...]) -> None:
    """Slices of 16 halves in heads of 1024, without data: the last core's last tile ends near the end of x."""
    shapes = {"x": (*x, 1024), "cos": (*cos, 16), "sin": (*cos, 16)}
    tensors = {name: DeviceArray(shape, "float16") for name, shape in shapes.items()}
    _, program = BENCH.run(tensors, cores=64, ub_bytes=253_952, values=False)
    nbytes = 2 * math.prod(shapes["x"])
    offsets = [address - min(program.blocks[0].gm_addresses) for address in program.blocks[-1].gm_addresses]
    last = max(offset for offset in offsets if offset < nbytes)
    assert nbytes > 2 * 2**31
    assert 0.999 * nbytes < last < nbytes
