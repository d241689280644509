"""Which part of every tensor a tile needs, from the parts that are written back through the graph to global memory.

The answer is a list of `Need`s: boxes of the tensors that get a buffer. Tensors that are only another look at one
(`ALIASES`) never do; whoever reads them reads their source. Views of global memory at a moving place, and global
tensors themselves, are leaves: they are loaded.
"""

from __future__ import annotations

import heapq
import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ascend_sim.frontends.pypto.errors import LoweringError
from ascend_sim.frontends.pypto.graph import ALIASES, Node
from ascend_sim.frontends.pypto.regions import Box, contains, lows, overlap, shifted, union, volume
from ascend_sim.frontends.pypto.shaping import groups_of
from ascend_sim.frontends.pypto.symbols import Env, key_of, value_of

BLOCK_BYTES = 32


@dataclass(frozen=True, slots=True)
class Need:
    """A part of a tensor that gets a buffer; `loaded` from global memory or computed."""

    node: Node
    box: Box

    @property
    def loaded(self) -> bool:
        return is_leaf(self.node)


def is_leaf(node: Node) -> bool:
    """Whether the node is loaded: a global tensor, or a view of one that moves or is filled in part."""
    if node.is_global:
        return True
    if node.op != "view" or not node.inputs[0].is_global or node.attrs.get("bits"):
        return False
    fixed = all(isinstance(offset, int) for offset in node.attrs["offsets"])
    return not fixed or any(key_of(v) != size for v, size in zip(node.valid, node.shape, strict=True))


def through(node: Node, box: Box, env: Env) -> tuple[Node, Box] | None:
    """What a box is another look at: of the source of an alias, or of the one piece of a concat that it lies in; None
    when the box gets a buffer of its own.
    """
    if is_leaf(node):
        return None
    if node.op in ALIASES:
        return sources_of(node, box, env)[0]
    if node.op == "concat":
        found = sources_of(node, box, env)
        if len(found) == 1:
            return found[0]
    return None


def needs_of(roots: Sequence[tuple[Node, Box]], env: Env) -> list[Need]:
    """Everything that the boxes of `roots` need, producers before consumers.

    `env` gives the values of loop indices where a moving view is taken of a computed tensor.
    """
    wanted: dict[Node, list[Box]] = {}
    heap: list[tuple[int, int, Node]] = []

    def want(node: Node, box: Box) -> None:
        below = through(node, box, env)
        while below is not None:
            node, box = below
            below = through(node, box, env)
        if node not in wanted:
            wanted[node] = []
            heapq.heappush(heap, (-node.uid, id(node), node))
        wanted[node].append(box)

    for node, box in roots:
        want(node, box)
    found: list[Need] = []
    while heap:
        _, _, node = heapq.heappop(heap)
        for box in merged(node, wanted[node]):
            found.append(Need(node, box))
            if not is_leaf(node):
                for source, part in sources_of(node, box, env):
                    want(source, part)
    return found[::-1]


def merged(node: Node, boxes: list[Box]) -> list[Box]:
    """As few boxes as serve all: what lies in another or fills a box with it shares its buffer, if it starts there on a
    32 B block, as vector operands must.
    """
    left = sorted(set(boxes))
    changed = True
    while changed:
        changed = False
        for i, a in enumerate(left):
            for b in left[i + 1 :]:
                joined = b if contains(b, a) else union(a, b)
                if joined is not None and starts_on_block(node, joined, a) and starts_on_block(node, joined, b):
                    left = sorted({*(box for box in left if box not in (a, b)), joined})
                    changed = True
                    break
            if changed:
                break
    return left


def starts_on_block(node: Node, outer: Box, inner: Box) -> bool:
    """Whether rows of `inner` start on a 32 B block of a buffer that holds `outer`."""
    axis = last_wide_axis(node)
    return (inner[axis][0] - outer[axis][0]) * node.dtype.itemsize % BLOCK_BYTES == 0


def last_wide_axis(node: Node) -> int:
    """The axis that lies innermost in a buffer: the last one that is not 1 (trailing dims of 1 take no room)."""
    wide = [axis for axis, size in enumerate(node.shape) if key_of(size) != 1]
    return wide[-1] if wide else node.rank - 1


# -- how a box of a result maps onto boxes of its sources --------------------------------------------------------------


def sources_of(node: Node, box: Box, env: Env) -> list[tuple[Node, Box]]:
    """The parts of the inputs that a box of the result needs."""
    rule = _RULES.get(node.op, _element_wise)
    return rule(node, box, env)


def _element_wise(node: Node, box: Box, env: Env) -> list[tuple[Node, Box]]:
    return [(source, broadcast_box(source, box)) for source in node.inputs]


def broadcast_box(source: Node, box: Box) -> Box:
    """The box of an operand that broadcasts its dims of 1."""
    return tuple((0, 1) if key_of(size) == 1 else part for size, part in zip(source.shape, box, strict=True))


def offsets_of(node: Node, env: Env) -> tuple[int, ...]:
    """A view's offsets as numbers."""
    return tuple(int(value_of(offset, env)) for offset in node.attrs["offsets"])


def _view(node: Node, box: Box, env: Env) -> list[tuple[Node, Box]]:
    source = node.inputs[0]
    if node.attrs.get("bits"):
        to, of = node.dtype.itemsize, source.dtype.itemsize
        low, high = box[-1]
        return [(source, (*box[:-1], (low * to // of, -(-high * to // of))))]
    return [(source, shifted(box, offsets_of(node, env)))]


def _reshape(node: Node, box: Box, env: Env) -> list[tuple[Node, Box]]:
    source = node.inputs[0]
    return [(source, reshaped_box(source.shape, node.shape, box))]


def reshaped_box(before: Sequence[Any], after: Sequence[Any], box: Box) -> Box:
    """The smallest box of a tensor of shape `before` that holds `box` of the same elements shaped `after`."""
    found: list[tuple[int, int]] = [(0, 1)] * len(before)
    if any(not isinstance(size, int) for size in after):  # dynamic: only dims of 1 came or went
        parts = [part for part, size in zip(box, after, strict=True) if key_of(size) != 1]
        wide = [axis for axis, size in enumerate(before) if key_of(size) != 1]
        for axis, part in zip(wide, parts, strict=True):
            found[axis] = part
        return tuple(found)
    for left, right in groups_of(before, after):
        sizes = [after[axis] for axis in right]
        first = _linear(sizes, [box[axis][0] for axis in right])
        last = _linear(sizes, [box[axis][1] - 1 for axis in right])
        for axis, part in zip(left, range_box([before[axis] for axis in left], first, last + 1), strict=True):
            found[axis] = part
    return tuple(found)


def _linear(sizes: Sequence[int], index: Sequence[int]) -> int:
    place = 0
    for size, i in zip(sizes, index, strict=True):
        place = place * size + i
    return place


def range_box(sizes: Sequence[int], first: int, end: int) -> Box:
    """The smallest box of a tensor of `sizes` that holds its elements first..end-1 in row-major order."""
    if not sizes:
        return ()
    rest = math.prod(sizes[1:])
    low, high = first // rest, -(-end // rest)
    if high - low == 1:
        return ((low, high), *range_box(sizes[1:], first - low * rest, end - low * rest))
    return ((low, high), *((0, size) for size in sizes[1:]))


def _permuted(node: Node, box: Box, env: Env) -> list[tuple[Node, Box]]:
    parts: list[tuple[int, int]] = [(0, 1)] * node.rank
    for place, axis in enumerate(node.attrs["order"]):
        parts[axis] = box[place]
    return [(node.inputs[0], tuple(parts))]


def _joined(node: Node, box: Box, env: Env) -> list[tuple[Node, Box]]:
    return [(source, inside) for source, inside, _ in pieces_of(node, box)]


def pieces_of(node: Node, box: Box) -> list[tuple[Node, Box, tuple[int, ...]]]:
    """What a box of a joined tensor takes from each of its pieces: piece, box there, place of it within `box`.

    Later pieces lie over earlier ones; one that cannot be seen is left out.
    """
    parts = [
        (source, at, overlap(box, shifted(tuple((0, size) for size in source.shape), at)))
        for source, at in zip(node.inputs, node.attrs["places"], strict=True)
    ]
    found: list[tuple[Node, Box, tuple[int, ...]]] = []
    for index, (source, at, part) in enumerate(parts):
        if part is None or any(later is not None and contains(later, part) for _, _, later in parts[index + 1 :]):
            continue
        inside = shifted(part, [-by for by in at])
        found.append((source, inside, tuple(p - b for p, b in zip(lows(part), lows(box), strict=True))))
    if not _filled(box, [part for _, _, part in parts if part is not None]):
        raise LoweringError(
            f"{node.name}: its elements {_text(box)} are read, but not all of them have been assembled; assemble the "
            "rest first"
        )
    return found


def _filled(box: Box, parts: Sequence[Box]) -> bool:
    """Whether the parts, all inside the box, leave nothing of it out."""
    if sum(map(volume, parts)) < volume(box):
        return False
    ends = [sorted({end for part in (*parts, box) for end in part[axis]}) for axis in range(len(box))]
    cells = itertools.product(*(tuple(itertools.pairwise(e)) for e in ends))
    return all(any(contains(part, cell) for part in parts) for cell in cells)


def _text(box: Box) -> str:
    return f"[{', '.join(f'{low}:{high}' for low, high in box)}]"


def _reduced(node: Node, box: Box, env: Env) -> list[tuple[Node, Box]]:
    source, axis = node.inputs[0], node.attrs["axis"]
    return [(source, (*box[:axis], (0, source.shape[axis]), *box[axis + 1 :]))]


def _every(node: Node, box: Box, env: Env) -> list[tuple[Node, Box]]:
    step = node.attrs["step"]
    low, high = box[-1]
    return [(node.inputs[0], (*box[:-1], (low * step, high * step)))]


def _whole_rows(node: Node, box: Box, env: Env) -> list[tuple[Node, Box]]:
    return [(node.inputs[0], (*box[:-1], (0, node.inputs[0].shape[-1])))]


_RULES = {
    "view": _view,
    "reshape": _reshape,
    "permute": _permuted,
    "transpose": _permuted,
    "expand": _element_wise,
    "concat": _joined,
    "sum": _reduced,
    "amax": _reduced,
    "amin": _reduced,
    "gathermask": _every,
    "interleave": _whole_rows,
}
