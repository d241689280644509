"""What if: the recorded program timed again on a machine that differs in one thing.

Each scenario also says how the account's weights change with it, so that the account can predict what the machine will
answer (`predict`); the text and the JSON show the machine's answer.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from ascend_sim.explain.aligned import align, is_aligned
from ascend_sim.explain.columns import Block, Bools, Columns, Ints, own_cycles
from ascend_sim.explain.replay import Change as Reweigh
from ascend_sim.explain.replay import Weights, replay
from ascend_sim.explain.variants import Change, ChangedCosts
from ascend_sim.machine import Machine
from ascend_sim.machine.costs import COPY, CostModel
from ascend_sim.machine.memory import hbm_bytes_per_cycle
from ascend_sim.machine.port import LOAD, STORE, PortRates
from ascend_sim.program import CopyWork, Program
from ascend_sim.soc import Soc
from ascend_sim.timeline import Stage, Timeline

_EVERYTHING_BYTES = 1 << 50  # an L2 that holds whatever a launch touches


@dataclass(frozen=True, slots=True)
class Answer:
    """`duration_us` would be the Task Duration in place of `base_us`; `key` names the scenario, `text` says it."""

    key: str
    text: str
    base_us: float
    duration_us: float

    @property
    def gain_us(self) -> float:
        return self.base_us - self.duration_us

    def to_json(self) -> dict[str, Any]:
        return {"what_if": self.key, "duration_us": round(self.duration_us, 4), "gain_us": round(self.gain_us, 4)}


@dataclass(frozen=True, slots=True)
class Scenario:
    """One thing that is different. `concerns`: whether it can make a difference to this launch; `chip` and `program`:
    what is timed; `costs`: how its instructions are priced; `reweigh`: the same for the account's weights."""

    key: str
    text: str
    concerns: Callable[[Columns], bool]
    reweigh: Callable[[Columns], Reweigh]
    chip: Callable[[Soc], Soc] = lambda soc: soc
    program: Callable[[Program], Program] = lambda program: program
    costs: Change | None = None
    l2: str = ""


def ask(columns: Columns, scenario: Scenario) -> Answer:
    """Time the launch again under `scenario`. Where L2 held what earlier launches had left, both times are those of a
    launch that finds L2 empty."""
    timeline = columns.timeline
    if timeline.conditions.l2 == "keep" and any(any(line.stage) for line in timeline.cores):
        timeline = _time(columns, columns.soc, columns.program, None, "cold")
    base_us = _duration_us(timeline)
    if not scenario.concerns(columns):
        return Answer(scenario.key, scenario.text, base_us, base_us)
    chip = scenario.chip(columns.soc)
    again = _time(columns, chip, scenario.program(columns.program), scenario.costs, scenario.l2)
    return Answer(scenario.key, scenario.text, base_us, _duration_us(again))


def predict(columns: Columns, scenario: Scenario) -> float:
    """The Task Duration in us that the account expects under `scenario`: transfers share L2 and HBM as they did, and
    what all of them move together takes its time."""
    timeline = columns.timeline
    if not scenario.concerns(columns):
        return _duration_us(timeline)
    finish = max(replay(columns, scenario.reweigh(columns)), default=0)
    return timeline.launch_us + timeline.to_us(max(finish, _floor(columns, scenario)))


def _floor(columns: Columns, scenario: Scenario) -> float:
    """Cycles from the launch's zero that L2 and HBM need for what they move, at least."""
    chip, counters = scenario.chip(columns.soc), columns.timeline.memory
    moved = [
        counters.read_bytes / (chip.l2.read_bytes_per_cycle_per_aic * chip.cores.aic),
        counters.written_bytes / (chip.l2.write_bytes_per_cycle_per_aic * chip.cores.aic),
    ]
    if not scenario.l2:
        asked = sum(sum(line.hbm_bytes) for line in columns.timeline.cores)
        moved.append(asked / hbm_bytes_per_cycle(chip))
    return min((block.code for block in columns.blocks), default=0) + max(moved)


def _time(columns: Columns, chip: Soc, program: Program, costs: Change | None, l2: str) -> Timeline:
    conditions = columns.timeline.conditions
    machine = Machine(chip, None if costs is None else ChangedCosts(chip, costs))
    state: Any = l2 or ("cold" if conditions.l2 == "keep" else conditions.l2)
    kind: Any = conditions.launch_kind
    return machine.run(program, state, kind, conditions.cold_start_us)


def _duration_us(timeline: Timeline) -> float:
    return timeline.launch_us + timeline.to_us(timeline.duration_cycles)


# -- scenarios --------------------------------------------------------------------------------------------------------


def _scenarios() -> Iterator[Scenario]:
    """In the order of the pipes."""
    yield Scenario(
        "scalar_free",
        "the scalar unit cost nothing",
        lambda columns: columns.program.instructions > 0,
        lambda columns: partial(_scalar, math.inf),
        costs=Change(scalar_speed=math.inf),
    )
    yield Scenario(
        "scalar_2x",
        "the scalar unit were twice as fast",
        lambda columns: columns.program.instructions > 0,
        lambda columns: partial(_scalar, 2),
        costs=Change(scalar_speed=2),
    )
    yield Scenario(
        "vec_2x",
        "the vector unit were twice as fast",
        lambda columns: any(len(block.prices.queues[0]) for block in columns.blocks),
        lambda columns: _vector,
        costs=Change(vector_speed=2),
    )
    for load, name in ((True, "mte2"), (False, "mte3")):
        yield Scenario(
            f"{name}_2x",
            f"{name.upper()} were twice as fast (rate, rows, latency)",
            partial(_has_copies, load),
            lambda columns, load=load: partial(_transfers, load, columns),  # type: ignore[misc]
            chip=partial(_faster_port, load),
            costs=Change(load_speed=2) if load else Change(store_speed=2),
        )
    yield Scenario(
        "no_bank_conflicts",
        "there were no UB bank conflicts",
        lambda columns: any(block.prices.conflict.any() for block in columns.blocks),
        lambda columns: _bankless,
        costs=Change(banks=False),
    )
    yield Scenario(
        "aligned_copies",
        "all copies were 512 B-aligned in GM",
        lambda columns: not is_aligned(columns.program),
        lambda columns: partial(_aligned, columns),
        program=align,
    )
    yield Scenario(
        "hbm_2x",
        "HBM were twice as fast",
        _uses_hbm,
        lambda columns: _hbm,
        chip=_faster_hbm,
    )
    yield Scenario(
        "warm_l2",
        "L2 held everything",
        _uses_hbm,
        lambda columns: partial(_held, columns),
        chip=lambda soc: soc.model_copy(update={"l2": soc.l2.model_copy(update={"bytes": _EVERYTHING_BYTES})}),
        l2="warm",
    )


def _has_copies(load: bool, columns: Columns) -> bool:
    return any(len(block.prices.queues[1 if load else 2]) for block in columns.blocks)


def _uses_hbm(columns: Columns) -> bool:
    return any(any(line.hbm_bytes) for line in columns.timeline.cores)


def _with_memory(soc: Soc, **changes: Any) -> Soc:
    timing = soc.require_timing()
    return soc.model_copy(
        update={"timing": timing.model_copy(update={"memory": timing.memory.model_copy(update=changes)})}
    )


def _faster_port(load: bool, soc: Soc) -> Soc:
    """One direction of every core's port: its rate, on top of what both share, and its latencies."""
    memory = soc.require_timing().memory
    total = memory.port_total_bytes_per_cycle
    if load:
        rate = memory.port_load_bytes_per_cycle
        return _with_memory(
            soc,
            port_load_bytes_per_cycle=2 * rate,
            port_total_bytes_per_cycle=total + rate,
            load_latency_cycles=-(-memory.load_latency_cycles // 2),
            load_miss_latency_ns=memory.load_miss_latency_ns / 2,
        )
    rate = memory.port_store_bytes_per_cycle
    return _with_memory(
        soc,
        port_store_bytes_per_cycle=2 * rate,
        port_total_bytes_per_cycle=total + rate,
        store_latency_cycles=-(-memory.store_latency_cycles // 2),
        store_miss_ns=memory.store_miss_ns / 2,
    )


def _faster_hbm(soc: Soc) -> Soc:
    hbm = soc.hbm
    if hbm.peak_gbps is not None:
        changed = hbm.model_copy(update={"peak_gbps": 2 * hbm.peak_gbps})
    else:
        changed = hbm.model_copy(update={"read_bytes_per_cycle_per_aic": 2 * hbm.read_bytes_per_cycle_per_aic})
    return soc.model_copy(update={"hbm": changed})


# -- what the account expects -----------------------------------------------------------------------------------------


def _shorter(cycles: Ints, speed: float) -> Ints:
    return np.zeros_like(cycles) if math.isinf(speed) else np.ceil(cycles / speed).astype(np.int64)


def _scalar(speed: float, block: Block, weights: Weights) -> None:
    weights.issue, weights.access = _shorter(weights.issue, speed), _shorter(weights.access, speed)
    weights.trailing = 0 if math.isinf(speed) else math.ceil(weights.trailing / speed)


def _vector(block: Block, weights: Weights) -> None:
    for name in ("lead", "occupancy", "tail"):
        setattr(weights, name, _shorter(getattr(weights, name), 2))


def _bankless(block: Block, weights: Weights) -> None:
    weights.occupancy = weights.occupancy - block.prices.conflict


def _stages(block: Block) -> Ints:
    return np.asarray(block.line.stage, np.int64)


def _transfers(load: bool, columns: Columns, block: Block, weights: Weights) -> None:
    """The faster direction moves twice as fast alone; both lose less to each other where they share the port."""
    chips = columns.soc, _faster_port(load, columns.soc)
    before, after = (PortRates(chip.require_timing().memory) for chip in chips)
    for side, queue in ((LOAD, 1), (STORE, 2)):
        at = block.prices.queues[queue]
        at = at[np.isin(_stages(block)[at], (Stage.PORT, Stage.ROWS))]
        own, shared = block.own[at], weights.moving[at] - block.own[at]
        alone = before.alone[side] / after.alone[side]
        lost, loses = (1 / rates.together[side] - 1 / rates.alone[side] for rates in (before, after))
        sharing = loses / lost if lost > 0 else 1.0
        weights.moving[at] = np.ceil(own * alone + shared * sharing).astype(np.int64)
    mine = block.prices.queues[1 if load else 2]
    weights.latency[mine] = _shorter(weights.latency[mine], 2)


def _hbm(block: Block, weights: Weights) -> None:
    at = np.flatnonzero(_stages(block) == Stage.HBM)
    weights.moving[at] = np.maximum(block.alone[at], _shorter(weights.moving[at], 2))


def _held(columns: Columns, block: Block, weights: Weights) -> None:
    memory = columns.timing.memory
    from_hbm = (np.asarray(block.line.hbm_bytes, np.int64) > 0) & ~_bypassing(block)
    weights.moving = np.where((_stages(block) == Stage.HBM) & ~_bypassing(block), block.own, weights.moving)
    for queue, cycles in ((1, memory.load_latency_cycles), (2, memory.store_latency_cycles)):
        at = block.prices.queues[queue]
        at = at[from_hbm[at]]
        weights.latency[at] = cycles


def _bypassing(block: Block) -> Bools:
    """Transfers whose hint keeps them out of L2: it never holds what they move."""
    bypass = [isinstance(i.work, CopyWork) and i.work.l2_bypass for i in block.prices.instrs]
    return np.array(bypass, np.bool_)[block.prices.code]


def _aligned(columns: Columns, block: Block, weights: Weights) -> None:
    """A transfer takes as much less as its port has less to move."""
    (moved,) = align(Program("", [block.line.program])).blocks
    costs, memory = CostModel(columns.soc), columns.timing.memory
    users = (instr for instr in moved.instrs if instr.uses_gm)
    copies = [pair for pair in zip(moved.gm_addresses, users, strict=True) if isinstance(pair[1].work, CopyWork)]
    own = np.array([own_cycles(memory, costs.lower(instr), address) for address, instr in copies], np.int64)
    at = np.flatnonzero(block.prices.kind == COPY)
    scaled = np.ceil(weights.moving[at] * own / np.maximum(block.own[at], 1)).astype(np.int64)
    weights.moving[at] = np.maximum(own, scaled)


SCENARIOS = {scenario.key: scenario for scenario in _scenarios()}
"""All that are asked, by key."""
