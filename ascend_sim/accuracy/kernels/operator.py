"""Rows of operators that the simulator has: run through their own tiling and kernels, as a user would."""

from __future__ import annotations

from ascend_sim.accuracy.kernels.case import Case
from ascend_sim.accuracy.rows import Row
from ascend_sim.asc.launch import current_device
from ascend_sim.asc.memory import DeviceArray
from ascend_sim.host.device import Device
from ascend_sim.host.execute import run_operator
from ascend_sim.host.registry import operator_named


def build(row: Row) -> Case:
    """`op`, `inputs` (name to [shape, dtype]), `attrs`, `cann` (the release whose host code chose the tiling)."""
    p = row.params
    operator = operator_named(p["op"])
    inputs = {name: DeviceArray(tuple(shape), dtype) for name, (shape, dtype) in p["inputs"].items()}

    def launch(_limit: int) -> None:
        device = current_device()
        assert isinstance(device, Device)
        run_operator(operator, inputs, p["attrs"], device, cann=p["cann"])

    return Case(launch)
