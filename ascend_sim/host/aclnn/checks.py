"""What the first phase refuses before the operator's own host code is asked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NoReturn

import numpy as np

from ascend_sim.errors import AscendSimError, InputError
from ascend_sim.host.aclnn.interface import Interface, Parameter
from ascend_sim.host.aclnn.status import RefusedError, Status
from ascend_sim.host.aclnn.tensor import AclFormat, AclTensor
from ascend_sim.host.device import Device
from ascend_sim.host.memory import DeviceBuffer
from ascend_sim.host.operator import Operator, Support

Tensors = dict[str, AclTensor]


def invalid(text: str) -> NoReturn:
    raise RefusedError(Status.ACLNN_ERR_PARAM_INVALID, text)


def null(text: str) -> NoReturn:
    raise RefusedError(Status.ACLNN_ERR_PARAM_NULLPTR, text)


def check_null(interface: Interface, operator: Operator, given: Mapping[str, Any]) -> None:
    """Required inputs, outputs and attributes; an output is required only where the operator has it."""
    needs = {output.name: output.needs for output in operator.outputs}
    present = {p.meaning for p in interface.of_kind("input") if given[p.python_name] is not None}
    for parameter in interface.parameters:
        if parameter.optional or given[parameter.python_name] is not None:
            continue
        needed = needs.get(parameter.meaning) if parameter.kind == "output" else None
        if needed is None or needed in present:
            null(f"{parameter.name} is a null pointer")


def take_tensors(interface: Interface, operator: Operator, given: Mapping[str, Any], device: Device) -> Tensors:
    """The tensors of a call by their names in C; numpy arrays are taken as tensors on their memory."""
    inplace = {output.inplace for output in operator.outputs}
    found: Tensors = {}
    for parameter in interface.parameters:
        value = given[parameter.python_name]
        if parameter.kind != "attribute" and value is not None:
            found[parameter.name] = taken = _take_tensor(parameter, value, device)
            written = parameter.kind == "output" or parameter.meaning in inplace
            if written and isinstance(taken.data, np.ndarray) and not taken.data.flags.writeable:
                invalid(f"{parameter.name} takes a result, but its array is read-only")
    return found


def _take_tensor(parameter: Parameter, value: Any, device: Device) -> AclTensor:
    if isinstance(value, np.ndarray):
        try:
            value = AclTensor.from_numpy(value)
        except InputError as error:
            invalid(f"{parameter.name}: {error}")
    if not isinstance(value, AclTensor):
        invalid(f"{parameter.name} is {type(value).__name__}; it must be an AclTensor or a numpy array")
    check_alive(parameter.name, value, device)
    if value.format is not AclFormat.ACL_FORMAT_ND:
        invalid(f"{parameter.name} has format {value.format.name}; allowed is ACL_FORMAT_ND")
    if not value.is_contiguous and not parameter.strided:
        invalid(
            f"{parameter.name} is not contiguous (shape {value.shape}, strides {value.strides}); "
            "the interface takes contiguous tensors there"
        )
    return value


def check_alive(name: str, value: AclTensor, device: Device) -> None:
    """A tensor that still exists, with memory of this device."""
    if value.trouble:
        invalid(f"{name} {value.trouble}")
    if isinstance(value.data, DeviceBuffer) and value.data.memory is not device.memory:
        invalid(f"{name} lies in memory of another device")


def check_dtypes(interface: Interface, operator: Operator, support: Support, tensors: Tensors) -> None:
    """The inputs' dtypes in one of the operator's combinations; each output's that of its input."""
    order = {declared.name: index for index, declared in enumerate(operator.inputs)}
    named = {p.meaning: p.name for p in interface.of_kind("input") if p.name in tensors}
    places = sorted(named, key=order.__getitem__)
    dtypes = tuple(tensors[named[name]].dtype for name in places)
    allowed = list(dict.fromkeys(tuple(row[order[name]] for name in places) for row in support.dtypes))
    if dtypes not in allowed:
        names = ", ".join(named[name] for name in places)
        invalid(
            f"dtypes of ({names}) are ({', '.join(dtypes)}); allowed are "
            + " or ".join(f"({', '.join(row)})" for row in allowed)
        )
    of = {output.name: output.dtype_of for output in operator.outputs}
    for parameter in interface.of_kind("output"):
        if parameter.name in tensors:
            dtype, wanted = tensors[parameter.name].dtype, tensors[named[of[parameter.meaning]]].dtype
            if dtype != wanted:
                invalid(f"{parameter.name} is {dtype}; it must be {wanted}, as {named[of[parameter.meaning]]} is")


def take_attributes(interface: Interface, operator: Operator, given: Mapping[str, Any]) -> dict[str, Any]:
    """The operator's attributes; a null optional one has the interface's default."""
    found = dict(interface.fixed)
    for parameter in interface.of_kind("attribute"):
        value = given[parameter.python_name]
        if parameter.allowed and not (value is None or (isinstance(value, str | int) and value in parameter.allowed)):
            invalid(f"{parameter.name} is {value!r}; allowed are {', '.join(map(repr, parameter.allowed))}")
        found[parameter.meaning] = parameter.default if value is None else value
    try:
        return operator.bind_attrs(found)
    except AscendSimError as error:
        invalid(str(error))
