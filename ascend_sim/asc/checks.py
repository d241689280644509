"""Refusals of the vector forms: dtype combinations, masks, repeats, strides and overlaps.

Each names the instruction, the operand, what was given, what is allowed and why. Checks that every instruction shares
are in `operands`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ascend_sim.asc.operands import ARCH_NAMES, local, refuse, whole
from ascend_sim.asc.recorder import RECORDER
from ascend_sim.asc.tensors import LocalTensor
from ascend_sim.asc.walk import Layout, Walk
from ascend_sim.isa.dtypes import DataType, bfloat16
from ascend_sim.isa.row import Row

MAX_REPEATS = 255
MAX_STRIDE = 255


def check_tensors(row: Row, tensors: Sequence[tuple[str, Any]], count_form: bool = True) -> tuple[DataType, ...]:
    """The operands (role, tensor; destination first) lie in UB on 32 B blocks and have dtypes of the row."""
    found: list[LocalTensor] = [local(row.name, role, tensor) for role, tensor in tensors]
    dtypes = tuple(tensor.dtype for tensor in found)
    check_dtypes(row, [role for role, _ in tensors], dtypes, count_form)
    return dtypes


def check_dtypes(row: Row, roles: Sequence[str], dtypes: tuple[DataType, ...], count_form: bool) -> None:
    """The operands' dtypes are one of the row's combinations on this architecture."""
    arch = RECORDER.arch
    where = ARCH_NAMES.get(arch, arch)
    allowed = row.dtypes.get(arch, ())
    if dtypes in allowed:
        if not count_form and dtypes[0] in row.count_only.get(arch, ()):
            refuse(row.name, f"{dtypes[0].name} works on {where} only with the count form")
        return
    if not allowed:
        refuse(row.name, f"{where} does not have this instruction")
    given = ", ".join(f"{role} {dtype.name}" for role, dtype in zip(roles, dtypes, strict=True))
    text = f"{given} is not supported on {where}, allowed are {describe_dtypes(allowed)}"
    if bfloat16 in dtypes and arch == "2201" and row.call != "cast":
        text += "; bfloat16 has no vector arithmetic there: cast it to float32 first"
    refuse(row.name, text)


def describe_dtypes(allowed: Sequence[tuple[DataType, ...]]) -> str:
    """The dtypes alone when all operands share theirs, else "dst <- sources" combinations."""
    if all(len(set(combination)) == 1 for combination in allowed):
        return ", ".join(combination[0].name for combination in allowed)
    return ", ".join(f"{c[0].name} <- {', '.join(item.name for item in c[1:])}" for c in allowed)


def check_repeats(row: Row, value: Any, name: str = "repeat_times") -> int:
    return whole(row.name, name, value, 0, MAX_REPEATS, "an 8-bit field of the instruction")


def check_stride(row: Row, name: str, value: Any, high: int = MAX_STRIDE) -> int:
    return whole(row.name, name, value, 0, high, "in blocks of 32 B")


def check_overlap(row: Row, walk: Walk, dst: Layout, role: str, source: Layout, may_accumulate: bool) -> bool:
    """Whether later repeats read what earlier ones write; refuses what the hardware does not define.

    Within a repeat a source and the destination coincide or do not touch; no repeat reads what an earlier one wrote,
    except `dst` = `src1` of Add, Sub, Mul, Max, Min, AddRelu, SubRelu with a repeat stride of 0 (soc_specs 2.5). A
    narrower or wider source may share bytes with the destination inside one repeat: kernels widen in place from the
    upper half of a buffer, and a repeat reads all its blocks before it writes.
    """
    if not walk.elements or dst.end(walk) <= source.start or source.end(walk) <= dst.start:
        return False
    repeat, lane = walk.active()
    write_at, read_at = dst.at(repeat, lane), source.at(repeat, lane)
    low = min(dst.start, source.start)
    first_writer = np.full(max(dst.end(walk), source.end(walk)) - low, walk.repeats, dtype=np.int64)
    for byte in range(dst.dtype.itemsize):
        first_writer[(write_at + byte - low)[::-1]] = repeat[::-1]  # of several writers the first repeat stays
    writers = [first_writer[read_at + byte - low] for byte in range(source.dtype.itemsize)]
    if any((writer < repeat).any() for writer in writers):
        if may_accumulate and 0 in (dst.repeat_stride, source.repeat_stride):
            return True
        refuse(row.name, f"{role} overlaps dst so that a repeat reads what an earlier repeat wrote; keep them apart")
    same_width = dst.dtype.itemsize == source.dtype.itemsize
    if same_width and any(((writer == repeat) & (write_at != read_at)).any() for writer in writers):
        refuse(row.name, f"{role} overlaps dst in part; within a repeat they must coincide or not touch")
    return False


def writes_again(walk: Walk, dst: Layout) -> bool:
    """Whether two repeats write the same bytes, so that their order counts."""
    if walk.repeats <= 1 or dst.repeat_stride >= dst.end(walk.one_repeat(0)) - dst.start:
        return False
    repeat, lane = walk.active()
    return len(np.unique(dst.at(repeat, lane))) < walk.elements
