"""numpy access to what an instruction touches, made once per distinct instruction over `RECORDER.ub`.

Operands become plain strided views whenever all of them can take one shape; else index arrays pick their elements. Both
read every source before they write, which is what the hardware does within a repeat; an instruction whose repeats feed
later ones (or write the same place) is run repeat by repeat.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ascend_sim.asc.walk import Bytes, Layout, Walk
from ascend_sim.program import BLOCK_BYTES

Array = npt.NDArray[Any]
Into = Callable[..., Any]  # into(out, *sources): computes and writes
Run = Callable[[], Any]


def make_run(ub: Bytes, walk: Walk, dst: Layout, sources: Sequence[Layout], into: Into, sequential: bool) -> Run | None:
    """The function that computes the instruction's values; None when no element is active."""
    if not walk.elements:
        return None
    if sequential and walk.repeats > 1:
        steps = [
            make_run(ub, walk.one_repeat(r), dst.shifted(r), [item.shifted(r) for item in sources], into, False)
            for r in range(walk.repeats)
        ]
        return _in_order([step for step in steps if step is not None])
    layouts = (dst, *sources)
    views = direct_views(ub, walk, layouts)
    if views is not None:
        return _direct(into, views)
    return _indexed(into, [typed(ub, item) for item in layouts], [element_indices(walk, item) for item in layouts])


def direct_views(ub: Bytes, walk: Walk, layouts: Sequence[Layout]) -> list[Array] | None:
    """Views of one common shape, or None when some operand cannot be written as one."""
    if walk.dense and all(item.contiguous(walk) for item in layouts):
        return [strided(ub, item, (walk.elements,), (item.dtype.itemsize,)) for item in layouts]
    if walk.progression is None:
        return None
    first, step, lanes = walk.progression
    if all(item.block_stride == BLOCK_BYTES or first + lanes * step <= item.per_block for item in layouts):
        shape: tuple[int, ...] = (walk.repeats, lanes)
        sizes = [item.dtype.itemsize for item in layouts]
        return [
            strided(ub, item, shape, (item.repeat_stride, step * size), first * size)
            for item, size in zip(layouts, sizes, strict=True)
        ]
    per_block = layouts[0].per_block
    if (first, step) != (0, 1) or lanes % per_block or any(item.per_block != per_block for item in layouts):
        return None
    shape = (walk.repeats, lanes // per_block, per_block)
    return [strided(ub, item, shape, (item.repeat_stride, item.block_stride, item.dtype.itemsize)) for item in layouts]


def strided(ub: Bytes, layout: Layout, shape: tuple[int, ...], strides: tuple[int, ...], offset: int = 0) -> Array:
    """A view of UB that starts `offset` bytes into the operand."""
    return np.ndarray(shape, layout.dtype.numpy, buffer=ub.data, offset=layout.start + offset, strides=strides)


def typed(ub: Bytes, layout: Layout) -> Array:
    """All of UB from the operand's start, as elements of its dtype."""
    size = layout.dtype.itemsize
    return strided(ub, layout, ((len(ub) - layout.start) // size,), (size,))


def element_indices(walk: Walk, layout: Layout) -> npt.NDArray[np.int64]:
    """Where in `typed` the active elements lie, in the order of execution."""
    repeat, lane = walk.active()
    found: npt.NDArray[np.int64] = (layout.at(repeat, lane) - layout.start) // layout.dtype.itemsize
    return found


def _direct(into: Into, views: Sequence[Array]) -> Run:
    def run() -> None:
        with np.errstate(all="ignore"):
            into(*views)

    return run


def _indexed(into: Into, flat: Sequence[Array], indices: Sequence[npt.NDArray[np.int64]]) -> Run:
    out, out_at = flat[0], indices[0]
    sources = list(zip(flat[1:], indices[1:], strict=True))

    def run() -> None:
        result = np.empty(len(out_at), out.dtype)
        with np.errstate(all="ignore"):
            into(result, *(source[at] for source, at in sources))
        out[out_at] = result

    return run


def _in_order(steps: Sequence[Run]) -> Run:
    def run() -> None:
        for step in steps:
            step()

    return run


def lane_reader(ub: Bytes, walk: Walk, layout: Layout, fill: Any) -> Callable[[], Array]:
    """A function that gives the operand as a (repeats, lanes) array, `fill` where a lane takes no part."""
    full = (1 << walk.lanes) - 1
    if walk.uniform and walk.last == full:
        views = direct_views(ub, walk, (layout,))
        if views is not None:
            whole = views[0]
            return lambda: whole.reshape(walk.repeats, walk.lanes)
    flat, at = typed(ub, layout), element_indices(walk, layout)
    repeat, lane = walk.active()

    def read() -> Array:
        rows = np.full((walk.repeats, walk.lanes), fill, layout.dtype.numpy)
        rows[repeat, lane] = flat[at]
        return rows

    return read


def active_lanes(walk: Walk) -> npt.NDArray[np.bool_]:
    """(repeats, lanes) flags of the lanes that take part."""
    flags = np.zeros((walk.repeats, walk.lanes), np.bool_)
    flags[walk.active()] = True
    return flags


def lane_writer(ub: Bytes, walk: Walk, layout: Layout) -> Callable[[Array], None]:
    """A function that stores a (repeats, lanes) array into the active lanes of the operand, in order of repeats."""
    flat, at = typed(ub, layout), element_indices(walk, layout)
    where = walk.active()

    def write(rows: Array) -> None:
        flat[at] = rows[where]

    return write
