"""Runs a case through the operator's host code and kernels on a device of the case's size."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ascend_sim.asc.memory import DeviceArray
from ascend_sim.host.device import Device, Launch
from ascend_sim.host.operator import Call
from ascend_sim.host.planning import plan
from ascend_sim.host.registry import operator_named
from ascend_sim.host.tiling import Tiling
from ascend_sim.soc import Soc, load

from .cases import Case

OP = operator_named("inplace_partial_rotary_mul")


@dataclass(frozen=True)
class Ran:
    tiling: Tiling
    soc: Soc
    launch: Launch


def run(
    case: Case,
    inputs: Mapping[str, Any],
    values: bool = True,
    block_order: Sequence[int] | None = None,
    timed: bool = True,
) -> Ran:
    """Rotate `inputs["x"]` in place; without values arrays stand for their shapes and dtypes."""
    soc = load("ascend910b", {"cores.aiv": case.cores, "ub.bytes": case.ub})
    attrs = OP.bind_attrs({"partial_slice": case.part})
    plain = {name: (array.shape, array.dtype.name) for name, array in inputs.items()}
    tiling = plan(OP, plain, attrs, soc)
    with Device(soc, values=values, block_order=block_order) as device:
        if not timed:
            device.timing = False
        tensors = inputs if values else {name: DeviceArray(*info) for name, info in plain.items()}
        OP.launch(Call(tensors=tensors, attrs=attrs, tiling=tiling, arch=soc.arch))
    return Ran(tiling, soc, device.launches[-1])
