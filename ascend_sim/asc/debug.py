"""printf and dump_tensor: what a kernel tells its author. Both cost nothing here, on a board they do."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from ascend_sim.asc.plain import integer, shown
from ascend_sim.asc.recorder import RECORDER
from ascend_sim.asc.scalars import UnknownScalar
from ascend_sim.asc.shapes import ShapeInfo
from ascend_sim.asc.tensors import GlobalTensor, LocalTensor
from ascend_sim.errors import KernelError
from ascend_sim.plurals import counted

__all__ = ["dump_tensor", "printf"]

# %[flags][width][.precision][length]conversion
_CONVERSION = re.compile(r"%([-+ #0]*)(\d*)(\.\d+)?(hh|h|ll|l|z|j|t|L)?(.)")
_ESCAPES = {r"\n": "\n", r"\t": "\t"}
_TEXT_ITEMS_PER_LINE = 16


def _unsigned(value: Any) -> int:
    """The bits that C prints for %x: 32 of a small negative number, else 64."""
    number = int(value)
    return number if number >= 0 else number + (1 << 32 if number >= -(1 << 31) else 1 << 64)


# C's conversion -> Python's, and what it does with the value
_CONVERTERS: dict[str, tuple[str, Callable[[Any], Any]]] = {
    **dict.fromkeys("diu", ("d", int)),
    **{letter: (letter, _unsigned) for letter in "xXo"},
    **{letter: (letter, float) for letter in "fFeEgG"},
    "s": ("s", str),
    "c": ("s", lambda value: chr(int(value))),
    "p": ("s", lambda value: hex(int(value))),
}


def printf(fmt: str, *args: Any) -> None:
    r"""Print as C's printf does: %d %i %u %x %o %f %e %g %s %p %c %%, with flags, width and precision.

    pyasc hands the text to a C++ compiler, so its sources write a line end as `\\n`; a plain line end works here too.
    """
    if RECORDER.launch is None:
        raise KernelError("asc.printf can only be called inside a kernel")
    if not isinstance(fmt, str):
        raise KernelError(f"asc.printf: fmt must be a text, not {type(fmt).__name__}")
    for written, meant in _ESCAPES.items():
        fmt = fmt.replace(written, meant)
    given = list(args)

    def convert(match: re.Match[str]) -> str:
        flags, width, precision, _, conversion = match.groups()
        if conversion == "%":
            return "%"
        if not given:
            raise KernelError(
                f"asc.printf: the format {fmt!r} asks for more than the {counted(len(args), 'value')} given"
            )
        return _format(f"%{flags}{width}{precision or ''}", conversion, given.pop(0))

    text = _CONVERSION.sub(convert, fmt)
    if given:
        raise KernelError(
            f"asc.printf: the format {fmt!r} takes {len(args) - len(given)} of the {counted(len(args), 'value')} given"
        )
    print(text, end="")


def _format(spec: str, conversion: str, value: Any) -> str:
    if isinstance(value, UnknownScalar):
        return repr(value)
    if conversion not in _CONVERTERS:
        raise KernelError(f"asc.printf: unknown conversion %{conversion}; allowed are {' '.join(_CONVERTERS)}")
    python_conversion, convert = _CONVERTERS[conversion]
    try:
        return str((spec + python_conversion) % convert(value))
    except (TypeError, ValueError, OverflowError):
        raise KernelError(f"asc.printf: %{conversion} cannot print {shown(value)}") from None


def dump_tensor(
    tensor: LocalTensor | GlobalTensor, desc: int, dump_size: int, shape_info: ShapeInfo | None = None
) -> None:
    """Print the first `dump_size` elements; `desc` is a number of the author's choice that tells dumps apart."""
    if not isinstance(tensor, LocalTensor | GlobalTensor):
        raise KernelError(f"asc.dump_tensor takes a LocalTensor or a GlobalTensor, not {type(tensor).__name__}")
    if not isinstance(shape_info, ShapeInfo | None):
        raise KernelError(f"asc.dump_tensor: shape_info must be a ShapeInfo, not {type(shape_info).__name__}")
    number, count = integer("asc.dump_tensor: desc", desc), integer("asc.dump_tensor: dump_size", dump_size)
    data = _elements(tensor, count)
    where = (
        f"UB[{tensor.addr}]" if isinstance(tensor, LocalTensor) else f"GM {tensor.allocation.name!r}+{tensor.offset}"
    )
    print(
        f"dump_tensor desc={number} block={RECORDER.block} {where} {tensor.dtype.name} x {count}"
        + ("" if shape_info is None else f" shape={list(shape_info.dims)}")
    )
    print("  not computed in this run (values are off)" if data is None else _table(data, shape_info))


def _elements(tensor: LocalTensor | GlobalTensor, count: int) -> npt.NDArray[Any] | None:
    """The elements as they are now, or None in a run without values."""
    if isinstance(tensor, LocalTensor):
        memory, start, limit = RECORDER.ub, tensor.addr, tensor.size
    else:
        memory, start = tensor.allocation.data, tensor.offset
        limit = (tensor.allocation.nbytes - start) // tensor.dtype.itemsize
    if not 0 < count <= limit:
        raise KernelError(f"asc.dump_tensor: dump_size {count}, the tensor holds 1..{limit}")
    if not RECORDER.values or memory is None:
        return None
    found: npt.NDArray[Any] = memory[start : start + count * tensor.dtype.itemsize].view(tensor.dtype.numpy)
    return found


def _table(data: npt.NDArray[Any], shape_info: ShapeInfo | None) -> str:
    width = shape_info.dims[-1] if shape_info is not None and shape_info.dims else _TEXT_ITEMS_PER_LINE
    show = str if np.issubdtype(data.dtype, np.integer) else (lambda v: f"{float(v):.6g}")
    lines = [" ".join(show(v) for v in data[i : i + width]) for i in range(0, len(data), max(width, 1))]
    return "\n".join(f"  {line}" for line in lines)
