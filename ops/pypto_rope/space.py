"""The tilings of the PyPTO kernels: the shapes of their vector tiles, and the unroll factors of their loops.

There is no tiling struct: a tile is what the kernel says to `pypto.set_vec_tile_shapes` (and to views, where it has
loops), and the lowering makes the rest of it: tasks, buffers, the number of cores. What it refuses is no tiling.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from math import prod

from ascend_sim.errors import InputError, TilingError
from ascend_sim.frontends.pypto.lowering.memory import MODES
from ascend_sim.frontends.pypto.regions import shifted
from ascend_sim.host.space import Piece, Space, Steps, distinct, evenly, number
from ascend_sim.host.tensors import Shape
from ascend_sim.host.tiling import Tiling, TilingContext, ceil_div

from . import tiling as host
from .kernels import INTERLEAVE, RMS_NORM, SKELETON, VISION, Tile

MOST_TILINGS = 60
MOST_TASKS, MOST_OF_ALL = 1024, 3000
"""Of a tiling, unless the call's own has half as many; and of all that are tried, where every task is planned apart:
each takes the lowering about 1 ms."""
LEAST_TENSORS = 4
"""x, cos, sin and the result: a tile of which these do not fit is not tried."""
UNROLL = ((1,), (2,), (4,))
BLOCK_BYTES = 32


def axes(context: TilingContext) -> dict[str, int]:
    """The axes of the result; the heads of k, where there is one, follow those of q."""
    shape, kernel = list(context.shape("x")), context.attrs["kernel"]
    if kernel == SKELETON:
        return {f"axis {axis}": size for axis, size in enumerate(shape)}
    if kernel == VISION:
        shape[1] += context.shape("k")[1]
    if kernel in (VISION, RMS_NORM):
        return dict(zip(("positions", "heads", "elements"), shape, strict=True))
    return dict(zip(("batches", "heads", "positions", "elements"), shape, strict=True))


def candidates(context: TilingContext, limit: int) -> Iterator[Tiling]:
    """The call's own tile, then others that the lowering takes, the largest first, with every unroll factor."""
    own = host.tiling(context)
    unrolls = UNROLL if "unroll" in own.data else ((),)
    tasks = _tiles(context, max(MOST_TASKS, 2 * int(own.data["tasks"])))
    tiles = evenly(tasks, max(1, min(limit, MOST_TILINGS) // len(unrolls)))
    if unrolls == ((),):
        tiles = list(_within(tiles, tasks))
    made = (_refused_or(context, tile, unroll) for tile in tiles for unroll in unrolls)
    yield from distinct(own, (tiling for tiling in made if not tiling.not_runnable))


def _within(tiles: list[Tile], tasks: Mapping[Tile, int]) -> Iterator[Tile]:
    """As many as have `MOST_OF_ALL` tasks together."""
    planned = 0
    for tile in tiles:
        planned += tasks[tile]
        if planned <= MOST_OF_ALL:
            yield tile


@dataclass(frozen=True, slots=True)
class _Cuts:
    """The sizes that each axis of a tile may have; the sizes of what is cut by them; how often all of that is done, and
    elements behind each place of a tile."""

    sizes: tuple[list[int], ...]
    over: Shape
    times: int = 1
    behind: int = 1


def _tiles(context: TilingContext, most_tasks: int) -> dict[Tile, int]:
    """Shapes that may fit, the largest first, and about how many tasks each makes."""
    cuts, itemsize = _cuts(context), context.inputs["x"].itemsize
    found: dict[Tile, int] = {}
    for tile in product(*cuts.sizes):
        tasks = cuts.times * prod(ceil_div(size, step) for size, step in zip(cuts.over, tile, strict=True))
        nbytes = LEAST_TENSORS * prod(tile) * cuts.behind * itemsize
        if nbytes <= context.ub_bytes and tasks <= most_tasks:
            found[tile] = tasks
    return dict(sorted(found.items(), key=lambda item: (-prod(item[0]), item[0])))


def _cuts(context: TilingContext) -> _Cuts:
    shape, kernel = context.shape("x"), context.attrs["kernel"]
    block = BLOCK_BYTES // context.inputs["x"].itemsize
    elements = _powers(shape[-1], block)
    if kernel == RMS_NORM:
        return _Cuts((_powers(shape[0]),), shape[:1], behind=shape[1] * shape[2])
    if kernel == INTERLEAVE:
        batch, heads, positions, head_dim = shape
        together = [size for size in _powers(heads) if heads % size == 0]
        return _Cuts((together, _powers(positions)), (heads, positions), times=batch, behind=head_dim)
    if kernel == SKELETON:  # a row of the first axis at a time
        return _Cuts(([1], *map(_powers, shape[1:-1]), elements), shape)
    return _Cuts((*map(_powers, shape[:-1]), elements), shape)


def _powers(size: int, least: int = 1) -> list[int]:
    """Powers of two from `least` on, and the whole axis."""
    found = []
    while least < size:
        found.append(least)
        least *= 2
    return [*found, size]


# --- what a tiling says ----------------------------------------------------------------------------------------------


def coverage(tiling: Tiling, context: TilingContext) -> Iterator[Piece]:
    """What each core writes, a piece for every task and result; one that the lowering refuses writes nothing."""
    if tiling.not_runnable:
        return
    _, lowered = host.lowered(context, {**context.attrs, **host.chosen(tiling)})
    heads = context.shape("x")[1]
    for core in range(lowered.block_dim):
        for name, box in lowered.touched(core)[1]:
            place = shifted(box, (0, heads, 0)) if name == "k_out" else box
            yield Piece(core, tuple(Steps.over(low, high - low, high - low) for low, high in place))


def choices(tiling: Tiling) -> dict[str, int | str]:
    """A tiling that the lowering refuses has no tasks and buffers ("2 + 1": two for loads, one for results)."""
    names = {"path": "kernel", "vec_tile": "tile", "unroll": "unroll", "tasks": "tasks", "buffering": "buffers"}
    found = {text: tiling.data[name] for name, text in names.items() if name in tiling.data}
    return found | {name: _BUFFERS[str(found[name])] for name in ("buffers",) if name in found}


_BUFFERS = {str(mode): "shared" if mode.shared else f"{mode.loads} + {mode.results}" for mode in MODES}


def problems(tiling: Tiling, context: TilingContext) -> list[str]:
    """What the lowering says."""
    if tiling.not_runnable:
        return [tiling.not_runnable.partition(". Buffers")[0]]  # which follow, in lines of their own
    found = []
    _, lowered = host.lowered(context, {**context.attrs, **host.chosen(tiling)})
    if tiling.block_dim != lowered.block_dim:
        found.append(
            f"the block dim is {tiling.block_dim}; the lowering deals {tiling.data['tasks']} tasks out to "
            f"{lowered.block_dim} cores"
        )
    return found


# --- tilings from elsewhere ------------------------------------------------------------------------------------------


def fields(words: Sequence[int], context: TilingContext) -> dict[str, int]:
    """Refused."""
    raise InputError(
        f"{context.op}: a kernel in PyPTO has no tiling struct, so {len(words)} raw words say nothing of it; give JSON "
        'with its tile, {"vec_tile": "1,64,128"}, and with "unroll" where it has a loop'
    )


def rebuild(context: TilingContext, given: Mapping[str, int | str]) -> Tiling:
    """The lowering with this tile; what it says if it refuses stands in the tiling."""
    own = host.tiling(context)
    if given.get("path", own.path) != own.path:
        raise InputError(f"the tiling is for kernel {given['path']}, the call runs {own.path}")
    if "vec_tile" not in given:
        raise InputError("the tiling data has no field vec_tile")
    tile = host.numbers(given, "vec_tile")
    unroll = host.numbers(given if "unroll" in given else own.data, "unroll") if "unroll" in own.data else ()
    found = _refused_or(context, tile, unroll)
    return replace(found, block_dim=number(given, "block_dim", found.block_dim))


def _refused_or(context: TilingContext, tile: Tile, unroll: Tile) -> Tiling:
    """The tiling, or one that says why there is none."""
    try:
        return host.with_choices(context, tile, unroll)
    except TilingError as error:
        return host.refused(context, tile, unroll, str(error))


SPACE = Space(axes, candidates, coverage, choices, fields, rebuild, problems)
