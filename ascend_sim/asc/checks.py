"""Refusals of a vector instruction: each names instruction and operand, what was given, what is allowed and why."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn

import numpy as np

from ascend_sim.asc.recorder import RECORDER
from ascend_sim.asc.tensors import LocalTensor, TPosition
from ascend_sim.asc.walk import BLOCK_BYTES, Layout, Walk
from ascend_sim.errors import KernelError
from ascend_sim.isa.dtypes import DataType, bfloat16
from ascend_sim.isa.row import Row

UB_POSITIONS = frozenset((TPosition.VECIN, TPosition.VECOUT, TPosition.VECCALC))
MAX_REPEATS = 255
MAX_STRIDE = 255
ARCH_NAMES = {"2201": "2201 (ascend910b, ascend910_93)", "3510": "3510 (ascend950)"}


def refuse(row: Row, text: str) -> NoReturn:
    """Raise the error that every check ends in."""
    raise KernelError(f"{row.name}: {text}")


def arch_of_launch(row: Row) -> str:
    """The architecture that records now; outside a kernel every asc call is refused."""
    if not RECORDER.arch:
        RECORDER.append(None)  # type: ignore[arg-type] # raises: outside a launch this is a refusal
    if RECORDER.arch not in row.dtypes:
        known = ", ".join(ARCH_NAMES.get(arch, arch) for arch in row.dtypes)
        refuse(row, f"arch {ARCH_NAMES.get(RECORDER.arch, RECORDER.arch)} does not have this instruction, only {known}")
    return RECORDER.arch


def check_tensor(row: Row, role: str, tensor: Any, alignment: int = BLOCK_BYTES) -> None:
    """A LocalTensor in unified buffer whose start is aligned."""
    if not isinstance(tensor, LocalTensor):
        refuse(row, f"{role} must be a LocalTensor, not {type(tensor).__name__}")
    if tensor.position not in UB_POSITIONS:
        place = TPosition(tensor.position).name
        refuse(row, f"{role} lies in {place}; vector operands lie in unified buffer (VECIN, VECCALC or VECOUT)")
    if tensor.addr % alignment:
        refuse(row, f"{role} starts at UB address {tensor.addr}, which is not {alignment} B aligned")


def check_dtypes(row: Row, roles: Sequence[str], dtypes: tuple[DataType, ...], count_form: bool) -> None:
    """The operands' dtypes are one of the row's combinations on this architecture."""
    arch = arch_of_launch(row)
    allowed = row.dtypes[arch]
    if dtypes in allowed:
        if not count_form and dtypes[0] in row.count_only.get(arch, ()):
            refuse(row, f"asc.{dtypes[0].name} works on arch {ARCH_NAMES[arch]} only with the count form")
        return
    given = ", ".join(f"{role} asc.{dtype.name}" for role, dtype in zip(roles, dtypes, strict=True))
    text = f"{given} is not supported on arch {ARCH_NAMES[arch]}; allowed are {describe_dtypes(allowed)}"
    if bfloat16 in dtypes and arch == "2201":
        text += "; this chip has no bfloat16 arithmetic: cast to float32 first"
    refuse(row, text)


def describe_dtypes(allowed: Sequence[tuple[DataType, ...]]) -> str:
    """The dtypes alone when all operands share theirs, else "dst <- sources" combinations."""
    if all(len(set(combination)) == 1 for combination in allowed):
        return ", ".join(combination[0].name for combination in allowed)
    return ", ".join(f"{c[0].name} <- {', '.join(item.name for item in c[1:])}" for c in allowed)


def check_integer(row: Row, name: str, value: Any, low: int, high: int, why: str = "") -> int:
    """An integer argument within `low..high`."""
    try:
        number = int(value.__index__())
    except AttributeError:
        refuse(row, f"{name} must be an integer, not {type(value).__name__}")
    if not low <= number <= high:
        refuse(row, f"{name} is {number}, allowed are {low}..{high}{why}")
    return number


def check_repeats(row: Row, value: Any, name: str = "repeat_times") -> int:
    return check_integer(row, name, value, 0, MAX_REPEATS, " (an 8-bit field of the instruction)")


def check_stride(row: Row, name: str, value: Any, high: int = MAX_STRIDE) -> int:
    return check_integer(row, name, value, 0, high, " (blocks of 32 B)")


def check_bounds(row: Row, role: str, tensor: LocalTensor, layout: Layout, walk: Walk) -> None:
    """Everything that the walk touches lies in the tensor."""
    check_end(row, role, tensor, layout.end(walk))


def check_end(row: Row, role: str, tensor: LocalTensor, end: int) -> None:
    """`end` is the byte address just past what the instruction touches."""
    last = tensor.addr + tensor.size * tensor.dtype.itemsize
    if end > last:
        element = -(-(end - tensor.addr) // tensor.dtype.itemsize)
        refuse(
            row,
            f"{role} has {tensor.size} elements of asc.{tensor.dtype.name}, "
            f"but the instruction touches its first {element} (UB bytes {tensor.addr}..{end - 1})",
        )


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
        refuse(row, f"{role} overlaps dst so that a repeat reads what an earlier repeat wrote; keep them apart")
    same_width = dst.dtype.itemsize == source.dtype.itemsize
    if same_width and any(((writer == repeat) & (write_at != read_at)).any() for writer in writers):
        refuse(row, f"{role} overlaps dst in part; within a repeat they must coincide or not touch")
    return False


def writes_again(walk: Walk, dst: Layout) -> bool:
    """Whether two repeats write the same bytes, so that their order counts."""
    if walk.repeats <= 1 or dst.repeat_stride >= dst.end(walk.one_repeat(0)) - dst.start:
        return False
    repeat, lane = walk.active()
    return len(np.unique(dst.at(repeat, lane))) < walk.elements
