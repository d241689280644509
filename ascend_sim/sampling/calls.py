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
from ascend_sim.host.planning import require_runnable, tiling_context
from ascend_sim.host.tiling import Tiling
from ascend_sim.machine.l2 import LINE_BYTES
from ascend_sim.sampling.estimate import Estimate, estimate
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
        self.context = tiling_context(operator, inputs, attrs, chip)
        self.planned = planned_run(operator, inputs, attrs, chip)
        require_runnable(operator, self.planned.tiling)
        self._device = Device(chip, values=False, l2=l2, echo=False)

    @property
    def own(self) -> Tiling:
        """What the operator's host code chooses."""
        return self.planned.tiling

    def time(self, tiling: Tiling | None = None, *, exact: bool = False, rough: bool = False) -> Estimate:
        """Time it under `tiling`, or its own; `exact`, `rough` as for `estimate`."""
        chosen = replace(self.planned, tiling=tiling or self.own, launches=[])
        lines, capacity = self._lines, self.chip.l2.bytes // LINE_BYTES
        fits = self.fits_l2
        if abs(lines / capacity - 1) <= NEAR_CAPACITY or (self.l2 == "cold" and not fits):
            exact = True

        def run(excerpt: Excerpt | None) -> Launch:
            if excerpt is not None and not fits:
                excerpt.reach_bytes = self.chip.l2.bytes
            return self._run(chosen, excerpt, self.l2 if fits or excerpt is None else "endless")

        return estimate(run, exact=exact, rough=rough, fits=fits)

    def _run(self, run: OperatorRun, excerpt: Excerpt | None, l2: L2State) -> Launch:
        """Every launch finds memory and L2 as the first one of a new device does, so that equal launches are equal."""
        device = self._device
        device.memory = DeviceMemory(self.chip.hbm.bytes, values=False)
        device.machine.l2.clear()
        device.launches.clear()
        device.excerpt, device.l2 = excerpt, l2
        tensors = {name: DeviceArray(info.shape, info.dtype) for name, info in run.infos.items()}
        for output, info in output_infos(run):
            tensors[output.name] = tensors[output.inplace] if output.inplace else DeviceArray(info.shape, info.dtype)
        launch(run, tensors, device)
        (found,) = run.launches
        return found

    @property
    def fits_l2(self) -> bool:
        """Whether all tensors together fit into L2."""
        return self._lines <= self.chip.l2.bytes // LINE_BYTES

    @property
    def input_bytes(self) -> int:
        """Of all inputs."""
        return sum(info.nbytes for info in self.planned.infos.values())

    @property
    def output_bytes(self) -> int:
        """Of all outputs."""
        return sum(info.nbytes for _, info in output_infos(self.planned))

    @property
    def tensor_bytes(self) -> int:
        """Of all tensors; an output in place is its input."""
        return sum(self._sizes.values())

    @cached_property
    def _sizes(self) -> dict[str, int]:
        """Bytes by tensor."""
        sizes = {name: info.nbytes for name, info in self.planned.infos.items()}
        return sizes | {output.inplace or output.name: info.nbytes for output, info in output_infos(self.planned)}

    @cached_property
    def _lines(self) -> int:
        """L2 lines of all tensors."""
        return sum(-(-nbytes // LINE_BYTES) for nbytes in self._sizes.values())
