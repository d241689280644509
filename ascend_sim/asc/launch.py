"""Launching: runs a kernel's blocks one after another and records what they issue.

Each block runs in a greenlet of its own, so that a block that must wait for the others (SyncAll) can be parked in the
middle of its function while the next one runs. All blocks share one unified buffer array; a parked block's bytes are
copied out and back. A block starts with every byte 0xFF (NaN as a float), so nothing leaks from the block before.
"""

from __future__ import annotations

import contextlib
import importlib
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np
from greenlet import GreenletExit, getcurrent, greenlet

from ascend_sim.asc.arguments import Bound, bind
from ascend_sim.asc.jit import Kernel
from ascend_sim.asc.memory import GlobalMemory
from ascend_sim.asc.output import OutputFilter
from ascend_sim.asc.recorder import RECORDER
from ascend_sim.asc.state import DEFAULT_STATE, CoreState
from ascend_sim.asc.tiles import Excerpt
from ascend_sim.asc.trouble import explain
from ascend_sim.errors import InputError, KernelError, UnsupportedError
from ascend_sim.program import CoreProgram, Program, block_ranges

_UNSET_BYTE = 0xFF
HOST_DEVICE = "ascend_sim.host.device"  # asked by name, so that imports point one way (host knows asc, not the reverse)


class DeviceLike(Protocol):
    """What a launch needs of the device that it goes to."""

    values: bool
    echo: bool
    block_order: Sequence[int] | None
    excerpt: Excerpt | None

    @property
    def memory(self) -> GlobalMemory: ...
    @property
    def arch(self) -> str: ...
    @property
    def soc_name(self) -> str: ...
    @property
    def ub_bytes(self) -> int: ...
    @property
    def ub_usable_bytes(self) -> int: ...
    @property
    def vector_cores(self) -> int: ...
    @property
    def elapsed_cycles(self) -> int: ...
    def output_filter(self) -> OutputFilter: ...
    def begin(self) -> Any: ...
    def complete(self, program: Program, session: Session, begun: Any) -> None: ...
    def abandon(self, begun: Any) -> None: ...


DEVICES: list[DeviceLike] = []  # open devices, innermost last


def current_device() -> DeviceLike:
    """The innermost open device, or the process's default one."""
    if DEVICES:
        return DEVICES[-1]
    found: DeviceLike = importlib.import_module(HOST_DEVICE).default_device()
    return found


class Block:
    """One block of a launch: what it has recorded, and its state while it is parked."""

    def __init__(self, index: int) -> None:
        self.core = CoreProgram(index)
        self.pipe: Any = None  # the TPipe in use
        self.first_queue: Any = None  # its rounds count the tiles
        self.greenlet: greenlet | None = None
        self.waits_for = ""
        # pending scalar calls, registers, compare mask, UB bytes (None: not yet filled)
        self.saved: tuple[int, CoreState, Any, Any] = (0, DEFAULT_STATE, np.zeros(16, np.uint8), None)

    @property
    def index(self) -> int:
        return self.core.block


class Session:
    """The launch that is being recorded (`RECORDER.launch`)."""

    def __init__(
        self,
        kernel: Kernel[..., Any],
        device: DeviceLike,
        block_dim: int,
        bound: Bound,
        options: Mapping[str, Any],
    ) -> None:
        self.kernel = kernel
        self.auto_sync = bool(options.get("auto_sync", True))
        self.device = device
        self.bound = bound
        self.soc_name = device.soc_name
        self.ub_usable_bytes = device.ub_usable_bytes
        self.vector_cores = device.vector_cores
        self.blocks = [Block(i) for i in range(block_dim)]
        self.block = self.blocks[0]
        self.warnings: list[str] = []
        self.output = ""
        self._hub = getcurrent()

    def warn(self, text: str) -> None:
        """Keep a warning once, however many blocks give it."""
        if text not in self.warnings:
            self.warnings.append(text)

    def park(self, what: str) -> None:
        """Called by a block that must wait until every block has come to `what`."""
        if len(self.blocks) > self.vector_cores:
            raise KernelError(
                f"{what} with {len(self.blocks)} blocks: {self.soc_name} has {self.vector_cores} vector cores, and the "
                "blocks that have no core yet would never arrive"
            )
        self.block.waits_for = what
        self._hub.switch()

    # -- running the blocks -------------------------------------------------------------------------------------

    def record(self, order: Sequence[int]) -> Program:
        """Run all blocks to their end, in rounds from one meeting point to the next."""
        running = [self.blocks[i] for i in order]
        while running:
            for block in running:
                self._resume(block)
            waiting = [block for block in running if block.waits_for]
            if waiting and len(waiting) < len(self.blocks):
                raise KernelError(self._deadlock_text(waiting))
            running = waiting
        cores = [block.core for block in self.blocks]
        return Program(self.kernel.name, cores, auto_sync=self.auto_sync)

    def _resume(self, block: Block) -> None:
        """Run `block` until it ends or parks."""
        recorder = RECORDER
        self.block = block
        recorder.enter(block.core)
        recorder.pending, recorder.state, recorder.cmp_mask, ub = block.saved
        if recorder.values:
            if ub is None:
                recorder.ub.fill(_UNSET_BYTE)
            else:
                recorder.ub[:] = ub
        block.waits_for = ""
        if block.greenlet is None:
            block.greenlet = greenlet(self._run_block)
            block.greenlet.switch(block)
        else:
            block.greenlet.switch()
        if block.waits_for:
            ub = recorder.ub.copy() if recorder.values else None
            block.saved = (recorder.pending, recorder.state, recorder.cmp_mask, ub)
        else:
            block.core.trailing_calls = recorder.pending

    def _run_block(self, block: Block) -> None:
        try:
            result = self.kernel.function(**self.bound.for_block())
            if result is not None:
                raise KernelError(f"a kernel may not return a value, this one returned {result!r}")
            if block.pipe is not None:
                block.pipe.finish()
        except BrokenPipeError:  # nobody reads what the kernel prints: not the kernel's fault
            raise
        except Exception as error:
            raise explain(error, self.kernel.name, block.index, block.first_queue) from error

    def _deadlock_text(self, waiting: list[Block]) -> str:
        ended = [block.index for block in self.blocks if not block.waits_for]
        place = waiting[0].core.instrs[-1].place
        return (
            f"kernel {self.kernel.name!r}: {waiting[0].waits_for} at {place} never ends: blocks "
            f"{block_ranges([b.index for b in waiting])} wait, blocks {block_ranges(ended)} ended without it"
        )

    def close(self) -> None:
        """End the blocks that are still parked (after an error), without recording what they do on their way out."""
        for block in self.blocks:
            if block.greenlet is not None and not block.greenlet.dead:
                with contextlib.suppress(Exception):  # a clean-up of the kernel's own, after the launch failed
                    block.greenlet.throw(GreenletExit)


def launch(
    kernel: Kernel[..., Any],
    core_num: int,
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any],
    options: Mapping[str, Any],
) -> None:
    """Record `kernel` on `core_num` blocks and hand the record to the current device."""
    if RECORDER.launch is not None:
        raise KernelError(f"kernel {kernel.name!r} cannot be launched inside a kernel: call it without brackets")
    if options.get("insert_sync"):
        raise UnsupportedError(
            f"kernel {kernel.name!r}: insert_sync=True is not simulated yet; write the flags or queues"
        )
    device = current_device()
    begun = device.begin()
    bound: Bound | None = None
    try:
        bound = bind(kernel, args, kwargs, device.memory, device.values)
        session = Session(kernel, device, core_num, bound, options)
        program = _record(session, device)
        bound.finish(copy_back=device.values)
        device.complete(program, session, begun)
    except BaseException:
        device.abandon(begun)
        raise
    finally:
        if bound is not None:
            bound.finish(copy_back=False)


def _record(session: Session, device: DeviceLike) -> Program:
    order = range(len(session.blocks)) if device.block_order is None else device.block_order
    if sorted(order) != list(range(len(session.blocks))):
        raise InputError(f"block_order {list(order)}: must name each of the blocks 0..{len(session.blocks) - 1} once")
    recorder = RECORDER
    recorder.clear()
    recorder.launch = session
    recorder.arch = device.arch
    recorder.block_dim = len(session.blocks)
    recorder.values = device.values
    recorder.excerpt = device.excerpt
    recorder.ub_bytes = device.ub_bytes
    recorder.ub = np.empty(device.ub_bytes, np.uint8) if device.values else None
    output = device.output_filter()
    try:
        with output:
            return session.record(order)
    finally:
        session.close()
        session.output = output.text()
        recorder.clear()
