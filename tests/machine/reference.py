"""The plain machine: one SimPy process per unit, one event per instruction, memory that ticks every cycle.

It shares with the real one the price list (`CostModel`), what L2 holds and when it is written back, and the chip's
constants; nothing of how time is found out: queues are lists, flags are counted as they are raised and taken, hazards
are sets of blocks looked at when an instruction comes up, and every byte moves in the cycle in which it moves. Slow,
and easy to believe.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field

import simpy

from ascend_sim.machine import costs as k
from ascend_sim.machine.channel import UNIT, WEIGHT
from ascend_sim.machine.datacache import DataCache
from ascend_sim.machine.l2 import GRAIN_BYTES, LINE_BYTES, Footprint
from ascend_sim.machine.memory import hbm_bytes_per_cycle
from ascend_sim.machine.samepieces import SamePieces
from ascend_sim.machine.writeback import WriteBack
from ascend_sim.program import Memory, PipeID


@dataclass
class Entry:
    """An instruction in a queue: the pipe sees it from `visible` on."""

    index: int
    op: k.Op
    visible: int
    address: int = -1


@dataclass
class Flow:
    """Bytes on their way through one stage; `need` in 1/1024 B."""

    transfer: Moving
    need: int
    weight: int = WEIGHT
    got: int = 0


@dataclass
class Moving:
    core: int
    side: int
    op: k.Op
    address: int
    done: simpy.Event
    latency: int = 0
    parts: int = 0
    shares: tuple = ()


class PlainMemory:
    """Ports, L2 and HBM, cycle by cycle. What arrives in cycle T moves from T on; what has all its bytes after cycle T
    is done in T + 1."""

    def __init__(self, env, soc, l2):
        timing = soc.require_timing().memory
        self.env, self.soc, self.l2, self.timing = env, soc, l2, timing
        self.arrivals: list[Moving] = []
        self.ports: dict[tuple[int, int], Flow] = {}
        self.in_l2: tuple[list[Flow], list[Flow]] = ([], [])  # loads, stores
        self.in_hbm: list[Flow] = []
        self.writes = WriteBack(
            int(hbm_bytes_per_cycle(soc) * UNIT) * WEIGHT,
            round(WEIGHT * timing.hbm_write_cost_ratio),
            round(WEIGHT * timing.hbm_idle_write_share),
        )
        self.same_pieces = SamePieces(timing.hbm_same_piece_bytes)
        self.wake = env.event()
        env.process(self.tick())

    def request(self, moving):
        self.arrivals.append(moving)
        if not self.wake.triggered:
            self.wake.succeed()

    def tick(self):
        while True:
            if not (self.arrivals or self.ports or any(self.in_l2) or self.in_hbm):
                self.wake = self.env.event()
                yield self.wake
            yield self.env.timeout(1)
            arrived = [moving for moving in self.arrivals if moving.arrived < self.env.now]
            self.arrivals = [moving for moving in self.arrivals if moving.arrived >= self.env.now]
            for moving in sorted(arrived, key=lambda moving: (moving.core, moving.side)):
                self.enter(moving)
            self.move()

    def enter(self, moving):
        work, timing, now = moving.op.work, self.timing, moving.arrived
        foot = Footprint.of(work, moving.address % LINE_BYTES, timing.piece_bytes)
        touch = self.l2.load if work.to_ub else self.l2.store
        found = touch(foot, moving.address, not work.l2_bypass)
        apart = foot.runs * timing.hbm_run_bytes
        if work.to_ub:
            missing, displaced = found
            passed = through_l2 = foot.moved_bytes * (foot.grains - missing) // foot.grains
            miss = round(timing.load_miss_latency_ns * self.soc.clock_mhz / 1000)
            moving.latency = miss if missing else timing.load_latency_cycles
            if missing:
                nbytes = missing * GRAIN_BYTES + apart * missing // foot.grains
                if work.l2_bypass:
                    moving.shares = moving.address // LINE_BYTES, foot
                    nbytes += self.same_pieces.enter(*moving.shares) * missing // foot.grains
                weight = WEIGHT + self.writes.weight * self.due(now, displaced) // nbytes
                self.hbm(moving, nbytes, weight)
        else:
            passed = foot.moved_bytes
            through_l2 = passed * 2 if work.atomic else passed
            held, fetched, displaced = found
            late = 0 if held == foot.grains else round(timing.store_miss_ns * self.soc.clock_mhz / 1000)
            moving.latency = timing.store_latency_cycles + late
            nbytes = fetched * GRAIN_BYTES
            if fetched:
                nbytes += apart * (foot.grains - held) // foot.grains
            due = self.due(now, displaced)
            if nbytes + due:
                self.hbm(moving, nbytes + due, (nbytes * WEIGHT + due * self.writes.weight) // (nbytes + due))
        if passed:
            self.stage(self.in_l2[moving.side], Flow(moving, through_l2 * UNIT))
            assert (moving.core, moving.side) not in self.ports
            moving.parts += 1
            self.ports[moving.core, moving.side] = Flow(moving, passed * UNIT)

    def due(self, now, displaced):
        nbytes = displaced * GRAIN_BYTES
        if not nbytes:
            return 0
        return self.writes.due(now, nbytes, self.l2.dirty_grains * GRAIN_BYTES + nbytes)

    def hbm(self, moving, nbytes, weight):
        self.writes.admit(nbytes, weight)
        self.stage(self.in_hbm, Flow(moving, nbytes * UNIT, weight))

    def stage(self, flows, flow):
        flow.transfer.parts += 1
        flows.append(flow)

    def move(self):
        timing, soc = self.timing, self.soc
        load = int(timing.port_load_bytes_per_cycle * UNIT)
        store = int(timing.port_store_bytes_per_cycle * UNIT)
        half = int(timing.port_total_bytes_per_cycle * UNIT) // 2
        for (core, side), flow in self.ports.items():
            both = (core, 1 - side) in self.ports
            flow.got += half if both else (load, store)[side]
        fastest = int(max(timing.port_load_bytes_per_cycle, timing.port_store_bytes_per_cycle) * UNIT)
        for flows, rate in zip(
            self.in_l2, (soc.l2.read_bytes_per_cycle_per_aic, soc.l2.write_bytes_per_cycle_per_aic), strict=True
        ):
            self.share(flows, int(rate * soc.cores.aic * UNIT), fastest)
        self.share(self.in_hbm, int(hbm_bytes_per_cycle(soc) * UNIT), self.alone())
        for place, flow in list(self.ports.items()):
            if flow.got >= flow.need:
                del self.ports[place]
                self.passed(flow)
        self.in_l2 = (self.leave(self.in_l2[0]), self.leave(self.in_l2[1]))
        self.in_hbm = self.leave(self.in_hbm)

    def alone(self):
        return int(self.timing.hbm_gbps_per_core * 1000 / self.soc.clock_mhz * UNIT)

    def share(self, flows, capacity, cap):
        weight = sum(flow.weight for flow in flows)
        for flow in flows:
            flow.got += min(cap, capacity * WEIGHT // weight)

    def leave(self, flows):
        for flow in flows:
            if flow.got >= flow.need:
                self.passed(flow)
        return [flow for flow in flows if flow.got < flow.need]

    def passed(self, flow):
        flow.transfer.parts -= 1
        if not flow.transfer.parts:
            if flow.transfer.shares:
                self.same_pieces.leave(*flow.transfer.shares)
            flow.transfer.done.succeed(flow.transfer.latency)


class Queue:
    """A queue of a core and the pipe behind it."""

    def __init__(self, core, number, depth, hold):
        self.core, self.number, self.depth, self.hold = core, number, depth, hold
        self.env = core.env
        self.entries: list[Entry] = []
        self.changed = self.env.event()
        self.moving = False
        self.free = self.drained = self.last_start = core.begin
        self.written: set[int] = set()  # UB blocks written since the last barrier
        self.env.process(self.run())

    def change(self):
        event, self.changed = self.changed, self.env.event()
        event.succeed()

    def until(self, cycle):
        if cycle > self.env.now:
            yield self.env.timeout(cycle - self.env.now)

    @property
    def idle(self):
        return not self.entries and not self.moving

    @property
    def settled(self):
        return max(self.drained, self.last_start)

    def run(self):
        while True:
            while not self.entries:
                yield self.changed
            entry = self.entries[0]
            yield from self.until(max(entry.visible, self.free))
            op = entry.op
            if op.kind == k.VECTOR:
                yield from self.vector(entry)
            elif op.kind == k.COPY:
                yield from self.copy(entry)
            elif op.kind == k.SET:
                self.begin(entry)
                done = max(self.drained, self.env.now)
                self.core.raise_flag(op.flag, done)
                self.core.end[entry.index] = done + self.core.timing.sync.flag_cycles
                self.free = self.env.now + self.hold
            elif op.kind == k.WAIT:
                done = yield from self.core.take_flag(op.flag)
                source_is_scalar = op.work.event.source is PipeID.PIPE_S
                sync = self.core.timing.sync
                yield from self.until(done + (sync.from_scalar_cycles if source_is_scalar else sync.flag_cycles))
                self.begin(entry)
                self.free = self.core.end[entry.index] = self.env.now + self.hold
            else:
                yield from self.until(self.drained)
                self.begin(entry)
                self.written.clear()
                self.free = self.core.end[entry.index] = self.env.now + self.hold

    def begin(self, entry):
        self.core.start[entry.index] = self.last_start = self.env.now
        assert self.entries.pop(0) is entry
        self.change()

    def vector(self, entry):
        op = entry.op
        if self.core.auto_sync and self.written & blocks(op.touches):
            self.written.clear()
            yield from self.until(self.drained + op.lead)
        yield from self.until(self.free + op.lead)
        self.written |= blocks(op.writes)
        self.begin(entry)
        self.free = self.env.now + op.occupancy
        done = self.core.end[entry.index] = self.free + op.tail
        self.drained = max(self.drained, done)

    def copy(self, entry):
        self.begin(entry)
        self.moving = True
        done = self.env.event()
        moving = Moving(self.core.number, 0 if self.number == k.MTE2 else 1, entry.op, entry.address, done)
        moving.arrived = self.env.now
        self.core.memory.request(moving)
        begun = self.env.now
        latency = yield done
        yield from self.until(begun + entry.op.occupancy)  # rows take their time
        self.core.end[entry.index] = self.env.now + latency
        self.drained = max(self.drained, self.env.now + latency)
        self.free = self.env.now + self.core.timing.memory.issue_gap_cycles
        self.moving = False
        self.change()


@dataclass
class Guard:
    touched: set[int] = field(default_factory=set)
    written: set[int] = field(default_factory=set)
    stored: set[int] = field(default_factory=set)


class PlainCore:
    """One block on one core."""

    def __init__(self, launch, program, number, begin):
        self.env, self.memory, self.soc = launch.env, launch.memory, launch.soc
        self.timing = launch.soc.require_timing()
        self.launch, self.program, self.number, self.begin = launch, program, number, begin
        self.auto_sync = launch.program.auto_sync
        self.ops = [launch.costs.lower(instr) for instr in program.instrs]
        self.dispatch, self.start, self.end = ([-1] * len(self.ops) for _ in range(3))
        self.finish = -1
        self.flags = defaultdict(list)
        self.flag_raised = self.env.event()
        queues, sync = self.timing.queues, self.timing.sync
        self.queues = [
            Queue(self, k.V, queues.vector_entries, sync.vector_hold_cycles),
            Queue(self, k.MTE2, queues.mte2_entries, sync.transfer_hold_cycles),
            Queue(self, k.MTE3, queues.mte3_entries, sync.transfer_hold_cycles),
        ]
        self.guards = [Guard(), Guard(), Guard()]
        self.cache = DataCache(self.soc.dcache.aiv_bytes, self.soc.dcache.line_bytes)

    def raise_flag(self, flag, done):
        self.flags[flag].append(done)
        event, self.flag_raised = self.flag_raised, self.env.event()
        event.succeed()

    def take_flag(self, flag):
        while not self.flags[flag]:
            yield self.flag_raised
        return self.flags[flag].pop(0)

    def until(self, cycle):
        if cycle > self.env.now:
            yield self.env.timeout(cycle - self.env.now)

    def settle(self, queues):
        """Wait until the queues have been worked off; the cycle in which their results are there."""
        while not all(queue.idle for queue in queues):
            yield simpy.AnyOf(self.env, [queue.changed for queue in queues])
        return max(queue.settled for queue in queues)

    def run(self):
        scalar = self.timing.scalar
        addresses = iter(self.program.gm_addresses)
        yield self.env.timeout(self.begin + scalar.prologue_cycles - self.env.now)
        for index, op in enumerate(self.ops):
            if op.kind == k.SCALAR_ACCESS:
                yield from self.access(index, op, addresses)
                continue
            if op.issue:
                yield self.env.timeout(op.issue)
            if op.kind <= k.LAST_QUEUED:
                yield from self.enqueue(index, op, addresses)
            else:
                yield from self.own(index, op)
                self.dispatch[index] = self.start[index] = self.env.now
                if self.end[index] < 0:
                    self.end[index] = self.env.now
        yield self.env.timeout(self.launch.costs.calls(self.program.trailing_calls))
        settled = yield from self.settle(self.queues)
        self.finish = max(self.env.now, settled, *self.end, 0) + scalar.epilogue_cycles
        yield from self.until(self.finish)
        self.launch.finished(self)

    def enqueue(self, index, op, addresses):
        queue = self.queues[op.queue]
        while len(queue.entries) >= queue.depth:
            yield queue.changed
        visible = self.env.now
        guard = self.guards[op.queue]
        guard.touched |= blocks(op.touches)
        guard.written |= blocks(op.writes)
        if self.auto_sync and guard.stored & blocks(op.touches):
            guard.stored = set()
            visible += self.timing.sync.from_scalar_cycles
        self.dispatch[index] = visible
        queue.entries.append(Entry(index, op, visible, next(addresses) if op.kind == k.COPY else -1))
        queue.change()

    def own(self, index, op):
        sync = self.timing.sync
        if op.kind == k.SCALAR_SET:
            self.raise_flag(op.flag, self.env.now)
            self.end[index] = self.env.now + sync.from_scalar_cycles
        elif op.kind == k.SCALAR_WAIT:
            done = yield from self.take_flag(op.flag)
            yield from self.until(done + sync.to_scalar_cycles)
            self.clear(self.guards[k.QUEUE_OF[op.work.event.source]])
        else:
            yield from self.until((yield from self.settle(self.queues)))
            for guard in self.guards:
                self.clear(guard)
            self.queues[k.V].written.clear()
            if op.kind == k.SYNC_ALL:
                yield self.launch.arrive()

    def clear(self, guard):
        guard.touched, guard.written = set(), set()

    def access(self, index, op, addresses):
        work = op.work
        if work.memory is Memory.UB and self.auto_sync:
            touched = blocks(op.touches)
            needed = [q for q, g in enumerate(self.guards) if (g.touched if work.store else g.written) & touched]
            if needed:
                settled = yield from self.settle([self.queues[q] for q in needed])
                yield from self.until(settled + self.timing.sync.to_scalar_cycles)
                for q in needed:
                    self.clear(self.guards[q])
            if work.store:
                for guard in self.guards:
                    guard.stored |= blocks(op.writes)
        self.dispatch[index] = self.start[index] = self.env.now
        yield self.env.timeout(op.issue + op.occupancy)
        if work.memory is Memory.GM and not self.cache.touch(next(addresses)):
            yield self.env.timeout(op.tail)
        self.end[index] = self.env.now


class PlainLaunch:
    """All blocks of a program on the cores of `soc`, with `l2` as it is."""

    def __init__(self, soc, program, l2):
        self.soc, self.program = soc, program
        self.env = simpy.Environment()
        self.memory = PlainMemory(self.env, soc, l2)
        self.costs = k.CostModel(soc)
        self.timing = soc.require_timing()
        self.waiting = sorted(program.blocks, key=lambda block: block.block)
        self.cores: list[PlainCore] = []
        self.ended: list[PlainCore] = []
        self.arrived = 0
        self.gate = self.env.event()

    def run(self) -> dict[int, PlainCore]:
        """Blocks by number, with their times; a block that never ends has `finish` -1."""
        for number in range(min(self.soc.cores.aiv, len(self.waiting))):
            self.begin(self.waiting.pop(0), number, self.timing.launch.stagger_cycles * number)
        self.env.run()
        return {core.program.block: core for core in self.cores}

    def begin(self, program, number, cycle):
        core = PlainCore(self, program, number, cycle)
        self.cores.append(core)
        self.env.process(core.run())

    def finished(self, core):
        """The cores that end in one cycle take their next blocks in order."""
        self.ended.append(core)
        if len(self.ended) == 1:
            self.env.process(self.hand_out())

    def hand_out(self):
        yield self.env.timeout(0.5)  # all that end in this cycle have ended
        ended, self.ended = self.ended, []
        for core in sorted(ended, key=lambda core: core.number):
            if self.waiting:
                start = int(self.env.now) + self.timing.launch.next_block_cycles
                self.begin(self.waiting.pop(0), core.number, start)

    def arrive(self):
        self.arrived += 1
        gate = self.gate
        if self.arrived == self.program.block_dim:
            self.arrived, self.gate = 0, self.env.event()
            self.env.process(self.open(gate))
        return gate

    def open(self, gate):
        yield self.env.timeout(self.timing.sync.sync_all_cycles)
        gate.succeed()


def blocks(bits: int) -> set[int]:
    """The UB blocks of a bit mask."""
    return {number for number in range(bits.bit_length()) if bits >> number & 1}
