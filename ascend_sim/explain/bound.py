"""What limits a launch: the parts of the critical path by class, and the roofs that its rates stand under."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ascend_sim.explain.columns import Columns
from ascend_sim.explain.path import Part, Step
from ascend_sim.machine.memory import hbm_bytes_per_cycle
from ascend_sim.program import Instr, VectorWork, VfInstr, VfLoop, VfUnit, VfWork

_CLASSES = {
    Part.START: "start",
    Part.ISSUE: "scalar",
    Part.ACCESS: "scalar",
    Part.SCALAR_MEMORY: "latency",
    Part.WORK: "vector",
    Part.MASK: "vector",
    Part.BANKS: "vector",
    Part.RESULT: "latency",
    Part.L2: "l2",
    Part.HBM_LATENCY: "latency",
    Part.HBM: "hbm",
    Part.ARRIVAL: "latency",
    Part.SYNC: "sync",
    Part.CORES: "sync",
    Part.END: "start",
    Part.COLD_START: "start",
}
BOUNDS = ("scalar", "vector", "mte2", "mte3", "hbm", "l2", "latency", "sync")
"""What a launch may be bound by; the path's parts of class "start" (prologue, epilogue) bound nothing."""


def class_of(step: Step) -> str:
    """The class of a step of the path; what a transfer does at its pipe's own rate is that pipe's."""
    return _CLASSES.get(step.part, step.pipe)


@dataclass(frozen=True, slots=True)
class Bound:
    """`kind` is the class of `BOUNDS` with the largest part of the critical path, `shares` says how much of the path
    (0..1) each class has, "start" included, largest first."""

    kind: str
    shares: dict[str, float]

    def to_json(self) -> dict[str, Any]:
        return {"kind": self.kind, "path_shares": {name: round(share, 4) for name, share in self.shares.items()}}


def bound_of(path: Sequence[Step]) -> Bound:
    """What the path says; a launch that does nothing is bound by the scalar unit, which starts and ends it."""
    cycles: dict[str, int] = {}
    for step in path:
        name = class_of(step)
        cycles[name] = cycles.get(name, 0) + step.cycles
    total = sum(cycles.values()) or 1
    shares = {name: cycles[name] / total for name in sorted(cycles, key=lambda name: -cycles[name])}
    return Bound(next((name for name in shares if name != "start"), "scalar"), shares)


@dataclass(frozen=True, slots=True)
class Roof:
    """A rate of the launch and the highest that the cores it used could have, in Gop/s (vector) or GB/s."""

    name: str
    unit: str
    rate: float
    roof: float

    @property
    def share(self) -> float:
        return self.rate / self.roof if self.roof else 0.0

    def to_json(self) -> dict[str, Any]:
        rates = {"rate": round(self.rate, 3), "roof": round(self.roof, 3), "share": round(self.share, 4)}
        return {"name": self.name, "unit": self.unit} | rates


@dataclass(frozen=True, slots=True)
class Roofline:
    """Rates are over the cores' time (the launch overhead left out). `operations` counts elements that vector
    instructions compute, `gm_bytes` what transfers asked for; `intensity` is operations per byte, `ridge` where the
    vector roof meets that of GM."""

    operations: int
    gm_bytes: int
    hbm_bytes: int
    span_us: float
    roofs: tuple[Roof, ...]

    @property
    def intensity(self) -> float:
        return self.operations / self.gm_bytes if self.gm_bytes else 0.0

    @property
    def ridge(self) -> float:
        by_name = {roof.name: roof.roof for roof in self.roofs}
        return by_name["vector"] / by_name["gm"] if by_name["gm"] else 0.0

    def to_json(self) -> dict[str, Any]:
        return {
            "operations": self.operations,
            "gm_bytes": self.gm_bytes,
            "hbm_bytes": self.hbm_bytes,
            "intensity": round(self.intensity, 4),
            "ridge": round(self.ridge, 4),
            "roofs": [roof.to_json() for roof in self.roofs],
        }


def roofline(columns: Columns) -> Roofline:
    """Rates and roofs of a launch. The GM roof is the tightest of ports, L2 and (for the share of
    the bytes that it had to move) HBM."""
    timeline, soc, memory = columns.timeline, columns.soc, columns.timing.memory
    cores = max(1, len({line.core for line in timeline.cores}))
    span_us = timeline.to_us(timeline.duration_cycles) or 1.0
    operations, vector_cycles = _vector_work(columns)
    counters = timeline.memory
    hbm_bytes = counters.hbm_read_bytes + counters.hbm_written_bytes
    gm_bytes = counters.read_bytes + counters.written_bytes
    per_cycle = soc.clock_mhz / 1e3  # B/cycle -> GB/s
    peak = operations / vector_cycles if vector_cycles else 256 / 4
    hbm = hbm_bytes_per_cycle(soc) * per_cycle
    l2_read, l2_write = (
        rate * soc.cores.aic * per_cycle
        for rate in (soc.l2.read_bytes_per_cycle_per_aic, soc.l2.write_bytes_per_cycle_per_aic)
    )
    port = cores * memory.port_total_bytes_per_cycle * per_cycle
    kb_us = span_us * 1e3  # bytes / (us * 1000) = GB/s
    served = [port, l2_read + l2_write] + ([hbm * gm_bytes / hbm_bytes] if hbm_bytes else [])
    roofs = (
        Roof("vector", "Gop/s", operations / kb_us, peak * cores * per_cycle),
        Roof("gm", "GB/s", gm_bytes / kb_us, min(served)),
        Roof("ports", "GB/s", gm_bytes / kb_us, port),
        Roof("l2_read", "GB/s", counters.read_bytes / kb_us, l2_read),
        Roof("l2_write", "GB/s", counters.written_bytes / kb_us, l2_write),
        Roof("hbm", "GB/s", hbm_bytes / kb_us, hbm),
    )
    return Roofline(operations, gm_bytes, hbm_bytes, span_us, roofs)


def _vector_work(columns: Columns) -> tuple[int, float]:
    """Elements that vector instructions compute, and the cycles they would take at a full register width a cycle."""
    operations, cycles = 0, 0.0
    counted: dict[int, tuple[int, float]] = {}
    for block in columns.blocks:
        counts = np.bincount(block.prices.code, minlength=len(block.prices.instrs)).tolist()
        for instr, times in zip(block.prices.instrs, counts, strict=True):
            found = counted.get(id(instr))
            if found is None:
                found = counted[id(instr)] = _work_of(instr)
            operations += found[0] * times
            cycles += found[1] * times
    return operations, cycles


def _work_of(instr: Instr) -> tuple[int, float]:
    work = instr.work
    if isinstance(work, VectorWork):
        return work.elements, work.elements / max(work.lanes, 1)
    if isinstance(work, VfWork):
        executed = _executed(work.body)
        return sum(lanes * times for lanes, times in executed), float(sum(times for _, times in executed))
    return 0, 0.0


def _executed(body: Sequence[VfInstr | VfLoop]) -> list[tuple[int, int]]:
    """`(lanes, how often)` of the instructions that compute in a vector function."""
    found = []
    for item in body:
        if isinstance(item, VfLoop):
            found += [(lanes, times * item.trips) for lanes, times in _executed(item.body)]
        elif item.unit is VfUnit.EXECUTE:
            found.append((_REGISTER_BYTES // _WIDTHS.get(item.width, 4), 1))
    return found


_REGISTER_BYTES = 256
_WIDTHS = {"float16": 2, "bfloat16": 2, "int16": 2, "uint16": 2, "int8": 1, "uint8": 1, "int64": 8, "uint64": 8}
