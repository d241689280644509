"""Creating, cloning, updating and destroying operations; which operation a parameter makes, is found by its type."""

from __future__ import annotations

from typing import Any, TypeVar

from ascend_sim.errors import InputError, TilingError
from ascend_sim.frontends.atb.log import LOGGER, answer, fail
from ascend_sim.frontends.atb.operation import OperationBase
from ascend_sim.frontends.atb.params import Param
from ascend_sim.host.atb import Status

OPERATIONS: dict[type[Param], type[OperationBase]] = {}
T = TypeVar("T", bound="type[OperationBase]")
_NEW = object()


def register(cls: T) -> T:
    """Class decorator: this operation is made from its `param_type`."""
    OPERATIONS[cls.param_type] = cls
    return cls


def CreateOperation(param: Param, operation: Any = _NEW) -> tuple[Status, OperationBase | None]:
    """`(status, operation)`. `operation=None` stands for the null pointer that the library refuses."""
    cls = _operation_of(param)
    try:
        if operation is None:
            fail(Status.ERROR_INVALID_PARAM, "there is no place for the operation")
        if any(param.rsv):
            fail(Status.ERROR_INVALID_PARAM, "a reserved byte of the parameter is not 0")
        cls.ParamCheck(param)
    except TilingError as error:
        return answer(f"CreateOperation {cls.name}", error), None
    return Status.NO_ERROR, cls(param)


def CloneOperationParam(operation: Any, param: Any = None) -> tuple[Status, Any]:
    """`(status, the operation's parameter)`. `param` says which is expected: a parameter class, or a parameter, which
    is then filled in as well; without it the operation's own.
    """
    wanted = param if isinstance(param, type) else type(param) if param is not None else None
    try:
        _check_operation(operation, wanted)
    except TilingError as error:
        return answer("CloneOperationParam", error), None
    found = operation.GetParam()
    if param is not None and not isinstance(param, type):
        vars(param).update(vars(found))
    return Status.NO_ERROR, found


def UpdateOperationParam(operation: Any, param: Param) -> Status:
    """Give the operation another parameter; one that equals the present one changes nothing."""
    try:
        _check_operation(operation, type(param))
        operation.ParamCheck(param)
    except TilingError as error:
        return answer("UpdateOperationParam", error)
    if param != operation.GetParam():
        LOGGER.debug("%s: parameter changed", operation.name)
        operation.SetParam(param)
    return Status.NO_ERROR


def DestroyOperation(operation: OperationBase | None) -> Status:
    """Always 0; None is accepted."""
    if isinstance(operation, OperationBase):
        operation.Destroy()
    return Status.NO_ERROR


def SetExecuteStreamId(operation: Any, streamId: int) -> Status:
    """Which of the context's streams the operation is launched to."""
    if not isinstance(operation, OperationBase):
        LOGGER.error("SetExecuteStreamId: %s is no operation", type(operation).__name__)
        return Status.ERROR_INVALID_PARAM
    operation.set_stream_id(streamId)
    return Status.NO_ERROR


def GetExecuteStreamId(operation: Any) -> int:
    """0 for what is no operation, too."""
    return operation.get_stream_id() if isinstance(operation, OperationBase) else 0


def _operation_of(param: Any) -> type[OperationBase]:
    found = OPERATIONS.get(type(param))
    if found is None:
        known = ", ".join(cls.__name__ for cls in OPERATIONS)
        raise InputError(f"CreateOperation takes one of {known}, not {type(param).__name__}")
    return found


def _check_operation(operation: Any, param_type: type | None) -> None:
    if operation is None:
        fail(Status.ERROR_INVALID_PARAM, "the operation is null")
    if not isinstance(operation, OperationBase) or (param_type or operation.param_type) is not operation.param_type:
        fail(Status.ERROR_INVALID_PARAM, "the operation is of another type than the parameter")
    if operation.destroyed:
        fail(Status.ERROR_INVALID_OPERATION_ADDR, "the operation is destroyed")
    if not operation.can_update:
        fail(Status.ERROR_INVALID_PARAM, f"the library neither clones nor updates parameters of {operation.name}")


create_operation = CreateOperation
clone_operation_param = CloneOperationParam
update_operation_param = UpdateOperationParam
destroy_operation = DestroyOperation
set_execute_stream_id = SetExecuteStreamId
get_execute_stream_id = GetExecuteStreamId
