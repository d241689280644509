"""The charts, as Plotly figures."""

from __future__ import annotations

import colorsys
from collections import defaultdict
from collections.abc import Iterable
from typing import Any

import plotly.graph_objects as go

from ascend_sim.explain import Account, Reason
from ascend_sim.places import place_of
from ascend_sim.report.html.buffers import Use
from ascend_sim.report.html.events import SCALAR_WORK, Bar, Rates

PIPE_COLOURS = {"scalar": "#6b7a99", "vec": "#1f9d8f", "mte2": "#3b76d6", "mte3": "#d9822b"}
GAP_COLOUR = "rgba(150,150,160,0.28)"
_MARGIN = {"l": 190, "r": 16, "t": 8, "b": 44}


def timeline(bars: list[Bar], gaps: list[Bar], rows: list[str], span: tuple[float, float]) -> go.Figure:
    """Instructions by core and pipe; gaps with their reasons lie behind them in grey."""
    figure = go.Figure()
    figure.add_trace(_bars("waits", gaps, GAP_COLOUR))
    by_name: dict[str, list[Bar]] = defaultdict(list)
    for bar in bars:
        by_name[bar.name].append(bar)
    colours = _palette(by_name) | {SCALAR_WORK: PIPE_COLOURS["scalar"]}
    for name, colour in colours.items():
        figure.add_trace(_bars(name, by_name[name], colour))
    figure.update_layout(
        barmode="overlay",
        bargap=0.18,
        dragmode="zoom",
        height=110 + 24 * len(rows),
        xaxis={"title": "us from the launch's first block", "range": list(span)},
        yaxis={"categoryorder": "array", "categoryarray": rows[::-1], "fixedrange": True, "automargin": True},
        legend={"orientation": "h", "y": -0.12 - 2.0 / max(len(rows), 4)},
    )
    return _dressed(figure)


def _bars(name: str, bars: list[Bar], colour: str) -> go.Bar:
    return go.Bar(
        name=name,
        orientation="h",
        base=[round(bar.begin_us, 5) for bar in bars],
        x=[round(bar.us, 5) for bar in bars],
        y=[bar.row for bar in bars],
        text=[bar.hover for bar in bars],
        textposition="none",
        hovertemplate="%{text}<extra></extra>",
        marker={"color": colour, "line": {"width": 0}},
    )


def utilisation(rates: Rates) -> go.Figure:
    """How much of the cores' time each pipe works, over time."""
    figure = go.Figure()
    for name, share in rates.busy.items():
        line = {"color": PIPE_COLOURS[name], "width": 1.6}
        figure.add_trace(go.Scatter(x=rates.us, y=100 * share, name=f"aiv_{name}", mode="lines", line=line))
    figure.update_layout(height=260, xaxis={"title": "us"}, yaxis={"title": "% of the cores", "rangemode": "tozero"})
    return _dressed(figure, left=70)


def bandwidth(rates: Rates, roof_gbps: float) -> go.Figure:
    """GM traffic of all cores over time."""
    figure = go.Figure()
    for name, colour in (("read", PIPE_COLOURS["mte2"]), ("written", PIPE_COLOURS["mte3"])):
        line = {"color": colour, "width": 1.2}
        figure.add_trace(
            go.Scatter(x=rates.us, y=rates.gbps[name], name=name, mode="lines", line=line, stackgroup="gm")
        )
    peak = max((rates.gbps["read"] + rates.gbps["written"]).max(initial=0.0), 1e-3)
    if peak > roof_gbps / 2:
        figure.add_hline(y=roof_gbps, line={"color": "#b3423a", "dash": "dot", "width": 1}, annotation_text="roof")
    title = f"GM, GB/s (at most {roof_gbps:,.0f})"
    figure.update_layout(height=260, xaxis={"title": "us"}, yaxis={"title": title, "rangemode": "tozero"})
    return _dressed(figure, left=70)


def overview(rates: Rates) -> go.Figure:
    """Every core over time: the share of a bin in which its busiest pipe works."""
    figure = go.Figure(
        go.Heatmap(
            x=rates.us,
            y=rates.cores,
            z=(100 * rates.heat).round(1),
            zmin=0,
            zmax=100,
            colorscale=[[0, "#f2f4f8"], [0.5, "#7fb3d5"], [1, "#1b4f8f"]],
            colorbar={"title": "%", "thickness": 12},
            hovertemplate="core %{y}, %{x:.3f} us: %{z} %<extra></extra>",
        )
    )
    height = min(120 + 9 * len(rates.cores), 560)
    figure.update_layout(height=height, xaxis={"title": "us"}, yaxis={"title": "core", "autorange": "reversed"})
    return _dressed(figure, left=70)


def waits(account: Account) -> go.Figure:
    """Where each pipe's time goes: work, waiting inside, and idle by reason."""
    totals = list(account.pipes.values())
    names = [f"aiv_{total.pipe}" for total in totals]
    figure = go.Figure()
    figure.add_trace(_stack("works", names, [100 * total.share(total.work) for total in totals], "#1f9d8f"))
    inside = [100 * total.share(total.in_flight) for total in totals]
    figure.add_trace(_stack("results on their way", names, inside, "#9fd6cf"))
    for reason in Reason:
        shares = [100 * total.share(total.idle_by.get(reason, 0)) for total in totals]
        if max(shares, default=0) >= 0.05:
            figure.add_trace(_stack(reason.text, names, shares, _light(reason)))
    figure.update_layout(
        barmode="stack",
        height=300,
        xaxis={"title": "% of the AIV time", "range": [0, 100]},
        yaxis={"autorange": "reversed", "automargin": True},
        legend={"orientation": "h", "y": -0.35},
    )
    return _dressed(figure, left=90)


def _stack(name: str, rows: list[str], values: list[float], colour: str) -> go.Bar:
    texts = [f"{name}: {value:.1f} %" for value in values]
    return go.Bar(
        name=name,
        orientation="h",
        x=values,
        y=rows,
        hovertext=texts,
        hovertemplate="%{hovertext}<extra></extra>",
        marker={"color": colour},
    )


def roofline(account: Account) -> go.Figure:
    """Vector operations a second against operations per byte of GM traffic."""
    found = account.roofline
    by_name = {roof.name: roof for roof in found.roofs}
    vector, gm = by_name["vector"], by_name["gm"]
    here = max(found.intensity, 1e-3)
    low, high = min(here, found.ridge or 1) / 8, max(here, found.ridge or 1) * 8
    points = [low, found.ridge or 1, high]
    figure = go.Figure()
    roof = [min(vector.roof, gm.roof * point) for point in points]
    figure.add_trace(go.Scatter(x=points, y=roof, mode="lines", name="roof", line={"color": "#b3423a", "width": 2}))
    figure.add_trace(
        go.Scatter(
            x=[here],
            y=[max(vector.rate, 1e-3)],
            mode="markers",
            name="this run",
            marker={"size": 12, "color": "#1b4f8f"},
            hovertemplate="%{x:.3g} op/B, %{y:.4g} Gop/s<extra></extra>",
        )
    )
    figure.update_layout(
        height=320,
        xaxis={"type": "log", "title": "vector operations per byte of GM traffic"},
        yaxis={"type": "log", "title": "Gop/s"},
    )
    return _dressed(figure, left=70)


def unified_buffer(found: list[Use], capacity: int) -> go.Figure:
    """Addresses of one block's unified buffer over time."""
    by_name: dict[str, list[Use]] = defaultdict(list)
    for use in found:
        by_name[place_of(use.writer)].append(use)
    figure = go.Figure()
    palette = _palette(by_name)
    for name, group in by_name.items():
        figure.add_trace(
            go.Bar(
                name=name,
                x=[(use.begin_us + use.end_us) / 2 for use in group],
                width=[max(use.end_us - use.begin_us, 1e-4) for use in group],
                base=[use.start for use in group],
                y=[use.end - use.start for use in group],
                text=[
                    f"{name}<br>bytes {use.start:,} to {use.end - 1:,} ({use.end - use.start:,} B)"
                    f"<br>{use.begin_us:.3f} to {use.end_us:.3f} us"
                    for use in group
                ],
                textposition="none",
                hovertemplate="%{text}<extra></extra>",
                marker={"color": palette[name], "opacity": 0.78, "line": {"width": 0.5, "color": "white"}},
            )
        )
    top = max((use.end for use in found), default=capacity)
    figure.update_layout(
        barmode="overlay",
        height=380,
        xaxis={"title": "us"},
        yaxis={"title": f"byte address (capacity {capacity:,})", "range": [0, min(capacity, top * 1.08)]},
        showlegend=len(by_name) <= 14,
        legend={"orientation": "h", "y": -0.25},
    )
    return _dressed(figure, left=80)


def _dressed(figure: go.Figure, left: int = _MARGIN["l"]) -> go.Figure:
    font: dict[str, Any] = {"family": "system-ui, sans-serif", "size": 12, "color": "#222b3a"}
    figure.update_layout(
        template="plotly_white", margin=_MARGIN | {"l": left}, font=font, hoverlabel={"align": "left"}, autosize=True
    )
    return figure


def _palette(names: Iterable[str]) -> dict[str, str]:
    """A colour per name, all different and as far from each other as so many can be."""
    known = list(names)
    return {name: _hue(at / max(len(known), 1), 0.5 if at % 2 else 0.4) for at, name in enumerate(known)}


def _light(reason: Reason) -> str:
    """The colour that a reason has in every report."""
    return _hue(reason / len(Reason), 0.76)


def _hue(hue: float, light: float) -> str:
    red, green, blue = colorsys.hls_to_rgb(hue, light, 0.55)
    return f"rgb({int(255 * red)},{int(255 * green)},{int(255 * blue)})"
