"""What `run --json --full` keeps beside the summary, so that two runs can be compared later."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from ascend_sim.report.lines import line_costs

if TYPE_CHECKING:
    from ascend_sim.report.result import Result

VERSION = 1


def full_json(result: Result) -> dict[str, Any]:
    """`instructions` by name, `pipes` (times in us, mean per core), `waits` by reason and pipe, `lines`."""
    account = result.account
    counts: Counter[str] = Counter()
    for block in result.program.blocks:
        for instr, times in Counter(block.instrs).items():
            counts[instr.name] += times
    return {
        "version": VERSION,
        "instructions": dict(counts.most_common()),
        "pipe_instructions": {name: use.instructions for name, use in result.pipes.items()},
        "pipes": {name: total.to_json() for name, total in account.pipes.items()},
        "path": {name: round(share, 4) for name, share in account.bound.shares.items()},
        "lines": [cost.to_json() for cost in line_costs(account)],
    }
