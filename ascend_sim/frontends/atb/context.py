"""The context that operations run in: streams, tiling buffers, and a pool of runners per type."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Sequence
from enum import IntEnum
from typing import Any

import numpy as np
import numpy.typing as npt

from ascend_sim.asc.launch import current_device
from ascend_sim.errors import AscendSimError, TilingError
from ascend_sim.frontends.atb.log import LOGGER, answer, fail
from ascend_sim.frontends.atb.runner_pool import RunnerPool, RunnerTypeRegister
from ascend_sim.host.atb import Status
from ascend_sim.host.stream import AclError, Stream

TILING_BUFFER_BLOCK_BYTES = 3 << 20
HOST_BLOCKS = (128, 1024)  # least, which is the default, and most
DEVICE_BLOCKS = (32, 1024)


class ExecuteType(IntEnum):
    """What Execute does: prepare and launch, or one of the two."""

    EXECUTE_NORMAL = 0
    EXECUTE_PRELAUNCH = 1
    EXECUTE_LAUNCH = 2


class LaunchMode(IntEnum):
    KERNEL_LAUNCH_MODE = 0
    GRAPH_LAUNCH_MODE = 1


class HostTilingBufferPool:
    """Blocks of host memory that Setup calls take in turn; each is made when it is first needed."""

    def __init__(self, blocks: int) -> None:
        self._blocks: list[npt.NDArray[np.uint8] | None] = [None] * blocks
        self._next = 0

    def GetBuffer(self) -> npt.NDArray[np.uint8]:
        index = self._next
        self._next = (index + 1) % len(self._blocks)
        block = self._blocks[index]
        if block is None:
            block = self._blocks[index] = np.zeros(TILING_BUFFER_BLOCK_BYTES, np.uint8)
        return block


class Context:
    """Made by `CreateContext`, on the device that is current then; kernels are launched to that device."""

    _thread = threading.local()  # the execute type belongs to the thread

    def __init__(self, host_blocks: int, device_blocks: int) -> None:
        self.device: Any = current_device()
        self.destroyed = False
        self.host_tiling_buffers = HostTilingBufferPool(host_blocks)
        self.device_tiling_blocks = device_blocks
        self.faults: list[tuple[Any, AscendSimError]] = []
        self._streams: list[Any] = [None]
        self._pools: dict[int, RunnerPool] = {}
        self._mode = LaunchMode.KERNEL_LAUNCH_MODE
        self._async_tiling_copy = False
        CONTEXTS.add(self)

    # -- streams ----------------------------------------------------------------------------------------------------

    def SetExecuteStream(self, stream: Any) -> Status:
        """A stream of the device's (`device.create_stream()`), on which kernels wait until it is synchronised; or any
        other object, with which they run at once. None is the null stream, with which Execute is refused.
        """
        self._streams[0] = stream
        return Status.NO_ERROR

    def GetExecuteStream(self) -> Any:
        return self._streams[0]

    def SetExecuteStreams(self, streams: Sequence[Any]) -> Status:
        if not streams:
            LOGGER.error("SetExecuteStreams: there must be at least one stream")
            return Status.ERROR_INVALID_PARAM
        self._streams = list(streams)
        return Status.NO_ERROR

    def GetExecuteStreams(self) -> list[Any]:
        return list(self._streams)

    # -- how operations are launched --------------------------------------------------------------------------------

    def SetExecuteType(self, type: int) -> Status:  # noqa: A002 - ATB's name
        if type not in set(ExecuteType):
            LOGGER.error("SetExecuteType: %r is no ExecuteType; allowed are 0 to 2", type)
            return Status.ERROR_INVALID_PARAM
        self._thread.execute_type = ExecuteType(type)
        return Status.NO_ERROR

    def GetExecuteType(self) -> ExecuteType:
        found: ExecuteType = getattr(self._thread, "execute_type", ExecuteType.EXECUTE_NORMAL)
        return found

    def SetLaunchMode(self, mode: int) -> Status:
        if mode not in set(LaunchMode):
            LOGGER.error("SetLaunchMode: %r is no LaunchMode; allowed are 0 and 1", mode)
            return Status.ERROR_INVALID_PARAM
        self._mode = LaunchMode(mode)
        return Status.NO_ERROR

    def GetLaunchMode(self) -> LaunchMode:
        return self._mode

    def GetLaunchWithTilingStatus(self) -> bool:
        """Whether tiling data travels with the arguments of a launch; in graph mode it is copied to the device."""
        return self._mode is not LaunchMode.GRAPH_LAUNCH_MODE

    def SetAsyncTilingCopyStatus(self, status: bool) -> Status:
        self._async_tiling_copy = bool(status)
        return Status.NO_ERROR

    def GetAsyncTilingCopyStatus(self) -> bool:
        return self._async_tiling_copy

    # -- what operations take from it -------------------------------------------------------------------------------

    def GetRunnerPool(self, runner_type: int) -> RunnerPool:
        """The pool of one runner type, by its number in the register."""
        if not 0 <= runner_type < RunnerTypeRegister.count():
            fail(Status.ERROR_INVALID_PARAM, f"runner type {runner_type} is not registered")
        return self._pools.setdefault(runner_type, RunnerPool())

    def GetHostTilingBuffer(self) -> npt.NDArray[np.uint8]:
        return self.host_tiling_buffers.GetBuffer()

    def GetTilingBufferBlockSize(self) -> int:
        return TILING_BUFFER_BLOCK_BYTES

    def Destroy(self) -> None:
        """Give everything up; operations that still hold a runner keep that alone."""
        self.destroyed = True
        self._pools = {}
        self._streams = [None]

    set_execute_stream = SetExecuteStream
    get_execute_stream = GetExecuteStream
    set_execute_streams = SetExecuteStreams
    get_execute_streams = GetExecuteStreams
    set_execute_type = SetExecuteType
    get_execute_type = GetExecuteType
    set_launch_mode = SetLaunchMode
    get_launch_mode = GetLaunchMode
    set_async_tiling_copy_status = SetAsyncTilingCopyStatus
    get_async_tiling_copy_status = GetAsyncTilingCopyStatus


CONTEXTS: weakref.WeakSet[Context] = weakref.WeakSet()


def CreateContext(
    alloc: Callable[[int], Any] | None = None,
    dealloc: Callable[[Any], None] | None = None,
    *,
    hostTilingBlockNum: int = HOST_BLOCKS[0],
    deviceTilingBlockNum: int = DEVICE_BLOCKS[0],
) -> tuple[Status, Context | None]:
    """`(status, context)`. `alloc` and `dealloc` go together (device memory for tiling data; there is none to make
    here); the block numbers are those of the tiling buffers, 3 MiB each.
    """
    try:
        if (alloc is None) != (dealloc is None):
            fail(Status.ERROR_INVALID_PARAM, "alloc and dealloc must be given together")
        for name, blocks, (least, most) in (
            ("hostTilingBlockNum", hostTilingBlockNum, HOST_BLOCKS),
            ("deviceTilingBlockNum", deviceTilingBlockNum, DEVICE_BLOCKS),
        ):
            if not least <= blocks <= most:
                fail(Status.ERROR_INVALID_PARAM, f"{name} is {blocks}; allowed are {least} to {most}")
    except TilingError as error:
        return answer("CreateContext", error), None
    return Status.NO_ERROR, Context(hostTilingBlockNum, deviceTilingBlockNum)


def DestroyContext(context: Context | None) -> Status:
    """Always 0; None is accepted."""
    if isinstance(context, Context):
        context.Destroy()
    return Status.NO_ERROR


def aclrtSynchronizeStream(stream: Any) -> int:
    """0, or ACL's number of a device fault if a kernel launched to `stream` failed since the last time.

    Execute is asynchronous: it answers 0 although its kernel goes wrong on the device. What happened stands in the log.
    """
    if isinstance(stream, Stream):
        code = int(stream.synchronize())
        if code:
            LOGGER.error("device fault: %s", stream.error)
        return code
    failed = False
    for context in list(CONTEXTS):
        kept = [fault for fault in context.faults if fault[0] is not stream]
        failed |= len(kept) < len(context.faults)
        context.faults = kept
    return int(AclError.RT_VECTOR_CORE_EXCEPTION if failed else AclError.SUCCESS)


create_context = CreateContext
destroy_context = DestroyContext
synchronize_stream = aclrtSynchronizeStream
