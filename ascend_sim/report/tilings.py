"""A tiling as people read it: the part of the run's summary, and the whole answer of `ascend-sim tiling`."""

from __future__ import annotations

from collections.abc import Iterator

from ascend_sim.host.tiling import CoreShare, Tiling
from ascend_sim.plurals import plural, singular_of
from ascend_sim.report.rows import list_rows, row, rows
from ascend_sim.report.style import Style, percent, size


def tiling_text(tiling: Tiling, style: Style) -> str:
    """Everything about a tiling: what `tiling_lines` tells, every field, the raw words, warnings."""
    lines = [style.rule(f"{tiling.op} on {tiling.variant}"), *tiling_lines(tiling, style)]
    lines += list_rows("Fields", [f"{name} {value}" for name, value in tiling.data.items()], style)
    lines += rows("Words", " ".join("?" if word is None else str(word) for word in tiling.words), style)
    for text in tiling.notes:
        lines += rows("Note", text, style)
    for text in tiling.warnings:
        lines += rows("Warning", text, style, "warn")
    if tiling.not_runnable:
        lines += rows("Note", f"cannot be run: {tiling.not_runnable}", style)
    return "\n".join(lines)


def tiling_lines(tiling: Tiling, style: Style) -> Iterator[str]:
    """Key and meaning, block dim, workspace, rows and loops per kind of core, UB buffers against capacity."""
    yield from rows("Tiling", f"key {tiling.key}: {tiling.meaning}", style)
    yield row("", f"block dim {tiling.block_dim}, workspace {size(tiling.workspace_bytes)}", style)
    for share in tiling.shares:
        if share.cores:
            yield from rows("", _share_text(share), style)
    if tiling.buffers:
        used = tiling.ub_used_bytes
        yield row(
            "UB",
            f"{used:,} of {tiling.ub_bytes:,} B ({percent(used / tiling.ub_bytes)}) "
            f"{style.bar(used / tiling.ub_bytes, 20)}",
            style,
        )
        texts = [f"{b.name} {f'{b.count} x ' if b.count > 1 else ''}{b.nbytes:,} B" for b in tiling.buffers]
        yield from list_rows("", texts, style)


def _share_text(share: CoreShare) -> str:
    steps = [
        f"{plural(loop.loops, 'loop')} of {units(loop.per_loop, loop.unit)}"
        + (f" (last {loop.last})" if loop.last != loop.per_loop else "")
        for loop in share.loops
    ]
    each = f"{units(share.rows, share.unit)} each"
    return f"{plural(share.cores, f'{share.role} core')}: {each}" + (", " + " x ".join(steps) if steps else "")


def units(count: int, unit: str) -> str:
    """`1 batch` or `1,024 batches` for the unit "batches"."""
    return plural(count, singular_of(unit))
