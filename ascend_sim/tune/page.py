"""A tuning as one HTML page that needs no network: time against UB use, a map of blocks and kernels, the table."""

from __future__ import annotations

import os
from html import escape
from typing import Any

from ascend_sim.host.tensors import infos_text
from ascend_sim.plurals import plural
from ascend_sim.report.files import atomic
from ascend_sim.report.html.plotly import require_plotly
from ascend_sim.report.style import us
from ascend_sim.tune.document import document, layout, table
from ascend_sim.tune.heatmap import figure_of, label, map_of
from ascend_sim.tune.reasons import reason
from ascend_sim.tune.search import Tuning

COLOURS = {"own": "#d9822b", "faster": "#1f9d8f", "tie": "#6b7a99", "slower": "#b8bcc6"}


def write_page(tuning: Tuning, path: str | os.PathLike[str]) -> None:
    """Write the page, whole or not at all. Needs the extra `report` (plotly)."""
    text = page(tuning)
    with atomic(path, "HTML report") as temporary:
        temporary.write_text(text, encoding="utf-8")


def page(tuning: Tuning) -> str:
    """The whole document."""
    require_plotly()
    found = map_of(tuning)
    charts = [
        ("Time and unified buffer", "", _scatter(tuning)),
        ("Blocks and kernels", f"<p>{escape(found.text)}</p>", layout(figure_of(tuning, found))),
        ("Buffers of the fastest and of the own", "", _buffers(tuning)),
    ]
    title = f"{tuning.operator} on {tuning.chip.variant}: {plural(len(tuning.trials), 'tiling')}"
    intro = [
        infos_text(tuning.infos),
        f"Error of the model: {tuning.tie_text}.",
    ]
    return document(title, intro, charts, "All tilings", _table(tuning))


def _scatter(tuning: Tuning) -> Any:
    import plotly.graph_objects as go  # noqa: PLC0415 - plotly is an extra

    figure = go.Figure()
    for verdict, colour in reversed(COLOURS.items()):  # the own one on top
        mine = [trial for trial in tuning.trials if tuning.verdict(trial) == verdict]
        figure.add_trace(
            go.Scatter(
                x=[trial.tiling.ub_used_bytes / 1024 for trial in mine],
                y=[trial.duration_us for trial in mine],
                text=[label(trial) for trial in mine],
                hovertemplate="%{text}<extra></extra>",
                mode="markers",
                name=verdict,
                marker={"color": colour, "size": 13 if verdict == "own" else 8},
            )
        )
    figure.add_vline(x=tuning.own.tiling.ub_bytes / 1024, line_dash="dash", line_color="#888")
    return layout(
        figure,
        height=420,
        xaxis={"title": "UB, KiB (dashed: all there is)", "rangemode": "tozero"},
        yaxis={"title": "us", "type": "log", "dtick": "D2", "tickformat": ",.3~r"},
    )


def _buffers(tuning: Tuning) -> Any:
    import plotly.graph_objects as go  # noqa: PLC0415 - plotly is an extra

    figure = go.Figure()
    best = tuning.trials[0]
    pair = {"own, fastest": best} if best is tuning.own else {"own": tuning.own, "fastest": best}
    for name in dict.fromkeys(buffer.name for trial in pair.values() for buffer in trial.tiling.buffers):
        sizes = [
            sum(buffer.total for buffer in trial.tiling.buffers if buffer.name == name) / 1024
            for trial in pair.values()
        ]
        figure.add_trace(go.Bar(y=list(pair), x=sizes, name=name, orientation="h"))
    figure.add_vline(x=tuning.own.tiling.ub_bytes / 1024, line_dash="dash", line_color="#888")
    layout(figure, height=190 + 50 * len(pair), barmode="stack", xaxis={"title": "KiB (dashed: all there is)"})
    figure.update_layout(legend={"y": -0.25 - 60 / (50 + 50 * len(pair)), "yanchor": "top"}, yaxis={"automargin": True})
    return figure


def _table(tuning: Tuning) -> str:
    names = ["rank", "us", "vs own", "verdict", "blocks", *tuning.choices, "UB B", "balance", "limit", "why"]
    rows = []
    for rank, trial in enumerate(tuning.trials, 1):
        cells = [
            rank,
            us(trial.duration_us) + (f" ±{100 * trial.error:.1f} %" if trial.error else ""),
            f"{100 * tuning.versus_own(trial):+.1f} %",
            tuning.verdict(trial),
            trial.tiling.block_dim,
            *(trial.choices.get(name, "") for name in tuning.choices),
            f"{trial.tiling.ub_used_bytes:,}",
            f"{100 * trial.balance:.1f} %",
            trial.bound,
            "" if trial is tuning.own else reason(tuning.own, trial),
        ]
        rows.append(cells)
    return table(names, rows)
