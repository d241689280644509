"""The table and its summary as text, and as a dictionary for JSON."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ascend_sim.accuracy.checks import Check, checks
from ascend_sim.accuracy.rows import PROTOCOLS
from ascend_sim.accuracy.summary import summarise
from ascend_sim.accuracy.table import Comparison, Entry
from ascend_sim.plurals import plural
from ascend_sim.report.style import PLAIN, Style, us

NAME_COLUMNS = 58
SHORT = {"warm": "w", "cold": "c"}


def table_json(entries: Sequence[Entry]) -> dict[str, Any]:
    """Everything: rows, summary, checks."""
    return {
        "rows": [entry.to_json() for entry in entries],
        "summary": summarise(entries),
        "checks": [check.to_json() for check in checks(entries)],
        "protocols": PROTOCOLS,
    }


def table_text(entries: Sequence[Entry], style: Style = PLAIN) -> str:
    """One line per simulated row; then the summary, the checks, and what could not be rebuilt and why."""
    simulated = [entry for entry in entries if entry.sample is not None]
    lines = [*_rows(simulated, style), ""] if simulated else []
    lines += _summary(summarise(entries), style)
    lines += ["", style.rule("checks"), *(_check(check, style) for check in checks(entries) if check.value is not None)]
    left_out = [entry for entry in entries if entry.sample is None]
    if left_out:
        lines += ["", *_left_out(left_out, style)]
    return "\n".join(lines)


def _rows(entries: Sequence[Entry], style: Style) -> Iterator[str]:
    yield style.rule("measured rows (times in us; errors: duration, AIV time, vector and MTE2 busy time)")
    head = f"{'row':<{NAME_COLUMNS}} {'chip':<6} {'how':<5} {'simulated':>11} {'measured':>11}"
    yield style.paint(f"{head} {'error':>7} {'aiv':>7} {'vec':>7} {'mte2':>7}", "dim")
    for entry in entries:
        row, found = entry.row, entry.headline
        name = row.id if len(row.id) <= NAME_COLUMNS else row.id[: NAME_COLUMNS - 2] + ".."
        times = f"{us(found.predicted):>11} {us(found.measured):>11}" if found else f"{'':>23}"
        errors = " ".join(_error(value) for value in (found, entry.aiv(), entry.pipe("vec"), entry.pipe("mte2")))
        how = f"{row.protocol}{SHORT[row.l2]}"
        yield f"{name:<{NAME_COLUMNS}} {row.soc.removeprefix('Ascend'):<6} {how:<5} {times} {errors}"


def _error(found: Comparison | None) -> str:
    return f"{'':>7}" if found is None else f"{100 * found.error:>+6.1f}%"


def _summary(summary: Mapping[str, Any], style: Style) -> Iterator[str]:
    yield style.rule("errors without sign")
    yield style.paint(f"{'':<34} {'rows':>5} {'median':>8} {'p90':>8} {'worst':>8} {'bias':>8}", "dim")
    for name, label in (("duration", "duration"), ("vec_busy", "vector busy"), ("mte2_busy", "MTE2 busy")):
        if name in summary:
            yield _spread_line(label, summary[name])
    for name, groups in summary["by"].items():
        yield style.paint(f"duration by {name}", "dim")
        for group, spread in groups.items():
            yield _spread_line(f"  {group}", spread)


def _spread_line(label: str, spread: Mapping[str, float]) -> str:
    shares = " ".join(f"{100 * spread[name]:>7.1f}%" for name in ("median", "p90", "worst"))
    return f"{label:<34} {spread['count']:>5} {shares} {100 * spread['bias']:>+7.1f}%"


def _check(check: Check, style: Style) -> str:
    threshold, value = check.threshold, check.value
    assert value is not None
    sign = ">=" if threshold.at_least else "<="
    verdict = style.paint("ok", "good") if check.ok else style.paint("MISSED", "bad")
    goal = "" if check.reaches_goal else f", goal {sign} {100 * threshold.goal:g} %"
    return f"{threshold.name:<52} {100 * value:>6.2f} % {sign} {100 * threshold.pin:g} %  {verdict}{goal}"


def _left_out(entries: Sequence[Entry], style: Style) -> Iterator[str]:
    yield style.rule(f"not in the table: {plural(len(entries), 'row')}")
    reasons: dict[tuple[str, str], int] = {}
    for entry in entries:
        key = (entry.row.group, entry.reason)
        reasons[key] = reasons.get(key, 0) + 1
    for (group, reason), count in reasons.items():
        yield f"{count:>4}  {group:<14} {reason}"
