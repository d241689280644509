"""What an expert would say on seeing the account: a few findings, each with its share, its place and a hint.

A hint asks for another program (two buffers, bigger tiles, flags in place of a barrier), so it is offered and not
computed; what a change of the machine alone would bring is `whatif`'s business.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ascend_sim.explain.path import Part
from ascend_sim.explain.reasons import Reason
from ascend_sim.explain.sums import Sum
from ascend_sim.places import place_of
from ascend_sim.program import CopyWork, FlagWork, HardEvent, Instr, PipeID

if TYPE_CHECKING:
    from ascend_sim.explain.account import Account

_WORTH_SAYING = 0.1  # of the path, or of the AIV time
_LIMIT_SHARE = 0.4  # of the path: one class decides
_HBM_SHARE = 0.25  # the rest of a transfer that HBM decides is its own pipe's and latency
_SMALL_COPY_BYTES = 8192
_PARTS_SHOWN = 3


@dataclass(frozen=True, slots=True)
class Finding:
    """`kind`: "unbalanced", "few_cores", "single_buffer", "barriers", "bank_conflicts", "scalar_bound", "hbm_bound",
    "l2_bound", "small_copies", "dependent_results". `share` (0..1) is of the critical path or of the AIV time, as
    `text` says; `line` is `file:line` of the instruction that it is about, or "". `hint` may be ""."""

    kind: str
    share: float
    text: str
    line: str = ""
    hint: str = ""

    def to_json(self) -> dict[str, Any]:
        found = {"kind": self.kind, "share": round(self.share, 4), "text": self.text, "line": self.line}
        return found | {"hint": self.hint}


def findings_of(account: Account) -> list[Finding]:
    """Everything worth saying, the largest share first; that cores stand unused comes last."""
    found = [finding for rule in _RULES for finding in rule(account)]
    return sorted(found, key=lambda finding: (finding.kind == "few_cores", -finding.share))


def _part(share: float) -> str:
    return f"{100 * share:.1f} %"


def _line(instr: Instr | None) -> str:
    return str(instr.place or "") if instr else ""


def _path_share(account: Account, *parts: Part, pipe: str = "") -> float:
    total = sum(step.cycles for step in account.path) or 1
    return sum(s.cycles for s in account.path if s.part in parts and (not pipe or s.pipe == pipe)) / total


def _largest(account: Account, *parts: Part) -> Instr | None:
    """The instruction on the path that takes most of these parts, all steps of its source line added up."""
    cycles: dict[Any, int] = {}
    instrs: dict[Any, Instr] = {}
    for step in account.path:
        if step.part in parts and step.instr is not None:
            key = (step.instr.name, _line(step.instr))
            cycles[key] = cycles.get(key, 0) + step.cycles
            instrs.setdefault(key, step.instr)
    return instrs[max(cycles, key=lambda key: cycles[key])] if cycles else None


def _sums(account: Account, pipe: str, reason: Reason, events: Iterable[str] = ()) -> list[Sum]:
    wanted = set(events)
    return [s for s in account.sums if s.pipe == pipe and s.reason is reason and (not wanted or s.event in wanted)]


def _unbalanced(account: Account) -> Iterator[Finding]:
    balance = account.balance
    waits = sum(s.share for s in _sums(account, "scalar", Reason.CORES))
    if balance.uneven:
        lost = 1 - balance.mean_us / balance.max_us
        yield Finding(
            "unbalanced",
            lost,
            f"cores are unevenly loaded: the slowest takes {balance.max_us:.2f} us, the mean {balance.mean_us:.2f} us",
            hint="share the work more evenly among the blocks",
        )
    elif waits > _WORTH_SAYING:
        where = _sums(account, "scalar", Reason.CORES)[0]
        yield Finding(
            "unbalanced",
            waits,
            f"cores wait for each other at {place_of(where.instr)} for {_part(waits)} of the AIV time",
            where.line,
            "share the work between two SyncAll more evenly, or need fewer of them",
        )


def _few_cores(account: Account) -> Iterator[Finding]:
    balance = account.balance
    if 0 < balance.used <= balance.cores // 2:
        yield Finding(
            "few_cores",
            1 - balance.used / balance.cores,
            f"{balance.used} of {balance.cores} vector cores are used",
            hint="launch more blocks, if the work can be cut further",
        )


def _single_buffer(account: Account) -> Iterator[Finding]:
    """Copies wait for the vector unit to leave their only buffer while it waits for them: they take turns."""
    pairs = (("mte2", "V_MTE2", "MTE2_V", "copies in"), ("vec", "MTE3_V", "V_MTE3", "copies out"))
    for pipe, freed, filled, copies in pairs:
        other = "vec" if pipe == "mte2" else "mte3"
        mine = _sums(account, pipe, Reason.FLAG, [freed])
        theirs = _sums(account, other, Reason.FLAG, [filled])
        if not mine or not theirs:
            continue
        share = _only_buffer(account, pipe, HardEvent[freed]) * sum(s.share for s in mine)
        share = min(share, sum(s.share for s in theirs))
        copy = theirs[0] if pipe == "mte2" else mine[0]
        if share > _WORTH_SAYING:
            yield Finding(
                "single_buffer",
                share,
                f"{copies} and the vector unit take turns: each waits for the other to be done with their one buffer, "
                f"at least {_part(share)} of the AIV time ({place_of(theirs[0].cause)}, {place_of(mine[0].cause)})",
                copy.cause_line,
                "give the queue two buffers (InitBuffer with num=2), so that the next tile moves beside the computing",
            )


def _only_buffer(account: Account, pipe: str, event: HardEvent) -> float:
    """Of the time that `pipe` waits for a buffer to be freed (by `event`), how much was due to the buffer that was
    freed last by its source line (0..1): where there are two, it is the one before. Measured in the slowest block."""
    block = next(b for b in account.blocks if b.block == account.balance.slowest_block)
    prices, gaps = block.columns.prices, block.pipes[pipe].gaps
    is_free = np.array([_sets(instr, event) for instr in prices.instrs])
    at = np.flatnonzero((gaps.reason == Reason.FLAG) & (gaps.index >= 0))
    setters, cycles = prices.setter[gaps.index[at]], gaps.cycles[at]
    chosen = np.flatnonzero(is_free[prices.code[setters]]) if len(at) else at
    lines = [_line(instr) for instr in prices.instrs]
    frees: dict[str, list[int]] = {}
    for position in np.flatnonzero(is_free[prices.code]).tolist():
        frees.setdefault(lines[prices.code[position]], []).append(position)
    only = 0
    for row in chosen.tolist():
        positions = frees[lines[prices.code[setters[row]]]]
        before = bisect_left(positions, int(gaps.index[at[row]])) - 1
        only += int(cycles[row]) if positions[before] == setters[row] else 0
    total = int(cycles[chosen].sum())
    return only / total if total else 0.0


def _sets(instr: Instr, event: HardEvent) -> bool:
    return isinstance(instr.work, FlagWork) and not instr.work.wait and instr.work.event is event


def _barriers(account: Account) -> Iterator[Finding]:
    found = _sums(account, "scalar", Reason.BARRIER)
    often = [s for s in found if s.count > len(account.blocks)]
    share = sum(s.share for s in often)
    if share > _WORTH_SAYING:
        yield Finding(
            "barriers",
            share,
            f"the scalar unit stands before {place_of(often[0].instr)} for {_part(share)} of the AIV time",
            often[0].line,
            "order pipes by flags or queues where one needs the other, in place of PIPE_ALL",
        )


def _bank_conflicts(account: Account) -> Iterator[Finding]:
    share = _path_share(account, Part.BANKS)
    if share > _WORTH_SAYING / 2:
        worst = _largest(account, Part.BANKS)
        yield Finding(
            "bank_conflicts",
            share,
            f"UB bank conflicts are {_part(share)} of the critical path, most of them in {place_of(worst)}",
            _line(worst),
            "place operands so that one repeat's blocks lie in different bank groups (shift a buffer by 32 B to 256 B)",
        )


def _scalar(account: Account) -> Iterator[Finding]:
    share = _path_share(account, Part.ISSUE, Part.ACCESS)
    if share > _LIMIT_SHARE:
        worst = _largest(account, Part.ISSUE, Part.ACCESS)
        yield Finding(
            "scalar_bound",
            share,
            f"the scalar unit decides: issuing instructions and its own are {_part(share)} of the critical path, most "
            f"of it at {place_of(worst)}",
            _line(worst),
            "fewer and longer instructions: more elements or repeats a call, no GetValue and SetValue in loops",
        )


def _memory(account: Account) -> Iterator[Finding]:
    for kind, part, what in (("hbm_bound", Part.HBM, "HBM"), ("l2_bound", Part.L2, "L2")):
        share = _path_share(account, part)
        if share > _HBM_SHARE:
            worst = _largest(account, part)
            l2 = "l2_read" if worst and worst.pipe is PipeID.PIPE_MTE2 else "l2_write"
            name = "hbm" if what == "HBM" else l2
            roof = next(roof for roof in account.roofline.roofs if roof.name == name)
            yield Finding(
                kind,
                share,
                f"{what} decides: copies are {_part(share)} of the critical path longer because the cores share it "
                f"({roof.rate:,.0f} of {roof.roof:,.0f} GB/s), most of it at {place_of(worst)}",
                _line(worst),
                "move fewer bytes: fuse kernels, keep in UB what is used again"
                + (", make L2 hold what the next launch reads" if what == "HBM" else ""),
            )


def _small_copies(account: Account) -> Iterator[Finding]:
    share = _path_share(account, Part.ENGINE, Part.ARRIVAL, Part.HBM_LATENCY)
    copies = [s for s in account.path if s.instr is not None and isinstance(s.instr.work, CopyWork)]
    sizes = {(s.block, s.index): s.instr.work.nbytes for s in copies if s.instr and isinstance(s.instr.work, CopyWork)}
    blocks = {block for block, _ in sizes}
    if share > _WORTH_SAYING and len(sizes) > 2 * len(blocks):
        mean = sum(sizes.values()) / len(sizes)
        if mean < _SMALL_COPY_BYTES:
            worst = _largest(account, Part.ENGINE, Part.ARRIVAL, Part.HBM_LATENCY)
            yield Finding(
                "small_copies",
                share,
                f"copies are short: latency and engine gaps are {_part(share)} of the critical path, {mean:,.0f} B a "
                f"copy on it ({place_of(worst)})",
                _line(worst),
                "bigger tiles: fewer copies of more bytes, up to what UB holds",
            )


def _dependent(account: Account) -> Iterator[Finding]:
    share = _path_share(account, Part.RESULT)
    if share > _WORTH_SAYING:
        worst = _largest(account, Part.RESULT)
        yield Finding(
            "dependent_results",
            share,
            f"vector instructions wait for each other's results: {_part(share)} of the critical path, most of it "
            f"behind {place_of(worst)}",
            _line(worst),
            "longer instructions, or independent ones between two that depend on each other",
        )


_RULES: tuple[Callable[[Account], Iterator[Finding]], ...] = (
    _unbalanced,
    _few_cores,
    _single_buffer,
    _barriers,
    _bank_conflicts,
    _scalar,
    _memory,
    _small_copies,
    _dependent,
)
