"""Rows of a printed report: a bold label and a text beside it, wrapped to the width."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence

from ascend_sim.report.style import Style, Tone

LABEL_COLUMNS = 11
_HARD_SPACE = "\N{NO-BREAK SPACE}"


def row(label: str, text: str, style: Style) -> str:
    """One line, whatever its length."""
    return style.paint(f"{label:<{LABEL_COLUMNS}}", "bold") + text


def rows(label: str, text: str, style: Style, tone: Tone | None = None) -> Iterator[str]:
    """A text that goes on in the next line where it is too long."""
    for line in textwrap.wrap(text, style.width - LABEL_COLUMNS, break_on_hyphens=False):
        yield row(label, style.paint(line, tone) if tone else line, style)
        label = ""


def list_rows(label: str, texts: Sequence[str], style: Style, tone: Tone | None = None) -> Iterator[str]:
    """The texts joined by commas, broken only between them."""
    kept = ", ".join(text.replace(" ", _HARD_SPACE) for text in texts)
    return (line.replace(_HARD_SPACE, " ") for line in rows(label, kept, style, tone))


def table_lines(table: Sequence[Sequence[str]]) -> list[str]:
    """A table under its first row, cells to the right. A shorter row ends in a text that widens no column."""
    whole = len(table[0])
    widths = [
        max(len(row[column]) for row in table if len(row) == whole or column < len(row) - 1) for column in range(whole)
    ]
    return ["  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=False)) for row in table]
