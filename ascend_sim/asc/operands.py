"""Checks that every instruction call makes on its operands, once per distinct call.

Each refusal names the instruction (Ascend C's name), the operand, what was given, what is allowed and why.
"""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np

from ascend_sim.asc.plain import integer, shown
from ascend_sim.asc.recorder import RECORDER, outside_kernel
from ascend_sim.asc.tensors import LocalTensor, TPosition
from ascend_sim.errors import KernelError
from ascend_sim.isa.dtypes import DataType
from ascend_sim.isa.row import Row
from ascend_sim.plurals import counted
from ascend_sim.program import BLOCK_BYTES

REPEAT_BYTES = 256  # what the vector unit reads of one operand per repeat

_UB_POSITIONS = frozenset({TPosition.VECIN, TPosition.VECOUT, TPosition.VECCALC})
ARCH_NAMES = {"2201": "Ascend 910B / 910_93 (arch 2201)", "3510": "Ascend 950 (arch 3510)"}


def refuse(op: str, text: str) -> NoReturn:
    raise KernelError(f"{op}: {text}")


def whole(op: str, name: str, value: Any, low: int, high: int, why: str = "") -> int:
    """`value` as a plain int within `low..high`."""
    number = integer(f"{op}: {name}", value)
    if not low <= number <= high:
        refuse(op, f"{name} is {number}, allowed are {low}..{high}{f' ({why})' if why else ''}")
    return number


def local(op: str, role: str, tensor: Any, alignment: int = BLOCK_BYTES) -> LocalTensor:
    """`tensor` as a LocalTensor in unified buffer that starts on a 32 B block; refuses calls outside a kernel.

    `alignment` in bytes is for the few operands that may start within a block.
    """
    if not RECORDER.arch:
        outside_kernel()
    if not isinstance(tensor, LocalTensor):
        refuse(op, f"{role} must be a LocalTensor, not {type(tensor).__name__}")
    if tensor.position not in _UB_POSITIONS:
        refuse(
            op,
            f"{role} is in {TPosition(tensor.position).name}, allowed are VECIN, VECOUT and VECCALC (unified buffer)",
        )
    if tensor.addr % alignment:
        why = ": UB operands start on a 32 B block" if alignment == BLOCK_BYTES else ""
        refuse(op, f"{role} starts at UB byte {tensor.addr}, which is not a multiple of {alignment}{why}")
    return tensor


def fits(op: str, role: str, tensor: LocalTensor, nbytes: int) -> None:
    """Refuse an operand whose instruction touches more bytes than its tensor has (in whole 32 B blocks)."""
    held = tensor.size * tensor.dtype.itemsize
    if nbytes > -(-held // BLOCK_BYTES) * BLOCK_BYTES:
        refuse(
            op,
            f"{role} needs {nbytes} B from UB byte {tensor.addr} on, but the tensor holds "
            f"{counted(tensor.size, 'element')} of {tensor.dtype.name} ({held} B)",
        )


def dtypes(row: Row, arch: str, *given: DataType) -> None:
    """Refuse dtypes (operand order, destination first) that `row` does not have on `arch`."""
    allowed = row.dtypes.get(arch)
    where = ARCH_NAMES.get(arch, arch)
    if not allowed:
        refuse(row.name, f"{where} does not have this instruction")
    if given not in allowed:
        text = " -> ".join(t.name for t in given[::-1]) if len(set(given)) > 1 else given[0].name
        names = ", ".join(
            dict.fromkeys(" -> ".join(t.name for t in a[::-1]) if len(set(a)) > 1 else a[0].name for a in allowed)
        )
        refuse(row.name, f"dtype {text} is not supported on {where}, allowed are {names}")


def element(dtype: DataType, value: Any) -> np.generic:
    """`value` as one element of `dtype`: floats round to nearest even, integers wrap as a C conversion does."""
    try:
        if isinstance(value, np.ndarray):
            value = value.item()  # numpy's types would make an array of an array
        return _float_element(dtype, value) if dtype.is_float else _integer_element(dtype, value)
    except (OverflowError, TypeError, ValueError):
        raise KernelError(f"{shown(value)} cannot be an element of {dtype.name}") from None


def _float_element(dtype: DataType, value: Any) -> np.generic:
    with np.errstate(over="ignore"):
        exact: np.generic = dtype.numpy.type(value) if dtype.itemsize >= 4 else np.float32(value).astype(dtype.numpy)
        return exact


def _integer_element(dtype: DataType, value: Any) -> np.generic:
    bits = dtype.itemsize * 8
    number = int(value) & ((1 << bits) - 1)
    if dtype.name.startswith("int") and number >> (bits - 1):
        number -= 1 << bits
    converted: np.generic = dtype.numpy.type(number)
    return converted
