"""A tuning as a table on the terminal, as CSV and as JSON."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ascend_sim.host.tensors import infos_text
from ascend_sim.plurals import plural
from ascend_sim.report.rows import table_lines
from ascend_sim.report.style import Style, percent, us
from ascend_sim.tune.reasons import reason
from ascend_sim.tune.search import Tuning
from ascend_sim.tune.trial import Trial

SHOWN = 10
EXPLAINED = 3
"""For so many of the fastest the table says why they are not as fast as the own one."""


def tuning_text(tuning: Tuning, style: Style, shown: int = SHOWN) -> str:
    """The fastest tilings, the operator's own, and why the fastest is faster."""
    trials = list(tuning.trials[:shown])
    for needed in sorted((tuning.best_as_it_is, tuning.own), key=tuning.rank):
        if not any(trial is needed for trial in trials):
            trials.append(needed)
    rows = [_header(tuning), *(_row(tuning, trial) for trial in trials)]
    lines = [style.rule(f"{tuning.operator} on {tuning.chip.variant}: {plural(len(tuning.trials), 'tiling')}")]
    lines.append(f"Call   {infos_text(tuning.infos)}")
    lines += table_lines(rows)
    lines += _notes(tuning, shown)
    return "\n".join(lines)


def _header(tuning: Tuning) -> list[str]:
    return ["rank", "us", "vs own", "verdict", "blocks", *tuning.choices, "UB", "balance", "limit"]


def _row(tuning: Tuning, trial: Trial) -> list[str]:
    return [
        str(tuning.rank(trial)),
        us(trial.duration_us) + ("" if not trial.error else f" ±{100 * trial.error:.1f} %"),
        f"{100 * tuning.versus_own(trial):+.1f} %",
        tuning.verdict(trial),
        str(trial.tiling.block_dim),
        *(str(trial.choices.get(name, "")) for name in tuning.choices),
        percent(trial.tiling.ub_used_bytes / trial.tiling.ub_bytes),
        percent(trial.balance),
        f"{trial.bound} {percent(trial.ratios[trial.bound])}",
    ]


def _notes(tuning: Tuning, shown: int) -> Iterator[str]:
    best = tuning.trials[0]
    yield f"Error  {tuning.tie_text}"
    yield f"Best   {_gain(tuning, best)}"
    as_it_is = tuning.best_as_it_is
    if as_it_is is not best:
        yield (
            f"Best   without a change of the kernel's source: rank {tuning.rank(as_it_is)}, {_gain(tuning, as_it_is)}"
        )
    others = [(rank, trial) for rank, trial in enumerate(tuning.trials[:shown], 1) if trial is not tuning.own]
    for rank, trial in others[:EXPLAINED]:
        yield f"Why    rank {rank}: {reason(tuning.own, trial)}"
    for note in best.tiling.notes:
        yield f"Note   {note}"
    for fault in tuning.faults:
        yield f"Note   the operator's own choice is not legal: {fault}"
    for text in tuning.lost:
        yield f"Note   one tiling could not be timed: {text}"
    yield f"Time   {tuning.seconds:.0f} s on {plural(tuning.workers, 'process')}"


def _gain(tuning: Tuning, trial: Trial) -> str:
    if trial is tuning.own:
        return "the operator's own choice"
    change = -tuning.versus_own(trial)
    gain = f"{percent(abs(change))} {'faster' if change >= 0 else 'slower'} than the operator's own choice"
    return f"{gain}: a tie, the own choice is as good" if tuning.verdict(trial) == "tie" else gain


def saved_text(tuning: Tuning, path: Path) -> str:
    """Which tiling `--save` has written, and what has to be changed for it."""
    change = ", for which the kernel's source has to be changed" if tuning.trials[0].tiling.changes_source else ""
    own = ", the operator's own choice" if tuning.trials[0] is tuning.own else ""
    return f"Saved  rank 1{own}{change}: {path}"


def tuning_csv(tuning: Tuning) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    choices = tuning.choices
    writer.writerow(
        ["rank", "duration_us", "sampling_error", "vs_own", "verdict", "block_dim", "key"]
        + [name.replace(" ", "_") for name in choices]
        + ["changes_source", "ub_bytes", "balance", "bound"]
        + [f"{pipe}_ratio" for pipe in tuning.own.ratios]
        + ["reason"]
    )
    for rank, trial in enumerate(tuning.trials, 1):
        writer.writerow(
            [rank, round(trial.duration_us, 4), round(trial.error, 5)]
            + [round(tuning.versus_own(trial), 5), tuning.verdict(trial)]
            + [trial.tiling.block_dim, trial.tiling.key]
            + [trial.choices.get(name, "") for name in choices]
            + ["yes" if trial.tiling.changes_source else "no"]
            + [trial.tiling.ub_used_bytes, round(trial.balance, 4), trial.bound]
            + [round(ratio, 4) for ratio in trial.ratios.values()]
            + ["" if trial is tuning.own else reason(tuning.own, trial)]
        )
    return out.getvalue()


def tuning_json(tuning: Tuning) -> dict[str, Any]:
    """A dict ready for `json.dumps`: `tilings` ranked, fastest first, and the operator's `own` rank."""
    tilings = [
        {
            "rank": rank,
            "vs_own": round(tuning.versus_own(trial), 5),
            "verdict": tuning.verdict(trial),
            "reason": "" if trial is tuning.own else reason(tuning.own, trial),
            **trial.to_json(),
        }
        for rank, trial in enumerate(tuning.trials, 1)
    ]
    own = tuning.rank(tuning.own)
    return {
        "op": tuning.operator,
        "soc": tuning.chip.name,
        "variant": tuning.chip.variant,
        "call": infos_text(tuning.infos),
        "expected_error": tuning.expected.to_json(),
        "own_faults": list(tuning.faults),
        "lost": list(tuning.lost),
        "own_rank": own,
        "own": tilings[own - 1],
        "best": tilings[0],
        "best_without_source_change": tilings[tuning.rank(tuning.best_as_it_is) - 1],
        "tilings": tilings,
        "seconds": round(tuning.seconds, 2),
        "workers": tuning.workers,
    }
