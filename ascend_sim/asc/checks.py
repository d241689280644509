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
MAX_LISTED = 8  # combinations that an error text spells out


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
    text = f"{given} is not supported on {where}, {_choice(dtypes, allowed)}"
    if bfloat16 in dtypes and arch == "2201" and row.call != "cast":
        text += "; bfloat16 has no vector arithmetic there: cast it to float32 first"
    refuse(row.name, text)


def _choice(given: tuple[DataType, ...], allowed: Sequence[tuple[DataType, ...]]) -> str:
    """What there is instead; of a long list of conversions only those that share a side with what was given."""
    if len(allowed) <= MAX_LISTED or len(given) != 2:
        return f"allowed are {describe_dtypes(allowed)}"
    dst, src = given
    sides = (
        f"{src.name} can become {', '.join(c[0].name for c in allowed if c[1] is src) or 'nothing else'}",
        f"{dst.name} can be made from {', '.join(c[1].name for c in allowed if c[0] is dst) or 'nothing'}",
    )
    return "; ".join(sides)


def describe_dtypes(allowed: Sequence[tuple[DataType, ...]]) -> str:
    """The dtypes alone when all operands share theirs, else "dst <- sources" combinations."""
    if all(len(set(combination)) == 1 for combination in allowed):
        return ", ".join(combination[0].name for combination in allowed)
    return ", ".join(f"{c[0].name} <- {', '.join(item.name for item in c[1:])}" for c in allowed)


def check_repeats(row: Row, value: Any, name: str = "repeat_times") -> int:
    return whole(row.name, name, value, 0, MAX_REPEATS, "an 8-bit field of the instruction")


def check_stride(row: Row, name: str, value: Any, high: int = MAX_STRIDE, unit: str = "blocks of 32 B") -> int:
    return whole(row.name, name, value, 0, high, f"in {unit}")


def check_overlap(row: Row, walk: Walk, dst: Layout, role: str, source: Layout, may_accumulate: bool) -> bool:
    """Whether later repeats read what earlier ones write; refuses what the hardware does not define.

    Within a repeat a source and the destination coincide or do not touch; no repeat reads what an earlier one wrote,
    except `dst` = `src1` of Add, Sub, Mul, Max, Min, AddRelu, SubRelu with a repeat stride of 0 (soc_specs 2.5). A
    narrower or wider source may share bytes with the destination inside one repeat: kernels widen in place from the
    upper half of a buffer, and a repeat reads all its blocks before it writes.
    """
    if apart(walk, dst, walk, source) or in_place(walk, dst, source):
        return False
    if reads_earlier_result(walk, dst, walk, source):
        if may_accumulate and 0 in (dst.repeat_stride, source.repeat_stride):
            return True
        if role == "dst":
            refuse(row.name, "dst is also read, and a repeat reads there what an earlier repeat wrote; keep them apart")
        refuse(row.name, f"{role} overlaps dst so that a repeat reads what an earlier repeat wrote; keep them apart")
    if dst.dtype.itemsize == source.dtype.itemsize and _overlaps_in_part(walk, dst, source):
        refuse(row.name, f"{role} overlaps dst in part; within a repeat they must coincide or not touch")
    return False


def check_order(row: Row, dst_walk: Walk, dst: Layout, role: str, source_walk: Walk, source: Layout) -> None:
    """As `check_overlap` for instructions whose results have another shape than their source: only order counts."""
    if not apart(dst_walk, dst, source_walk, source) and reads_earlier_result(dst_walk, dst, source_walk, source):
        refuse(row.name, f"{role} overlaps dst so that a repeat reads what an earlier repeat wrote; keep them apart")


def apart(dst_walk: Walk, dst: Layout, source_walk: Walk, source: Layout) -> bool:
    """Whether the byte ranges of destination and source do not meet (or one of them is empty)."""
    if not dst_walk.elements or not source_walk.elements:
        return True
    return dst.end(dst_walk) <= source.start or source.end(source_walk) <= dst.start


def in_place(walk: Walk, dst: Layout, source: Layout) -> bool:
    """Whether every lane reads what it writes and repeats stay apart."""
    same_walk = (dst.block_stride, dst.repeat_stride) == (source.block_stride, source.repeat_stride)
    same_place = dst.start == source.start and dst.dtype.itemsize == source.dtype.itemsize
    return same_place and same_walk and repeats_apart(walk, dst)


def repeats_apart(walk: Walk, layout: Layout) -> bool:
    """Whether no repeat reaches the start of the next."""
    return walk.repeats <= 1 or layout.repeat_stride >= layout.end(walk.one_repeat(0)) - layout.start


def reads_earlier_result(dst_walk: Walk, dst: Layout, source_walk: Walk, source: Layout) -> bool:
    """Whether some repeat reads a byte that an earlier repeat writes."""
    low = min(dst.start, source.start)
    first_writer = np.full(max(dst.end(dst_walk), source.end(source_walk)) - low, dst_walk.repeats, dtype=np.int64)
    repeat, lane = dst_walk.active()
    write_at = dst.at(repeat, lane) - low
    for byte in range(dst.dtype.itemsize):
        first_writer[(write_at + byte)[::-1]] = repeat[::-1]  # of several writers the first repeat stays
    repeat, lane = source_walk.active()
    read_at = source.at(repeat, lane) - low
    return any((first_writer[read_at + byte] < repeat).any() for byte in range(source.dtype.itemsize))


def _overlaps_in_part(walk: Walk, dst: Layout, source: Layout) -> bool:
    """Whether lanes of one repeat meet other lanes of it: equal widths, so all lanes coincide or none may meet."""
    repeat, lane = walk.active()
    write_at, read_at = dst.at(repeat, lane), source.at(repeat, lane)
    if (write_at == read_at).all():
        return False
    # operands start on 32 B blocks, so lanes of one width meet exactly when their addresses are equal
    span = int(max(write_at.max(), read_at.max())) + 1
    written, read = np.unique(repeat * span + write_at), repeat * span + read_at
    return bool((np.isin(read, written) & (write_at != read_at)).any())


def writes_again(walk: Walk, dst: Layout) -> bool:
    """Whether two repeats write the same bytes, so that their order counts."""
    if repeats_apart(walk, dst):
        return False
    repeat, lane = walk.active()
    return len(np.unique(dst.at(repeat, lane))) < walk.elements
