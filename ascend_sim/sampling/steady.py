"""Long launches from short ones: a loop of equal tiles is simulated until it is steady, and carried on from there.

A launch whose blocks work on N equal tiles costs `F(n) = F0 + n * f` for every figure F (times, busy times), once the
memory system no longer changes what a tile costs. It is simulated with a, b and c tiles per block, evenly apart, and
`F(N) = F(c) + (N - c) * (F(c) - F(b)) / (c - b)`. Prologue, first tiles and the way out are in F(c).

What can change a tile's cost on the way is L2 filling up: from then on lines have to be written back. So where memory
matters (more than `BUSY_MEMORY` of its rate is used: cores that load at the same moment feel it from there on) and the
whole launch writes, and moves more bytes than L2 holds, `a` lies behind the tile at which L2 is full; elsewhere `a` is
a few tiles. `bound` is how far off F(N) would be if the
change from a..b to b..c went on: |second difference| * (N - c) / (c - b), as a share of F(N). Blocks that have fewer
tiles than the longest are taken to have as many, an error below 1 / N.

This is for measured rows: kernels of equal tiles without values, whose number of tiles is an argument, and of which
every figure that a profiler shows is wanted, from the cold L2 that the first launches of a benchmark find until it is
full. Operators have loops in loops, tails, and cores with other shares; their excerpts (`estimate`) are one launch
each, which keeps hundreds of tilings affordable, and take L2 for as full as it will be.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ascend_sim.host.device import Launch
from ascend_sim.machine.memory import hbm_bytes_per_cycle
from ascend_sim.sampling.figures import Figures, figures, with_ratios

Run = Callable[[int], Launch]
"""Launch with at most so many tiles per block."""

WINDOW_TILES = 16
WINDOW_INSTRUCTIONS = 256  # of a block; fewer could hide behind a latency or in a queue
HEAVY_WINDOW_TILES = 2
FULL_INSTRUCTIONS = 120_000  # a launch up to this size is simulated as it is
BUSY_MEMORY = 0.25
L2_MARGIN = 1.1


@dataclass(frozen=True, slots=True)
class Sample:
    """Figures of a launch on a chip of family `soc`; `tiles` of `of` tiles per block were simulated; `bound`:
    relative, on the duration; `hbm`: whether anything went past L2."""

    soc: str
    figures: Figures
    blocks: int
    instructions: int
    tiles: int
    of: int
    bound: float = 0.0
    hbm: bool = True


def sample(run: Run, tiles: int, core_bound: bool = False, period: int = 1, heavy: bool = False) -> Sample:
    """Simulate a launch of `tiles` tiles per block, or as much of it as is needed.

    `core_bound`: a tile costs the same however full L2 is. `period`: the pattern of tiles repeats after so many.
    `heavy`: a tile is long to record, so few of them are.
    """
    if tiles <= HEAVY_WINDOW_TILES:
        return _whole(run, tiles)
    window = HEAVY_WINDOW_TILES
    if not heavy:
        one, two = run(1).program, run(2).program
        per_tile = two.instructions - one.instructions
        if per_tile * tiles <= FULL_INSTRUCTIONS:
            return _whole(run, tiles)
        window = max(WINDOW_TILES, WINDOW_INSTRUCTIONS * one.block_dim // per_tile)
    window = -(-window // period) * period
    if 3 * window >= tiles:
        return _whole(run, tiles)
    first = window if core_bound else _steady_from(run(window), window, tiles)
    marks = (first, first + window, first + 2 * window)
    if sum(marks) >= tiles:
        return _whole(run, tiles)
    return _carried_on([run(mark) for mark in marks], marks, tiles)


def _whole(run: Run, tiles: int) -> Sample:
    launch = run(tiles)
    memory = launch.timeline.memory
    return Sample(
        launch.soc.name,
        figures(launch),
        launch.program.block_dim,
        launch.program.instructions,
        tiles,
        tiles,
        hbm=memory.hbm_read_bytes + memory.hbm_written_bytes > 0,
    )


def _steady_from(probe: Launch, window: int, tiles: int) -> int:
    """The tile from which on all tiles cost the same; `probe` has done `window` tiles per block."""
    memory, timeline = probe.timeline.memory, probe.timeline
    moved = memory.read_bytes + memory.written_bytes
    rate = moved / max(1, timeline.duration_cycles)
    if memory.written_bytes == 0 or rate < BUSY_MEMORY * hbm_bytes_per_cycle(probe.soc):
        return window
    capacity = probe.soc.l2.bytes * L2_MARGIN
    per_tile = moved / window
    return window if per_tile * tiles < capacity else max(window, int(capacity / per_tile) + 1)


def _carried_on(launches: list[Launch], marks: tuple[int, int, int], tiles: int) -> Sample:
    a, b, c = (figures(launch) for launch in launches)
    left = (tiles - marks[2]) / (marks[2] - marks[1])
    shares = [name for name in c if name.endswith("_ratio") or name == "l2_hit"]
    values = {name: c[name] + (c[name] - b[name]) * left for name in c if name not in shares}
    if "l2_hit" in c:
        values["l2_hit"] = c["l2_hit"]
    change = abs((c["duration_us"] - b["duration_us"]) - (b["duration_us"] - a["duration_us"]))
    return Sample(
        launches[2].soc.name,
        with_ratios(values),
        launches[2].program.block_dim,
        sum(launch.program.instructions for launch in launches),
        marks[2],
        tiles,
        change * left / values["duration_us"],
    )
