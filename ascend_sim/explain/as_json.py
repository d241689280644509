"""The account as JSON: the same figures that the text prints."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ascend_sim.explain.fold import Link, Stretch
from ascend_sim.program import Instr

if TYPE_CHECKING:
    from ascend_sim.explain.account import Account

_SUMS = 100


def account_json(account: Account) -> dict[str, Any]:
    """A dict ready for `json.dumps`: shares are 0..1 of the AIV time, times in us."""
    balance = account.balance
    return {
        "bound": account.bound.to_json(),
        "balance": balance.to_json(),
        "findings": [finding.to_json() for finding in account.findings],
        "pipes": {name: total.to_json() for name, total in account.pipes.items()},
        "gaps": [total.to_json() for total in account.sums[:_SUMS]],
        "path": [_stretch(account, stretch) for stretch in account.chain],
        "roofline": account.roofline.to_json(),
        "what_if": [answer.to_json() for answer in account.answers],
    }


def _stretch(account: Account, stretch: Stretch) -> dict[str, Any]:
    us = account.timeline.to_us(stretch.cycles)
    return {"us": round(us, 4), "repeats": stretch.repeats, "links": [_link(account, link) for link in stretch.links]}


def _link(account: Account, link: Link) -> dict[str, Any]:
    to_us = account.timeline.to_us
    return {
        "pipe": link.pipe,
        "us": round(to_us(link.cycles), 4),
        "instructions": link.count,
        "first": _instr(link.first),
        "last": _instr(link.last),
        "parts": {part.name.lower(): round(to_us(cycles), 4) for part, cycles in link.parts.items()},
    }


def _instr(instr: Instr | None) -> str:
    """`Muls /path/kernel.py:52`, or ""."""
    return f"{instr.name} {instr.place or ''}".strip() if instr else ""
