"""How a tiling cuts the call: cores side by side, each with its loops, as an SVG."""

from __future__ import annotations

from html import escape

from ascend_sim.host.tiling import CoreShare, Tiling
from ascend_sim.plurals import plural
from ascend_sim.report.tilings import units

_WIDTH, _ROW, _GAP = 960, 46, 10
_CELLS = 64
_FRONT, _LINE = ("#3b76d6", "#d9822b", "#1f9d8f", "#8e5bb5"), "#ffffff"


def tiling_svg(tiling: Tiling) -> str:
    """A band per kind of core: as long as the rows of all of them, cut into cores, the first one into its steps."""
    shares = [share for share in tiling.shares if share.cores and share.rows]
    if not shares:
        return ""
    total = sum(share.cores * share.rows for share in shares)
    height = len(shares) * (_ROW + 26) + _GAP
    parts = [
        f'<svg viewBox="0 0 {_WIDTH} {height}" role="img" aria-label="how the tiling cuts the call" '
        f'style="width:100%;max-width:{_WIDTH}px;height:auto">'
    ]
    for number, share in enumerate(shares):
        parts += _band(share, total, number * (_ROW + 26), _FRONT[number % len(_FRONT)])
    return "".join([*parts, "</svg>"])


def _band(share: CoreShare, total: int, top: int, colour: str) -> list[str]:
    width = max(_WIDTH * share.cores * share.rows / total, 24)
    drawn = min(share.cores, _CELLS)
    cell = width / drawn
    steps = share.loops[0] if share.loops else None
    loops = ", then ".join(
        f"{plural(loop.loops, 'step')} of {units(loop.per_loop, loop.unit)}"
        + (f" (last {loop.last:,})" if loop.last != loop.per_loop else "")
        for loop in share.loops
        if loop.loops
    )
    caption = (
        f"{plural(share.cores, share.role + ' core')}, {units(share.rows, share.unit)} each: {loops or 'one step'}"
    )
    parts = [f'<text x="0" y="{top + 15}" font-size="14" fill="#222b3a">{escape(caption)}</text>']
    for at in range(drawn):
        left = at * cell
        parts.append(
            f'<rect x="{left:.1f}" y="{top + 22}" width="{max(cell - 1, 0.5):.1f}" height="{_ROW}" fill="{colour}" '
            f'fill-opacity="{0.9 if at % 2 else 0.7}"><title>core {at} of {share.cores}</title></rect>'
        )
        cuts = min(steps.loops, int(cell / 3)) if steps else 0
        for cut in range(1, cuts):
            x = left + cell * cut / cuts
            parts.append(
                f'<line x1="{x:.1f}" y1="{top + 22}" x2="{x:.1f}" y2="{top + 22 + _ROW}" stroke="{_LINE}" '
                f'stroke-opacity="0.8" stroke-width="0.8"/>'
            )
    return parts
