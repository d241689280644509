"""Runs kernel bodies for their record alone, so that these tests do not depend on the timing model."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from ascend_sim import asc
from ascend_sim.asc.jit import Kernel
from ascend_sim.asc.launch import Session
from ascend_sim.errors import KernelError
from ascend_sim.host.device import Device
from ascend_sim.program import Instr, Program, unpack_scalar_calls


class RecordingDevice(Device):
    """A device that keeps programs and sessions and times nothing."""

    def __init__(self, soc: str = "ascend910b", **options: Any) -> None:
        super().__init__(soc, **options)
        self.programs: list[Program] = []
        self.sessions: list[Session] = []

    def complete(self, program: Program, session: Session, begun: tuple[float, bool]) -> None:
        self.abandon(begun)
        self.programs.append(program)
        self.sessions.append(session)


def record(body: Callable[..., Any], *args: Any, blocks: int = 1, **options: Any) -> Program:
    """Launch `body` (a kernel or a plain function) on a fresh device and give its record."""
    return session_of(body, *args, blocks=blocks, **options)[0]


def session_of(body: Callable[..., Any], *args: Any, blocks: int = 1, **options: Any) -> tuple[Program, Session]:
    kernel = body if isinstance(body, Kernel) else asc.jit(body)
    with RecordingDevice(**options) as device:
        kernel[blocks](*args)
    return device.programs[0], device.sessions[0]


def instrs(body: Callable[..., Any], *args: Any, **options: Any) -> list[str]:
    """Block 0's instructions as texts: name and detail."""
    return [f"{i.name} {i.detail}".strip() for i in record(body, *args, **options).blocks[0].instrs]


def calls(instr: Instr) -> dict[str, int]:
    """The scalar calls charged to an instruction."""
    return {kind.name: n for kind, n in unpack_scalar_calls(instr.scalar_calls)}


def refused(
    body: Callable[..., Any], text: str, *args: Any, kind: type[Exception] = KernelError, **options: Any
) -> None:
    """Launching `body` fails inside the kernel with exactly `text` (before the place is put in front)."""
    with pytest.raises((KernelError, kind)) as caught:
        record(body, *args, **options)
    cause = caught.value.__cause__
    assert cause is not None, caught.value
    assert (type(cause), str(cause)) == (kind, text)
    assert str(caught.value).endswith(str(cause))
