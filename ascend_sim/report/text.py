"""The printed summary of a run, 80-100 columns wide."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from pathlib import PurePath
from typing import TYPE_CHECKING

from ascend_sim.host.tiling import CoreShare, Tiling
from ascend_sim.program import Instr
from ascend_sim.report.metrics import hit_ratio
from ascend_sim.report.strip import Strip, first_tiles
from ascend_sim.report.style import Style, Tone, percent, plural, size, us
from ascend_sim.report.waits import Wait
from ascend_sim.timeline import Cause

if TYPE_CHECKING:
    from ascend_sim.report.result import Result

BUSY = 0.8  # msprof's advice calls a pipe the limit from 80 % on
_WAITS_OF_LIMIT, _WAITS_OF_OTHERS = 4, 3
_LABEL = 11
_HARD_SPACE = "\N{NO-BREAK SPACE}"


def summary(result: Result, style: Style) -> str:
    """Every section of the report, without a newline at the end."""
    lines: list[str] = []
    for section in (_head, _tiling, _values, _time, _pipes, _waits, _memory, _strip, _remarks):
        lines += section(result, style)
    return "\n".join(lines)


def _row(label: str, text: str, style: Style) -> str:
    return style.paint(f"{label:<{_LABEL}}", "bold") + text


def _rows(label: str, text: str, style: Style, tone: Tone | None = None) -> Iterator[str]:
    """A row whose text goes on in the next line where it is too long."""
    for line in textwrap.wrap(text, style.width - _LABEL, break_on_hyphens=False):
        yield _row(label, style.paint(line, tone) if tone else line, style)
        label = ""


def _head(result: Result, style: Style) -> Iterator[str]:
    chip = result.chip
    yield style.rule(f"{result.op} on {chip.variant}")
    yield _row("Chip", f"{chip.variant} ({chip.name}), {chip.cores.aiv} vector cores at {chip.clock_mhz:g} MHz", style)
    yield _row("", f"UB {size(chip.ub.bytes)} a core, L2 {size(chip.l2.bytes)} ({result.l2})", style)
    if result.call:
        yield from _rows("Call", result.call, style)
    size_text = f"{plural(result.program.block_dim, 'block')}, {plural(result.instructions, 'instruction')}"
    yield from _rows("Kernel", f"{result.kernel}, {size_text}, simulated in {result.wall_s:.2f} s", style)


def _tiling(result: Result, style: Style) -> Iterator[str]:
    if result.tiling is not None:
        yield from tiling_lines(result.tiling, style)


def tiling_lines(tiling: Tiling, style: Style) -> Iterator[str]:
    """Key and meaning, block dim, workspace, rows and loops per kind of core, UB buffers against capacity."""
    yield from _rows("Tiling", f"key {tiling.key}: {tiling.meaning}", style)
    yield _row("", f"block dim {tiling.block_dim}, workspace {size(tiling.workspace_bytes)}", style)
    for share in tiling.shares:
        if share.cores:
            yield from _rows("", _share_text(share), style)
    if tiling.buffers:
        used = tiling.ub_used_bytes
        yield _row(
            "UB",
            f"{used:,} of {tiling.ub_bytes:,} B ({percent(used / tiling.ub_bytes)}) "
            f"{style.bar(used / tiling.ub_bytes, 20)}",
            style,
        )
        texts = [f"{b.name} {f'{b.count} x ' if b.count > 1 else ''}{b.nbytes:,} B" for b in tiling.buffers]
        yield from _list_rows(texts, style)


def _share_text(share: CoreShare) -> str:
    steps = [
        f"{plural(loop.loops, 'loop')} of {_units(loop.per_loop, loop.unit)}"
        + (f" (last {loop.last})" if loop.last != loop.per_loop else "")
        for loop in share.loops
    ]
    each = f"{_units(share.rows, share.unit)} each"
    return f"{plural(share.cores, f'{share.role} core')}: {each}" + (", " + " x ".join(steps) if steps else "")


def _units(count: int, unit: str) -> str:
    return f"{count:,} {unit.removesuffix('s') if count == 1 else unit}"


def _list_rows(texts: list[str], style: Style, tone: Tone | None = None) -> Iterator[str]:
    """The texts joined by commas, broken only between them."""
    kept = ", ".join(text.replace(" ", _HARD_SPACE) for text in texts)
    return (line.replace(_HARD_SPACE, " ") for line in _rows("", kept, style, tone))


def _values(result: Result, style: Style) -> Iterator[str]:
    values = result.values
    if not values.checked:
        if result.tiling is not None:
            yield _row("Values", style.paint("not computed", "dim"), style)
        return
    tolerance = values.tolerance or {}
    verdict = style.paint("right", "good") if values.ok else style.paint("WRONG", "bad")
    if values.exact:
        yield _row("Values", f"{verdict}: every bit equals the golden", style)
        return
    yield _row(
        "Values",
        f"{verdict}: max abs error {values.max_abs_error:.3g}, max rel error {values.max_rel_error:.3g} "
        f"(allowed abs {tolerance.get('absolute', 0):g} + rel {tolerance.get('relative', 0):g})",
        style,
    )
    if not values.ok:
        yield _row(
            "", style.paint(f"{plural(values.wrong, 'element')} wrong, first {values.first_wrong}", "bad"), style
        )


def _time(result: Result, style: Style) -> Iterator[str]:
    aiv = result.aiv_time_us
    yield _row(
        "Time",
        f"Task Duration {style.paint(us(result.duration_us) + ' us', 'bold')} = launch {us(result.launch_us)} "
        f"+ cores {us(result.duration_us - result.launch_us)}",
        style,
    )
    yield _row("", f"AIV time     mean {us(aiv.mean)}, min {us(aiv.min)}, max {us(aiv.max)} us", style)
    if result.cold_start_us:
        yield _row("", f"a cold start takes about {us(result.cold_start_us)} us on top", style)


def _pipes(result: Result, style: Style) -> Iterator[str]:
    label, cells = "Pipes", min(style.width - 70, 30)
    for name, use in result.pipes.items():
        limit = style.paint(f"  {style.arrow} limit", "warn") if name == result.bound and use.ratio > 0 else ""
        yield _row(
            label,
            f"{f'aiv_{name}':<11} {us(use.busy_us):>9} us {100 * use.ratio:>5.1f} %  {style.bar(use.ratio, cells)} "
            f"{use.instructions:>9,} instr{limit}",
            style,
        )
        label = ""
    yield _row("Limit", _limit_text(result), style)


def _limit_text(result: Result) -> str:
    use = result.pipes[result.bound]
    name = f"aiv_{result.bound}"
    if not use.ratio:
        return "nothing to do"
    if use.ratio >= BUSY:
        return f"{name}: busy {percent(use.ratio)} of the AIV time"
    return f"{name}, only {percent(use.ratio)} busy: waits decide, not one pipe's work"


def _waits(result: Result, style: Style) -> Iterator[str]:
    waits = result.metrics.waits
    mine = [wait for wait in waits if wait.pipe == result.bound][:_WAITS_OF_LIMIT]
    others = [wait for wait in waits if wait.pipe != result.bound][:_WAITS_OF_OTHERS]
    if not waits:
        return
    yield style.paint(f"{'Waits':<{_LABEL}}", "bold") + style.paint("mean per core, limiting pipe first", "dim")
    for wait in mine + others:
        figures = f"{f'aiv_{wait.pipe}':<11} {us(wait.us):>9} us {100 * wait.share:>5.1f} %  {wait.count:>6,}x  "
        where, why = _wait_texts(wait)
        if len(figures + where + why) + 3 <= style.width - _LABEL:
            yield _row("", f"{figures}{where} {style.arrow} {why}", style)
        else:
            yield _row("", figures + where, style)
            yield _row("", f"{'':<11} {style.arrow} {why}", style)


def _wait_texts(wait: Wait) -> tuple[str, str]:
    """What waited and where, and what it waited for."""
    here = place_text(wait.instr)
    peer = f"{wait.peer.name} {place_text(wait.peer)}" if wait.peer else ""
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


def place_text(instr: Instr) -> str:
    """`kernel.py:52`: enough to find the line, short enough to print."""
    place = instr.place
    return f"{PurePath(place.file).name}:{place.line}" if place else "?"


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
        yield _row(label, f"{word:<7} {size(total):>9} at {rate:>12}{hits}, HBM {size(hbm)}", style)
        label = ""


def _strip(result: Result, style: Style) -> Iterator[str]:
    cores = result.timeline.cores
    columns = style.width - _LABEL - 8
    strip = first_tiles(cores[0], columns) if cores else None
    if strip is None:
        return
    timeline = result.timeline
    step = timeline.to_us(strip.cycles / columns)
    what = "first tiles" if strip.cut else "whole run"
    yield _row(
        "Timeline",
        style.paint(
            f"block {strip.block}, {what}: 0 to {us(timeline.to_us(strip.cycles))} us, {us(step)} us a column", "dim"
        ),
        style,
    )
    for pipe, row in strip.rows:
        yield _row("", f"{pipe:<8}" + row.replace(" ", style.idle), style)
    yield from _list_rows(_legend(strip), style, "dim")


def _legend(strip: Strip) -> list[str]:
    shown = strip.legend[:24]
    texts = [f"{letter} {instr.name} {place_text(instr)}" for letter, instr in shown]
    if len(strip.legend) > len(shown):
        texts.append(f"and {len(strip.legend) - len(shown)} more")
    return texts


def _remarks(result: Result, style: Style) -> Iterator[str]:
    tiling_warnings = list(result.tiling.warnings) if result.tiling else []
    for text in dict.fromkeys(tiling_warnings + result.warnings):
        yield from _rows("Warning", text, style, "warn")
    for text in dict.fromkeys(result.timeline.notes + result.notes):
        yield from _rows("Note", text, style)
