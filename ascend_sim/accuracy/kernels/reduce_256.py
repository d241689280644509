"""Sum of 256 fp32, over and over, by whole-repeat and block reductions: asc-devkit's guide on low-latency reductions.

Each stage sets its mask in count mode and is followed by a V barrier. The time is that of all iterations.
"""

from __future__ import annotations

from ascend_sim import asc
from ascend_sim.accuracy.kernels.case import Case
from ascend_sim.accuracy.rows import Row

COUNT = 256
LANES = 64
RESULTS = {"whole": LANES, "block": 8}  # source elements per result


@asc.jit
def reduce_again_and_again(stages: asc.ConstExpr[tuple[str, ...]], iterations: asc.ConstExpr[int]) -> None:
    asc.init_soc_state()
    source = asc.LocalTensor(asc.float32, asc.TPosition.VECCALC, 0, COUNT)
    sums = [asc.LocalTensor(asc.float32, asc.TPosition.VECCALC, 1024 * (i + 1), COUNT) for i in range(len(stages))]
    asc.duplicate(source, 1.0, COUNT)
    asc.pipe_barrier(asc.PipeID.PIPE_ALL)
    for _ in range(iterations):
        asc.set_mask_count()
        left, count = source, COUNT
        for stage, out in zip(stages, sums, strict=True):
            asc.set_vector_mask(count, dtype=asc.float32, mode=asc.MaskMode.COUNTER)
            reduce_stage(stage, out, left)
            asc.pipe_barrier(asc.PipeID.PIPE_V)
            left, count = out, count // RESULTS[stage]
        asc.set_mask_norm()
    asc.pipe_barrier(asc.PipeID.PIPE_ALL)


def reduce_stage(stage: str, out: asc.LocalTensor, source: asc.LocalTensor) -> None:
    """One reduction over as many elements as the mask says; repeats follow from it."""
    if stage == "whole":
        asc.whole_reduce_sum(out, source, LANES, 1, 1, 1, 8, is_set_mask=False)
    else:
        asc.block_reduce_sum(out, source, 1, LANES, 1, 1, 8)


def build(row: Row) -> Case:
    """`stages` ("whole", "block", in order), `iterations`."""
    stages, iterations = tuple(row.params["stages"]), row.params["iterations"]
    return Case(lambda _limit: reduce_again_and_again[1](stages, iterations))
