"""Struct arguments."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from asc_bench import calls, record

from ascend_sim import asc
from ascend_sim.asc.language.core.dtype import KnownTypes as KT  # noqa: N817 - as pyasc's programs write it
from ascend_sim.asc.language.core.struct import Field, Struct, StructField
from ascend_sim.errors import InputError, OptionError


class Shape(Struct):
    rows = Field(dtype=KT.int32)
    columns = Field(dtype=KT.int64, default=8)


class Tiling(Struct):
    shape = StructField(Shape)
    scale = Field(dtype=KT.float32, default=0.1)


def tiling() -> Tiling:
    return Tiling(shape=Shape(rows=3))


def test_fields_have_their_types() -> None:
    made = tiling()
    assert (made.shape.rows, made.shape.columns, made.scale) == (3, 8, float(np.float32(0.1)))
    assert made.shape.rows.dtype is asc.int32
    made.shape.rows = 2**32 + 5
    assert made.shape.rows == 5
    assert repr(made) == "Tiling(shape=Shape(rows=5, columns=8), scale=0.10000000149011612)"


def test_kernels_work_on_a_copy_per_block() -> None:
    made, seen = tiling(), []

    def body(tiling: Tiling) -> None:
        tiling.shape.rows = tiling.shape.rows + asc.get_block_idx()
        seen.append(int(tiling.shape.rows))

    record(body, made, blocks=3)
    assert seen == [3, 4, 5]
    assert made.shape.rows == 3


def test_the_first_read_of_a_field_loads_it() -> None:
    def body(tiling: Tiling) -> None:
        tensor = asc.LocalTensor(asc.int32, asc.TPosition.VECCALC, 0, 8)
        tensor.set_value(tiling.shape.rows, tiling.shape.columns)
        tensor.set_value(tiling.shape.rows, tiling.shape.columns)

    first, second = record(body, tiling()).blocks[0].instrs
    assert calls(first) == {"TILING_READ": 2}
    assert calls(second) == {}


@pytest.mark.parametrize(
    ("make", "kind", "text"),
    [
        (Shape, OptionError, "Shape: field 'rows' is missing and has no default"),
        (lambda: Shape(rows=1, lines=2), OptionError, "Shape has no field 'lines'; it has rows, columns"),
        (lambda: Tiling(shape=3), InputError, "Tiling.shape takes a Shape, not int"),
        (lambda: setattr(Shape(rows=1), "x", 1), AttributeError, "Shape has no field 'x'; it has rows, columns"),
        (lambda: Shape(rows=1).x, AttributeError, "Shape has no field 'x'; it has rows, columns"),
        (
            lambda: Field(dtype=KT.float16),
            InputError,
            "Field: structs hold no asc.float16 (pyasc has none); use asc.float32",
        ),
        (lambda: Field(dtype="int32"), InputError, "Field takes a numeric data type such as asc.int32, not 'int32'"),
        (lambda: StructField(int), InputError, "StructField takes a Struct class, not <class 'int'>"),
    ],
)
def test_refusals(make: Any, kind: type[Exception], text: str) -> None:
    with pytest.raises(kind) as caught:
        make()
    assert str(caught.value) == text
