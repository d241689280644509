"""The map of a tuning: a row for what a core does at a time, a column for how the work is dealt out to cores."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ascend_sim.report.style import us
from ascend_sim.tune.search import Tuning
from ascend_sim.tune.trial import Trial

MAP_ROWS = 40
"""The map has no more rows than can be told apart."""
WORST = 3.0
"""Tilings that take so many times as long as the fastest, or more, have one colour."""
FACTORS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1, 1.1, 1.25, 1.5, 2, 3)
BLOCKS = "blocks"


@dataclass(frozen=True, slots=True)
class Map:
    """`rows`: fastest first, by the values of the choices `names`; of the cells of a row each is in one of `columns`,
    which are numbers of blocks, or values of the choice `across`. `left_out`: how many rows there are beside them."""

    across: str
    columns: Sequence[str]
    names: Sequence[str]
    rows: Sequence[tuple[str, Mapping[str, Trial]]]
    left_out: int

    @property
    def text(self) -> str:
        """What it shows."""
        which = (
            f"the {len(self.rows)} fastest of {len(self.rows) + self.left_out}" if self.left_out else "fastest first"
        )
        return f"A row is {' · '.join(self.names) or 'everything'}; {which}. Colour: time over that of the own choice."


def map_of(tuning: Tuning) -> Map:
    across = _across(tuning)
    names = [name for name in tuning.choices if name != across]
    rows: dict[str, dict[str, Trial]] = {}
    blocks: dict[str, int] = {}
    for trial in tuning.trials:
        column = str(trial.tiling.block_dim if across == BLOCKS else trial.choices.get(across, "-"))
        row = " · ".join(str(trial.choices.get(name, "-")) for name in names) or "all"
        rows.setdefault(row, {}).setdefault(column, trial)
        blocks[column] = trial.tiling.block_dim
    shown = list(rows.items())[:MAP_ROWS]
    columns = sorted({column for _, row in shown for column in row}, key=lambda column: (blocks[column], column))
    return Map(across, columns, names, shown, len(rows) - len(shown))


def _across(tuning: Tuning) -> str:
    """The choice that says how the work is dealt out ("grid 4 x 16") where there is one: it tells the number of blocks,
    and more."""
    counts = {trial.tiling.block_dim for trial in tuning.trials}
    for name in tuning.choices:
        by_value: dict[Any, set[int]] = {}
        for trial in tuning.trials:
            by_value.setdefault(trial.choices.get(name), set()).add(trial.tiling.block_dim)
        if len(by_value) >= len(counts) > 1 and all(len(blocks) == 1 for blocks in by_value.values()):
            return name
    return BLOCKS


def figure_of(tuning: Tuning, found: Map) -> Any:
    """Colours go by the logarithm, or one bad tiling would make all others look alike."""
    import plotly.graph_objects as go  # noqa: PLC0415 - plotly is an extra

    own_us = tuning.own.duration_us
    ratios = [trial.duration_us / own_us for _, row in found.rows for trial in row.values()]
    least, most = min(ratios), min(max(*ratios, 1.1 * min(ratios)), WORST * min(ratios))
    ticks = [factor for factor in FACTORS if least <= factor <= most]
    cells = [[row.get(column) for column in found.columns] for _, row in found.rows]
    figure = go.Figure(
        go.Heatmap(
            x=list(found.columns),
            y=[name for name, _ in found.rows],
            z=[[math.log(cell.duration_us / own_us) if cell else None for cell in row] for row in cells],
            text=[[label(cell) if cell else "" for cell in row] for row in cells],
            hovertemplate="%{text}<extra></extra>",
            colorscale="Viridis",
            zmin=math.log(least),
            zmax=math.log(most),
            xgap=1,
            ygap=1,
            colorbar={
                "thickness": 12,
                "tickvals": [math.log(factor) for factor in ticks],
                "ticktext": [f"{factor:g} x" for factor in ticks],
            },
        )
    )
    for number, row in enumerate(cells):  # on an axis of categories a place is its number
        for place, cell in enumerate(row):
            if cell is not None and (cell is tuning.own or cell is tuning.trials[0]):
                text = "<b>own</b>" if cell is tuning.own else "<b>best</b>"
                figure.add_annotation(x=place, y=number, text=text, showarrow=False, font={"color": "#fff"})
    order = {"type": "category", "categoryorder": "array", "categoryarray": list(found.columns)}
    figure.update_layout(
        height=130 + 20 * len(found.rows),
        xaxis={"title": found.across, **order},
        yaxis={"autorange": "reversed", "automargin": True, "type": "category"},
    )
    return figure


def label(trial: Trial) -> str:
    """What a point or a cell says when it is pointed at."""
    chosen = ", ".join(f"{name} {value}" for name, value in trial.choices.items())
    return f"{us(trial.duration_us)} us<br>{trial.tiling.block_dim} blocks{', ' if chosen else ''}{chosen}"
