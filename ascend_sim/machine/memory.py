"""What lies between the cores' transfer engines and GM: ports, L2, HBM.

A load of data that L2 holds passes the core's port and L2; what L2 does not hold comes from HBM, where one core alone
gets only `hbm_load_bytes_per_cycle_per_core` (its outstanding requests over the latency). A store passes port and L2
and makes its lines dirty; HBM sees it when lines are displaced: by a load, which then drags the displaced bytes along
(more weight, same progress), or by a store, which waits for them. All sharing is even, so a launch is as slow as its
tightest rate, and every byte passes every stage that it needs exactly once.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import zip_longest

from ascend_sim.machine.channel import WEIGHT, Channel
from ascend_sim.machine.clock import Clock
from ascend_sim.machine.l2 import L2, PIECE_BYTES
from ascend_sim.machine.port import LOAD, STORE, Port, PortRates
from ascend_sim.machine.transfer import Transfer
from ascend_sim.program import CopyWork, Program
from ascend_sim.soc.models import Soc
from ascend_sim.timeline import MemoryCounters


def hbm_bytes_per_cycle(soc: Soc) -> float:
    """What HBM moves in a core cycle, all cores together: the memory's own rate times the share that is reached."""
    timing = soc.require_timing().memory
    if soc.hbm.peak_gbps is None:
        return soc.hbm.read_bytes_per_cycle_per_aic * soc.cores.aic
    return soc.hbm.peak_gbps * 1000 / soc.clock_mhz * timing.hbm_efficiency_ratio


class Memory:
    """One launch's view of the memory system; `l2` is the device's and keeps its state."""

    def __init__(self, soc: Soc, clock: Clock, l2: L2, cores: int) -> None:
        timing = soc.require_timing().memory
        self.timing = timing
        self.counters = MemoryCounters()
        self._clock = clock
        self._l2 = l2
        fastest = max(timing.port_load_bytes_per_cycle, timing.port_store_bytes_per_cycle)
        self._l2_channel = Channel(clock, timing.l2_bytes_per_cycle_per_aic * soc.cores.aic, fastest)
        self._hbm = Channel(clock, hbm_bytes_per_cycle(soc), timing.hbm_load_bytes_per_cycle_per_core)
        self._store_weight = int(
            WEIGHT * timing.hbm_store_bytes_per_cycle_per_core / timing.hbm_load_bytes_per_cycle_per_core
        )
        rates = PortRates(timing)
        self._ports = [Port(clock, rates, self._l2_channel) for _ in range(cores)]

    def request(self, start: int, core: int, work: CopyWork, address: int, done: Callable[[int, int], None]) -> None:
        """Begin the transfer `work` of `core` at GM byte `address` in cycle `start`; see `Transfer` for `done`."""
        side = LOAD if work.to_ub else STORE
        self._clock.at(start, lambda _event: self._arrive(start, core, side, work, address, done), 1 + 2 * core + side)

    def _arrive(
        self, now: int, core: int, side: int, work: CopyWork, address: int, done: Callable[[int, int], None]
    ) -> None:
        held, missing, displaced = touch(self._l2, work, address)
        self._count(work, held, missing, displaced)
        if side == LOAD:
            self._load(now, core, held * PIECE_BYTES, missing * PIECE_BYTES, displaced * PIECE_BYTES, done)
        else:
            self._store(now, core, (held + missing) * PIECE_BYTES, displaced * PIECE_BYTES, work, done)

    def _load(
        self, now: int, core: int, held: int, missing: int, displaced: int, done: Callable[[int, int], None]
    ) -> None:
        latency = self.timing.load_miss_latency_cycles if missing else self.timing.load_latency_cycles
        transfer = Transfer(done, latency, (2 if held else 0) + (1 if missing else 0))
        if held:
            self._l2_channel.add(now, held, WEIGHT, transfer, False)
            self._ports[core].add(now, held, LOAD, transfer)
        if missing:
            weight = WEIGHT + WEIGHT * displaced // missing
            self._hbm.add(now, missing, weight, transfer, True)

    def _store(
        self, now: int, core: int, nbytes: int, displaced: int, work: CopyWork, done: Callable[[int, int], None]
    ) -> None:
        transfer = Transfer(done, self.timing.store_latency_cycles, 3 if displaced else 2)
        self._l2_channel.add(now, nbytes * 2 if work.atomic else nbytes, WEIGHT, transfer, False)
        self._ports[core].add(now, nbytes, STORE, transfer)
        if displaced:
            self._hbm.add(now, displaced * WEIGHT // self._store_weight, self._store_weight, transfer, True)

    def _count(self, work: CopyWork, held: int, missing: int, displaced: int) -> None:
        counters = self.counters
        hit = work.nbytes * held // max(held + missing, 1)
        if work.to_ub:
            counters.read_bytes += work.nbytes
            counters.l2_read_hit_bytes += hit
            counters.hbm_read_bytes += missing * PIECE_BYTES
        else:
            counters.written_bytes += work.nbytes
            counters.l2_write_hit_bytes += hit
        counters.hbm_written_bytes += displaced * PIECE_BYTES


def touch(l2: L2, work: CopyWork, address: int) -> tuple[int, int, int]:
    """All rows of a transfer in L2: `(pieces held, pieces not held, dirty pieces displaced)`."""
    store = not work.to_ub
    allocate = not work.l2_bypass
    length = work.block_bytes
    if work.blocks == 1 or work.gm_pitch_bytes == length:
        return l2.touch(address, length * work.blocks, store, allocate)
    held = missing = displaced = 0
    for _ in range(work.blocks):
        row_held, row_missing, row_displaced = l2.touch(address, length, store, allocate)
        held += row_held
        missing += row_missing
        displaced += row_displaced
        address += work.gm_pitch_bytes
    return held, missing, displaced


def warm(l2: L2, program: Program) -> None:
    """Leave in L2 what a launch of `program` leaves: its transfers block by block in turn, one of each at a time."""
    streams = []
    for block in sorted(program.blocks, key=lambda block: block.block):
        users = [instr.work for instr in block.instrs if instr.uses_gm]
        works = zip(users, block.gm_addresses, strict=True)
        streams.append([(work, address) for work, address in works if isinstance(work, CopyWork)])
    for turn in zip_longest(*streams):
        for step in turn:
            if step is not None:
                touch(l2, *step)
