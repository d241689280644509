"""Softmax of 128 rows of 128 fp32 in registers, one vector function: asc-devkit's softmax sample on the 950.

Unfused with every step through UB, fused in two passes, two rows per round, without masks.
"""

from __future__ import annotations

from typing import Any

from ascend_sim import asc
from ascend_sim.accuracy.kernels.case import Case
from ascend_sim.accuracy.rows import Row
from ascend_sim.asc import reg

ROWS = COLUMNS = 128
LANES = 64
UB = {"x": 0, "y": 64 * 1024, "exp": 128 * 1024, "sum": 192 * 1024}
F32 = asc.float32
SUM_PITCH = 8  # one result per 32 B block
LEAST = -3.0e38


@asc.vf
def unfused_vf(x: Any, y: Any, exp: Any, total: Any) -> None:
    """Every step of a row by way of UB, a full memory barrier behind each."""
    everything = reg.create_mask(F32)
    first = reg.StoreDist.DIST_FIRST_ELEMENT_B32
    a, b = reg.RegTensor(F32), reg.RegTensor(F32)

    def barrier() -> None:
        reg.local_mem_bar(reg.MemType.VEC_ALL, reg.MemType.VEC_ALL)

    def spread(row: Any) -> None:
        """The row's one result into all its columns of y."""
        reg.load_align(a, total + row * SUM_PITCH)
        reg.duplicate(a, a, everything)
        for half in (0, LANES):
            reg.store_align(y + row * COLUMNS + half, a, everything)
        barrier()

    for row in asc.range(ROWS):
        reg.duplicate(b, LEAST, everything)
        left = reg.Counter(COLUMNS)
        for half in asc.range(2):
            mask = reg.update_mask(F32, left)
            reg.load_align(a, x + row * COLUMNS + half * LANES)
            reg.max(b, b, a, mask)
        reg.reduce(b, b, everything, reg.ReduceType.MAX)
        reg.store_align(total + row * SUM_PITCH, b, everything, dist=first)
        barrier()
    for row in asc.range(ROWS):
        spread(row)
        for half in asc.range(2):
            reg.load_align(a, x + row * COLUMNS + half * LANES)
            reg.load_align(b, y + row * COLUMNS + half * LANES)
            reg.sub(a, a, b, everything)
            reg.store_align(exp + row * COLUMNS + half * LANES, a, everything)
        barrier()
        for half in asc.range(2):
            reg.load_align(a, exp + row * COLUMNS + half * LANES)
            reg.exp(a, a, everything)
            reg.store_align(exp + row * COLUMNS + half * LANES, a, everything)
        barrier()
        reg.duplicate(b, 0.0, everything)
        for half in asc.range(2):
            reg.load_align(a, exp + row * COLUMNS + half * LANES)
            reg.add(b, b, a, everything)
        reg.reduce(b, b, everything)
        reg.store_align(total + row * SUM_PITCH, b, everything, dist=first)
        barrier()
    for row in asc.range(ROWS):
        spread(row)
        for half in asc.range(2):
            reg.load_align(a, exp + row * COLUMNS + half * LANES)
            reg.load_align(b, y + row * COLUMNS + half * LANES)
            reg.div(a, a, b, everything)
            reg.store_align(y + row * COLUMNS + half * LANES, a, everything)
        barrier()


@asc.vf
def fused_vf(x: Any, y: Any, exp: Any, rows_a_round: int, masked: bool) -> None:
    """Two passes: maximum and exponentials; sum and quotients."""
    reduce_rows(x, exp, rows_a_round, masked, reg.ReduceType.MAX)
    reg.local_mem_bar(reg.MemType.VEC_LOAD, reg.MemType.VEC_STORE)
    reduce_rows(exp, y, rows_a_round, masked, reg.ReduceType.SUM)


def reduce_rows(source: Any, target: Any, rows_a_round: int, masked: bool, kind: reg.ReduceType) -> None:
    """Reduce each row, then combine its elements with the result."""
    everything = reg.create_mask(F32)
    largest = kind is reg.ReduceType.MAX
    mode = reg.MaskMergeMode.MERGING if masked else reg.MaskMergeMode.ZEROING
    results = [reg.RegTensor(F32) for _ in range(rows_a_round)]
    value = reg.RegTensor(F32)
    apart = ROWS // rows_a_round
    for i in asc.range(apart):
        places = [(i + apart * k) * COLUMNS for k in range(rows_a_round)]
        for result in results:
            reg.duplicate(result, LEAST if largest else 0.0, everything)
        left = reg.Counter(COLUMNS)
        for half in asc.range(2):
            mask = reg.update_mask(F32, left) if masked else everything
            for result, place in zip(results, places, strict=True):
                reg.load_align(value, source + place + half * LANES)
                (reg.max if largest else reg.add)(result, result, value, mask, mode)
        for result in results:
            reg.reduce(result, result, everything, kind)
            reg.duplicate(result, result, everything)
        left = reg.Counter(COLUMNS)
        for half in asc.range(2):
            mask = reg.update_mask(F32, left) if masked else everything
            for result, place in zip(results, places, strict=True):
                reg.load_align(value, source + place + half * LANES)
                (reg.exp_sub if largest else reg.div)(value, value, result, mask)
                reg.store_align(target + place + half * LANES, value, mask)


@asc.jit
def softmax(limit: int, case: asc.ConstExpr[tuple[Any, ...]]) -> None:
    """Compute alone, between two barriers: the row is the vector unit's time."""
    kind, *rest = case
    x, y, exp = (asc.LocalTensor(F32, asc.TPosition.VECCALC, UB[name], ROWS * COLUMNS) for name in ("x", "y", "exp"))
    total = asc.LocalTensor(F32, asc.TPosition.VECCALC, UB["sum"], ROWS * SUM_PITCH)
    asc.pipe_barrier(asc.PipeID.PIPE_ALL)
    if kind == "unfused":
        unfused_vf(x, y, exp, total)
    else:
        fused_vf(x, y, exp, *rest)
    asc.pipe_barrier(asc.PipeID.PIPE_ALL)


def build(row: Row) -> Case:
    """`kind`: "unfused" or "fused"; of the fused one `rows_a_round` and `masked`."""
    params = row.params
    case = (params["kind"], *((params["rows_a_round"], params["masked"]) if params["kind"] == "fused" else ()))
    return Case(lambda limit: softmax[1](limit, case))
