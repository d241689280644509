"""The record of a launch: per core, the ordered list of instructions that the kernel issued.

Values are already computed when an `Instr` stands here; timing, reports and checks read this record and nothing else.
Equal instructions (same row, operands, mask state, preceding scalar calls and source place) are one object. A transfer
between GM and UB is interned without its GM address: the k-th transfer (or GM scalar access) of a core finds its byte
address in `CoreProgram.gm_addresses[k]`.
"""

from __future__ import annotations

import math
from array import array
from dataclasses import dataclass, field
from enum import IntEnum
from types import CodeType
from typing import Protocol


class PipeID(IntEnum):
    """Pipes of an AI Core, numbered as in Ascend C."""

    PIPE_S = 0
    PIPE_V = 1
    PIPE_M = 2
    PIPE_MTE1 = 3
    PIPE_MTE2 = 4
    PIPE_MTE3 = 5
    PIPE_ALL = 6
    PIPE_MTE4 = 7
    PIPE_MTE5 = 8
    PIPE_V2 = 9
    PIPE_FIX = 10


class HardEvent(IntEnum):
    """Hardware events `SRC_DST`, numbered as in Ascend C: pipe SRC sets the flag, pipe DST waits for it."""

    MTE2_MTE1 = 0
    MTE1_MTE2 = 1
    MTE1_M = 2
    M_MTE1 = 3
    MTE2_V = 4
    V_MTE2 = 5
    MTE3_V = 6
    V_MTE3 = 7
    M_V = 8
    V_M = 9
    V_V = 10
    MTE3_MTE1 = 11
    MTE1_MTE3 = 12
    MTE1_V = 13
    MTE2_M = 14
    M_MTE2 = 15
    V_MTE1 = 16
    M_FIX = 17
    FIX_M = 18
    MTE3_MTE2 = 19
    MTE2_MTE3 = 20
    S_V = 21
    V_S = 22
    S_MTE2 = 23
    MTE2_S = 24
    S_MTE3 = 25
    MTE3_S = 26
    MTE2_FIX = 27
    FIX_MTE2 = 28
    FIX_S = 29
    M_S = 30
    FIX_MTE3 = 31
    MTE1_FIX = 32
    FIX_MTE1 = 33
    FIX_FIX = 34

    @property
    def source(self) -> PipeID:
        return PipeID[f"PIPE_{self.name.split('_')[0]}"]

    @property
    def destination(self) -> PipeID:
        return PipeID[f"PIPE_{self.name.split('_')[1]}"]


BLOCK_BYTES = 32
"""One DataBlock: the grain of unified buffer addresses."""


class Memory(IntEnum):
    GM = 0
    UB = 1


class ScalarCall(IntEnum):
    """Kinds of work that the scalar unit does before it dispatches an instruction; the SoC file prices each kind."""

    ALLOC_TENSOR = 0
    FREE_TENSOR = 1
    EN_QUE = 2
    DE_QUE = 3
    SET_GLOBAL_BUFFER = 4
    INIT_BUFFER = 5
    TPIPE = 6
    EVENT_ID = 7
    MASK = 8
    ATOMIC = 9
    ALU = 10
    DIVISION = 11
    TILING_READ = 12


_CALL_BITS = 16


def scalar_call_unit(kind: ScalarCall) -> int:
    """Add this to a recorder's `pending` to charge one call of `kind` to the next instruction."""
    return 1 << (_CALL_BITS * kind)


def unpack_scalar_calls(packed: int) -> tuple[tuple[ScalarCall, int], ...]:
    """`((kind, count), ...)` of the scalar calls packed into one integer."""
    mask = (1 << _CALL_BITS) - 1
    return tuple((kind, n) for kind in ScalarCall if (n := (packed >> (_CALL_BITS * kind)) & mask))


@dataclass(frozen=True, slots=True)
class Region:
    """Exact bytes that an operand touches: runs of `length` bytes at `start + sum(i_k * stride_k)`, `i_k < count_k`.

    `start` is a byte address in UB, or a byte offset from the instruction's GM address for `Memory.GM`.
    `dims` holds `(count, stride_bytes)` from the outermost inwards; an empty tuple is one run.
    """

    memory: Memory
    start: int
    length: int
    dims: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Access:
    """How the vector unit walks one UB operand: `blocks` blocks of 32 B per repeat, for the bank model (bytes)."""

    start: int
    blocks: int
    block_stride: int
    repeat_stride: int


@dataclass(frozen=True, slots=True)
class VectorWork:
    """Work of one PIPE_V instruction.

    `lanes`: elements per full repeat (by the widest operand). `elements`: elements computed in all. `count_form`: the
    call gave a count, so the hardware runs in Counter mode and the mask registers are set. `accesses`: destination
    first, then the sources in operand order. `width`: name of the dtype that decides the throughput.
    """

    width: str
    lanes: int
    repeats: int
    elements: int
    count_form: bool
    accesses: tuple[Access, ...]
    sets_mask: bool = True


class VfUnit(IntEnum):
    """What an instruction inside a vector function needs: a UB port, an execution unit, or to wait for both."""

    LOAD = 0
    STORE = 1
    EXECUTE = 2
    MASK = 3
    BARRIER = 4


@dataclass(frozen=True, slots=True)
class VfAccess:
    """UB bytes of a register load or store in round `i` of the loops around it, for the ports and banks.

    `blocks` runs of `length` bytes, `block_stride` apart, from byte address `start + sum(i_k * strides_k)` on;
    `strides` has one entry per loop, outermost first. `indexed`: a register decides which of the bytes (gather).
    """

    start: int
    strides: tuple[int, ...]
    length: int
    blocks: int = 1
    block_stride: int = 0
    indexed: bool = False


@dataclass(frozen=True, slots=True)
class VfInstr:
    """One instruction of a vector function. `reads` and `writes` number the register variables of the body (vector and
    mask registers alike); the hardware renames registers, so only a read after a write orders two instructions.

    `cost` is the key of the SoC file's tables for vector functions, `width` the dtype that decides between its rows.
    """

    name: str
    cost: str
    unit: VfUnit
    width: str
    reads: tuple[int, ...] = ()
    writes: tuple[int, ...] = ()
    access: VfAccess | None = None
    place: Place | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class VfLoop:
    """A hardware loop: `body` in each of `trips` rounds."""

    trips: int
    body: tuple[VfInstr | VfLoop, ...]


@dataclass(frozen=True, slots=True)
class VfWork:
    """One call of a vector function (950): one item of PIPE_V. `instructions` counts all rounds."""

    body: tuple[VfInstr | VfLoop, ...]
    instructions: int


@dataclass(frozen=True, slots=True)
class CopyWork:
    """A GM transfer: `blocks` rows of `block_bytes`, the rows `gm_pitch_bytes` apart in GM (start to start).

    `loops` repeats all rows (loop mode of the 950): `(count, GM bytes from one to the next)`, outermost first.
    """

    to_ub: bool
    blocks: int
    block_bytes: int
    gm_pitch_bytes: int
    l2_bypass: bool = False
    atomic: str | None = None
    loops: tuple[tuple[int, int], ...] = ()

    @property
    def nbytes(self) -> int:
        return math.prod(count for count, _ in self.loops) * self.blocks * self.block_bytes


@dataclass(frozen=True, slots=True)
class ScalarWork:
    """GetValue or SetValue on the scalar unit; `memory` says where the element lives (GM goes by the data cache)."""

    memory: Memory
    nbytes: int
    store: bool


@dataclass(frozen=True, slots=True)
class FlagWork:
    """SetFlag (`wait` false, on the event's source pipe) or WaitFlag (`wait` true, on its destination pipe)."""

    event: HardEvent
    event_id: int
    wait: bool


@dataclass(frozen=True, slots=True)
class BarrierWork:
    """PipeBarrier of one pipe, or of all of them (`PIPE_ALL`)."""

    pipe: PipeID


@dataclass(frozen=True, slots=True)
class SyncWork:
    """SyncAll: no core goes on before every core of the launch has arrived and its earlier instructions are done."""


Work = VectorWork | VfWork | CopyWork | ScalarWork | FlagWork | BarrierWork | SyncWork


@dataclass(frozen=True, slots=True)
class Place:
    """Where in the user's source an instruction was issued; the line is resolved when someone asks."""

    code: CodeType
    lasti: int

    @property
    def file(self) -> str:
        return self.code.co_filename

    @property
    def line(self) -> int:
        for start, end, line in self.code.co_lines():
            if start <= self.lasti < end and line is not None:
                return line
        return self.code.co_firstlineno

    @property
    def function(self) -> str:
        return self.code.co_qualname

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


class RowInfo(Protocol):
    """What the record needs of an instruction's table row (the row itself lives in `isa`)."""

    @property
    def name(self) -> str: ...  # Ascend C name, for example "Muls"

    @property
    def cost(self) -> str: ...  # key of the SoC file's cost tables


class Instr:
    """One distinct instruction: everything that timing, reports and checks may ask, immutable by convention."""

    __slots__ = ("detail", "pipe", "place", "reads", "row", "scalar_calls", "work", "writes")

    def __init__(
        self,
        row: RowInfo,
        pipe: PipeID,
        work: Work,
        reads: tuple[Region, ...] = (),
        writes: tuple[Region, ...] = (),
        scalar_calls: int = 0,
        place: Place | None = None,
        detail: str = "",
    ) -> None:
        self.row = row
        self.pipe = pipe
        self.work = work
        self.reads = reads
        self.writes = writes
        self.scalar_calls = scalar_calls
        self.place = place
        self.detail = detail

    @property
    def name(self) -> str:
        return self.row.name

    @property
    def uses_gm(self) -> bool:
        """Whether the instruction owns the next entry of `CoreProgram.gm_addresses`."""
        work = self.work
        return isinstance(work, CopyWork) or (isinstance(work, ScalarWork) and work.memory is Memory.GM)

    def __repr__(self) -> str:
        where = f" at {self.place}" if self.place else ""
        return f"<{self.name} {self.detail}{where}>"


@dataclass(frozen=True, slots=True)
class Repeat:
    """Of an excerpt: the accesses to GM number `first` to `end` of a block are those of a round of which `rounds` were
    left out. As many accesses follow that make up the next round, so their addresses tell those of all others."""

    first: int
    end: int
    rounds: int


@dataclass(slots=True)
class CoreProgram:
    """What one block issued, in program order, and what its scalar unit did after the last instruction."""

    block: int
    instrs: list[Instr] = field(default_factory=list)
    gm_addresses: array[int] = field(default_factory=lambda: array("q"))
    trailing_calls: int = 0
    repeats: list[Repeat] = field(default_factory=list)


@dataclass(slots=True)
class Program:
    """One launch: its blocks in order. `block_dim` equals `len(blocks)`."""

    kernel: str
    blocks: list[CoreProgram]
    auto_sync: bool = True

    @property
    def block_dim(self) -> int:
        return len(self.blocks)

    @property
    def instructions(self) -> int:
        return sum(len(block.instrs) for block in self.blocks)


def block_ranges(blocks: list[int]) -> str:
    """Block numbers for a text: `0..3, 7` for [0, 1, 2, 3, 7]."""
    parts: list[list[int]] = []
    for n in blocks:
        if parts and n == parts[-1][-1] + 1:
            parts[-1] = [parts[-1][0], n]
        else:
            parts.append([n])
    return ", ".join("..".join(map(str, part)) for part in parts)
