"""A tuning as one HTML page that needs no network: time against UB use, a map of blocks and kernels, the table."""

from __future__ import annotations

import os
from html import escape
from typing import Any

from ascend_sim.host.tensors import infos_text
from ascend_sim.report.files import atomic
from ascend_sim.report.html.plotly import require_plotly
from ascend_sim.tune.reasons import reason
from ascend_sim.tune.search import Tuning
from ascend_sim.tune.trial import Trial

COLOURS = {"own": "#d9822b", "faster": "#1f9d8f", "tie": "#6b7a99", "slower": "#b8bcc6"}
STYLE = (
    "body{font:15px system-ui,sans-serif;max-width:1100px;margin:2em auto;padding:0 1em;color:#222}"
    "table{border-collapse:collapse;font-size:13px}td,th{padding:3px 9px;border-bottom:1px solid #ddd;text-align:right}"
    "td:last-child,th:last-child{text-align:left}"
)


def write_page(tuning: Tuning, path: str | os.PathLike[str]) -> None:
    """Write the page, whole or not at all. Needs the extra `report` (plotly)."""
    text = page(tuning)
    with atomic(path, "HTML report") as temporary:
        temporary.write_text(text, encoding="utf-8")


def page(tuning: Tuning) -> str:
    """The whole document."""
    require_plotly()
    from plotly.offline import get_plotlyjs  # noqa: PLC0415 - plotly is an extra

    charts = [
        ("Time and unified buffer", _scatter(tuning)),
        ("Blocks and kernels", _map(tuning)),
        ("Buffers of the fastest and of the own", _buffers(tuning)),
    ]
    title = escape(f"{tuning.operator} on {tuning.chip.variant}: {len(tuning.trials)} tilings")
    parts = [f"<h2>{name}</h2>{figure.to_html(full_html=False, include_plotlyjs=False)}" for name, figure in charts]
    return (
        f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>{title}</title><style>{STYLE}</style>'
        f"<script>{get_plotlyjs()}</script></head><body><h1>{title}</h1><p>{escape(infos_text(tuning.infos))}</p>"
        f"<p>Error of the model: {escape(str(tuning.expected))}; a smaller difference is a tie.</p>"
        f"{''.join(parts)}<h2>All tilings</h2>{_table(tuning)}<p>Simulated, not measured.</p></body></html>\n"
    )


def _label(trial: Trial) -> str:
    chosen = ", ".join(f"{name} {value}" for name, value in trial.choices.items())
    return f"{trial.tiling.block_dim} blocks, {chosen}"


def _scatter(tuning: Tuning) -> Any:
    import plotly.graph_objects as go  # noqa: PLC0415 - plotly is an extra

    figure = go.Figure()
    for verdict, colour in COLOURS.items():
        mine = [trial for trial in tuning.trials if tuning.verdict(trial) == verdict]
        figure.add_trace(
            go.Scatter(
                x=[trial.tiling.ub_used_bytes / 1024 for trial in mine],
                y=[trial.duration_us for trial in mine],
                text=[_label(trial) for trial in mine],
                mode="markers",
                name=verdict,
                marker={"color": colour, "size": 13 if verdict == "own" else 8},
            )
        )
    figure.update_layout(xaxis_title="UB, KiB", yaxis_title="us", yaxis_type="log", height=420)
    return figure


def _map(tuning: Tuning) -> Any:
    import plotly.graph_objects as go  # noqa: PLC0415 - plotly is an extra

    blocks = sorted({trial.tiling.block_dim for trial in tuning.trials})
    rows: dict[str, dict[int, float]] = {}
    for trial in tuning.trials:
        name = ", ".join(f"{key} {value}" for key, value in trial.choices.items())
        rows.setdefault(name, {})[trial.tiling.block_dim] = trial.duration_us
    figure = go.Figure(
        go.Heatmap(
            x=[str(count) for count in blocks],
            y=list(rows),
            z=[[row.get(count) for count in blocks] for row in rows.values()],
            colorscale="Viridis",
            colorbar={"title": "us"},
        )
    )
    figure.update_layout(
        xaxis={"title": "blocks", "type": "category"},
        yaxis={"autorange": "reversed", "automargin": True},
        height=160 + 18 * len(rows),
    )
    return figure


def _buffers(tuning: Tuning) -> Any:
    import plotly.graph_objects as go  # noqa: PLC0415 - plotly is an extra

    figure = go.Figure()
    pair = {"own": tuning.own, "fastest": tuning.trials[0]}
    for name in dict.fromkeys(buffer.name for trial in pair.values() for buffer in trial.tiling.buffers):
        sizes = [
            sum(buffer.total for buffer in trial.tiling.buffers if buffer.name == name) / 1024
            for trial in pair.values()
        ]
        figure.add_trace(go.Bar(y=list(pair), x=sizes, name=name, orientation="h"))
    limit = tuning.own.tiling.ub_bytes / 1024
    figure.add_vline(x=limit, line_dash="dash", annotation_text="UB")
    figure.update_layout(barmode="stack", xaxis_title="KiB", height=280)
    return figure


def _table(tuning: Tuning) -> str:
    names = ["rank", "us", "vs own", "verdict", "blocks", *tuning.choices, "UB B", "limit", "why"]
    rows = []
    for rank, trial in enumerate(tuning.trials, 1):
        cells = [
            rank,
            f"{trial.duration_us:.2f}",
            f"{100 * (trial.duration_us / tuning.own.duration_us - 1):+.1f} %",
            tuning.verdict(trial),
            trial.tiling.block_dim,
            *(trial.choices.get(name, "") for name in tuning.choices),
            f"{trial.tiling.ub_used_bytes:,}",
            trial.bound,
            "" if trial is tuning.own else reason(tuning.own, trial),
        ]
        rows.append("<tr>" + "".join(f"<td>{escape(str(cell))}</td>" for cell in cells) + "</tr>")
    head = "".join(f"<th>{escape(name)}</th>" for name in names)
    return f"<table><tr>{head}</tr>{''.join(rows)}</table>"
