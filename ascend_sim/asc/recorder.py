"""Where the calls of a running kernel become instructions.

One `Recorder` serves the process: `RECORDER`. Its attributes are those of the block that runs now; the launcher swaps
them when it starts, parks or resumes a block. The hot path of every asc call is

    key -> RECORDER.cache -> (Instr, run) -> append, run

so that checks, regions and numpy views are worked out once per distinct call, not once per tile. A key holds everything
that decides an instruction: row, operands, arguments, `pending` (scalar calls charged to it), `state` (mask and atomic
registers) and the caller's source place.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Hashable
from types import CodeType, FrameType
from typing import Any, NoReturn, Protocol

from ascend_sim.asc.state import DEFAULT_STATE, CoreState
from ascend_sim.errors import KernelError
from ascend_sim.program import CoreProgram, Instr, Place, ScalarCall, scalar_call_unit

Run = Callable[..., Any]
Hit = tuple[Instr, Run | None]

CALL_UNIT = {kind: scalar_call_unit(kind) for kind in ScalarCall}


def outside_kernel(*_: object) -> NoReturn:
    raise KernelError(
        "asc instructions can only be called inside a kernel: decorate the function with @asc.jit and launch it as "
        "kernel[blocks](...)"
    )


class Site(Protocol):
    """Where a call was made; a frame is one."""

    @property
    def f_code(self) -> CodeType: ...
    @property
    def f_lasti(self) -> int: ...


class KeptSite:
    """A site that outlives its frame: a frame goes on, and keeps its variables alive."""

    __slots__ = ("f_code", "f_lasti")

    def __init__(self, frame: FrameType) -> None:
        self.f_code = frame.f_code
        self.f_lasti = frame.f_lasti


class Recorder:
    """State of the block that is being recorded. `arch` is "" outside a launch.

    `state` (registers) and `cmp_mask` belong to the block: a new block starts in `DEFAULT_STATE`, a parked one keeps
    its own.
    """

    __slots__ = (
        "append",
        "arch",
        "block",
        "block_dim",
        "cache",
        "cmp_mask",
        "excerpt",
        "flags",
        "gm_append",
        "kept_counts",
        "launch",
        "pending",
        "places",
        "state",
        "ub",
        "ub_bytes",
        "values",
        "vf",
    )

    def __init__(self) -> None:
        self.cache: dict[Hashable, Any] = {}
        self.flags: dict[tuple[int, int, int, int], Instr] = {}
        self.places: dict[tuple[int, int], Place] = {}
        self.clear()

    def clear(self) -> None:
        """Leave the kernel: every later asc call is refused."""
        self.append: Callable[[Instr], object] = outside_kernel
        self.gm_append: Callable[[int], object] = outside_kernel
        self.cache = {}
        self.flags = {}
        self.places = {}
        self.pending = 0
        self.state: CoreState = DEFAULT_STATE
        self.cmp_mask: Any = None  # numpy uint8[16], the compare-mask register; data, so never part of a key
        self.kept_counts: dict[int, Any] = {}  # what each block's last gather_mask kept
        self.arch = ""
        self.block = -1
        self.block_dim = 0
        self.values = False
        self.ub: Any = None  # numpy uint8 array of the UB's size, shared by the blocks of a launch
        self.ub_bytes = 0
        self.vf: Any = None  # the `asc.reg.trace.Body` of the vector function that is being traced
        self.launch: Any = None  # the `asc.launch.Session` of the running kernel
        self.excerpt: Any = None  # the `asc.tiles.Excerpt` of which tile loops are to be recorded, if not of all

    def enter(self, core: CoreProgram) -> None:
        """Record into `core` from now on."""
        self.block = core.block
        self.append = core.instrs.append
        addresses: array[int] = core.gm_addresses
        self.gm_append = addresses.append

    def charge(self, kind: ScalarCall) -> None:
        """Charge one scalar call to the next instruction."""
        self.pending += CALL_UNIT[kind]

    def place(self, frame: Site) -> Place:
        """The shared `Place` of a frame's current instruction."""
        key = (id(frame.f_code), frame.f_lasti)
        found = self.places.get(key)
        if found is None:
            code: CodeType = frame.f_code
            found = self.places[key] = Place(code, frame.f_lasti)
        return found


RECORDER = Recorder()
