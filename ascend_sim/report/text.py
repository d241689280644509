"""The printed summary of a run, 80-100 columns wide."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ascend_sim.places import line_of, place_of
from ascend_sim.plurals import plural
from ascend_sim.report.assumptions import BUSY_SHARE
from ascend_sim.report.metrics import hit_ratio
from ascend_sim.report.rows import LABEL_COLUMNS, list_rows, row, rows
from ascend_sim.report.strip import Strip, first_tiles
from ascend_sim.report.style import Style, percent, size, us
from ascend_sim.report.tilings import tiling_lines
from ascend_sim.report.waits import Wait
from ascend_sim.timeline import Cause

if TYPE_CHECKING:
    from ascend_sim.report.result import Result

_WAITS_OF_LIMIT, _WAITS_OF_OTHERS = 4, 3


def summary(result: Result, style: Style, *, explain: bool = False) -> str:
    """Every section of the report, without a newline at the end; with `explain` the explanation in place of the
    waits."""
    sections = [_head, _tiling, _values, _comparison, _time, _pipes, _waits, _memory, timeline_rows, _remarks]
    if explain:
        sections.remove(_waits)
        sections.insert(-1, _explanation)
    lines: list[str] = []
    for section in sections:
        lines += section(result, style)
    return "\n".join(lines)


def _explanation(result: Result, style: Style) -> Iterator[str]:
    from ascend_sim.report.explanation import explanation  # noqa: PLC0415 - most runs explain nothing

    yield explanation(result.account, style)


def _head(result: Result, style: Style) -> Iterator[str]:
    chip = result.chip
    yield style.rule(f"{result.op} on {chip.variant}")
    yield row("Chip", f"{chip.variant} ({chip.name}), {chip.cores.aiv} vector cores at {chip.clock_mhz:g} MHz", style)
    yield row("", f"UB {size(chip.ub.bytes)} a core, L2 {size(chip.l2.bytes)} ({result.l2})", style)
    if result.call:
        yield from rows("Call", result.call, style)
    size_text = f"{plural(result.program.block_dim, 'block')}, {plural(result.instructions, 'instruction')}"
    yield from rows("Kernel", f"{result.kernel}, {size_text}, simulated in {result.wall_s:.2f} s", style)


def _tiling(result: Result, style: Style) -> Iterator[str]:
    if result.tiling is not None:
        yield from tiling_lines(result.tiling, style)


def _values(result: Result, style: Style) -> Iterator[str]:
    values = result.values
    if not values.checked:
        if result.tiling is not None:
            yield row("Values", style.paint("not computed", "dim"), style)
        return
    verdict = style.paint("right", "good") if values.ok else style.paint("WRONG", "bad")
    tolerance = values.tolerance or {}
    if values.exact:
        yield row("Values", f"{verdict}: exact, every bit equals the golden", style)
        return
    yield row(
        "Values",
        f"{verdict}: max abs error {values.max_abs_error:.3g}, max rel error {values.max_rel_error:.3g} "
        f"(allowed abs {tolerance.get('absolute', 0):g} + rel {tolerance.get('relative', 0):g})",
        style,
    )
    if not values.ok:
        yield from rows("", f"{plural(values.wrong, 'element')} wrong, first {values.first_wrong}", style, "bad")


def _comparison(result: Result, style: Style) -> Iterator[str]:
    found = result.comparison
    if found is None:
        return
    yield from rows("Compare", f"with {found.name}: {found.description}", style)
    share = f", {100 * found.rms_ratio:.3g} % of the reference's" if found.rms_ratio is not None else ""
    yield row("", f"max abs error {found.max_abs_error:.3g}, rms error {found.rms_error:.3g}{share}", style)
    if found.largest:
        yield from rows("", f"largest where {found.largest}", style)


def _time(result: Result, style: Style) -> Iterator[str]:
    aiv = result.aiv_time_us
    yield row(
        "Time",
        f"Task Duration {style.paint(us(result.duration_us) + ' us', 'bold')} = launch {us(result.launch_us)} "
        f"+ cores {us(result.duration_us - result.launch_us)}",
        style,
    )
    yield row("", f"AIV time     mean {us(aiv.mean)}, min {us(aiv.min)}, max {us(aiv.max)} us", style)
    if result.cold_start_us:
        yield row("", f"a cold start takes {us(result.cold_start_us)} us of it", style)
    if result.later_us:
        later = sum(result.later_us) / len(result.later_us)
        yield row("", f"the {len(result.later_us)} launched after it take {us(later)} us each", style)
    if result.expected_error is not None:
        yield row("", f"expected error {result.expected_error['text']}", style)


def _pipes(result: Result, style: Style) -> Iterator[str]:
    label, cells = "Pipes", min(style.width - 70, 30)
    for name, use in result.pipes.items():
        limit = style.paint(f"  {style.arrow} limit", "warn") if name == result.bound and use.ratio > 0 else ""
        yield row(
            label,
            f"{f'aiv_{name}':<11} {us(use.busy_us):>9} us {100 * use.ratio:>5.1f} %  {style.bar(use.ratio, cells)} "
            f"{use.instructions:>9,} instr{limit}",
            style,
        )
        label = ""
    yield row("Limit", _limit_text(result), style)


def _limit_text(result: Result) -> str:
    use = result.pipes[result.bound]
    name = f"aiv_{result.bound}"
    if not use.ratio:
        return "nothing to do"
    if use.ratio >= BUSY_SHARE:
        return f"{name}: busy {percent(use.ratio)} of the AIV time"
    return f"{name}, only {percent(use.ratio)} busy: waits decide, not one pipe's work"


def _waits(result: Result, style: Style) -> Iterator[str]:
    waits = result.metrics.waits
    mine = [wait for wait in waits if wait.pipe == result.bound][:_WAITS_OF_LIMIT]
    others = [wait for wait in waits if wait.pipe != result.bound][:_WAITS_OF_OTHERS]
    if not waits:
        return
    about = style.paint("mean per core (x: in all), limiting pipe first", "dim")
    yield style.paint(f"{'Waits':<{LABEL_COLUMNS}}", "bold") + about
    for wait in mine + others:
        figures = f"{f'aiv_{wait.pipe}':<11} {us(wait.us):>9} us {100 * wait.share:>5.1f} %  {wait.count:>6,}x  "
        where, why = _wait_texts(wait)
        if len(figures + where + why) + 3 <= style.width - LABEL_COLUMNS:
            yield row("", f"{figures}{where} {style.arrow} {why}", style)
        else:
            yield row("", figures + where, style)
            yield row("", f"{'':<11} {style.arrow} {why}", style)


def _wait_texts(wait: Wait) -> tuple[str, str]:
    """What waited and where, and what it waited for."""
    here = line_of(wait.instr)
    peer = place_of(wait.peer)
    name = "" if wait.cause in {Cause.FLAG, Cause.BARRIER} else f"{wait.instr.name} "
    reason = {
        Cause.FLAG: f"{peer or 'its flag'} ({wait.event})",
        Cause.DISPATCH: "not yet issued by the scalar unit",
        Cause.QUEUE: "the queue of its pipe was full",
        Cause.BARRIER: f"{peer or 'earlier work'} (PipeBarrier)",
        Cause.AUTO_SYNC: f"result of {peer or 'earlier work'}",
        Cause.CORES: "other cores",
        Cause.MEMORY: f"GM port busy with {peer}" if peer else "GM port busy",
    }.get(wait.cause, "")
    return f"{name}{here}", reason


def _memory(result: Result, style: Style) -> Iterator[str]:
    memory = result.metrics.memory
    if not memory.read_bytes + memory.written_bytes:
        return
    span_us = max(result.duration_us - result.launch_us, 1e-9)
    label = "GM"
    for word, total, hit, hbm in (
        ("read", memory.read_bytes, memory.l2_read_hit_bytes, memory.hbm_read_bytes),
        ("written", memory.written_bytes, memory.l2_write_hit_bytes, memory.hbm_written_bytes),
    ):
        ratio = hit_ratio(hit, total)
        hits = f", L2 hit {percent(ratio)}" if ratio is not None else ""
        rate = f"{total / span_us / 1e3:,.1f} GB/s"
        yield row(label, f"{word:<7} {size(total):>9} at {rate:>12}{hits}, HBM {size(hbm)}", style)
        label = ""


def timeline_rows(result: Result, style: Style) -> Iterator[str]:
    """The first tiles of one core: a row per pipe, a letter per source line."""
    cores = result.timeline.cores
    columns = style.width - LABEL_COLUMNS - 8
    strip = first_tiles(cores[0], columns) if cores else None
    if strip is None:
        return
    timeline = result.timeline
    step = timeline.to_us(strip.cycles / columns)
    what = "first tiles" if strip.cut else "whole run"
    yield row(
        "Timeline",
        style.paint(
            f"block {strip.block}, {what}: 0 to {us(timeline.to_us(strip.cycles))} us, {us(step)} us a column", "dim"
        ),
        style,
    )
    for pipe, cells in strip.rows:
        yield row("", f"{pipe:<8}" + cells.replace(" ", style.idle), style)
    yield from list_rows("", _legend(strip), style, "dim")


def _legend(strip: Strip) -> list[str]:
    shown = strip.legend[:24]
    texts = [f"{letter} {place_of(instr)}" for letter, instr in shown]
    if len(strip.legend) > len(shown):
        texts.append(f"and {len(strip.legend) - len(shown)} more")
    return texts


def _remarks(result: Result, style: Style) -> Iterator[str]:
    tiling_warnings = list(result.tiling.warnings) if result.tiling else []
    for text in dict.fromkeys(tiling_warnings + result.warnings):
        yield from rows("Warning", text, style, "warn")
    for text in dict.fromkeys(result.notes):
        yield from rows("Note", text, style)
