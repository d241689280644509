"""How long a vector function takes on the 950.

Its instructions are dispatched in program order into a window, a few per cycle, and leave it out of order: each starts
when its sources are there and its unit is free. There are two execution units and two load ports; stores go through a
buffer (`ubports`). Registers are renamed, so only reads of results order instructions; the dispatch stands still when
the window is full. Entering a loop costs
some cycles.

A loop is not walked to its end: when a round begins in the same state as an earlier one, all that follows repeats, and
the rounds in between are added up. A body is timed once (`VfTimer`); only where its operands lie in the banks makes a
difference between two calls.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ascend_sim.machine.ubports import Turn, UbLayout, UbPorts
from ascend_sim.program import VfInstr, VfLoop, VfUnit, VfWork
from ascend_sim.soc.timing import VfTiming

Items = Sequence[VfInstr | VfLoop]
_SEARCHED_ROUNDS = 256  # a loop that has found no steady state by then goes on as its second half went


class VfTimer:
    """Cycles of vector functions on one chip, by body and bank phase of the operands."""

    def __init__(self, timing: VfTiming, layout: UbLayout) -> None:
        self._timing = timing
        self._layout = layout
        self._known: dict[Any, int] = {}

    @classmethod
    def of(cls, timing: VfTiming, layout: UbLayout) -> VfTimer:
        """The one that all who price with the same timing share."""
        key = id(timing), layout
        found = _TIMERS.get(key)
        if found is None:
            while len(_TIMERS) >= _MOST_TIMERS:
                _TIMERS.pop(next(iter(_TIMERS)))
            found = _TIMERS[key] = cls(timing, layout)  # keeps `timing`, so that no other takes its id
        return found

    def cycles(self, work: VfWork) -> int:
        key = _key(work.body, self._layout.phase_bytes)
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = _Run(self._timing, self._layout).cycles(work.body)
        return found


_MOST_TIMERS = 8
_TIMERS: dict[tuple[int, UbLayout], VfTimer] = {}


def _key(items: Items, phase: int) -> tuple[Any, ...]:
    """What of a body decides its time: operands that lie alike in the banks are alike."""
    parts: list[Any] = []
    for item in items:
        if isinstance(item, VfLoop):
            parts.append((item.trips, _key(item.body, phase)))
            continue
        access = item.access
        where = None
        if access is not None:
            strides = tuple(stride % phase for stride in access.strides)
            where = (access.start % phase, strides, access.length, access.blocks, access.block_stride, access.indexed)
        parts.append((item.cost, item.unit, item.width, item.reads, item.writes, where))
    return tuple(parts)


class _Entry:
    """An instruction in the window. `sources`: entries whose results it waits for, `ready`: when they are there."""

    __slots__ = ("cost", "for_execute", "for_store", "instr", "issued", "ready", "sources", "turns")

    def __init__(self, instr: VfInstr, cost: _Cost, sources: list[_Entry], turns: tuple[Turn, ...]) -> None:
        self.instr = instr
        self.cost = cost
        self.sources = sources
        self.turns = turns
        self.issued = False
        self.ready = self.for_execute = self.for_store = 0


class _Cost:
    """One instruction's figures: `latency` until its result may be used elsewhere, `interval` of its unit."""

    __slots__ = ("interval", "latency", "single")

    def __init__(self, timing: VfTiming, instr: VfInstr) -> None:
        self.latency = timing.figure(timing.latency_cycles, instr.cost, instr.width)
        self.interval = timing.figure(timing.interval_cycles, instr.cost, instr.width)
        self.single = timing.single_issue.get(instr.cost, False)


class _Run:
    """One body from its first cycle to its last."""

    def __init__(self, timing: VfTiming, layout: UbLayout) -> None:
        self.timing = timing
        self.layout = layout
        self.ports = UbPorts(timing.accesses_per_cycle, timing.store_buffer_entries)
        self.now = 0
        self.dispatched = 0  # in this cycle
        self.window: list[_Entry] = []
        self.writers: dict[int, _Entry] = {}
        self.units = [0] * timing.execute_units  # free from this cycle on
        self.mask_unit = self.load_port = self.store_port = 0
        self.loads = 0  # in this cycle
        self.entered = False  # whether a loop has begun: the start of the function sets up the first one
        self.finish = 0
        self._costs: dict[int, _Cost] = {}
        self._numbers: dict[int, int] = {}
        self._turns: dict[tuple[int, int], tuple[Turn, ...]] = {}

    def cycles(self, items: Items) -> int:
        self._items(items, ())
        while self.window or not self.ports.drained:
            self._step()
        timing = self.timing
        done = max(self.finish, self.ports.busy_until, self.now)
        return timing.start_cycles + done + timing.drain_cycles

    # -- dispatch ---------------------------------------------------------------------------------------------------

    def _items(self, items: Items, rounds: tuple[int, ...]) -> None:
        for item in items:
            if isinstance(item, VfLoop):
                self._loop(item, rounds)
            else:
                self._dispatch(item, rounds)

    def _loop(self, loop: VfLoop, rounds: tuple[int, ...]) -> None:
        """The rounds of a loop; a state that has been seen before skips as many repetitions as there is room for."""
        if self.entered:
            self._wait(self.timing.loop_cycles)
        self.entered = True
        period = self._bank_period(loop, len(rounds))
        seen: dict[Any, tuple[int, int]] = {}
        searching = loop.trips > 2
        number = 0
        halfway = 0
        while number < loop.trips:
            if searching:
                state = (number % period, self._state())
                before = seen.get(state)
                skipped = 0
                if before is not None:
                    length = number - before[0]
                    skipped = (loop.trips - number) // length * length
                    self._skip(skipped // length * (self.now - before[1]))
                    searching = False
                elif number == _SEARCHED_ROUNDS // 2:
                    halfway = self.now
                elif number == _SEARCHED_ROUNDS:
                    length = _SEARCHED_ROUNDS - _SEARCHED_ROUNDS // 2
                    skipped = (loop.trips - number) // period * period
                    self._skip(round(skipped * (self.now - halfway) / length))
                    searching = False
                seen[state] = (number, self.now)
                number += skipped
                if number >= loop.trips:
                    break
            self._items(loop.body, (*rounds, number))
            number += 1

    def _bank_period(self, loop: VfLoop, depth: int) -> int:
        """After so many rounds the operands lie in the same banks again."""
        phase = self.layout.phase_bytes
        period = 1
        for instr in _instrs(loop.body):
            if instr.access is not None:
                period = math.lcm(period, phase // math.gcd(phase, instr.access.strides[depth]))
        return period

    def _dispatch(self, instr: VfInstr, rounds: tuple[int, ...]) -> None:
        if instr.unit is VfUnit.BARRIER:
            self._drain()
            return
        timing = self.timing
        while len(self.window) >= timing.window_entries:
            self._step()
        self._take_slot()
        cost = self._costs.get(id(instr))
        if cost is None:
            cost = self._costs[id(instr)] = _Cost(timing, instr)
            self._numbers[id(instr)] = len(self._numbers)
        writers = self.writers
        sources = [writers[slot] for slot in instr.reads if slot in writers]
        entry = _Entry(instr, cost, sources, self._turns_of(instr, rounds))
        for slot in instr.writes:
            writers[slot] = entry
        self.window.append(entry)

    def _take_slot(self) -> None:
        """Dispatch something in this cycle or the next."""
        if self.dispatched >= self.timing.dispatch_instructions_per_cycle:
            self._step()
        self.dispatched += 1

    def _turns_of(self, instr: VfInstr, rounds: tuple[int, ...]) -> tuple[Turn, ...]:
        access = instr.access
        if access is None:
            return ()
        start = access.start + sum(stride * k for stride, k in zip(access.strides, rounds, strict=True))
        phase = start % self.layout.phase_bytes
        key = (id(instr), phase)
        found = self._turns.get(key)
        if found is None:
            found = self.layout.turns(phase, access.length, access.blocks, access.block_stride)
            self._turns[key] = found
        return found

    def _wait(self, cycles: int) -> None:
        """Nothing is dispatched for so long."""
        for _ in range(cycles):
            self._step()

    def _drain(self) -> None:
        """A memory barrier: nothing behind it starts before all in front of it is done."""
        while self.window or not self.ports.drained or self.now < max(self.finish, self.ports.busy_until):
            self._step()
        self._wait(self.timing.barrier_cycles)

    # -- issue ------------------------------------------------------------------------------------------------------

    def _step(self) -> None:
        """One cycle: whatever can start does, oldest first."""
        now = self.now
        self.ports.begin(now)
        kept = [entry for entry in self.window if not self._issue(entry, now)]
        self.window = kept
        self.ports.end(now)
        self.now = now + 1
        self.dispatched = self.loads = 0

    def _issue(self, entry: _Entry, now: int) -> bool:
        """Start an instruction if its sources and its unit are free in this cycle."""
        sources = entry.sources
        if sources:
            store = entry.instr.unit is VfUnit.STORE
            ready = 0
            for source in sources:
                if not source.issued:
                    return False
                there = source.for_store if store else source.for_execute
                ready = max(ready, there)
            entry.ready = ready
            entry.sources = []
        if entry.ready > now:
            return False
        return self._start(entry, now)

    def _start(self, entry: _Entry, now: int) -> bool:
        unit, cost = entry.instr.unit, entry.cost
        timing = self.timing
        if unit is VfUnit.EXECUTE:
            free = next((i for i, at in enumerate(self.units) if at <= now and not (cost.single and i)), -1)
            if free < 0:
                return False
            self.units[free] = now + cost.interval
            entry.for_execute = now + max(1, cost.latency - timing.forward_cycles)
            entry.for_store = now + max(1, cost.latency - timing.store_forward_cycles)
        elif unit is VfUnit.MASK:
            if self.mask_unit > now:
                return False
            self.mask_unit = now + cost.interval
            entry.for_execute = entry.for_store = now + cost.latency
        elif unit is VfUnit.LOAD:
            if not self._load(entry, now):
                return False
        else:
            if self.store_port > now or not self.ports.has_room:
                return False
            self.ports.store(entry.turns)
            self.store_port = now + cost.interval
        entry.issued = True
        self.finish = max(self.finish, now + cost.latency)
        return True

    def _load(self, entry: _Entry, now: int) -> bool:
        """Start a load: one of `load_ports` in a cycle, or the only one."""
        cost, timing = entry.cost, self.timing
        ports = timing.load_ports
        if self.load_port > now or self.loads + (ports if cost.single else 1) > ports:
            return False
        if not self.ports.load(now, entry.turns):
            return False
        self.loads += ports if cost.single else 1
        longer = max(cost.interval, len(entry.turns)) - 1
        if longer:
            self.load_port = now + 1 + longer
        entry.for_execute = entry.for_store = now + max(1, cost.latency + longer - timing.load_forward_cycles)
        return True

    # -- steady state -----------------------------------------------------------------------------------------------

    def _state(self) -> Any:
        """Everything that decides what happens from here on, relative to the present cycle."""
        now = self.now
        numbers = self._numbers
        order = {id(entry): index for index, entry in enumerate(self.window)}

        def waits(entry: _Entry) -> tuple[Any, ...]:
            return tuple(
                (-1, max(0, s.for_execute - now), max(0, s.for_store - now)) if s.issued else (order[id(s)],)
                for s in entry.sources
            )

        window = tuple((numbers[id(e.instr)], max(0, e.ready - now), waits(e), e.turns) for e in self.window)
        results = tuple(
            (slot, order[id(e)]) if not e.issued else (slot, -1, max(0, e.for_execute - now), max(0, e.for_store - now))
            for slot, e in sorted(self.writers.items())
            if not e.issued or e.for_execute > now or e.for_store > now
        )
        units = tuple(max(0, at - now) for at in (*self.units, self.mask_unit, self.load_port, self.store_port))
        return window, results, units, self.dispatched, self.loads, self.ports.state(now), max(0, self.finish - now)

    def _skip(self, cycles: int) -> None:
        """Go on `cycles` later in the same state."""
        self.now += cycles
        self.finish += cycles
        self.units = [at + cycles for at in self.units]
        self.mask_unit += cycles
        self.load_port += cycles
        self.store_port += cycles
        self.ports.shift(cycles)
        entries = {id(entry): entry for entry in (*self.window, *self.writers.values())}
        for entry in list(entries.values()):
            entries.update((id(source), source) for source in entry.sources)
        for entry in entries.values():
            entry.ready += cycles
            entry.for_execute += cycles
            entry.for_store += cycles


def _instrs(items: Items) -> list[VfInstr]:
    found: list[VfInstr] = []
    for item in items:
        found += _instrs(item.body) if isinstance(item, VfLoop) else [item]
    return found
