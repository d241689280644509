"""The instruction table is complete in itself and agrees with the chip's cost tables."""

from __future__ import annotations

from operator import attrgetter

import pytest

from ascend_sim import asc, soc
from ascend_sim.isa.row import TABLE, Row, declare
from ascend_sim.program import PipeID

# instructions that the cost tables price but that have no call yet
WITHOUT_CALL = {"Sort32", "MrgSort"}


@pytest.mark.parametrize("row", TABLE.values(), ids=lambda row: row.call)
def test_every_row_is_documented(row: Row) -> None:
    if row.pipe is not PipeID.PIPE_S:
        assert row.note
        assert row.dtypes


@pytest.mark.parametrize(
    "row", [row for row in TABLE.values() if "reduce" in row.form or row.compute], ids=lambda r: r.call
)
def test_every_row_is_a_call_of_the_language(row: Row) -> None:
    assert callable(attrgetter(row.call)(asc))


def test_a_call_has_one_row() -> None:
    with pytest.raises(AssertionError, match="declared twice"):
        declare(TABLE["add"])


def test_calls_carry_the_row_and_its_line() -> None:
    assert asc.add.__doc__ == "Add: dst = src0 + src1."
    assert asc.add.row is TABLE["add"]  # type: ignore[attr-defined]


def test_cost_tables_name_rows() -> None:
    """Every key of the cost tables prices some row; rows without a key of their own take the table's default."""
    vector = soc.load("ascend910b").timing.vector
    priced = {row.cost for row in TABLE.values()}
    for table in (vector.tail_cycles, vector.b16_elements_per_cycle, vector.b32_elements_per_cycle):
        assert "default" in table
        assert set(table) - {"default"} - WITHOUT_CALL <= priced
