"""Runs a case through the operator's host code and kernels on a device of the case's size."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ascend_sim.asc.memory import DeviceArray
from ascend_sim.host.device import Device, Launch
from ascend_sim.host.operator import Call
from ascend_sim.host.planning import plan
from ascend_sim.host.registry import operator_named
from ascend_sim.host.tiling import Tiling
from ascend_sim.soc import Soc, load

from .cases import Array, Case

OP = operator_named("inplace_partial_rotary_mul")


@dataclass(frozen=True)
class Ran:
    tiling: Tiling
    soc: Soc
    launch: Launch


def run(case: Case, inputs: Mapping[str, Array], values: bool = True, block_order: Sequence[int] | None = None) -> Ran:
    """Rotate `inputs["x"]` in place (untouched without values)."""
    soc = load("ascend910b", {"cores.aiv": case.cores, "ub.bytes": case.ub})
    attrs = OP.bind_attrs({"partial_slice": case.part})
    tiling = plan(OP, inputs, attrs, soc)
    with Device(soc, values=values, block_order=block_order) as device:
        tensors = inputs if values else {k: DeviceArray(a.shape, a.dtype.name) for k, a in inputs.items()}
        OP.launch(Call(tensors=tensors, attrs=attrs, tiling=tiling, arch=soc.arch))
    return Ran(tiling, soc, device.launches[-1])
