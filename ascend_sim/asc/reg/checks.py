"""Checks of register operands, and the node that a call leaves in the body."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import FrameType
from typing import Any

from ascend_sim.asc.operands import refuse
from ascend_sim.asc.recorder import RECORDER
from ascend_sim.asc.reg.affine import Affine
from ascend_sim.asc.reg.registers import MaskMergeMode, MaskReg, RegTensor
from ascend_sim.asc.reg.trace import Body, Node, UbAccess, body_of
from ascend_sim.isa.dtypes import DataType
from ascend_sim.isa.row import Row
from ascend_sim.program import VfUnit


def name_of(row: Row) -> str:
    return f"Reg::{row.name}"


def vector(row: Row, role: str, value: Any, body: Body) -> RegTensor:
    """`value` as a RegTensor of this vector function."""
    if not isinstance(value, RegTensor):
        refuse(name_of(row), f"{role} must be a RegTensor, not {type(value).__name__}")
    if value.body is not body:
        refuse(
            name_of(row),
            f"{role} belongs to another call of a vector function: registers do not outlive their function",
        )
    return value


def mask_register(row: Row, value: Any, body: Body) -> MaskReg:
    if not isinstance(value, MaskReg):
        refuse(name_of(row), f"mask must be a MaskReg (create_mask, update_mask), not {type(value).__name__}")
    if value.body is not body:
        refuse(
            name_of(row), "mask belongs to another call of a vector function: registers do not outlive their function"
        )
    return value


def same_dtype(row: Row, operands: Sequence[tuple[str, DataType]]) -> DataType:
    """The one dtype of all operands, which the row must have."""
    dtype = operands[0][1]
    if any(other is not dtype for _, other in operands):
        given = ", ".join(f"{role} {other.name}" for role, other in operands)
        refuse(name_of(row), f"{given}: all operands must have one dtype")
    allowed = [combination[0] for combination in row.dtypes["3510"]]
    if dtype not in allowed:
        names = ", ".join(item.name for item in allowed)
        refuse(name_of(row), f"dtype {dtype.name} is not supported, allowed are {names}")
    return dtype


def merge_mode(row: Row, mode: Any) -> bool:
    """Whether inactive lanes keep their value."""
    if not isinstance(mode, MaskMergeMode):
        refuse(name_of(row), f"mode must be MaskMergeMode.ZEROING or MaskMergeMode.MERGING, not {mode!r}")
    return mode is MaskMergeMode.MERGING


def start(row: Row) -> Body:
    return body_of(row.call.removeprefix("reg."))


def emit(
    row: Row,
    frame: FrameType,
    body: Body,
    writes: Sequence[RegTensor | MaskReg],
    reads: Sequence[RegTensor | MaskReg],
    compute: Callable[..., Any] | None,
    width: str,
    unit: VfUnit = VfUnit.EXECUTE,
    access: UbAccess | None = None,
    mask: MaskReg | None = None,
    lane_bytes: int = 0,
    counter: Affine | None = None,
    cost: str = "",
) -> Node:
    """Add the instruction to the body."""
    node = Node(
        row.name, cost or row.cost, unit, width, body.path, RECORDER.place(frame),
        tuple(item.slot for item in writes), tuple(item.slot for item in reads), compute, access,
        -1 if mask is None else mask.slot, lane_bytes, counter,
    )  # fmt: skip
    body.add(node)
    return node
