"""How printed reports look: colours for terminals, signs that the output can show, numbers as people read them."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from typing import Literal, TextIO

Tone = Literal["bold", "dim", "good", "bad", "warn", "accent"]
_ANSI: dict[str, str] = {"bold": "1", "dim": "2", "good": "32", "bad": "1;31", "warn": "33", "accent": "36"}
MIN_WIDTH, MAX_WIDTH = 80, 100


@dataclass(frozen=True, slots=True)
class Style:
    """`color`: write ANSI sequences. `unicode`: the output can show block and line signs. `width`: columns."""

    color: bool = False
    unicode: bool = True
    width: int = 96

    def paint(self, text: str, tone: Tone) -> str:
        return f"\x1b[{_ANSI[tone]}m{text}\x1b[0m" if self.color and text else text

    def bar(self, share: float, cells: int) -> str:
        """A bar that fills `share` (0..1) of `cells` columns."""
        full = round(min(max(share, 0.0), 1.0) * cells)
        on, off = ("█", "░") if self.unicode else ("#", ".")
        return self.paint(on * full, "accent") + self.paint(off * (cells - full), "dim")

    def rule(self, title: str) -> str:
        sign = "─" if self.unicode else "-"
        return self.paint(title, "bold") + " " + self.paint(sign * max(self.width - len(title) - 1, 3), "dim")

    @property
    def arrow(self) -> str:
        return "←" if self.unicode else "<-"

    @property
    def idle(self) -> str:
        return "·" if self.unicode else "."


PLAIN = Style()


def style_for(stream: TextIO) -> Style:
    """What suits `stream`: colours only on a terminal and without NO_COLOR, block signs only if it can encode them."""
    terminal = stream.isatty()
    width = min(max(shutil.get_terminal_size((96, 24)).columns, MIN_WIDTH), MAX_WIDTH) if terminal else 96
    try:
        "█─·←".encode(stream.encoding or "utf-8")
        signs = True
    except (UnicodeEncodeError, LookupError):
        signs = False
    return Style(color=terminal and "NO_COLOR" not in os.environ, unicode=signs, width=width)


def us(value: float) -> str:
    """A time in us with four significant digits or so: `0.0313`, `4.21`, `1,239.7`."""
    digits = 4 if value < 0.1 else 3 if value < 1 else 2 if value < 100 else 1
    return f"{value:,.{digits}f}"


def percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def size(nbytes: int) -> str:
    """Bytes in the largest binary unit that keeps them readable."""
    for unit, factor in (("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10)):
        if nbytes >= factor:
            number = nbytes / factor
            return f"{number:,.0f} {unit}" if number == int(number) else f"{number:,.1f} {unit}"
    return f"{nbytes} B"
