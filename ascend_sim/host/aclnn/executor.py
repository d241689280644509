"""The two phases, for every interface alike: check and plan, then queue on a stream what was planned."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ascend_sim.asc.launch import current_device
from ascend_sim.asc.memory import DeviceArray
from ascend_sim.errors import InputError, TilingError, UnsupportedError
from ascend_sim.host.aclnn.checks import (
    Tensors,
    check_alive,
    check_dtypes,
    check_null,
    invalid,
    null,
    take_attributes,
    take_tensors,
)
from ascend_sim.host.aclnn.interface import Interface
from ascend_sim.host.aclnn.status import RefusedError, Status, answer
from ascend_sim.host.arrays import Array, fresh_output
from ascend_sim.host.device import Device
from ascend_sim.host.execute import OperatorRun, launch, output_infos, planned_run
from ascend_sim.host.memory import DeviceBuffer
from ascend_sim.host.operator import Operator
from ascend_sim.host.planning import require_runnable
from ascend_sim.host.stream import Stream
from ascend_sim.host.tensors import shape_text

_CODES = frozenset(int(status) for status in Status)


@dataclass(slots=True, eq=False, repr=False)
class OpExecutor:
    """What the first phase found out (aclOpExecutor): it runs once.

    `run` is None where nothing has to be launched. `copies` names the non-contiguous tensors that get a contiguous
    copy; the simulator does not time these copies.
    """

    interface: Interface
    device: Device
    tensors: Tensors
    run: OperatorRun | None
    workspace_bytes: int
    used: bool = False
    copies: tuple[str, ...] = field(default=())

    def __repr__(self) -> str:
        state = "used" if self.used else "not run yet"
        return f"<OpExecutor of {self.interface.name}: {self.workspace_bytes} B of workspace, {state}>"


def first_phase(
    interface: Interface, operator: Operator, given: Mapping[str, Any]
) -> tuple[Status, int, OpExecutor | None]:
    """`(status, workspace size in bytes, executor)`; the executor is None unless the status is 0."""
    try:
        executor = _plan(interface, operator, given)
    except RefusedError as refusal:
        return answer(f"{interface.name}GetWorkspaceSize", refusal), 0, None
    return Status.ACLNN_SUCCESS, executor.workspace_bytes, executor


def _plan(interface: Interface, operator: Operator, given: Mapping[str, Any]) -> OpExecutor:
    device = current_device()
    if not isinstance(device, Device):
        raise InputError(f"the current device is a {type(device).__name__}; aclnn calls need an ascend_sim device")
    check_null(interface, operator, given)
    try:
        support = operator.support_on(device.soc.name)
    except UnsupportedError as error:
        raise RefusedError(Status.ACLNN_ERR_INNER_FIND_KERNEL_ERROR, str(error)) from error
    tensors = take_tensors(interface, operator, given, device)
    check_dtypes(interface, operator, support, tensors)
    attrs = take_attributes(interface, operator, given)
    if interface.empty_is_done and _all_empty(interface, tensors):
        return OpExecutor(interface, device, tensors, None, 0)
    inputs = {p.meaning: tensors[p.name].info for p in interface.of_kind("input") if p.name in tensors}
    try:
        run = planned_run(operator, inputs, attrs, device.soc)
        _check_outputs(interface, run, tensors)
        require_runnable(operator, run.tiling)
    except TilingError as error:
        raise RefusedError(_code(error, interface), str(error)) from error
    except UnsupportedError as error:
        raise RefusedError(Status.ACLNN_ERR_INNER_FIND_KERNEL_ERROR, str(error)) from error
    run.caller = interface.name
    copies = tuple(name for name, value in tensors.items() if not value.is_contiguous)
    return OpExecutor(interface, device, tensors, run, run.tiling.workspace_bytes, copies=copies)


def _code(error: TilingError, interface: Interface) -> Status:
    """The code that the refusal names itself, else the one of the interface's page."""
    return Status(error.status) if error.status in _CODES else interface.refusal


def _all_empty(interface: Interface, tensors: Tensors) -> bool:
    sizes = [tensors[p.name].info.size for p in interface.of_kind("output") if p.name in tensors]
    return bool(sizes) and not any(sizes)


def _check_outputs(interface: Interface, run: OperatorRun, tensors: Tensors) -> None:
    """Every output tensor has the shape that shape inference gives."""
    names = {p.meaning: p.name for p in interface.of_kind("output")}
    for output, info in output_infos(run):
        name = names.get(output.name)
        if name in tensors and tensors[name].shape != info.shape:
            raise RefusedError(
                interface.refusal,
                f"{name} is {shape_text(tensors[name].shape)}; it must be {shape_text(info.shape)}",
            )


def second_phase(interface: Interface, workspace: Any, workspace_size: int, executor: Any, stream: Any) -> Status:
    """Queue the executor's work on `stream` (None: the device's default one)."""
    try:
        _submit(interface, workspace, workspace_size, executor, stream)
    except RefusedError as refusal:
        return answer(interface.name, refusal)
    return Status.ACLNN_SUCCESS


def _submit(interface: Interface, workspace: Any, workspace_size: int, executor: Any, stream: Any) -> None:
    if executor is None:
        null("executor is a null pointer")
    if not isinstance(executor, OpExecutor):
        invalid(f"executor is {type(executor).__name__}; the first phase makes it")
    if executor.interface is not interface:
        invalid(f"the executor was made for {executor.interface.name}")
    if executor.used:
        invalid("the executor has been used; it runs once, so begin again with the first phase")
    device = executor.device
    if stream is None:
        stream = device.default_stream
    if not isinstance(stream, Stream) or stream.device is not device:
        invalid(f"stream is {stream!r}; it must be a stream of the device on which the first phase was called")
    for name, value in executor.tensors.items():
        check_alive(name, value, device)
        if device.values and value.data is None:
            null(f"{name} has no memory")
    task = ExecutorTask(executor, _workspace(executor, workspace, workspace_size))
    executor.used = True
    stream.submit(task)


def _workspace(executor: OpExecutor, workspace: Any, size: int) -> DeviceBuffer | Array | None:
    """The scratch memory, big enough; None where none is needed."""
    needed = executor.workspace_bytes
    if needed == 0:
        return None
    if workspace is None:
        null(f"workspace is a null pointer; {needed} B are needed")
    if not isinstance(workspace, DeviceBuffer | np.ndarray):
        invalid(f"workspace is {type(workspace).__name__}; it must be device memory")
    if isinstance(workspace, DeviceBuffer):
        if workspace.freed:
            invalid(f"workspace is {workspace}, which has been freed")
        if workspace.memory is not executor.device.memory:
            invalid("workspace is memory of another device")
    if isinstance(workspace, np.ndarray) and (workspace.dtype.hasobject or not workspace.flags.writeable):
        what = "of Python objects" if workspace.dtype.hasobject else "that is read-only"
        invalid(f"workspace is an array {what}; it must be plain memory that kernels can write to")
    if isinstance(size, bool) or not isinstance(size, int | np.integer):
        invalid(f"workspaceSize is {size!r}; it must be a number of bytes")
    if size < needed:
        invalid(f"workspaceSize is {size} B; {needed} B are needed")
    if workspace.nbytes < size:
        invalid(f"workspaceSize is {size} B, but the memory has {workspace.nbytes} B")
    return workspace


@dataclass(slots=True)
class ExecutorTask:
    """An executor on a stream."""

    executor: OpExecutor
    workspace: DeviceBuffer | Array | None

    @property
    def name(self) -> str:
        return self.executor.interface.name

    def run(self, device: Device) -> OperatorRun | None:
        """Launch the kernels; non-contiguous tensors are copied before, and those in place copied back after."""
        run = self.executor.run
        if run is None:
            return None
        self._check_memory()
        if not device.values:
            launch(run, self._without_values(run), device)
            return run
        views = {name: value.array() for name, value in self.executor.tensors.items()}
        solid = {name: np.ascontiguousarray(view) for name, view in views.items()}
        launch(run, self._by_meaning(run, solid), device, self._scratch())
        inplace = {output.inplace for output in run.operator.outputs}
        for parameter in self.executor.interface.of_kind("input"):
            if parameter.meaning in inplace and parameter.name in self.executor.copies:
                views[parameter.name][...] = solid[parameter.name]
        return run

    def _check_memory(self) -> None:
        """A board would read or write whatever is there now."""
        for name, value in self.executor.tensors.items():
            if value.trouble:
                raise InputError(f"{self.name}: {name} {value.trouble} before the stream came to it")
        if isinstance(self.workspace, DeviceBuffer) and self.workspace.freed:
            raise InputError(f"{self.name}: workspace has been freed before the stream came to it")

    def _scratch(self) -> Array | None:
        found = self.workspace.data if isinstance(self.workspace, DeviceBuffer) else self.workspace
        return None if found is None else found.reshape(-1).view(np.uint8)

    def _by_meaning(self, run: OperatorRun, arrays: Mapping[str, Array]) -> dict[str, Array]:
        """Arrays under the operator's names; outputs that the caller does not want get memory of their own."""
        parameters = self.executor.interface.parameters
        found = {p.meaning: arrays[p.name] for p in parameters if p.name in arrays}
        for output, info in output_infos(run):
            if output.name not in found:
                found[output.name] = fresh_output(info)
        return found

    def _without_values(self, run: OperatorRun) -> dict[str, Any]:
        parameters, tensors = self.executor.interface.parameters, self.executor.tensors
        found: dict[str, Any] = {p.meaning: tensors[p.name].device_array for p in parameters if p.name in tensors}
        for output, info in output_infos(run):
            if output.name not in found:
                found[output.name] = DeviceArray(info.shape, info.dtype)
        return found
