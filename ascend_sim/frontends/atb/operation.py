"""OperationBase: what all ATB operations do the same way at InferShape, Setup and Execute, checks in ATB's order."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, ClassVar, overload

from ascend_sim.errors import TilingError
from ascend_sim.frontends.atb import platform
from ascend_sim.frontends.atb.context import Context, ExecuteType, LaunchMode
from ascend_sim.frontends.atb.execute_checks import check_execute_pack, workspace_bytes
from ascend_sim.frontends.atb.log import LOGGER, answer, fail
from ascend_sim.frontends.atb.operation_ir import OperationIr
from ascend_sim.frontends.atb.ops_runner import OpsRunner
from ascend_sim.frontends.atb.params import Param
from ascend_sim.frontends.atb.runner import Runner, RunnerHandle, RunnerVariantPack
from ascend_sim.frontends.atb.runner_pool import RunnerTypeRegister
from ascend_sim.frontends.atb.types import DataType, TensorDesc, VariantPack, as_desc
from ascend_sim.host.atb import Status, check_tensor_shape
from ascend_sim.host.registry import operator_named
from ascend_sim.host.tensors import Shape
from ascend_sim.host.tiling import align_up
from ascend_sim.plurals import counted

WORKSPACE_ALIGNMENT_BYTES = 512


class OperationBase:
    """An operation: a parameter, checks, and a runner once it is set up.

    Subclasses say what they are made of (`operator_name`: the folder with inputs, dtypes and checks) and check what is
    their own. Every method answers a `Status`; what was wrong stands in the log.
    """

    name: ClassVar[str]
    operator_name: ClassVar[str]
    param_type: ClassVar[type[Param]]
    runner_class: ClassVar[type[OpsRunner]]
    can_update: ClassVar[bool] = True  # whether the library has CloneOperationParam and UpdateOperationParam for it

    def __init__(self, param: Any) -> None:
        self.operator = operator_named(self.operator_name)
        self.operation_ir = OperationIr(self.operator)
        self.destroyed = False
        self._param = param.copy()
        self._runner: RunnerHandle | None = None
        self._pack = RunnerVariantPack()
        self._setup_success = False
        self._captured = False
        self._workspace_bytes = 0
        self._stream_id = 0

    # -- what it is ---------------------------------------------------------------------------------------------------

    def GetName(self) -> str:
        return self.name

    def GetInputNum(self) -> int:
        return len(self.operator.inputs)

    def GetOutputNum(self) -> int:
        return len(self.operator.outputs)

    def GetParam(self) -> Any:
        """A copy of the parameter."""
        return self._param.copy()

    def SetParam(self, param: Any) -> None:
        """Take `param` and let go of the runner, which goes back to its pool; Setup must come again."""
        self._param = param.copy()
        self._runner = None

    def GetParamJson(self) -> dict[str, Any]:
        """The parameter as the debug log shows it."""
        found: dict[str, Any] = self._param.to_json()
        return found

    @classmethod
    def ParamCheck(cls, param: Any) -> None:
        """What creating and updating check of a parameter; raises `TilingError`."""

    # -- InferShape ---------------------------------------------------------------------------------------------------

    def InferShape(self, inTensorDescs: Iterable[Any]) -> tuple[Status, list[TensorDesc]]:
        """`(status, descriptions of the outputs)`, from descriptions, tensors or arrays."""
        if self.destroyed:
            return self._gone("InferShape"), []
        try:
            descs = [as_desc(item) for item in inTensorDescs]
            self._infer_shape_check(descs)
            return Status.NO_ERROR, self.InferShapeImpl(descs)
        except TilingError as error:
            return answer(f"{self.name} InferShape", error), []
        except MemoryError as error:
            LOGGER.error("%s InferShape: %s", self.name, error)
            return Status.ERROR_OUT_OF_HOST_MEMORY, []

    def _infer_shape_check(self, descs: Sequence[TensorDesc]) -> None:
        if len(descs) != self.GetInputNum():
            fail(
                Status.ERROR_INVALID_IN_TENSOR_NUM,
                f"{counted(len(descs), 'input')}; there must be {self.GetInputNum()}",
            )
        self._check_tensors(descs)
        if not self.operation_ir.match(descs):
            fail(Status.ERROR_INVALID_TENSOR_INI_MATCH, self.operation_ir.text(descs))
        self._check_bf16(descs)
        self.CheckImpl(self._shapes(descs))

    def InferShapeImpl(self, descs: Sequence[TensorDesc]) -> list[TensorDesc]:
        """Outputs are as the first inputs."""
        return [desc.copy() for desc in descs[: self.GetOutputNum()]]

    def CheckImpl(self, shapes: dict[str, Shape]) -> None:
        """The operation's own checks of its inputs, at InferShape and at Setup; raises `TilingError`."""
        raise NotImplementedError

    def _shapes(self, descs: Sequence[TensorDesc]) -> dict[str, Shape]:
        return {item.name: desc.shape.shape for item, desc in zip(self.operator.inputs, descs, strict=True)}

    def _check_tensors(self, descs: Sequence[TensorDesc]) -> None:
        for name, desc in zip(self.operation_ir.names, descs, strict=False):
            check_tensor_shape(self.name, name, desc.shape.shape, desc.dtype.itemsize)

    def _check_bf16(self, descs: Sequence[TensorDesc]) -> None:
        if platform.has_no_bf16() and any(desc.dtype is DataType.ACL_BF16 for desc in descs):
            fail(Status.ERROR_INVALID_TENSOR_DTYPE, f"{platform.soc_name()} has no bfloat16")

    # -- Setup --------------------------------------------------------------------------------------------------------

    def Setup(self, variant_pack: VariantPack, context: Context | None) -> tuple[Status, int]:
        """`(status, bytes of workspace that Execute needs)`."""
        if self.destroyed:
            return self._gone("Setup"), 0
        try:
            return Status.NO_ERROR, self._setup(variant_pack, context)
        except TilingError as error:
            return answer(f"{self.name} Setup", error), 0
        except MemoryError as error:
            LOGGER.error("%s Setup: %s", self.name, error)
            return Status.ERROR_OUT_OF_HOST_MEMORY, 0

    def _setup(self, pack: VariantPack, context: Context | None) -> int:
        if context is None:
            fail(Status.ERROR_INVALID_PARAM, "the context is null")
        if isinstance(context, Context) and context.GetLaunchMode() is LaunchMode.GRAPH_LAUNCH_MODE and self._captured:
            return self._setup_captured(pack)
        self._setup_success = False
        self._setup_check(pack, context)
        found = self._plan(pack, context)
        self._setup_success = True
        return found

    def _setup_captured(self, pack: VariantPack) -> int:
        """A captured graph takes other addresses, but no other shapes."""
        given = [item.desc for item in (*pack.inTensors, *pack.outTensors)]
        if given != [item.desc for item in (*self._pack.inTensors, *self._pack.outTensors)]:
            fail(Status.ERROR_INVALID_TENSOR_DIM, "shapes cannot change in graph mode once the graph is captured")
        self._pack.take(pack)
        return self._workspace_bytes

    def _setup_check(self, pack: VariantPack, context: Any) -> None:
        for items, what, wanted in (
            (pack.inTensors, "inputs", self.GetInputNum()),
            (pack.outTensors, "outputs", self.GetOutputNum()),
        ):
            if len(items) != wanted:
                fail(Status.ERROR_INVALID_IN_TENSOR_NUM, f"{len(items)} {what}; there must be {wanted}")
        inputs = [item.desc for item in pack.inTensors]
        descs = [*inputs, *(item.desc for item in pack.outTensors)]
        self._check_tensors(descs)
        if not self.operation_ir.match(descs):
            fail(Status.ERROR_INVALID_TENSOR_INI_MATCH, self.operation_ir.text(descs))
        self._check_bf16(descs)
        self.CheckImpl(self._shapes(inputs))
        if not isinstance(context, Context):
            fail(Status.ERROR_INVALID_PARAM, f"{type(context).__name__} is no context")
        if context.destroyed:
            fail(Status.ERROR_INVALID_CONTEXT_ADDR, "the context is destroyed")
        if platform.is_pretended():
            fail(Status.ERROR_RT_FAIL, f"{platform.soc_name()} is not simulated: nothing can be set up for it")

    def _plan(self, pack: VariantPack, context: Context) -> int:
        """Runner, kernels, tiling data, sizes of memory."""
        runner = self._create_runner(context)
        self._pack.forget()
        self._pack.context = context
        self._pack.take(pack)
        self._workspace_bytes = 0
        self._pack.hostTilingBuffer = buffer = context.GetHostTilingBuffer()
        self._pack.tilingBufferSize = context.GetTilingBufferBlockSize()
        runner.Setup(self._pack)
        self._warn_of_outputs(pack)
        self._pack.tilingBufferSize = align_up(runner.GetTilingBufferSize(), WORKSPACE_ALIGNMENT_BYTES)
        try:
            runner.FillHostTilingBuffer(buffer, self._pack.tilingBufferSize, context)
        except TilingError as error:  # the library logs it and goes on; Execute will have no arguments to launch with
            LOGGER.error("%s: tiling failed: %s", self.name, error)
        self._pack.workspaceBufferSize = align_up(runner.GetWorkspaceBufferSize(), WORKSPACE_ALIGNMENT_BYTES)
        self._pack.intermediateBufferSize = align_up(runner.GetIntermediateBufferSize(), WORKSPACE_ALIGNMENT_BYTES)
        self._workspace_bytes = self._pack.workspaceBufferSize + self._pack.intermediateBufferSize
        return self._workspace_bytes

    def _create_runner(self, context: Context) -> Runner:
        if self._runner is None:
            self._runner = self.CreateRunner(context)
            if self._runner is None:
                fail(Status.ERROR_OPERATION_NULL_RUNNER, "there is no runner")
        return self._runner.runner

    def CreateRunner(self, context: Context) -> RunnerHandle | None:
        """A runner from the context's pool of this type; a new one beside the pool where that has none left."""
        pool = context.GetRunnerPool(RunnerTypeRegister.GetRunnerTypeIdx(self.runner_class.__name__))
        runner = pool.MallocRunner(self.runner_class, self._param)
        if runner is None:
            LOGGER.debug("%s: all slots of the pool are taken", self.name)
            return RunnerHandle(self.runner_class(self._param), Runner.Forget)
        return RunnerHandle(runner, pool.FreeRunner)

    def _warn_of_outputs(self, pack: VariantPack) -> None:
        """The library does not compare the outputs' shapes with the inferred ones, other than in its log."""
        inferred = self.InferShapeImpl([item.desc for item in pack.inTensors])
        for name, item, desc in zip(
            (out.name for out in self.operator.outputs), pack.outTensors, inferred, strict=True
        ):
            if item.desc != desc:
                LOGGER.warning("%s: %s is %r, inferred was %r", self.name, name, item.desc, desc)

    # -- Execute ------------------------------------------------------------------------------------------------------

    @overload
    def Execute(self, variant_pack: VariantPack, workspace: Any, context: Context | None, /) -> Status: ...
    @overload
    def Execute(
        self, variant_pack: VariantPack, workspace: Any = None, workspace_size: int | None = None,
        context: Context | None = None,
    ) -> Status: ...  # fmt: skip
    def Execute(
        self, variant_pack: VariantPack, workspace: Any = None, workspace_size: Any = None, context: Any = None
    ) -> Status:
        """Launch to the context's stream. `workspace` is a uint8 array, or None; its size, where it is not given, is
        the array's. The size may be left out: `Execute(pack, workspace, context)`.
        """
        if context is None and isinstance(workspace_size, Context):
            workspace_size, context = None, workspace_size
        if self.destroyed:
            return self._gone("Execute")
        try:
            if context is None:
                fail(Status.ERROR_INVALID_PARAM, "the context is null")
            kind = context.GetExecuteType()
            if kind is not ExecuteType.EXECUTE_LAUNCH:
                self._pre_launch(variant_pack, workspace, workspace_size, context)
            if kind is not ExecuteType.EXECUTE_PRELAUNCH:
                self._launch(context)
        except TilingError as error:
            return answer(f"{self.name} Execute", error)
        except MemoryError as error:
            LOGGER.error("%s Execute: %s", self.name, error)
            return Status.ERROR_RT_FAIL
        return Status.NO_ERROR

    def _pre_launch(self, pack: VariantPack, workspace: Any, workspace_size: int | None, context: Context) -> None:
        if not self._setup_success:
            fail(Status.ERROR_INVALID_PARAM, "Setup has not succeeded")
        assert self._pack.context is not None
        if self._stream(self._pack.context) is None:
            fail(Status.ERROR_INVALID_PARAM, "the context has no stream: call SetExecuteStream")
        if context is not self._pack.context:
            fail(Status.ERROR_INVALID_PARAM, "the context is another than Setup's")
        if self._runner is None:
            fail(Status.ERROR_OPERATION_NULL_RUNNER, "the runner is gone: after a change of the parameter, call Setup")
        given = workspace_bytes(workspace) if workspace_size is None else workspace_size
        if given < self._workspace_bytes:
            fail(Status.ERROR_INVALID_PARAM, f"workspace of {given} B; Setup asked for {self._workspace_bytes} B")
        if self._workspace_bytes and workspace is None:
            fail(Status.ERROR_INVALID_PARAM, f"the workspace is null; Setup asked for {self._workspace_bytes} B")
        if pack.inTensors or pack.outTensors:
            check_execute_pack("input", pack.inTensors, self._pack.inTensors)
            check_execute_pack("output", pack.outTensors, self._pack.outTensors)
            self._pack.update_data(pack)
        self._pack.workspaceBuffer = workspace if self._workspace_bytes else None
        self._runner.runner.PreExecute(self._pack)

    def _launch(self, context: Context) -> None:
        if self._runner is None or self._pack.context is None:
            fail(Status.ERROR_OPERATION_NULL_RUNNER, "there is nothing to launch: Setup has not succeeded")
        self._runner.runner.Execute(self._pack)
        if context.GetLaunchMode() is LaunchMode.GRAPH_LAUNCH_MODE:
            self._captured = True

    def _stream(self, context: Context) -> Any:
        streams = context.GetExecuteStreams()
        return streams[self._stream_id] if self._stream_id < len(streams) else None

    # -- the end ------------------------------------------------------------------------------------------------------

    def Destroy(self) -> None:
        """Give the runner back and let go of all tensors; whatever is called later answers that there is nothing."""
        self.destroyed = True
        self._runner = None
        self._setup_success = False
        self._pack.forget()

    def _gone(self, call: str) -> Status:
        LOGGER.error("%s %s: the operation is destroyed", self.name, call)
        return Status.ERROR_INVALID_OPERATION_ADDR

    def set_stream_id(self, stream_id: int) -> None:
        self._stream_id = stream_id

    def get_stream_id(self) -> int:
        return self._stream_id

    get_name = GetName
    get_input_num = GetInputNum
    get_output_num = GetOutputNum
    get_param = GetParam
    set_param = SetParam
    get_param_json = GetParamJson
    infer_shape = InferShape
    setup = Setup
    execute = Execute
