"""The calls of element-wise vector instructions, made from table rows with pyasc's signatures.

Every call has two forms: *count* (`f(dst, src0, src1, count)`: the first `count` elements) and *mask/repeat*
(`f(dst, src0, src1, mask, repeat_times, repeat_params, is_set_mask=True)`). `mask` is a number of first lanes or a list
of 64-bit words, low word first. Arguments go by position or by pyasc's names.

The hot path is one dictionary look-up; whatever is checked or prepared happens once per distinct call in `_build`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from sys import _getframe
from types import FrameType
from typing import Any, NamedTuple, Protocol, overload

from ascend_sim.asc import checks
from ascend_sim.asc.issue import (
    Hit,
    Operand,
    counted_walk,
    dense_layout,
    lanes_of,
    make_hit,
    masked_walk,
    play,
    strided_layout,
)
from ascend_sim.asc.operands import element, refuse, whole
from ascend_sim.asc.params import BinaryRepeatParams, Params, UnaryRepeatParams
from ascend_sim.asc.recorder import RECORDER, Run
from ascend_sim.asc.state import CoreState
from ascend_sim.asc.subnormals import flushing
from ascend_sim.asc.tensors import LocalTensor
from ascend_sim.asc.walk import Walk
from ascend_sim.isa.dtypes import DataType
from ascend_sim.isa.numeric import Into, bind, scalar_cell, with_scalar
from ascend_sim.isa.row import Row

Mask = int | list[int]


class BinaryCall(Protocol):
    """A two-source instruction."""

    @overload
    def __call__(
        self, dst: LocalTensor, src0: LocalTensor, src1: LocalTensor, count: int, is_set_mask: bool = True
    ) -> None: ...
    @overload
    def __call__(
        self,
        dst: LocalTensor,
        src0: LocalTensor,
        src1: LocalTensor,
        mask: Mask,
        repeat_times: int,
        repeat_params: BinaryRepeatParams,
        is_set_mask: bool = True,
    ) -> None: ...


class ScalarCall(Protocol):
    """An instruction of a tensor and a scalar."""

    @overload
    def __call__(
        self, dst: LocalTensor, src: LocalTensor, scalar: Any, count: int, is_set_mask: bool = True
    ) -> None: ...
    @overload
    def __call__(
        self,
        dst: LocalTensor,
        src: LocalTensor,
        scalar: Any,
        mask: Mask,
        repeat_times: int,
        repeat_params: UnaryRepeatParams,
        is_set_mask: bool = True,
    ) -> None: ...


class UnaryCall(Protocol):
    """A one-source instruction."""

    @overload
    def __call__(self, dst: LocalTensor, src: LocalTensor, count: int) -> None: ...
    @overload
    def __call__(
        self,
        dst: LocalTensor,
        src: LocalTensor,
        mask: Mask,
        repeat_times: int,
        repeat_params: UnaryRepeatParams,
        is_set_mask: bool = True,
    ) -> None: ...


def binary_call(row: Row) -> BinaryCall:
    """The call of a row of form "binary" or "binary_dst"."""
    name, recorder = row.call, RECORDER

    def call(
        dst: Any, src0: Any, src1: Any, count: Any = None, repeat_times: Any = None, repeat_params: Any = None,
        is_set_mask: Any = True, *, mask: Any = None,
    ) -> None:  # fmt: skip
        frame = _getframe(1)
        if repeat_times is not None or mask is not None:
            count = mask_argument(row, count, mask, repeat_times)
        try:
            key = (
                name, dst.key, src0.key, src1.key,
                count, repeat_times, repeat_params and repeat_params.key, is_set_mask,
                recorder.pending, recorder.state, id(frame.f_code), frame.f_lasti,
            )  # fmt: skip
            hit = recorder.cache.get(key)
        except (AttributeError, TypeError, ValueError):
            hit = key = None
        if hit is None:
            operands = (("dst", dst), ("src0", src0), ("src1", src1))
            repeats = Repeats(BinaryRepeatParams, repeat_times, repeat_params, is_set_mask)
            hit = recorder.cache[key] = build(frame, row, operands, count, repeats)
        play(hit)

    binary: BinaryCall = named(call, row)
    return binary


def scalar_call(row: Row) -> ScalarCall:
    """The call of a row of form "scalar" or "scalar_dst"."""
    name, recorder = row.call, RECORDER

    def call(
        dst: Any, src: Any, scalar: Any, count: Any = None, repeat_times: Any = None, repeat_params: Any = None,
        is_set_mask: Any = True, *, mask: Any = None,
    ) -> None:  # fmt: skip
        frame = _getframe(1)
        if repeat_times is not None or mask is not None:
            count = mask_argument(row, count, mask, repeat_times)
        try:
            key = (
                name, dst.key, src.key, scalar if scalar.__class__ is int else scalar_key(scalar),
                count, repeat_times, repeat_params and repeat_params.key, is_set_mask,
                recorder.pending, recorder.state, id(frame.f_code), frame.f_lasti,
            )  # fmt: skip
            hit = recorder.cache.get(key)
        except (AttributeError, TypeError, ValueError):
            hit = key = None
        if hit is None:
            repeats = Repeats(UnaryRepeatParams, repeat_times, repeat_params, is_set_mask)
            hit = recorder.cache[key] = build_scalar(frame, row, (("dst", dst), ("src", src)), scalar, count, repeats)
        play(hit, scalar)

    with_scalar_operand: ScalarCall = named(call, row)
    return with_scalar_operand


def unary_call(row: Row) -> UnaryCall:
    """The call of a row of form "unary"."""
    name, recorder = row.call, RECORDER

    def call(
        dst: Any, src: Any, count: Any = None, repeat_times: Any = None, repeat_params: Any = None,
        is_set_mask: Any = True, *, mask: Any = None,
    ) -> None:  # fmt: skip
        frame = _getframe(1)
        if repeat_times is not None or mask is not None:
            count = mask_argument(row, count, mask, repeat_times)
        try:
            key = (
                name, dst.key, src.key, count, repeat_times, repeat_params and repeat_params.key, is_set_mask,
                recorder.pending, recorder.state, id(frame.f_code), frame.f_lasti,
            )  # fmt: skip
            hit = recorder.cache.get(key)
        except (AttributeError, TypeError, ValueError):
            hit = key = None
        if hit is None:
            repeats = Repeats(UnaryRepeatParams, repeat_times, repeat_params, is_set_mask)
            hit = recorder.cache[key] = build(frame, row, (("dst", dst), ("src", src)), count, repeats)
        play(hit)

    unary: UnaryCall = named(call, row)
    return unary


def mask_argument(row: Row, count: Any, mask: Any, repeat_times: Any) -> Any:
    """The mask of a mask/repeat form as it stands in a key: by position or by name, a list as a tuple."""
    if mask is not None:
        if count is not None:
            refuse(row.name, "count and mask exclude each other")
        if repeat_times is None:
            refuse(row.name, "mask needs repeat_times and repeat_params")
        count = mask
    return tuple(count) if isinstance(count, list) else count


class Repeats(NamedTuple):
    """The rest of a mask/repeat form, and the type that its strides must have."""

    params_type: type[Params]
    times: Any
    params: Any
    is_set_mask: Any


def build(
    frame: FrameType,
    row: Row,
    tensors: Sequence[tuple[str, Any]],
    count: Any,
    repeats: Repeats,
    meaning_of: Callable[[tuple[DataType, ...]], Into] | None = None,
) -> Hit:
    """Check one distinct call and make its instruction; `meaning_of(dtypes)` stands in for the row's meaning."""
    count_form = repeats.times is None or (isinstance(repeats.times, bool) and repeats.params is None)
    dtypes = checks.check_tensors(row, tensors, count_form)
    lanes = lanes_of(*(tensor for _, tensor in tensors))
    walk, after, operands = _resolve(row, tensors, lanes, count, repeats, count_form)
    reads_dst = row.form.endswith("_dst")
    into = meaning_of(dtypes) if meaning_of else meaning(row, dtypes, reads_dst)
    sets_mask = count_form or repeats.is_set_mask
    return make_hit(frame, row, walk, operands, flushing(into), after, count_form, sets_mask, reads_dst)


def _resolve(
    row: Row, tensors: Sequence[tuple[str, Any]], lanes: int, count: Any, repeats: Repeats, count_form: bool
) -> tuple[Walk, CoreState, list[Operand]]:
    if count_form:
        walk, after = counted_walk(row, lanes, count)
        return walk, after, [(role, tensor, dense_layout(tensor, lanes)) for role, tensor in tensors]
    params = repeats.params
    if not isinstance(params, repeats.params_type):
        refuse(row.name, f"repeat_params must be {repeats.params_type.__name__}, not {type(params).__name__}")
    times = checks.check_repeats(row, repeats.times)
    walk, after = masked_walk(row, lanes, count, times, repeats.is_set_mask)
    operands = [
        (role, tensor, strided_layout(
            row, tensor, role, getattr(params, f"{role}_blk_stride"), getattr(params, f"{role}_rep_stride")))
        for role, tensor in tensors
    ]  # fmt: skip
    return walk, after, operands


def meaning(row: Row, dtypes: tuple[DataType, ...], reads_dst: bool) -> Into:
    """The row's numpy meaning for these dtypes."""
    assert row.compute is not None
    sources = (*dtypes[1:], dtypes[0]) if reads_dst else dtypes[1:]
    return bind(row.compute, dtypes[0], sources, RECORDER.state.half_saturates)


def scalar_key(scalar: Any) -> Any:
    """A scalar operand in a key: plain floats by value, telling 0.0 from -0.0; values of the running kernel by type.

    A kernel that computes its scalars would make a new instruction each time; those are handed to `run` instead.
    """
    kind = scalar.__class__
    if kind is float:
        return scalar or repr(scalar)
    return kind


def build_scalar(
    frame: FrameType, row: Row, tensors: Sequence[tuple[str, Any]], scalar: Any, count: Any, repeats: Repeats
) -> Hit:
    """As `build` for instructions with a scalar: their `run` takes the scalar, converted to the source's dtype."""
    cells: list[tuple[Any, DataType]] = []

    def meaning_of(dtypes: tuple[DataType, ...]) -> Into:
        dst, source = dtypes
        sources = (source, dst) if row.form.endswith("_dst") else (source,)
        assert row.compute is not None
        cell = scalar_cell(row.compute, dst, sources)
        cells.append((cell, source))
        return with_scalar(row.compute, cell, dst, sources, RECORDER.state.half_saturates)

    instr, run, after = build(frame, row, tensors, count, repeats, meaning_of)
    cell, source = cells[0]
    if scalar.__class__ in (int, float):
        cell[...] = checked_scalar(row, source, scalar)
        return instr, run and (lambda _: run()), after
    if isinstance(scalar, str | bytes):
        checked_scalar(row, source, scalar)
    if run is None:
        return instr, None, after
    return instr, _with_running_scalar(row, source, cell, run), after


def _with_running_scalar(row: Row, source: DataType, cell: Any, run: Run) -> Run:
    def run_with(scalar: Any) -> None:
        cell[...] = checked_scalar(row, source, scalar)
        run()

    return run_with


def checked_scalar(row: Row, source: DataType, scalar: Any) -> Any:
    """The scalar as an element of the source's dtype; shifts must stay within the element."""
    try:
        if isinstance(scalar, str | bytes):  # numpy would read a number out of it
            raise TypeError
        if row.call in ("shift_left", "shift_right"):
            bits = 8 * source.itemsize
            return whole(row.name, "scalar", scalar, 0, bits, f"bits of {source.name}")
        return element(source, scalar)
    except (TypeError, ValueError, OverflowError):
        refuse(row.name, f"scalar must be a number that {source.name} can hold, not {scalar!r}")


def named(call: Any, row: Row) -> Any:
    """Give a generated call its name, its documentation line and its row."""
    call.__name__ = call.__qualname__ = row.call
    call.__doc__ = f"{row.name}: {row.note}."
    call.row = row
    return call
