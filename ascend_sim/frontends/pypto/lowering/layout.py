"""Where a buffer keeps its elements: row-major, rows padded to 32 B, trailing dims of 1 without room of their own."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

from ascend_sim.frontends.pypto.dtypes import DataType
from ascend_sim.frontends.pypto.errors import LoweringError
from ascend_sim.frontends.pypto.graph import Node
from ascend_sim.frontends.pypto.lowering.demand import (
    BLOCK_BYTES,
    broadcast_box,
    last_wide_axis,
    through,
)
from ascend_sim.frontends.pypto.regions import Box, contains, extents, lows
from ascend_sim.frontends.pypto.shaping import groups_of
from ascend_sim.frontends.pypto.symbols import Env, key_of


def align(nbytes: int) -> int:
    """Rounded up to whole 32 B blocks."""
    return -(-nbytes // BLOCK_BYTES) * BLOCK_BYTES


def strides_of(node: Node, box: Box) -> tuple[int, ...]:
    """Bytes from one element to the next along every axis of a buffer of `box`."""
    sizes = extents(box)
    inner = last_wide_axis(node)
    strides = [0] * len(sizes)
    step = node.dtype.itemsize
    for axis in range(inner, -1, -1):
        strides[axis] = step
        step = align(step * sizes[axis]) if axis == inner else step * sizes[axis]
    return tuple(strides)


def nbytes_of(node: Node, box: Box) -> int:
    """Bytes of such a buffer."""
    sizes, strides = extents(box), strides_of(node, box)
    return align(max(size * stride for size, stride in zip(sizes, strides, strict=True)))


@dataclass(frozen=True, slots=True)
class Ref:
    """A box of a tensor in unified buffer: `offset` bytes into buffer number `buffer`, then a stride per axis.

    A stride of 0 repeats one element along the axis.
    """

    buffer: int
    offset: int
    strides: tuple[int, ...]
    dtype: DataType


class Buffers:
    """The buffers of one tile, found by the tensor and box that someone reads."""

    def __init__(self) -> None:
        self.nodes: list[Node] = []
        self.boxes: list[Box] = []
        self.strides: list[tuple[int, ...]] = []
        self._of: dict[Node, list[int]] = {}

    def add(self, node: Node, box: Box) -> int:
        """A new buffer; answers its number."""
        number = len(self.nodes)
        self.nodes.append(node)
        self.boxes.append(box)
        self.strides.append(strides_of(node, box))
        self._of.setdefault(node, []).append(number)
        return number

    def whole(self, number: int) -> Ref:
        """All of a buffer."""
        return Ref(number, 0, self.strides[number], self.nodes[number].dtype)

    def ref(self, node: Node, box: Box, env: Env) -> Ref:
        """Where `box` of `node` lies."""
        below_it = through(node, box, env)
        if below_it is None:
            number = next(n for n in self._of[node] if contains(self.boxes[n], box))
            strides = self.strides[number]
            steps = zip(lows(box), lows(self.boxes[number]), strides, strict=True)
            return Ref(number, sum((a - b) * stride for a, b, stride in steps), strides, node.dtype)
        source, part = below_it
        below = self.ref(source, part, env)
        if node.op == "reshape":
            return _reshaped(node, box, part, below)
        if node.op == "permute":
            return Ref(below.buffer, below.offset, tuple(below.strides[a] for a in node.attrs["order"]), node.dtype)
        if node.op == "expand":
            wide = (key_of(s) != 1 or key_of(n) == 1 for s, n in zip(source.shape, node.shape, strict=True))
            strides = tuple(stride if keep else 0 for stride, keep in zip(below.strides, wide, strict=True))
            return Ref(below.buffer, below.offset, strides, node.dtype)
        if node.attrs.get("bits"):
            inside = box[-1][0] * node.dtype.itemsize - part[-1][0] * source.dtype.itemsize
            return Ref(below.buffer, below.offset + inside, (*below.strides[:-1], node.dtype.itemsize), node.dtype)
        return Ref(below.buffer, below.offset, below.strides, node.dtype)  # a view, or one piece of a concat

    def operand(self, source: Node, box: Box, env: Env) -> Ref:
        """An operand of an element-wise operation over `box`: dims of 1 are repeated."""
        part = broadcast_box(source, box)
        found = self.ref(source, part, env)
        strides = tuple(
            0 if key_of(size) == 1 and high - low > 1 else stride
            for size, (low, high), stride in zip(source.shape, box, found.strides, strict=True)
        )
        return Ref(found.buffer, found.offset, strides, found.dtype)


def _reshaped(node: Node, box: Box, part: Box, below: Ref) -> Ref:
    """`box` of a reshape, whose elements lie in `part` of its source at `below`."""
    source = node.inputs[0]
    strides = [0] * node.rank
    offset = below.offset
    if any(not isinstance(size, int) for size in node.shape):  # dims of 1 came or went
        wide = [axis for axis, size in enumerate(source.shape) if key_of(size) != 1]
        for axis, size in enumerate(node.shape):
            if key_of(size) != 1:
                strides[axis] = below.strides[wide.pop(0)]
        return Ref(below.buffer, offset, tuple(strides), node.dtype)
    for left, right in groups_of(source.shape, node.shape):
        step = _element_step(node, left, source.shape, below.strides, part)
        sizes = [node.shape[axis] for axis in right]
        for place, axis in enumerate(right):
            strides[axis] = step * math.prod(sizes[place + 1 :])
        first = sum(box[axis][0] * math.prod(sizes[p + 1 :]) for p, axis in enumerate(right))
        before = sum(part[axis][0] * math.prod(source.shape[a] for a in left[p + 1 :]) for p, axis in enumerate(left))
        offset += (first - before) * step
    return Ref(below.buffer, offset, tuple(strides), node.dtype)


def _element_step(node: Node, left: Sequence[int], shape: Sequence[int], strides: Sequence[int], part: Box) -> int:
    """Bytes from one element to the next of a group of dims that become others."""
    wide = [axis for axis in left if part[axis][1] - part[axis][0] > 1]
    if not wide:
        inner = [axis for axis in left if shape[axis] > 1]
        return strides[inner[-1]] if inner else 0
    for outer, below in itertools.pairwise(wide):
        if strides[outer] != strides[below] * shape[below]:
            raise LoweringError(
                f"{node.name}: reshape from {list(shape)} to {list(node.shape)} would move elements: rows of "
                f"{shape[below]} x {node.dtype.itemsize} B are padded to 32 B in unified buffer; make the last dim a "
                "multiple of 32 B"
            )
    return strides[wide[-1]]
