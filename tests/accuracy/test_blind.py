"""The machine knows programs and chips only: no kernel, shape or row of the table is treated differently."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from ascend_sim.accuracy.kernels import FAMILIES, build
from ascend_sim.accuracy.rows import all_rows
from ascend_sim.host.device import Device
from ascend_sim.machine import Machine
from ascend_sim.resources import directory
from ascend_sim.soc import load

PACKAGE = Path(__file__).parents[2] / "ascend_sim"
TEXTS = [*(PACKAGE / "machine").glob("*.py"), *(PACKAGE / "soc").glob("*.py"), *directory("configs").glob("*.yaml")]


def names():
    """What would give a row away: its id, its family, the names of the kernels' functions."""
    rows = [row for row in all_rows() if row.family]
    return {row.id for row in rows} | set(FAMILIES) - {"operator"} | {"add_rows", "rope_by_rows", "probe_tiles"}


def test_no_name_of_a_row_stands_in_the_machine_or_the_chips():
    assert len(TEXTS) > 20
    for path in TEXTS:
        text = path.read_text(encoding="utf-8")
        assert [name for name in names() if name in text] == [], path


@pytest.mark.parametrize("text", ["mul-ascendc-b2-", "h1-d128-t16-", "small-add-overhead-sample-after"])
def test_times_do_not_depend_on_names_or_places(text):
    """The same record under other names, from other source places, with other GM bases, takes the same time."""
    row = next(row for row in all_rows() if text in row.id)
    device = Device(row.soc, values=False, timing=False)
    with device:
        build(row).launch(1 << 20)
    program = device.launches[0].program
    plain = Machine(load(row.soc)).run(program)
    for block in program.blocks:
        for instr in block.instrs:
            instr.place, instr.detail = None, ""
        for i, address in enumerate(block.gm_addresses):
            block.gm_addresses[i] = address + (1 << 33)
    renamed = dataclasses.replace(program, kernel="something else")
    other = Machine(load(row.soc)).run(renamed)
    assert other.duration_cycles == plain.duration_cycles
    for one, two in zip(plain.cores, other.cores, strict=True):
        assert (one.start, one.end) == (two.start, two.end)
