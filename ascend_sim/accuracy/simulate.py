"""One row simulated under its protocol."""

from __future__ import annotations

from ascend_sim.accuracy.kernels import build
from ascend_sim.accuracy.rows import Row
from ascend_sim.accuracy.steady import Sample, sample
from ascend_sim.errors import InputError
from ascend_sim.host.device import Device, Launch
from ascend_sim.soc import Soc, load


def simulate(row: Row, chip: Soc | None = None) -> Sample:
    """The figures that this simulator has for `row`, on `chip` or on the row's own variant.

    L2 is as the row says: warm as the same launch just before left it, or empty. Medians of many launches are one
    launch here: all are alike. Raises `InputError` when the launch does not have the row's number of blocks.
    """
    device = Device(chip or load(row.soc), values=False, l2=row.l2, echo=False)
    case = build(row)

    def run(limit: int) -> Launch:
        with device:
            case.launch(limit)
        return device.launches.pop()

    found = sample(run, case.tiles, case.core_bound, case.period, case.heavy)
    if row.block_dim not in (None, found.blocks):
        raise InputError(f"row {row.id!r} ran on {row.block_dim} blocks, its kernel is launched on {found.blocks}")
    return found
