"""Programs by hand: a block as a list of calls, for tests of the machine alone."""

from __future__ import annotations

from dataclasses import dataclass

from ascend_sim.program import (
    Access,
    BarrierWork,
    CopyWork,
    CoreProgram,
    FlagWork,
    HardEvent,
    Instr,
    Memory,
    PipeID,
    Program,
    Region,
    ScalarCall,
    ScalarWork,
    SyncWork,
    VectorWork,
    scalar_call_unit,
)


@dataclass(frozen=True)
class Row:
    name: str
    cost: str


class BlockBuilder:
    """Appends instructions to one block; `pending` scalar calls are charged to the next one. Equal calls share."""

    def __init__(self, block: int, known: dict[object, Instr] | None = None) -> None:
        self.program = CoreProgram(block)
        self._pending = 0
        self._known: dict[object, Instr] = {} if known is None else known

    def call(self, *kinds: ScalarCall) -> BlockBuilder:
        for kind in kinds:
            self._pending += scalar_call_unit(kind)
        return self

    def add(self, name, pipe, work, reads=(), writes=()) -> BlockBuilder:
        key = (name, pipe, work, reads, writes, self._pending)
        instr = self._known.get(key)
        if instr is None:
            instr = self._known[key] = Instr(Row(name, name), pipe, work, reads, writes, self._pending)
        self._pending = 0
        self.program.instrs.append(instr)
        return self

    def load(self, gm: int, ub: int, nbytes: int, rows: int = 1, pitch: int = 0, bypass: bool = False) -> BlockBuilder:
        self.program.gm_addresses.append(gm)
        work = CopyWork(True, rows, nbytes, pitch or nbytes, bypass)
        return self.add("DataCopy", PipeID.PIPE_MTE2, work, (), (Region(Memory.UB, ub, nbytes * rows),))

    def store(self, gm: int, ub: int, nbytes: int, rows: int = 1, pitch: int = 0, bypass: bool = False) -> BlockBuilder:
        self.program.gm_addresses.append(gm)
        work = CopyWork(False, rows, nbytes, pitch or nbytes, bypass)
        return self.add("DataCopy", PipeID.PIPE_MTE3, work, (Region(Memory.UB, ub, nbytes * rows),))

    def vector(self, name: str, dst: int, *sources: int, nbytes: int, half: bool = True, count=True) -> BlockBuilder:
        repeats = -(-nbytes // 256)
        accesses = tuple(Access(start, 8, 32, 256) for start in (dst, *sources))
        work = VectorWork(
            "float16" if half else "float32",
            128 if half else 64,
            repeats,
            nbytes // (2 if half else 4),
            count,
            accesses,
        )
        reads = tuple(Region(Memory.UB, start, nbytes) for start in sources)
        return self.add(name, PipeID.PIPE_V, work, reads, (Region(Memory.UB, dst, nbytes),))

    def set(self, event: str, number: int = 0) -> BlockBuilder:
        hard = HardEvent[event]
        return self.add("SetFlag", hard.source, FlagWork(hard, number, False))

    def wait(self, event: str, number: int = 0) -> BlockBuilder:
        hard = HardEvent[event]
        return self.add("WaitFlag", hard.destination, FlagWork(hard, number, True))

    def barrier(self, pipe: str) -> BlockBuilder:
        return self.add("PipeBarrier", PipeID[f"PIPE_{pipe}"], BarrierWork(PipeID[f"PIPE_{pipe}"]))

    def get_value(self, ub: int, nbytes: int = 2) -> BlockBuilder:
        work = ScalarWork(Memory.UB, nbytes, False)
        return self.add("GetValue", PipeID.PIPE_S, work, (Region(Memory.UB, ub, nbytes),))

    def set_value(self, ub: int, nbytes: int = 2) -> BlockBuilder:
        work = ScalarWork(Memory.UB, nbytes, True)
        return self.add("SetValue", PipeID.PIPE_S, work, (), (Region(Memory.UB, ub, nbytes),))

    def gm_value(self, gm: int, store: bool = False) -> BlockBuilder:
        self.program.gm_addresses.append(gm)
        return self.add("SetValue" if store else "GetValue", PipeID.PIPE_S, ScalarWork(Memory.GM, 4, store))

    def sync_all(self) -> BlockBuilder:
        return self.add("SyncAll", PipeID.PIPE_S, SyncWork())


def program(*blocks: BlockBuilder, auto_sync: bool = True) -> Program:
    return Program("test", [block.program for block in blocks], auto_sync)
