"""Time of a core: what overlaps and what cannot, how time grows; two pinned counts last."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import pytest

from ascend_sim.program import CopyWork, PipeID, VectorWork
from ascend_sim.report.result import OperatorResult

from .calls import inputs, run, timed

Interval = tuple[int, int]
MTE2, V, MTE3 = PipeID.PIPE_MTE2, PipeID.PIPE_V, PipeID.PIPE_MTE3
PER_TILE = {MTE2: 4, V: 5, MTE3: 2}


def busy(result: OperatorResult, block: int = 0) -> dict[PipeID, list[Interval]]:
    """From the first begin to the last end of every tile's work on every pipe."""
    core = result.timeline.cores[block]
    found: dict[PipeID, list[Interval]] = {}
    for pipe, count in PER_TILE.items():
        at = [
            i
            for i, instr in enumerate(core.program.instrs)
            if instr.pipe is pipe and isinstance(instr.work, CopyWork | VectorWork)
        ]
        tiles = (at[i : i + count] for i in range(0, len(at), count))
        found[pipe] = [(min(core.start[i] for i in t), max(core.end[i] for i in t)) for t in tiles]
    return found


def overlapping(first: list[Interval], second: list[Interval]) -> Iterator[tuple[int, int]]:
    """Numbers of the tiles whose intervals have cycles in common."""
    for (i, (a, b)), (j, (c, d)) in itertools.product(enumerate(first), enumerate(second)):
        if a < d and c < b:
            yield i, j


def test_only_the_next_load_overlaps_with_a_store() -> None:
    """A single buffer per queue: within a sample MTE2 of tile j + 1 runs beside MTE3 of tile j, and that is all."""
    found = busy(timed([96 * 4], 4))
    assert [len(tiles) for tiles in found.values()] == [4, 4, 4]
    assert list(overlapping(found[MTE2], found[MTE3])) == [(1, 0), (2, 1), (3, 2)]
    assert list(overlapping(found[MTE2], found[V])) == []
    assert list(overlapping(found[V], found[MTE3])) == []
    for pipe in PER_TILE:
        assert not [pair for pair in overlapping(found[pipe], found[pipe]) if pair[0] != pair[1]]


def test_nothing_overlaps_from_one_sample_to_the_next() -> None:
    found = busy(timed([96] * 4, 4))
    for first, second in itertools.combinations(PER_TILE, 2):
        assert list(overlapping(found[first], found[second])) == []


def test_one_long_sample_is_quicker_than_the_same_rows_in_several() -> None:
    assert timed([384], 8).duration_us < timed([192, 192], 8).duration_us < timed([96] * 4, 8).duration_us


def test_every_core_does_the_same() -> None:
    result = timed([200, 31], 12)
    names = [[instr.name for instr in block.instrs] for block in result.program.blocks]
    assert all(found == names[0] for found in names)


def test_more_heads_on_more_cores_take_hardly_longer() -> None:
    one, many = (timed([192], heads).timeline.cores[0].scalar_cycles for heads in (1, 40))
    assert one == many


def test_bytes() -> None:
    lengths, heads = [97, 5], 6
    memory = timed(lengths, heads).metrics.memory
    assert memory.read_bytes - memory.written_bytes == memory.written_bytes == 512 * sum(lengths) * heads


@pytest.mark.parametrize(
    "path", ["timing.memory.port_load_bytes_per_cycle", "timing.memory.port_store_bytes_per_cycle"]
)
def test_a_faster_port_is_never_slower(path: str) -> None:
    slow, fast = (timed([300], 8, overrides={path: rate}).timeline.duration_cycles for rate in (40, 120))
    assert fast < slow


def test_rows_cost_time() -> None:
    cycles = [timed([rows], 8).timeline.duration_cycles for rows in (1, 96, 97, 192, 400)]
    assert cycles == sorted(set(cycles))


def test_values_take_no_time() -> None:
    given = inputs([97, 2], 3)
    assert run(given, [97, 2]).timeline.duration_cycles == timed([97, 2], 3).timeline.duration_cycles


# Pinned: change with the machine's constants, and then on purpose. Ascend910B1, L2 warm.
PINNED = {"the documents' samples, 8 heads": ([2, 1, 4, 4], 8, 5309), "a sequence of 512, 40 heads": ([512], 40, 16092)}


@pytest.mark.parametrize("name", PINNED)
def test_pinned_cycles(name: str) -> None:
    lengths, heads, cycles = PINNED[name]
    assert timed(lengths, heads).timeline.duration_cycles == cycles
