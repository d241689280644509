"""Running an operator on a device: checks, tiling, golden, launch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ascend_sim.asc.memory import DeviceArray
from ascend_sim.host.arrays import Array, as_inputs, fresh_output
from ascend_sim.host.device import Device, Launch
from ascend_sim.host.operator import Call, Operator, Output
from ascend_sim.host.planning import plan, require_runnable
from ascend_sim.host.tensors import TensorInfo, tensor_info
from ascend_sim.host.tiling import Tiling
from ascend_sim.soc import Soc


@dataclass(slots=True)
class OperatorRun:
    """One finished call.

    `inputs` are the arrays as they were before it, `outputs` what the kernels wrote, `golden` what they should have
    written; without values the three are empty, without check `golden` is. `reference` is what the outputs are to be
    compared with beside that, if anything. `launches` are this call's alone. `caller` says who asked for it, where the
    front end has a name for that: an interface, a node of a graph.
    """

    operator: Operator
    infos: dict[str, TensorInfo]
    attrs: dict[str, Any]
    tiling: Tiling
    launches: list[Launch]
    inputs: dict[str, Array] = field(default_factory=dict)
    outputs: dict[str, Array] = field(default_factory=dict)
    golden: dict[str, Array] = field(default_factory=dict)
    reference: dict[str, Array] = field(default_factory=dict)
    caller: str = ""

    @property
    def duration_us(self) -> float:
        """Simulated time: the launch overhead of every kernel and the time its blocks took."""
        timelines = [launch.timeline for launch in self.launches]
        return sum(timeline.launch_us + timeline.to_us(timeline.duration_cycles) for timeline in timelines)

    @property
    def warnings(self) -> list[str]:
        """What the user should know about the tiling and the launches, each said once."""
        said = [*self.tiling.warnings, *(text for launch in self.launches for text in launch.warnings)]
        return list(dict.fromkeys(said))


def run_operator(
    operator: Operator,
    inputs: Mapping[str, Any],
    attrs: Mapping[str, Any],
    device: Device,
    *,
    cann: str = "",
    check: bool = True,
    reference: str = "",
    caller: str = "",
    tiling: Tiling | None = None,
) -> OperatorRun:
    """Run one call on `device`; outputs in place are the caller's own arrays, changed when this returns.

    `inputs` maps names or aliases to arrays, or to `(shape, dtype)` pairs on a device without values. With `check` the
    golden is computed, from the inputs as they were; so are the outputs of the operator's `reference`, if one is named.
    `tiling` takes the place of the one that the host code chooses.
    """
    bound = operator.bind_inputs(inputs)
    run = planned_run(operator, bound, attrs, device.soc, cann=cann)
    run.tiling = tiling or run.tiling
    require_runnable(operator, run.tiling)
    run.caller = caller
    if device.values:
        _launch_with_values(run, bound, device, check, reference)
    else:
        _launch_without_values(run, device)
    return run


def planned_run(
    operator: Operator, inputs: Mapping[str, Any], attrs: Mapping[str, Any], chip: Soc, *, cann: str = ""
) -> OperatorRun:
    """A call that is checked and tiled but has not run yet, if it can; of `inputs` only shapes and dtypes matter."""
    infos = {name: tensor_info(name, value) for name, value in operator.bind_inputs(inputs).items()}
    tiling = plan(operator, infos, attrs, chip, cann=cann)
    return OperatorRun(operator, infos, operator.bind_attrs(attrs), tiling, [])


def _launch_with_values(
    run: OperatorRun, bound: Mapping[str, Any], device: Device, check: bool, reference: str
) -> None:
    operator = run.operator
    arrays = as_inputs(operator, bound)
    changed = [output.inplace for output in operator.outputs if output.inplace]
    run.inputs = {name: array.copy() if name in changed else array for name, array in arrays.items()}
    if check:
        run.golden = operator.golden(device.soc.name, run.inputs, run.attrs)
    if reference:
        run.reference = operator.reference(reference, device.soc.name, run.inputs, run.attrs)
    for output, info in output_infos(run):
        run.outputs[output.name] = arrays[output.inplace] if output.inplace else fresh_output(info)
    launch(run, arrays | run.outputs, device)
    for name in changed:
        if arrays[name] is not bound[name]:  # the kernels worked on a contiguous copy
            bound[name][...] = arrays[name]


def _launch_without_values(run: OperatorRun, device: Device) -> None:
    tensors = {name: DeviceArray(info.shape, info.dtype) for name, info in run.infos.items()}
    for output, info in output_infos(run):
        tensors[output.name] = tensors[output.inplace] if output.inplace else DeviceArray(info.shape, info.dtype)
    launch(run, tensors, device)


def output_infos(run: OperatorRun) -> list[tuple[Output, TensorInfo]]:
    """The outputs that this call has, with shape and dtype."""
    operator, infos = run.operator, run.infos
    shapes = operator.infer_shapes({name: info.shape for name, info in infos.items()}, run.attrs)
    return [
        (output, TensorInfo(shape, infos[output.dtype_of].dtype))
        for output, shape in zip(operator.outputs, shapes, strict=True)
        if output.needs is None or output.needs in infos
    ]


def launch(run: OperatorRun, tensors: Mapping[str, Any], device: Device, workspace: Array | None = None) -> None:
    """Launch a planned run's kernels on `tensors` (inputs and outputs by name) and tell the device's observers."""
    first = len(device.launches)
    with device:
        run.operator.launch(Call(tensors, run.attrs, run.tiling, device.soc.arch, workspace))
    run.launches = list(device.launches[first:])
    for observer in device.observers:
        observer(run)
