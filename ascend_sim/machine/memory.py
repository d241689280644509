"""What lies between the cores' transfer engines and GM: ports, L2, HBM.

A load of data that L2 holds passes the core's port and L2; what L2 does not hold comes from HBM, where one core alone
gets only `hbm_load_gbps_per_core` (its outstanding requests over the latency). A store passes port and L2 and makes its
lines dirty; HBM sees it when lines are displaced that it had no time to write before: by a load, which then drags the
displaced bytes along (more weight, same progress), or by a store, which waits for them. All sharing is even, so a
launch is as slow as its tightest rate, and every byte passes every stage that it needs exactly once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, zip_longest

from ascend_sim.machine.block import Transfers
from ascend_sim.machine.channel import WEIGHT, Channel
from ascend_sim.machine.clock import Alarm, Clock
from ascend_sim.machine.costs import Op
from ascend_sim.machine.l2 import GRAIN_BYTES, L2, LINE_BYTES, Footprint, Move
from ascend_sim.machine.lines import Lines
from ascend_sim.machine.port import LOAD, STORE, PortRates, port
from ascend_sim.machine.samepieces import SamePieces
from ascend_sim.machine.transfer import Transfer
from ascend_sim.machine.writeback import WriteBack
from ascend_sim.soc.models import Soc
from ascend_sim.timeline import MemoryCounters, Stage


def hbm_bytes_per_cycle(soc: Soc) -> float:
    """What HBM moves in a core cycle, all cores together: the memory's own rate times the share that is reached."""
    timing = soc.require_timing().memory
    if soc.hbm.peak_gbps is None:
        return soc.hbm.read_bytes_per_cycle_per_aic * soc.cores.aic
    return soc.hbm.peak_gbps * 1000 / soc.clock_mhz * timing.hbm_efficiency_ratio


class Memory:
    """One launch's view of the memory system; `l2` is the device's and keeps its state.

    `all_held`: every transfer of the launch finds its lines in L2, so nobody needs to look.
    """

    def __init__(self, soc: Soc, clock: Clock, l2: L2, cores: int) -> None:
        timing = soc.require_timing().memory
        self.load_latency_cycles = timing.load_latency_cycles
        self.load_miss_latency_cycles = max(1, round(timing.load_miss_latency_ns * soc.clock_mhz / 1000))
        self.store_latency_cycles = timing.store_latency_cycles
        self.store_miss_cycles = round(timing.store_miss_ns * soc.clock_mhz / 1000)
        self.piece_bytes = timing.piece_bytes
        self.run_bytes = timing.hbm_run_bytes
        self.clock = clock
        self.l2 = l2
        self.all_held = False
        self.counters = MemoryCounters()
        fastest = max(timing.port_load_bytes_per_cycle, timing.port_store_bytes_per_cycle)
        rates_per_aic = (soc.l2.read_bytes_per_cycle_per_aic, soc.l2.write_bytes_per_cycle_per_aic)
        read, write = (Channel(clock, rate * soc.cores.aic, fastest, eager=False) for rate in rates_per_aic)
        self.l2_channels = (read, write)
        alone = timing.hbm_gbps_per_core * 1000 / soc.clock_mhz
        self.hbm = Channel(clock, hbm_bytes_per_cycle(soc), alone, eager=True)
        self.writes = WriteBack(
            self.hbm.capacity, round(WEIGHT * timing.hbm_write_cost_ratio), round(WEIGHT * timing.hbm_idle_write_share)
        )
        self.same_pieces = SamePieces(timing.hbm_same_piece_bytes)
        rates = PortRates(timing)
        self.ports = [port(clock, rates, self.l2_channels) for _ in range(cores)]

    def displace(self, now: int, grains: int) -> int:
        """Dirty `grains` have been displaced in cycle `now`: how many bytes of them must be written now."""
        nbytes = grains * GRAIN_BYTES
        self.counters.hbm_written_bytes += nbytes
        return self.writes.due(now, nbytes, self.l2.dirty_grains * GRAIN_BYTES + nbytes)

    def ask_hbm(self, now: int, nbytes: int, weight: int, transfer: Transfer) -> None:
        """Let `transfer` move `nbytes` to or from HBM; see `Channel.add`."""
        self.writes.admit(nbytes, weight)
        transfer.hbm_bytes = nbytes
        self.hbm.add(now, nbytes, weight, transfer)

    def warm(self, blocks: Sequence[Transfers]) -> None:
        """Leave in L2 what a launch whose blocks make these transfers leaves: one transfer of each block in turn."""
        l2, piece_bytes = self.l2, self.piece_bytes

        def moves() -> Iterator[Move]:
            return ((footprint(op, at, piece_bytes), at, not op.work.to_ub) for block in blocks for op, at in block)

        kept = not any(block.bypass_l2 for block in blocks)
        most_lines = sum(len(touched.lines) for touched, _, _ in moves())
        if kept and l2.hold(moves, most_lines):
            self.all_held = True
            return
        before = l2.displaced_lines
        self._pass_through(l2, blocks)
        self.all_held = kept and l2.displaced_lines == before

    def endless(self, blocks: Sequence[Transfers]) -> None:
        """Fill L2 with other lines, so that each line that comes in displaces one as dirty as those of its part of the
        launch leave behind: as much is written in all as is stored.

        What an excerpt has left out shows best how dirty that is: it begins and ends less often in the middle of a
        line. Dirty lines lie as evenly as cores that are out of step would leave them.
        """
        seen = self._nothing(blocks)
        parts = max((block.parts for block in blocks), default=0)
        found = [self._lines_of_part(seen, blocks, number, _ENDLESS_TRANSFERS // parts) for number in range(parts)]
        if not any(lines for lines, _ in found):
            self._take_in(seen, blocks)
            found.append((len(seen), seen.dirty_grains_per_line))
        self.l2.fill(found)

    def _lines_of_part(
        self, seen: L2 | Lines, blocks: Sequence[Transfers], number: int, most: int
    ) -> tuple[int, float]:
        """`(lines that come in, dirty grains of a line)` of part `number`; `seen` takes in what was recorded of it.

        A part in which much else happens than in the rounds that were left out speaks for itself.
        """
        mine = [block for block in blocks if number < block.parts]
        lines, dirty = len(seen), seen.dirty_grains
        self._take_in(seen, [block.of_part(number) for block in mine])
        lines = len(seen) - lines
        own = (seen.dirty_grains - dirty) / lines if lines else 0.0
        alike = self._nothing(mine)
        self._take_in(alike, [chain.from_iterable(block.left_out(number, most // len(mine))) for block in mine])
        found = alike.dirty_grains_per_line
        return lines, found if own >= _ALIKE * found else own

    def _nothing(self, blocks: Sequence[Transfers]) -> L2 | Lines:
        """For transfers that go past L2 their order matters: whether it has their lines already."""
        return L2(_ENDLESS_BYTES) if any(block.bypass_l2 for block in blocks) else Lines()

    def _take_in(self, seen: L2 | Lines, blocks: Sequence[Iterable[tuple[Op, int]]]) -> None:
        if isinstance(seen, L2):
            self._pass_through(seen, blocks)
        else:
            seen.take_in(
                (footprint(op, address, self.piece_bytes), address, not op.work.to_ub)
                for block in blocks
                for op, address in block
            )

    def _pass_through(self, l2: L2, blocks: Sequence[Iterable[tuple[Op, int]]]) -> None:
        for turn in zip_longest(*blocks):
            for step in turn:
                if step is not None:
                    op, address = step
                    touched = footprint(op, address, self.piece_bytes)
                    (l2.load if op.work.to_ub else l2.store)(touched, address, not op.work.l2_bypass)


_ROWS = int(Stage.ROWS)
_ENDLESS_BYTES = 1 << 60
_ENDLESS_TRANSFERS = 5_000
_ALIKE = 0.6
"""Lines of a part that are less dirty than so much of those of its rounds left out come from something else."""


class Engine:
    """A core's engine for loads or stores (`side`). `done(cycle, latency)`: the engine is free in `cycle`, the last
    byte has arrived `latency` cycles later; `transfer` tells of the last one. The next transfer sets off `late_cycles`
    after it has begun."""

    __slots__ = (
        "_address",
        "_alarm",
        "_done",
        "_enough",
        "_l2",
        "_lane",
        "_late",
        "_memory",
        "_now",
        "_op",
        "_touched",
        "late_cycles",
        "transfer",
    )

    def __init__(self, memory: Memory, core: int, side: int, done: Callable[[int, int], None]) -> None:
        self._memory = memory
        self._l2 = memory.l2_channels[side]
        self._lane = memory.ports[core][side]
        self._done = done
        self.late_cycles = 0
        self._touched: Footprint | None = None  # of a load under way past L2
        self.transfer = Transfer(done)
        arrive = self._load if side == LOAD else self._store
        self._alarm = Alarm(memory.clock, arrive, 1 + 2 * core + side)
        self._late = Alarm(memory.clock, self._rows_taken)

    def begin(self, cycle: int, op: Op, address: int) -> None:
        """Begin the transfer `op` at GM byte `address` in `cycle`; the engine must be free."""
        if self.late_cycles:
            cycle += self.late_cycles
            self.late_cycles = 0
        self._op = op
        self.transfer.hbm_bytes = self.transfer.missed_bytes = 0
        self.transfer.done = self._moved if op.occupancy else self._done
        self._address = address
        self._now = cycle
        self._alarm.at(cycle)

    def _load(self, now: int) -> None:
        memory, transfer, op = self._memory, self.transfer, self._op
        address = self._address
        touched = op.footprints.get(address % LINE_BYTES) or footprint(op, address, memory.piece_bytes)
        missing = displaced = 0
        if not memory.all_held:
            missing, displaced = memory.l2.load(touched, address, not op.work.l2_bypass)
        counters = memory.counters
        counters.read_bytes += op.nbytes
        if not missing:
            counters.l2_read_hit_bytes += op.nbytes
            transfer.latency_cycles = memory.load_latency_cycles
            transfer.parts = 2
            self._pass(now, touched.moved_bytes, touched.moved_bytes)
            return
        transfer.latency_cycles = memory.load_miss_latency_cycles
        transfer.parts = 1
        if missing < touched.grains:
            counters.l2_read_hit_bytes += op.nbytes * (touched.grains - missing) // touched.grains
            held = touched.moved_bytes * (touched.grains - missing) // touched.grains
            transfer.parts = 3
            self._pass(now, held, held)
        nbytes = transfer.missed_bytes = missing * GRAIN_BYTES
        counters.hbm_read_bytes += nbytes
        nbytes += touched.runs * memory.run_bytes * missing // touched.grains
        if op.work.l2_bypass:
            self._touched = touched
            transfer.done = self._loaded_past_l2
            nbytes += memory.same_pieces.enter(address // LINE_BYTES, touched) * missing // touched.grains
        due = memory.displace(now, displaced) if displaced else 0
        memory.ask_hbm(now, nbytes, WEIGHT + memory.writes.weight * due // nbytes, transfer)

    def _store(self, now: int) -> None:
        memory, transfer, op = self._memory, self.transfer, self._op
        address = self._address
        touched = op.footprints.get(address % LINE_BYTES) or footprint(op, address, memory.piece_bytes)
        counters = memory.counters
        held, due, nbytes = touched.grains, 0, 0
        if not memory.all_held:
            held, fetched, displaced = memory.l2.store(touched, address, not op.work.l2_bypass)
            due = memory.displace(now, displaced) if displaced else 0
            if fetched:
                nbytes = fetched * GRAIN_BYTES
                counters.hbm_read_bytes += nbytes
                nbytes += touched.runs * memory.run_bytes * (touched.grains - held) // touched.grains
        counters.written_bytes += op.nbytes
        counters.l2_write_hit_bytes += op.nbytes * held // touched.grains
        transfer.latency_cycles = memory.store_latency_cycles
        if held < touched.grains:
            transfer.missed_bytes = (touched.grains - held) * GRAIN_BYTES
            transfer.latency_cycles += memory.store_miss_cycles
        transfer.parts = 3 if nbytes or due else 2
        moved = touched.moved_bytes
        self._pass(now, moved, moved * 2 if op.work.atomic else moved)  # an atomic store reads what it adds to
        if nbytes or due:
            weight = (nbytes * WEIGHT + due * memory.writes.weight) // (nbytes + due)
            memory.ask_hbm(now, nbytes + due, weight, transfer)

    def _loaded_past_l2(self, cycle: int, latency_cycles: int) -> None:
        """The lines of a load past L2 are free for others."""
        assert self._touched is not None
        self._memory.same_pieces.leave(self._address // LINE_BYTES, self._touched)
        if self._op.occupancy:
            self._moved(cycle, latency_cycles)
        else:
            self._done(cycle, latency_cycles)

    def _moved(self, cycle: int, latency_cycles: int) -> None:
        """All bytes have passed; the engine may still be busy with the rows."""
        earliest = self._now + self._op.occupancy
        if cycle < earliest:
            self._late.at(earliest)
        else:
            self._done(cycle, latency_cycles)

    def _rows_taken(self, now: int) -> None:
        self.transfer.stage = _ROWS
        self._done(now, self.transfer.latency_cycles)

    def _pass(self, now: int, port_bytes: int, l2_bytes: int) -> None:
        transfer = self.transfer
        transfer.in_l2 = True
        self._l2.add(now, l2_bytes, WEIGHT, transfer)
        self._lane.add(now, port_bytes, transfer)


def footprint(op: Op, address: int, piece_bytes: int) -> Footprint:
    """What the transfer `op` at GM byte `address` touches; equal ones are worked out once."""
    offset = address % LINE_BYTES
    found = op.footprints.get(offset)
    if found is None:
        found = op.footprints[offset] = Footprint.of(op.work, offset, piece_bytes)
    return found


__all__ = ["LOAD", "STORE", "Engine", "Memory", "hbm_bytes_per_cycle"]
