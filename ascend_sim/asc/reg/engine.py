"""Evaluates the body of a vector function: every instruction once for all rounds of the loops around it.

Loops in `serial` are walked round by round instead: those that carry a register from one round to the next, and those
in which a round touches UB bytes that another round writes (see `order`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ascend_sim.asc.reg.affine import Affine
from ascend_sim.asc.reg.trace import Loop, Node, Path
from ascend_sim.asc.reg.values import Array, Mask, Value
from ascend_sim.program import VfUnit

At = dict[Loop, int]


def grid(number: Affine, path: Path, at: At) -> Array:
    """The values of `number` over the loops of `path`, one axis per loop; `at` gives the rounds of serial loops."""
    first = number.const + sum(number.steps.get(loop, 0) * k for loop, k in at.items())
    total: Array = np.full((1,) * len(path), first, np.int64)
    for axis, loop in enumerate(path):
        step = number.steps.get(loop, 0)
        if step:
            shape = [1] * len(path)
            shape[axis] = loop.trips
            total = total + (np.arange(loop.trips, dtype=np.int64) * step).reshape(shape)
    return total


class Step:
    """A node with what evaluation needs of it. `path`: the loops that have an axis; `kept`: a result that never
    changes."""

    __slots__ = ("kept", "node", "once", "path", "shape", "strides")

    def __init__(self, node: Node, path: Path) -> None:
        self.node = node
        self.path = path
        self.once = not node.reads and path == node.path and node.unit is VfUnit.MASK
        self.kept: Any = None
        self.shape: tuple[int, ...] = ()
        self.strides: tuple[int, ...] = ()
        access = node.access
        if access is not None and not access.indexed:
            size = access.dtype.itemsize
            blocks = access.blocks > 1
            self.shape = (
                *(loop.trips for loop in path), *((access.blocks,) if blocks else ()), access.length // size
            )  # fmt: skip
            steps = tuple(access.address.steps.get(loop, 0) for loop in path)
            self.strides = (*steps, *((access.block_stride,) if blocks else ()), size)

    def view(self, ub: Any, at: At) -> Array:
        """The elements that the instruction touches, as a view of UB."""
        access = self.node.access
        assert access is not None
        address = access.address
        start = address.const
        if at:
            start += sum(address.steps.get(loop, 0) * k for loop, k in at.items())
        return np.ndarray(self.shape, access.dtype, ub.data, start, self.strides)


class Engine:
    """Runs `items` on the bytes of UB: made once per distinct call, run again for every tile."""

    def __init__(self, items: Sequence[Loop | Node], slots: int, serial: frozenset[Loop], ub: Any) -> None:
        self._items = items
        self._serial = serial
        self._ub = ub
        self._values: list[Any] = [None] * slots
        self._paths: list[Path] = [()] * slots
        self._steps: dict[int, Step] = {}
        self._prepare(items)

    def _prepare(self, items: Sequence[Loop | Node]) -> None:
        for item in items:
            if isinstance(item, Loop):
                self._prepare(item.items)
            else:
                path = tuple(loop for loop in item.path if loop not in self._serial)
                self._steps[id(item)] = Step(item, path)

    def run(self) -> None:
        with np.errstate(all="ignore"):
            self._block(self._items, {})
        self._values = [None] * len(self._values)

    def _block(self, items: Sequence[Loop | Node], at: At) -> None:
        for item in items:
            if isinstance(item, Node):
                self._run(self._steps[id(item)], at)
            elif item in self._serial:
                for k in range(item.trips):
                    at[item] = k
                    self._block(item.items, at)
                del at[item]
            else:
                self._block(item.items, at)

    def _run(self, step: Step, at: At) -> None:
        node, path = step.node, step.path
        compute = node.compute
        if compute is None:
            return
        values, paths = self._values, self._paths
        inputs = [values[slot].moved(paths[slot], path) for slot in node.reads]
        result = step.kept
        if result is None:
            access = node.access
            if access is None:
                result = compute(*inputs) if node.counter is None else compute(grid(node.counter, path, at), *inputs)
            elif access.indexed:
                result = compute(self._ub, grid(access.address, path, at), *inputs)
            elif node.unit is VfUnit.STORE:
                data, active = compute(*inputs)
                np.copyto(step.view(self._ub, at), data, where=True if active is None else active)
            else:
                result = compute(step.view(self._ub, at), *inputs)
            if step.once:
                step.kept = result
        axes = len(path)
        for slot, value in zip(node.writes, result if isinstance(result, tuple) else (result,), strict=False):
            values[slot] = settled(value, axes)
            paths[slot] = path


def settled(value: Value | Mask, axes: int) -> Value | Mask:
    """`value` with `axes` axes in front of its lanes."""
    if isinstance(value, Mask):
        flags = value.flags
        if flags is not None and flags.ndim <= axes:
            value.flags = flags.reshape((1,) * (axes + 1 - flags.ndim) + flags.shape)
        return value
    data = value.data
    if data.ndim <= axes:
        value.data = data.reshape((1,) * (axes + 1 - data.ndim) + data.shape)
    return value
