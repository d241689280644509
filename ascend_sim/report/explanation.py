"""The printed explanation of a run: findings, the account of time, the critical path, roofs, what if."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ascend_sim.explain import Account, Answer, Finding, Link, Part, PipeTotal, Reason, Roof, Stretch, Sum
from ascend_sim.places import line_of, place_of
from ascend_sim.plurals import plural
from ascend_sim.report.rows import LABEL_COLUMNS, list_rows, row, rows
from ascend_sim.report.style import Style, percent, size, us

_GAPS_PER_PIPE, _SHOWN_SHARE = 6, 0.01
_PATH_LINES = 28
_NO_GAIN = 0.0005  # of the duration: less is not worth a line of its own
_BOUNDS = {
    "scalar": "the scalar unit",
    "vector": "the vector unit",
    "mte2": "copies into UB (MTE2)",
    "mte3": "copies out of UB (MTE3)",
    "hbm": "HBM",
    "l2": "L2",
    "latency": "latency",
    "sync": "flags, barriers and other cores",
    "start": "start and end of the block",
}


def explanation(account: Account, style: Style) -> str:
    """All sections, without a newline at the end."""
    lines: list[str] = []
    for section in (_bound, _findings, _account, _path, _roofs, _answers):
        lines += section(account, style)
    return "\n".join(lines)


def _bound(account: Account, style: Style) -> Iterator[str]:
    bound, balance = account.bound, account.balance
    shares = [f"{name} {percent(share)}" for name, share in bound.shares.items() if share >= _SHOWN_SHARE]
    yield row("Bound", style.paint(_BOUNDS[bound.kind], "bold") + f" (block {balance.slowest_block} ends last)", style)
    yield from list_rows("", [f"of its critical path: {shares[0]}", *shares[1:]] if shares else [], style)


def _findings(account: Account, style: Style) -> Iterator[str]:
    label = "Findings"
    for finding in account.findings:
        yield from _finding(label, finding, style)
        label = ""


def _finding(label: str, finding: Finding, style: Style) -> Iterator[str]:
    yield from rows(label, finding.text, style)
    if finding.hint:
        yield from rows("", f"hint: {finding.hint}", style, "dim")


# -- account ----------------------------------------------------------------------------------------------------------


def _account(account: Account, style: Style) -> Iterator[str]:
    about = "waits, mean per core (% of AIV time; x: in all; ~: own results still under way)"
    yield style.paint(f"{'Account':<{LABEL_COLUMNS}}", "bold") + style.paint(about, "dim")
    for name, total in account.pipes.items():
        yield row("", style.paint(_pipe_text(name, total), "bold"), style)
        mine = [s for s in account.sums if s.pipe == name]
        shown = [s for s in mine if s.share >= _SHOWN_SHARE][:_GAPS_PER_PIPE]
        for found in shown:
            yield from _gap(found, style)
        rest = mine[len(shown) :]
        if rest:
            cycles = sum(s.cycles for s in rest)
            text = f"{us(sum(s.us for s in rest)):>9} us {100 * total.share(cycles):>5.1f} %  "
            yield row("", f"  {text}{sum(s.count for s in rest):>6,}x   {plural(len(rest), 'smaller reason')}", style)


def _pipe_text(name: str, total: PipeTotal) -> str:
    work, flying, idle = (us(total.us(cycles)) for cycles in (total.work, total.in_flight, total.idle))
    busy = us(total.us(total.work + total.in_flight))
    inner = f" (work {work}, own results under way {flying})" if total.in_flight else ""
    return f"aiv_{name}: busy {busy} us{inner}, idle {idle} us"


def _gap(found: Sum, style: Style) -> Iterator[str]:
    flying = "~" if found.in_flight_cycles * 2 > found.cycles else " "
    figures = f"  {us(found.us):>9} us {100 * found.share:>5.1f} %  {found.count:>6,}x {flying} "
    text = gap_text(found, style.arrow)
    if len(figures + text) <= style.width - LABEL_COLUMNS:
        yield row("", figures + text, style)
        return
    sign = f" {style.arrow} " if f" {style.arrow} " in text else ": "
    head, _, tail = text.partition(sign)
    yield row("", figures + head, style)
    yield row("", f"{'':<{len(figures)}}" + f"{sign.strip(' :')} {tail}".lstrip(), style)


def gap_text(found: Sum, arrow: str = "←") -> str:
    """What a pipe waited for and where, in words."""
    here, by = place_of(found.instr), place_of(found.cause)
    reason = found.reason
    if reason is Reason.FLAG:
        return f"flag {found.event} at {line_of(found.instr)} {arrow} {by}"
    if reason is Reason.DONE:
        return f"{reason.text} {arrow} {by} ends the block" if by else reason.text
    if reason in {Reason.AUTO_SYNC, Reason.BARRIER}:
        return f"{here}: {reason.text} {arrow} {by or 'earlier work'}"
    if reason is Reason.QUEUE:
        return f"{here}: {reason.text} {arrow} {by}"
    return f"{here}: {reason.text}" if here else reason.text


# -- critical path ----------------------------------------------------------------------------------------------------


def _path(account: Account, style: Style) -> Iterator[str]:
    if not account.path:
        return
    total = account.timeline.to_us(sum(step.cycles for step in account.path))
    about = f"critical path through block {account.balance.slowest_block}: {us(total)} us in order of time"
    yield style.paint(f"{'Path':<{LABEL_COLUMNS}}", "bold") + style.paint(about, "dim")
    kept, (count, cycles) = shortened(account.chain, _PATH_LINES)
    for stretch in kept:
        yield from _stretch(account, stretch, style)
    if count:
        yield row("", f"{_time(account, cycles)}  {'':<5} {plural(count, 'shorter step')} between them", style)


def _stretch(account: Account, stretch: Stretch, style: Style) -> Iterator[str]:
    for number, link in enumerate(stretch.links):
        sign = "" if stretch.repeats == 1 else f"{stretch.repeats:>4}x" if number == 0 else "    |"
        head = f"{_time(account, link.cycles)} {sign:<6} "
        yield row("", head + link_text(link, style.width - LABEL_COLUMNS - len(head)), style)


def _time(account: Account, cycles: int) -> str:
    total = sum(step.cycles for step in account.path) or 1
    return f"{us(account.timeline.to_us(cycles)):>9} us {100 * cycles / total:>5.1f} %"


def link_text(link: Link, width: int = 80) -> str:
    """`mte2    DataCopy add.py:12: move, HBM shared`, in `width` columns if it can be."""
    if link.first is None:
        what = ", ".join(part.text for part in link.parts)
        return f"{link.pipe:<7} {what}"
    if link.pipe == "scalar" and set(link.parts) <= {Part.ISSUE, Part.ACCESS}:
        last = f" to {line_of(link.last)}" if line_of(link.last) != line_of(link.first) else ""
        return f"{link.pipe:<7} {plural(link.count, 'instruction')}, {line_of(link.first)}{last}"
    parts = sorted(link.parts, key=lambda part: -link.parts[part])
    head = f"{link.pipe:<7} {place_of(link.first)}: "
    shown = [part.text for part in parts]
    while len(shown) > 1 and len(head + ", ".join(shown)) > width:
        shown.pop()
    return head + ", ".join(shown)


def shortened(chain: Sequence[Stretch], lines: int) -> tuple[list[Stretch], tuple[int, int]]:
    """The longest stretches, about `lines` links of them, in order of time; how many links are left out, and their
    cycles."""
    count = sum(len(stretch.links) for stretch in chain)
    by_cycles = sorted(range(len(chain)), key=lambda number: chain[number].cycles / len(chain[number].links))
    hidden: set[int] = set()
    for number in by_cycles:
        if count <= lines:
            break
        hidden.add(number)
        count -= len(chain[number].links)
    left_out = [chain[number] for number in hidden]
    kept = [stretch for number, stretch in enumerate(chain) if number not in hidden]
    return kept, (sum(len(s.links) * s.repeats for s in left_out), sum(s.cycles for s in left_out))


# -- roofs and what if ------------------------------------------------------------------------------------------------


def _roofs(account: Account, style: Style) -> Iterator[str]:
    found = account.roofline
    if not found.gm_bytes and not found.operations:
        return
    below = "left" if found.intensity < found.ridge else "right"
    yield from rows(
        "Roofline",
        f"{found.operations:,} operations on {size(found.gm_bytes)} of GM: {found.intensity:.3g} per byte, {below} of "
        f"the ridge at {found.ridge:.3g} (rates over {us(found.span_us)} us)",
        style,
    )
    for roof in found.roofs:
        if roof.rate:
            yield row("", _roof(roof, style), style)


def _roof(roof: Roof, style: Style) -> str:
    figures = f"{roof.name:<9} {roof.rate:>10,.1f} of {roof.roof:>10,.1f} {roof.unit:<5} {100 * roof.share:>5.1f} %  "
    return figures + style.bar(roof.share, min(style.width - 70, 20))


def _answers(account: Account, style: Style) -> Iterator[str]:
    answers = account.answers
    if not answers:
        return
    base = answers[0].base_us
    yield style.paint(f"{'What if':<{LABEL_COLUMNS}}", "bold") + style.paint(
        f"the program timed again; now {us(base)} us", "dim"
    )
    none = [answer for answer in answers if abs(answer.gain_us) < _NO_GAIN * base]
    for answer in answers:
        if answer not in none:
            yield row("", _answer(answer), style)
    if none:
        yield from rows("", "no difference if " + ", ".join(answer.text for answer in none), style, "dim")


def _answer(answer: Answer) -> str:
    change = -100 * answer.gain_us / answer.base_us if answer.base_us else 0.0
    return f"{us(answer.duration_us):>9} us {change:>+6.1f} %  if {answer.text}"
