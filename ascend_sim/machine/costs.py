"""What each distinct instruction costs: `CostModel.lower` turns an `Instr` into an `Op` once per launch.

An `Op` holds whole cycles and nothing that depends on when it runs. Its scalar cost is the framework calls charged to
it plus the issue of the instruction itself; the rest is explained in `soc.timing` beside each constant.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ascend_sim.errors import UnsupportedError
from ascend_sim.machine.banks import BankModel
from ascend_sim.machine.blocks import block_bits
from ascend_sim.machine.memoryform import as_function
from ascend_sim.machine.ubports import UbLayout
from ascend_sim.machine.vf import VfTimer
from ascend_sim.program import (
    BarrierWork,
    CopyWork,
    FlagWork,
    Instr,
    Memory,
    PipeID,
    ScalarCall,
    ScalarWork,
    SyncWork,
    VectorWork,
    VfWork,
    unpack_scalar_calls,
)
from ascend_sim.soc.models import Soc

# Kinds of Op: the first five wait in a pipe's queue, the others are the scalar unit's own.
VECTOR, COPY, SET, WAIT, BARRIER, SCALAR_SET, SCALAR_WAIT, SCALAR_ACCESS, BARRIER_ALL, SYNC_ALL = range(10)
LAST_QUEUED = BARRIER

# Queues of a core.
V, MTE2, MTE3 = range(3)
QUEUE_OF = {PipeID.PIPE_V: V, PipeID.PIPE_MTE2: MTE2, PipeID.PIPE_MTE3: MTE3}
PIPE_OF = (PipeID.PIPE_V, PipeID.PIPE_MTE2, PipeID.PIPE_MTE3)

_FRAMEWORK = {
    ScalarCall.ALLOC_TENSOR,
    ScalarCall.FREE_TENSOR,
    ScalarCall.EN_QUE,
    ScalarCall.DE_QUE,
    ScalarCall.SET_GLOBAL_BUFFER,
}
_REPEAT_BYTES = 256
_WIDE = {"int64", "uint64", "float64"}
_NARROW = {"int8", "uint8", "int16", "uint16", "float16", "bfloat16"}


class Op:
    """One distinct instruction in the machine's terms; cycles are whole.

    `queue`: which pipe's queue it waits in, -1 for the scalar unit's own. `issue`: scalar cycles before it is
    dispatched. `lead`, `occupancy`, `tail`: vector cycles in front of, in, and behind the pipe; of a scalar access,
    `occupancy` in UB or data cache and `lead` or `tail` more from L2 or HBM; of a transfer, `occupancy` is what its
    rows take at least. `touches`, `writes`: bits of UB blocks. `flag`: event times 1024 plus id. `work`: the record's,
    for transfers and scalar accesses. `nbytes`, `footprints`: of a transfer; the latter by its offset in an L2 line.
    """

    __slots__ = (
        "flag",
        "footprints",
        "instr",
        "issue",
        "kind",
        "lead",
        "nbytes",
        "occupancy",
        "queue",
        "tail",
        "touches",
        "work",
        "writes",
    )

    def __init__(self, instr: Instr, kind: int, queue: int, issue: int) -> None:
        self.instr = instr
        self.kind = kind
        self.queue = queue
        self.issue = issue
        self.lead = 0
        self.occupancy = 0
        self.tail = 0
        self.touches = 0
        self.writes = 0
        self.flag = 0
        self.work: Any = instr.work
        self.nbytes = 0
        self.footprints: dict[int, Any] = {}


class CostModel:
    """Prices instructions with the constants of one chip."""

    def __init__(self, soc: Soc) -> None:
        timing = soc.require_timing()
        self.scalar = timing.scalar
        self.vector = timing.vector
        self.memory = timing.memory
        self.banks = BankModel.of(soc.ub.banks, timing.vector.write_delay_cycles)
        calls = timing.scalar.calls
        self.call_cycles = {
            kind: calls.framework_cycles if kind in _FRAMEWORK else int(getattr(calls, f"{kind.name.lower()}_cycles"))
            for kind in ScalarCall
        }
        self.vf = None if timing.vf is None else VfTimer.of(timing.vf, UbLayout.of(soc.ub))
        self._lowered: dict[int, Op] = {}
        self._occupancies: dict[Any, int] = {}
        self._lowerers: dict[type, Callable[[Instr], Op]] = {
            VectorWork: self._vector if timing.vf is None else self._emulated,
            VfWork: self._vector_function,
            CopyWork: self._copy,
            ScalarWork: self._scalar,
            FlagWork: self._flag,
            BarrierWork: self._barrier,
            SyncWork: self._sync,
        }

    def forget(self) -> None:
        """Drop the lowered instructions of the last launch (they are known by identity)."""
        self._lowered.clear()

    def lower(self, instr: Instr) -> Op:
        """The Op of `instr`; equal instructions are one object and share it."""
        op = self._lowered.get(id(instr))
        if op is None:
            op = self._lowered[id(instr)] = self._lowerers[type(instr.work)](instr)
        return op

    def calls(self, packed: int) -> int:
        """Scalar cycles of framework calls packed into one integer."""
        return sum(self.call_cycles[kind] * count for kind, count in unpack_scalar_calls(packed)) if packed else 0

    def _op(self, instr: Instr, kind: int, pipe: PipeID, issue_cycles: int) -> Op:
        queue = -1 if pipe is PipeID.PIPE_S else QUEUE_OF.get(pipe)
        if queue is None:
            where = f" at {instr.place}" if instr.place else ""
            raise UnsupportedError(
                f"{instr.name}{where} runs on {pipe.name}: the simulator has the vector core's pipes PIPE_S, PIPE_V, "
                "PIPE_MTE2 and PIPE_MTE3; cube kernels cannot run yet"
            )
        return Op(instr, kind, queue, issue_cycles + self.calls(instr.scalar_calls))

    def _vector(self, instr: Instr) -> Op:
        work = instr.work
        assert isinstance(work, VectorWork)
        op = self._op(instr, VECTOR, instr.pipe, self.scalar.vector_issue_cycles)
        op.writes = block_bits(instr.writes)
        op.touches = op.writes | block_bits(instr.reads)
        if work.repeats <= 0 or work.elements <= 0:
            return op
        table = self.vector
        cost = instr.row.cost
        op.lead = table.mask_cycles if work.count_form else 0
        op.tail = table.tail_cycles.get(cost, table.tail_cycles["default"])
        if work.count_form and len(work.accesses) > 2 and work.elements * _bytes(work.width) % _REPEAT_BYTES:
            op.tail += table.partial_count_cycles
        key = (cost, work.width, work.lanes, work.repeats, work.elements, work.accesses)
        found = self._occupancies.get(key)
        if found is None:
            found = self._occupancies[key] = max(table.min_occupancy_cycles, self._occupancy(cost, work))
        op.occupancy = found
        return op

    def _vector_function(self, instr: Instr) -> Op:
        work = instr.work
        assert isinstance(work, VfWork)
        return self._whole_function(instr, work)

    def _emulated(self, instr: Instr) -> Op:
        """An instruction on LocalTensors where the hardware has none: the library's vector function does it."""
        work = instr.work
        assert isinstance(work, VectorWork)
        return self._whole_function(instr, as_function(instr.row.cost, work))

    def _whole_function(self, instr: Instr, work: VfWork) -> Op:
        """Vector functions run one after the other: the hardware keeps their order, whatever they touch."""
        op = self._op(instr, VECTOR, instr.pipe, self.scalar.vector_issue_cycles)
        op.writes = block_bits(instr.writes)
        op.touches = op.writes | block_bits(instr.reads)
        if self.vf is None:
            raise UnsupportedError(f"{instr.name}: this chip has no vector functions")
        op.occupancy = self.vf.cycles(work)
        return op

    def _occupancy(self, cost: str, work: VectorWork) -> int:
        rate = self._elements_per_cycle(cost, work.width)
        if rate * _bytes(work.width) < 32:  # slower than one block a cycle: works element by element
            return -int(-(work.elements / rate) // 1)
        cycles_per_repeat = max(1.0, work.lanes / rate)
        if not work.accesses:
            return -int(-(work.repeats * cycles_per_repeat) // 1)
        return self.banks.occupancy(work.accesses[:1], work.accesses[1:], work.repeats, cycles_per_repeat)

    def _elements_per_cycle(self, cost: str, width: str) -> float:
        table = self.vector.b16_elements_per_cycle if width in _NARROW else self.vector.b32_elements_per_cycle
        rate = float(table.get(cost, table["default"]))
        return rate / 2 if width in _WIDE else rate

    def _copy(self, instr: Instr) -> Op:
        op = self._op(instr, COPY, instr.pipe, self.scalar.copy_issue_cycles)
        work = instr.work
        assert isinstance(work, CopyWork)
        op.nbytes = work.nbytes
        if work.blocks > 1 and work.gm_pitch_bytes != work.block_bytes:
            op.occupancy = work.blocks * self.memory.row_cycles
        op.writes = block_bits(instr.writes)
        op.touches = op.writes | block_bits(instr.reads)
        return op

    def _scalar(self, instr: Instr) -> Op:
        work, timing = instr.work, self.scalar
        assert isinstance(work, ScalarWork)
        op = self._op(instr, SCALAR_ACCESS, PipeID.PIPE_S, 0)
        if work.memory is Memory.GM:
            op.occupancy = timing.gm_store_cycles if work.store else timing.gm_load_cycles
            missed = timing.gm_store_miss_cycles if work.store else timing.gm_load_miss_cycles
            held = timing.gm_store_l2_cycles if work.store else timing.gm_load_l2_cycles
            op.tail = max(0, missed - op.occupancy)
            op.lead = max(0, held - op.occupancy)
        else:
            op.occupancy = timing.ub_store_cycles if work.store else timing.ub_load_cycles
        op.writes = block_bits(instr.writes)
        op.touches = op.writes | block_bits(instr.reads)
        return op

    def _flag(self, instr: Instr) -> Op:
        work = instr.work
        assert isinstance(work, FlagWork)
        pipe = work.event.destination if work.wait else work.event.source
        kind = WAIT if work.wait else SET
        if pipe is PipeID.PIPE_S:
            kind = SCALAR_WAIT if work.wait else SCALAR_SET
        op = self._op(instr, kind, pipe, self.scalar.flag_issue_cycles)
        op.flag = work.event * 1024 + work.event_id
        return op

    def _barrier(self, instr: Instr) -> Op:
        work = instr.work
        assert isinstance(work, BarrierWork)
        if work.pipe is PipeID.PIPE_ALL:
            return self._op(instr, BARRIER_ALL, PipeID.PIPE_S, self.scalar.barrier_issue_cycles)
        return self._op(instr, BARRIER, work.pipe, self.scalar.barrier_issue_cycles)

    def _sync(self, instr: Instr) -> Op:
        return self._op(instr, SYNC_ALL, PipeID.PIPE_S, self.scalar.sync_all_issue_cycles)


def _bytes(width: str) -> int:
    return 8 if width in _WIDE else 2 if width in _NARROW else 4
