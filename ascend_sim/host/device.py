"""A simulated device: a chip, its global memory and its launches."""

from __future__ import annotations

import gc
import operator
import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal

from ascend_sim.asc.launch import DEVICES, Session
from ascend_sim.asc.output import OutputFilter
from ascend_sim.asc.tiles import Excerpt
from ascend_sim.errors import InputError
from ascend_sim.host.memory import DeviceMemory
from ascend_sim.host.stream import Stream
from ascend_sim.machine import LaunchKind, Machine
from ascend_sim.program import Program
from ascend_sim.soc import Soc, load
from ascend_sim.timeline import Timeline

if TYPE_CHECKING:
    from ascend_sim.host.execute import OperatorRun

L2State = Literal["warm", "cold", "keep", "endless"]
LAUNCH_KINDS = ("back_to_back", "few_launches", "in_situ")


@dataclass(slots=True, eq=False)
class Launch:
    """One kernel launch: what was recorded, when it ran, and what it printed."""

    kernel: str
    program: Program
    timeline: Timeline
    soc: Soc
    l2: L2State
    wall_s: float
    record_s: float
    warnings: list[str] = field(default_factory=list)
    output: str = ""

    def __repr__(self) -> str:
        us = self.timeline.to_us(self.timeline.duration_cycles)
        return f"<Launch {self.kernel}[{self.program.block_dim}] on {self.soc.variant}: {us:.2f} us>"


OBSERVERS: list[Callable[[Launch], object]] = []
"""Called with every launch of any device, once it is timed."""


class Device:
    """Where kernels are launched to; as a context manager it is the current device inside its `with` block.

    `soc` is a name ("ascend910b", "Ascend910B4") or a loaded chip. `values=False` records and times without computing.
    `l2` says whether launches find their operands in L2 ("warm": as if launched just before) or not ("cold": emptied
    before each launch); with "keep" the state at the beginning is empty and each launch finds what earlier ones left;
    "endless" is for excerpts (see `Machine.run`).
    `launch_kind`: a launch that does not follow others of its kernel "back_to_back" ("few_launches", "in_situ") starts
    cold; `cold_start_us` adds to the prologue of every block.
    `core_filter` limits what kernels print to these blocks; `echo=False` keeps it from stdout
    (`Launch.output` has it all the same), and notes from stderr. `block_order` runs the blocks in another order, which
    changes no result.
    `timing=False` leaves the timeline of every launch empty, for those who only want the values. `observers` are called
    with every operator run on the device, once it is done. `excerpt`, which may be set between launches, lets them
    leave out rounds of their tile loops; it needs `values=False`.
    """

    def __init__(
        self,
        soc: str | Soc = "ascend910b",
        *,
        values: bool = True,
        l2: L2State = "warm",
        launch_kind: LaunchKind = "back_to_back",
        cold_start_us: float = 0.0,
        core_filter: int | Collection[int] | None = None,
        echo: bool = True,
        block_order: Sequence[int] | None = None,
        timing: bool = True,
    ) -> None:
        self.soc = load(soc)
        if l2 not in ("warm", "cold", "keep", "endless"):
            raise InputError(f"l2 {l2!r}: allowed are 'warm', 'cold' and 'keep'")
        if launch_kind not in LAUNCH_KINDS:
            raise InputError(f"launch_kind {launch_kind!r}: allowed are {', '.join(map(repr, LAUNCH_KINDS))}")
        if isinstance(cold_start_us, bool) or not (
            isinstance(cold_start_us, int | float) and 0 <= cold_start_us < float("inf")
        ):
            raise InputError(f"cold_start_us {cold_start_us!r}: must be a number of microseconds, 0 or more")
        self.values = values
        self.l2: L2State = l2
        self.launch_kind: LaunchKind = launch_kind
        self.cold_start_us = float(cold_start_us)
        self.cores = None if core_filter is None else _blocks(core_filter)
        self.echo = echo
        self.block_order: Sequence[int] | None = None if block_order is None else _order(block_order)
        self.timing = timing
        self.excerpt: Excerpt | None = None
        self.memory = DeviceMemory(self.soc.hbm.bytes, values=values)
        self.machine = Machine(self.soc)
        self.launches: list[Launch] = []
        self.observers: list[Callable[[OperatorRun], object]] = []
        self._default_stream: Stream | None = None

    @property
    def default_stream(self) -> Stream:
        """Where tasks go that name no stream."""
        if self._default_stream is None:
            self._default_stream = Stream(self, "default stream")
        return self._default_stream

    def create_stream(self) -> Stream:
        return Stream(self)

    def __enter__(self) -> Device:
        DEVICES.append(self)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        DEVICES.remove(self)

    # -- what a launch asks (asc.launch.DeviceLike) -----------------------------------------------------------------

    @property
    def arch(self) -> str:
        return self.soc.arch

    @property
    def soc_name(self) -> str:
        return self.soc.variant

    @property
    def ub_bytes(self) -> int:
        return self.soc.ub.bytes

    @property
    def ub_usable_bytes(self) -> int:
        return self.soc.ub.usable_bytes

    @property
    def vector_cores(self) -> int:
        return self.soc.cores.aiv

    @property
    def elapsed_cycles(self) -> int:
        """Cycles of all launches so far."""
        return sum(launch.timeline.duration_cycles for launch in self.launches)

    def output_filter(self) -> OutputFilter:
        return OutputFilter(self.cores, self.echo)

    def begin(self) -> tuple[float, bool]:
        """Start the clock and stop collecting garbage: a record is a million small objects and no cycles."""
        collecting = gc.isenabled()
        gc.disable()
        return time.perf_counter(), collecting

    def complete(self, program: Program, session: Session, begun: tuple[float, bool]) -> None:
        """Time what was recorded and keep it."""
        recorded = time.perf_counter()
        if self.excerpt is not None:
            self.excerpt.move_apart(program)
        timeline = (
            self.machine.run(program, self.l2, self.launch_kind, self.cold_start_us)
            if self.timing
            else Timeline(self.soc.clock_mhz, [], 0, 0.0)
        )
        start, collecting = begun
        if collecting:
            gc.enable()
        launch = Launch(
            kernel=program.kernel,
            program=program,
            timeline=timeline,
            soc=self.soc,
            l2=self.l2,
            wall_s=time.perf_counter() - start,
            record_s=recorded - start,
            warnings=[*session.warnings, *timeline.warnings, *_beyond(self.cores, program.block_dim)],
            output=session.output,
        )
        self.launches.append(launch)
        for observer in OBSERVERS:
            observer(launch)

    def abandon(self, begun: tuple[float, bool]) -> None:
        """A launch failed: collect garbage again."""
        if begun[1]:
            gc.enable()


def _blocks(given: Any) -> frozenset[int]:
    """The blocks whose output is shown, as `core_filter` names them."""
    numbers = tuple(given) if isinstance(given, Collection) and not isinstance(given, str) else (given,)
    for number in numbers:
        if isinstance(number, bool) or not hasattr(number, "__index__") or number < 0:
            raise InputError(f"core {number!r}: must be the number of a block, 0 or more")
    return frozenset(int(number) for number in numbers)


def _order(given: Any) -> list[int]:
    """`block_order` as plain numbers; whether it names every block can only be told at a launch."""
    try:
        return [int(operator.index(number)) for number in given]
    except TypeError:
        raise InputError(f"block_order {given!r}: must be a list of block numbers") from None


def _beyond(cores: frozenset[int] | None, block_dim: int) -> list[str]:
    """A warning when output is asked of blocks alone that the launch does not have."""
    if cores is None or any(core < block_dim for core in cores):
        return []
    last = block_dim - 1
    return [f"output is shown of block {', '.join(map(str, sorted(cores)))} alone, but the launch has blocks 0..{last}"]


_DEFAULT: list[Device] = []


def default_device() -> Device:
    """The device of kernels launched with none open: the platform set by `set_platform`, else ascend910b."""
    if not _DEFAULT:
        _DEFAULT.append(Device("ascend910b"))
    return _DEFAULT[0]


def use_platform(soc: str) -> None:
    """Make `soc` the chip of the default device; the device is a new one if that changes the chip."""
    chip = load(soc)
    before = _DEFAULT[0] if _DEFAULT else None
    if before is None:
        set_default_device(Device(chip))
    elif before.soc != chip:
        set_default_device(Device(chip, values=before.values, l2=before.l2, core_filter=before.cores, echo=before.echo))


def set_default_device(device: Device | None) -> Device | None:
    """Put `device` (None: a new one when it is first needed) in place of the default one, which is answered."""
    before = _DEFAULT[0] if _DEFAULT else None
    _DEFAULT[:] = [] if device is None else [device]
    return before
