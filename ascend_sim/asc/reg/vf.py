"""`asc.vf`: vector functions, the only place where registers exist (Ascend C's __simd_vf__ and asc_vf_call).

    @asc.vf
    def scale_vf(dst, src, factor, count, rounds):
        x = asc.reg.RegTensor(asc.float32)
        left = asc.reg.Counter(count)
        for i in asc.range(rounds):
            mask = asc.reg.update_mask(asc.float32, left)
            asc.reg.load_align(x, src + i * 64)
            asc.reg.muls(x, x, factor, mask)
            asc.reg.store_align(dst + i * 64, x, mask)

A kernel calls it like a function: `scale_vf(y_local, x_local, 0.5, n, asc.ceildiv(n, 64))`. The call is one item of
PIPE_V. Its arguments are LocalTensors, numbers, data types, strings, enumerations, or tuples of them.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from sys import _getframe
from types import FunctionType, ModuleType
from typing import Any, NoReturn

from ascend_sim.asc.operands import ARCH_NAMES, local, refuse
from ascend_sim.asc.recorder import RECORDER, Run, outside_kernel
from ascend_sim.asc.reg.engine import Engine
from ascend_sim.asc.reg.footprint import conflicting_loops, footprints, regions_of, unordered
from ascend_sim.asc.reg.liveness import carried_loops, check_registers
from ascend_sim.asc.reg.needed import needed_bytes
from ascend_sim.asc.reg.pointer import UbPointer
from ascend_sim.asc.reg.record import work_of
from ascend_sim.asc.reg.trace import Body
from ascend_sim.asc.scalars import UnknownScalar
from ascend_sim.asc.tensors import GlobalTensor, LocalTensor
from ascend_sim.errors import KernelError
from ascend_sim.isa.dtypes import DataType
from ascend_sim.isa.row import Row
from ascend_sim.plurals import counted
from ascend_sim.program import Instr, PipeID, Place, Region, VfWork

__all__ = ["vf"]

_PLAIN = (bool, str, bytes, type(None), DataType, Enum, FunctionType, ModuleType, type)


def vf(function: Callable[..., Any]) -> VectorFunction:
    """Decorator of a vector function. Inside, `asc.range` loops run in hardware and only `asc.reg` computes."""
    return VectorFunction(function)


@dataclass(frozen=True, slots=True)
class Made:
    """What a call with given arguments does: its work, the UB bytes that it reads and writes, its values."""

    work: VfWork
    reads: tuple[Region, ...]
    writes: tuple[Region, ...]
    run: Run | None

    def instr(self, row: Row, scalar_calls: int, place: Place) -> Instr:
        detail = counted(self.work.instructions, "instruction")
        return Instr(row, PipeID.PIPE_V, self.work, self.reads, self.writes, scalar_calls, place, detail)


class VectorFunction:
    """Called from a kernel it records one VF; called from another vector function it is inlined."""

    def __init__(self, function: Callable[..., Any]) -> None:
        if not isinstance(function, FunctionType):
            raise KernelError(f"asc.vf decorates a function, not a {type(function).__name__}")
        functools.update_wrapper(self, function)
        self.function = function
        self.name = function.__name__
        self.row = Row(self.name, f"vf.{self.name}", PipeID.PIPE_V, "vf", "VF", note=inspect.getdoc(function) or "")

    def __call__(self, *args: Any, **kwargs: Any) -> None:
        rec = RECORDER
        if rec.vf is not None:
            self.function(*args, **kwargs)
            return
        frame = _getframe(1)
        given = (*args, *(item for pair in sorted(kwargs.items()) for item in pair)) if kwargs else args
        parts = [key_of(value, self.name, "an argument") for value in given]
        closure = self.function.__closure__
        code = self.function.__code__
        if closure:
            parts += [
                key_of(cell.cell_contents, self.name, f"{variable!r}, a variable around the function,")
                for variable, cell in zip(code.co_freevars, closure, strict=True)
            ]
        body_key = (VectorFunction, code, *parts)
        key = (*body_key, rec.pending, id(frame.f_code), frame.f_lasti)
        hit = rec.cache.get(key)
        if hit is None:
            made = rec.cache.get(body_key)
            if made is None:  # calls from other places, or after other scalar work, share what the body does
                made = rec.cache[body_key] = self._make(args, kwargs)
            hit = rec.cache[key] = made.instr(self.row, rec.pending, rec.place(frame)), made.run
        instr, run = hit
        rec.pending = 0
        rec.append(instr)
        if run is not None:
            run()

    def _make(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Made:
        """Trace and check the body, and work out what it touches and computes."""
        rec = RECORDER
        if not rec.arch:
            outside_kernel()
        if rec.arch != "3510":
            refuse(
                self.name,
                f"{ARCH_NAMES.get(rec.arch, rec.arch)} has no vector functions: registers are what Ascend 950 (arch "
                "3510) computes in; use the instructions on LocalTensors",
            )
        body = self._trace(args, kwargs)
        for counter in body.counters:
            counter.settle()
        check_registers(body)
        prints = footprints(body, rec.ub_bytes)
        needed = needed_bytes(body, prints)
        late = unordered(body, needed)
        if late is not None and rec.launch is not None:
            rec.launch.warn(
                f"{self.name}: LoadAlign at {late.node.place} reads what the same call stores, without LocalMemBar "
                "between them: the hardware may load first (asc.reg.local_mem_bar)"
            )
        run = None
        if rec.values:
            serial = frozenset(carried_loops(body.items) | conflicting_loops(needed))
            run = Engine(body.items, len(body.kinds), serial, rec.ub).run
        return Made(work_of(body), *regions_of(prints), run)

    def _trace(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Body:
        """Run the function once with pointers for tensors."""
        rec = RECORDER
        body = Body(self.name)
        keep = rec.append, rec.gm_append, rec.pending
        rec.vf = body
        rec.append = rec.gm_append = _only_registers
        try:
            result = self.function(
                *(argument(self.name, value) for value in args),
                **{name: argument(self.name, value) for name, value in kwargs.items()},
            )
        finally:
            rec.append, rec.gm_append, rec.pending = keep
            rec.vf = None
        if body.path:
            raise KernelError(f"{self.name}: a loop was left by break or return; hardware loops run all their rounds")
        if result is not None:
            raise KernelError(f"{self.name}: a vector function returns nothing; store results in unified buffer")
        return body


def _only_registers(*_: object) -> None:
    raise KernelError(
        "inside a vector function only asc.reg computes: instructions on LocalTensors, copies and flags belong in the "
        "kernel"
    )


def key_of(value: Any, name: str, role: str) -> Any:
    """What of an argument (or of a variable around the function) decides the record of vector function `name`."""
    kind = value.__class__
    if kind is LocalTensor:
        return ~value.key
    if kind is int or isinstance(value, (*_PLAIN, VectorFunction)):
        return value
    if isinstance(value, float):
        return "f", float(value).hex()
    if isinstance(value, int):
        return int(value)
    if isinstance(value, tuple):
        return tuple(key_of(item, name, role) for item in value)
    return _refuse_argument(value, name, role)


def argument(name: str, value: Any) -> Any:
    """An argument as the body sees it: tensors as pointers, run-time scalars as plain numbers."""
    if isinstance(value, LocalTensor):
        return UbPointer.of(local(name, "argument", value))
    if isinstance(value, bool):
        return value
    if isinstance(value, int) and not isinstance(value, Enum):
        return int(value)
    if isinstance(value, float):
        return float(value)
    if isinstance(value, tuple):
        return tuple(argument(name, item) for item in value)
    return value


def _refuse_argument(value: Any, name: str, role: str) -> NoReturn:
    if isinstance(value, UnknownScalar):
        raise KernelError(f"{name}: {role} is an element read without values: run the kernel with values")
    hint = " (a vector function works on unified buffer: data_copy first)" if isinstance(value, GlobalTensor) else ""
    raise KernelError(
        f"{name}: {role} is a {type(value).__name__}{hint}; a vector function takes LocalTensors, numbers, data types, "
        "strings, enumerations and tuples of them"
    )
