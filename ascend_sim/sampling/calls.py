"""Timing an operator's call, with its own tiling or any other, without values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from typing import Any

from ascend_sim.asc.memory import DeviceArray
from ascend_sim.asc.tiles import Excerpt
from ascend_sim.host.device import Device, L2State, Launch
from ascend_sim.host.execute import OperatorRun, launch, output_infos, planned_run
from ascend_sim.host.memory import DeviceMemory
from ascend_sim.host.operator import Operator
from ascend_sim.host.planning import require_runnable
from ascend_sim.host.tiling import Tiling
from ascend_sim.machine.l2 import GRAIN_BYTES, LINE_BYTES
from ascend_sim.sampling.estimate import ROUNDS, Estimate, estimate
from ascend_sim.sampling.whole import Whole
from ascend_sim.soc import Soc

NEAR_CAPACITY = 0.03
"""Whether a launch that fills L2 to within this share of it fits in is not for an excerpt to say."""


class TimedCall:
    """One call on one chip, to be timed under as many tilings as one likes."""

    def __init__(
        self, operator: Operator, inputs: Mapping[str, Any], attrs: Mapping[str, Any], chip: Soc, l2: L2State = "warm"
    ) -> None:
        self.operator = operator
        self.chip = chip
        self.l2 = l2
        self.planned = planned_run(operator, inputs, attrs, chip)
        require_runnable(operator, self.planned.tiling)
        self._device = Device(chip, values=False, l2=l2, echo=False)

    @property
    def own(self) -> Tiling:
        """What the operator's host code chooses."""
        return self.planned.tiling

    def time(self, tiling: Tiling | None = None, *, exact: bool = False) -> Estimate:
        """Time it under `tiling`, or its own."""
        chosen = replace(self.planned, tiling=tiling or self.own, launches=[])
        lines, capacity = self._lines[0], self.chip.l2.bytes // LINE_BYTES
        fits = lines <= capacity
        if abs(lines / capacity - 1) <= NEAR_CAPACITY or (self.l2 == "cold" and not fits):
            exact = True
        if fits or exact:
            return estimate(lambda excerpt: self._run(chosen, excerpt), exact=exact)
        others = self._others
        return estimate(lambda excerpt: self._run(chosen, excerpt, others if excerpt else None), fits=False)

    def _run(self, run: OperatorRun, excerpt: Excerpt | None, others: tuple[float, int] | None = None) -> Launch:
        """Every launch finds memory and L2 as the first one of a new device does, so that equal launches are equal; or
        L2 full of `others`."""
        device = self._device
        device.memory = DeviceMemory(self.chip.hbm.bytes, values=False)
        device.machine.l2.clear()
        device.launches.clear()
        device.excerpt, device.l2 = excerpt, self.l2
        if others is not None:
            device.machine.l2.fill(*others)
            device.l2 = "keep"
        tensors = {name: DeviceArray(info.shape, info.dtype) for name, info in run.infos.items()}
        for output, info in output_infos(run):
            tensors[output.name] = tensors[output.inplace] if output.inplace else DeviceArray(info.shape, info.dtype)
        launch(run, tensors, device)
        (found,) = run.launches
        return found

    @cached_property
    def _lines(self) -> tuple[int, int]:
        """L2 lines of all tensors, and of those that are written."""
        written = {output.inplace or output.name: info.nbytes for output, info in output_infos(self.planned)}
        sizes = {name: info.nbytes for name, info in self.planned.infos.items()} | written
        lines = {name: -(-nbytes // LINE_BYTES) for name, nbytes in sizes.items()}
        return sum(lines.values()), sum(lines[name] for name in written)

    @cached_property
    def _others(self) -> tuple[float, int]:
        """Share of L2 lines that the call writes, and how many grains of such a line; see `L2.fill`."""
        lines, written = self._lines
        excerpt = Excerpt(ROUNDS)
        grains = Whole(self._run(replace(self.planned, launches=[]), excerpt), excerpt).written_grains
        most = LINE_BYTES // GRAIN_BYTES
        return written / lines, max(1, min(most, round(grains / max(1, written))))
