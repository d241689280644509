"""One row simulated under its protocol."""

from __future__ import annotations

from dataclasses import replace

from ascend_sim.accuracy.kernels import build
from ascend_sim.accuracy.kernels.case import EVERY_TILE
from ascend_sim.accuracy.rows import Row
from ascend_sim.errors import InputError
from ascend_sim.host.device import Device, Launch
from ascend_sim.machine import Machine
from ascend_sim.plurals import counted
from ascend_sim.program import Program
from ascend_sim.sampling.steady import Sample, sample
from ascend_sim.soc import Soc, load


class Recording:
    """The launches of a row, each recorded once however many chips it is timed on; these may differ from the row's
    variant in what things cost, not in cores or memories."""

    def __init__(self, row: Row) -> None:
        self.row = row
        self.case = build(row)
        self._device = Device(row.soc, values=False, timing=False, echo=False)
        self._programs: dict[int, Program] = {}

    def program(self, limit: int) -> Program:
        """The launch with at most `limit` tiles per block."""
        if limit not in self._programs:
            with self._device:
                self.case.launch(limit)
            self._programs[limit] = self._device.launches.pop().program
        return self._programs[limit]


def simulate(row: Row, chip: Soc | None = None, recording: Recording | None = None) -> Sample:
    """The figures that this simulator has for `row`, on `chip` or on the row's own variant.

    L2 is as the row says: warm as the same launch just before left it, or empty. Medians of many launches are one
    launch here: all are alike. Raises `InputError` when the launch does not have the row's number of blocks.
    """
    soc = chip or load(row.soc)
    machine = Machine(soc)
    recording = recording or Recording(row)
    case = recording.case

    def run(limit: int) -> Launch:
        program = recording.program(limit)
        timeline = machine.run(program, row.l2, row.launch_kind)
        launch = Launch(program.kernel, program, timeline, soc, row.l2, wall_s=0.0, record_s=0.0)
        if row.protocol == "P3":
            _as_in_a_graph(launch, soc)
        return launch

    found = sample(run, case.tiles, case.core_bound, case.period, case.heavy)
    if case.more is not None:
        found = replace(found, figures={**found.figures, **case.more(run(EVERY_TILE))})
    if row.block_dim not in (None, found.blocks):
        raise InputError(
            f"row {row.id!r} ran on {counted(row.block_dim, 'block')}, its kernel is launched on {found.blocks}"
        )
    return found


def _as_in_a_graph(launch: Launch, soc: Soc) -> None:
    """Make Task Duration the time from one launch of a captured graph to the next (see `LaunchTiming`)."""
    timing = soc.require_timing()
    between_us = timing.launch.graph_us + timing.launch.graph_us_per_block * launch.program.block_dim
    staggered = timing.launch.stagger_cycles * (len(launch.timeline.cores) - 1)
    launch.timeline.launch_us = between_us - launch.timeline.to_us(timing.scalar.prologue_cycles + staggered)
