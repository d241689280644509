"""The report as one HTML file: charts, tables and code, with everything that it needs inside."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Sequence
from html import escape
from importlib.resources import files
from typing import Any

from ascend_sim.places import place_of
from ascend_sim.plurals import plural
from ascend_sim.report.files import atomic
from ascend_sim.report.html import lines
from ascend_sim.report.html.buffers import uses
from ascend_sim.report.html.events import gap_bars, instruction_bars, issue_bars, rates, rows
from ascend_sim.report.html.pictures import tiling_svg
from ascend_sim.report.html.plotly import require_plotly
from ascend_sim.report.html.shown import blocks_shown, span_shown
from ascend_sim.report.result import Result
from ascend_sim.report.selection import EVERYTHING, Selection
from ascend_sim.report.style import PLAIN, percent, size, us
from ascend_sim.report.tilings import tiling_lines

_WAITS_SHOWN = 40


def write_html(result: Result, path: str | os.PathLike[str], selection: Selection = EVERYTHING) -> None:
    """Write the report of a run; the file appears whole or not at all. Needs the extra `report` (plotly)."""
    text = page(result, selection)
    with atomic(path, "HTML report") as temporary:
        temporary.write_text(text, encoding="utf-8")


def page(result: Result, selection: Selection) -> str:
    """The whole document."""
    require_plotly()
    from ascend_sim.report.html import figures  # noqa: PLC0415 - plotly is an extra

    charts: dict[str, Any] = {}
    account = result.account
    line = result.timeline
    blocks = blocks_shown(selection, line)
    span = span_shown(selection, line, blocks)
    shown = {block.program.block for block in blocks}
    own = [block for block in account.blocks if block.block in shown]
    charts["timeline"] = figures.timeline(
        [*issue_bars(own, line, span), *instruction_bars(blocks, line, span)],
        gap_bars(own, line, span),
        rows(blocks),
        span,
    )
    over_time = rates(account)
    roofs = {roof.name: roof for roof in account.roofline.roofs}
    charts["utilisation"] = figures.utilisation(over_time)
    charts["bandwidth"] = figures.bandwidth(over_time, roofs["gm"].roof)
    charts["overview"] = figures.overview(over_time)
    charts["waits"] = figures.waits(account)
    charts["roofline"] = figures.roofline(account)
    if blocks:
        charts["buffers"] = figures.unified_buffer(uses(blocks[0], line), result.chip.ub.usable_bytes)
    sections = [
        _head(result),
        _section("Time", "timeline-section", _timeline_note(result, blocks, span), _chart("timeline")),
        _section("Why it takes that long", "why", *_why(result), _chart("waits"), _waits_table(result)),
        _section("Over time", "over-time", _chart("utilisation"), _chart("bandwidth"), _chart("overview")),
        _section("Roofline", "roofline-section", _roofs_table(result), _chart("roofline")),
        _section("Tiling", "tiling", *_tiling(result)),
        _section("Unified buffer", "ub", _buffers_note(blocks), _chart("buffers") if blocks else ""),
        _section("Source lines", "source", *_source(result)),
        _section("Chip, warnings and notes", "notes", *_notes(result)),
    ]
    return _document(result, sections, charts)


def _document(result: Result, sections: Sequence[str], charts: dict[str, Any]) -> str:
    from plotly.offline import get_plotlyjs  # noqa: PLC0415 - plotly is an extra

    assets = files("ascend_sim.report.html") / "assets"
    names = ("report.css", "report.js", "tables.js")
    style, script, tables = ((assets / name).read_text(encoding="utf-8") for name in names)
    data = ",".join(f"{json.dumps(name)}:{figure.to_json()}" for name, figure in charts.items())
    data = data.replace("</", "<\\/")  # a text must not end the script
    title = escape(f"{result.op} on {result.variant}")
    return (
        f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>{title}</title>'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        '<link rel="icon" href="data:,">'
        f"<style>{style}</style><script>{get_plotlyjs()}</script></head><body><main>{''.join(sections)}"
        f"<footer>ascend-sim. Simulated, not measured.</footer></main>"
        f"<script>const CHARTS={{{data}}};</script><script>{script}</script><script>{tables}</script></body></html>\n"
    )


def _section(title: str, name: str, *parts: str) -> str:
    return f'<section id="{name}"><h2>{escape(title)}</h2>{"".join(parts)}</section>'


def _chart(name: str) -> str:
    return f'<div class="chart" id="chart-{name}"></div>'


def _card(label: str, value: str, note: str = "", tone: str = "") -> str:
    about = f"<small>{escape(note)}</small>" if note else ""
    return f'<div class="card {tone}"><span>{escape(label)}</span><b>{escape(value)}</b>{about}</div>'


def _head(result: Result) -> str:
    expected = result.expected_error
    values = result.values
    verdict = ("not checked", "") if not values.checked else ("right", "good") if values.ok else ("WRONG", "bad")
    aiv = result.aiv_time_us
    cards = [
        _card("Task Duration", f"{us(result.duration_us)} us", str(expected["text"]) if expected else ""),
        _card("launch", f"{us(result.launch_us)} us"),
        _card("AIV time, mean", f"{us(aiv.mean)} us", f"min {us(aiv.min)}, max {us(aiv.max)} us"),
        _card("limit", f"aiv_{result.bound}", f"busy {percent(result.pipes[result.bound].ratio)} of the AIV time"),
        _card(
            "values", verdict[0], "every bit equals the golden" if values.checked and values.exact else "", verdict[1]
        ),
        _card("instructions", f"{result.instructions:,}", plural(result.block_dim, "block")),
    ]
    pipes = [
        (f"aiv_{name}", us(use.busy_us), percent(use.ratio), f"{use.instructions:,}")
        for name, use in result.pipes.items()
    ]
    heading = f"<h1>{escape(result.op)} <em>on {escape(result.variant)}</em></h1>"
    call = f"<p class=call>{escape(result.call)}</p>" if result.call else ""
    table = _table(("pipe", "busy, us", "of the AIV time", "instructions"), pipes, "pipes")
    return f'<header>{heading}{call}<div class="cards">{"".join(cards)}</div>{table}</header>'


def _timeline_note(result: Result, blocks: Sequence[Any], span: tuple[float, float]) -> str:
    cores = len({line.core for line in result.timeline.cores})
    of = f"{plural(len({line.core for line in blocks}), 'core')} of {cores}, {us(span[0])} to {us(span[1])} us"
    return (
        f"<p>{escape(of)}. Drag to zoom, double-click to go back; grey is waiting, with its reason. "
        "<code>--cores</code> and <code>--window</code> choose what is drawn.</p>"
    )


def _why(result: Result) -> Iterator[str]:
    bound = result.account.bound
    shares = ", ".join(f"{name} {percent(share)}" for name, share in bound.shares.items() if share >= 0.01)
    yield f"<p>Bound by <b>{escape(bound.kind)}</b>. Of the critical path: {escape(shares)}.</p>"
    findings = result.account.findings
    if findings:
        items = "".join(
            f"<li>{escape(finding.text)}"
            + (f"<br><small>{escape(finding.hint)}</small>" if finding.hint else "")
            + "</li>"
            for finding in findings
        )
        yield f'<ul class="findings">{items}</ul>'


def _waits_table(result: Result) -> str:
    found = []
    for entry in result.account.sums[:_WAITS_SHOWN]:
        where = place_of(entry.instr)
        cause = place_of(entry.cause)
        found.append(
            (
                f"aiv_{entry.pipe}",
                entry.reason.text,
                us(entry.us),
                percent(entry.share),
                f"{entry.count:,}",
                where,
                cause,
            )
        )
    names = ("pipe", "reason", "us, mean per core", "of the AIV time", "times", "before", "waits for")
    return _table(names, found, "waits-table")


def _roofs_table(result: Result) -> str:
    found = result.account.roofline
    rows_ = [
        (roof.name, f"{roof.rate:,.1f}", f"{roof.roof:,.1f}", roof.unit, percent(roof.share)) for roof in found.roofs
    ]
    return _table(("roof", "this run", "at most", "unit", "share"), rows_, "roofs")


def _tiling(result: Result) -> Iterator[str]:
    if result.tiling is None:
        yield "<p>A kernel of its own: no tiling.</p>"
        return
    yield tiling_svg(result.tiling)
    text = "\n".join(tiling_lines(result.tiling, PLAIN))
    yield f"<pre>{escape(text)}</pre>"
    yield _table(("field", "value"), [(name, str(value)) for name, value in result.tiling.data.items()], "tiling-data")


def _buffers_note(blocks: Sequence[Any]) -> str:
    which = f"block {blocks[0].program.block}" if blocks else "nothing ran"
    return f"<p>Bytes in use over time, {which}: from the instruction that writes them to the last that reads them.</p>"


def _source(result: Result) -> Iterator[str]:
    files_ = lines.by_file(result.account)
    top = max((cost.path_us for costs in files_.values() for cost in costs.values()), default=0.0) or 1.0
    order = sorted(files_, key=lambda file: -sum(cost.path_us for cost in files_[file].values()))
    names = ("on the path, us", "work, us", "waits, us", "times", "line", "code")
    yield "<p>Work and waits are means over the cores; coloured by the line's part of the critical path.</p>"
    for file in order:
        body, before = [], None
        for line in lines.code(file, files_[file]):
            if before is not None and line.number != before + 1:
                body.append(f'<tr class="cut"><td colspan="{len(names)}"></td></tr>')
            before = line.number
            body.append(_code_row(line, top))
        heads = "".join(f"<th>{name}</th>" for name in names)
        yield (
            f'<h3>{escape(lines.short(file))}</h3><div class="wide"><table class="code"><thead><tr>{heads}</tr></thead>'
            f"<tbody>{''.join(body)}</tbody></table></div>"
        )


def _code_row(line: lines.CodeLine, top: float) -> str:
    cost = line.cost
    text = f"<td>{line.number}</td><td><code>{escape(line.text)}</code></td>"
    if cost is None:
        return f'<tr class="plain"><td></td><td></td><td></td><td></td>{text}</tr>'
    figures = (us(value) if value else "" for value in (cost.path_us, lines.worked_us(cost), cost.wait_us))
    cells = "".join(f"<td>{figure}</td>" for figure in figures)
    heat = 0.55 * cost.path_us / top
    return f'<tr style="background:rgba(217,130,43,{heat:.3f})">{cells}<td>{cost.instructions:,}</td>{text}</tr>'


def _notes(result: Result) -> Iterator[str]:
    chip = result.chip
    about = (
        f"{chip.variant} ({chip.name}), {chip.cores.aiv} vector cores at {chip.clock_mhz:g} MHz, "
        f"UB {size(chip.ub.bytes)} a core, L2 {size(chip.l2.bytes)} ({result.l2})"
    )
    yield f"<p>{escape(about)}</p>"
    warnings = [*(result.tiling.warnings if result.tiling else ()), *result.warnings]
    for label, texts in (("Warning", warnings), ("Note", result.notes)):
        yield from (f"<p><b>{label}</b> {escape(text)}</p>" for text in dict.fromkeys(texts))


def _table(names: Iterable[str], found: Iterable[Sequence[str]], name: str) -> str:
    heads = "".join(f'<th scope="col">{escape(head)}</th>' for head in names)
    body = "".join(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in found)
    return (
        f'<div class="wide"><table class="sortable" id="{name}"><thead><tr>{heads}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>"
    )
