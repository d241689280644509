"""How a body is cut into tiles.

Stores of one shape and tile that share tensors are cut together (`Component`), by the tile shape that was set when the
stored result was computed. An axis is cut only if a tile then does mostly work of its own: not where most of it (a sum
over the axis, say) would be done again for every tile.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from ascend_sim.frontends.pypto.errors import LoweringError
from ascend_sim.frontends.pypto.graph import ALIASES, Node, Store
from ascend_sim.frontends.pypto.lowering.bodies import Body, leaves, memory_of, same_place
from ascend_sim.frontends.pypto.lowering.demand import BLOCK_BYTES, is_leaf, needs_of
from ascend_sim.frontends.pypto.regions import Box, overlap, volume
from ascend_sim.frontends.pypto.symbols import Env, key_of

Tile = tuple[int, ...]  # number of the tile along every axis


class Joined(Enum):
    """Which stores of a body are worked on together: those that share loads, that share computations, that share them
    within one copy of an unrolled body, or none. The less, the more is done twice, and the less room it takes.
    """

    BY_LOADS = 0
    BY_WORK = 1
    BY_COPY = 2
    APART = 3


@dataclass(eq=False, slots=True)
class Write:
    """A store and what it takes from unified buffer: the stored tensor, or a copy of it where it was only loaded."""

    store: Store
    source: Node


@dataclass(eq=False, slots=True)
class Component:
    """Writes that are cut together. `cut` is the tile's size per axis (the whole extent where the axis is not cut)."""

    body: Body
    writes: list[Write]
    shape: tuple[int, ...]
    tile: tuple[int, ...]  # as set in the kernel, clipped to the shape
    cut: tuple[int, ...] = ()
    kept_whole: tuple[int, ...] = ()  # axes that the tile would have cut, but must not
    splits: tuple[int, ...] = field(default=(0,))  # starts of separate boxes along the last axis
    in_parts: bool = False  # `cut` is a part of the tile, because float32 of bfloat16 arithmetic takes room

    def tiles(self) -> Iterator[Tile]:
        """The numbers of all tiles, last axis fastest."""
        counts = [-(-extent // size) for extent, size in zip(self.shape, self.cut, strict=True)]
        return itertools.product(*map(range, counts))

    def counts(self) -> tuple[int, ...]:
        return tuple(-(-extent // size) for extent, size in zip(self.shape, self.cut, strict=True))

    def box(self, tile: Tile) -> Box:
        """The part of the result that is a tile."""
        return tuple(
            (i * size, min((i + 1) * size, extent)) for i, size, extent in zip(tile, self.cut, self.shape, strict=True)
        )

    def boxes(self, tile: Tile) -> list[Box]:
        """A tile, in pieces where a concat along the last axis joins rows inside a 32 B block."""
        box = self.box(tile)
        ends = (*self.splits[1:], self.shape[-1])
        parts = [(*((0, n) for n in self.shape[:-1]), (a, b)) for a, b in zip(self.splits, ends, strict=True)]
        found = [overlap(box, part) for part in parts]
        return [part for part in found if part is not None]


def tile_of(node: Node) -> tuple[int, ...] | None:
    """The tile shape that a result was computed with, along the result's own axes: what it is another look at says it.

    Tiles of transpose and of reductions are those of the input.
    """
    if node.op in ("transpose", "permute"):
        return None if node.tile is None else tuple(node.tile[axis] for axis in node.attrs["order"])
    if node.op == "reshape" and not is_leaf(node):
        return _reshaped_tile(node, tile_of(node.inputs[0]))
    if node.op in ALIASES and not is_leaf(node):
        return tile_of(node.inputs[0])
    return node.tile


def _reshaped_tile(node: Node, tile: tuple[int, ...] | None) -> tuple[int, ...] | None:
    """The tile of a tensor whose dims of 1 came or went; of another reshape it is the shape that counts."""
    before, after = node.inputs[0].shape, node.shape
    wide = [axis for axis, size in enumerate(before) if key_of(size) != 1]
    kept = [axis for axis, size in enumerate(after) if key_of(size) != 1]
    if tile is None or len(tile) != len(before) or [before[a] for a in wide] != [after[a] for a in kept]:
        return tile
    found = [1] * len(after)
    for old, new in zip(wide, kept, strict=True):
        found[new] = tile[old]
    return tuple(found)


def components_of(body: Body, env: Env, joined: Joined) -> list[Component]:
    """A body's stores in groups that are cut alike, each with its tiles."""
    groups: list[Component] = []
    below: dict[Node, set[Any]] = {}
    for store in body.stores:
        write = Write(store, _computed(store))
        below[write.source] = set(_binding(write.source, body, joined))
        shape = write.source.shape
        tile = tile_of(write.source)
        if tile is None or len(tile) != len(shape):
            tile = shape  # nothing is computed, or under another rank: as one piece
        clipped = tuple(min(size, extent) for size, extent in zip(tile, shape, strict=True))
        for group in groups:
            shared = any(below[write.source] & below[other.source] for other in group.writes)
            if shared and group.shape == shape and group.tile == clipped:
                group.writes.append(write)
                break
        else:
            groups.append(Component(body, [write], shape, clipped))
    for group in groups:
        _cut(group, env)
    return _readers_first(groups)


def _binding(source: Node, body: Body, joined: Joined) -> Iterator[Any]:
    """What a stored tensor must have in common with another one to be worked on with it."""
    for node in _ancestors(source):
        if is_leaf(node) and memory_of(node).uid in body.writes:
            yield node  # it must be loaded before the body overwrites it
        elif joined is Joined.BY_LOADS or (joined is Joined.BY_WORK and node.computes):
            yield node
        elif joined is Joined.BY_COPY and node.computes:
            yield node, source.order[1]


def depend(reader: Component, writer: Component) -> bool:
    """Whether a component loads from a tensor that another one of its body writes."""
    written = {write.store.target for write in writer.writes}
    return any(memory_of(leaf) in written for leaf in leaves([write.store for write in reader.writes]))


def _readers_first(groups: list[Component]) -> list[Component]:
    """What a body loads is there before the body writes, so who reads a tensor goes before who writes it."""
    left, found = list(groups), []
    while left:
        free = next((g for g in left if not any(depend(other, g) for other in left if other is not g)), None)
        if free is None:
            names = " and ".join(group.writes[0].source.name for group in left)
            raise LoweringError(
                f"{names} are each made of what the other overwrites; assemble one into a tensor of the kernel's own "
                "in a pypto.loop(1) before"
            )
        left.remove(free)
        found.append(free)
    return found


def _computed(store: Store) -> Node:
    """What is stored, as a result of the vector unit: what may be only loaded, or is expanded, is copied."""
    source = store.source
    if not _lacks_elements(source):
        return source
    return Node(
        uid=(1 << 40) + source.uid,
        op="copy",
        inputs=(source,),
        shape=source.shape,
        dtype=source.dtype,
        valid=source.valid,
        tile=source.tile,
        attrs={},
        name=f"{source.name}_copy",
        site=store.site,
    )


def _lacks_elements(node: Node) -> bool:
    """Whether some part of a tensor is a load, or is expanded, seen through aliases and joined pieces."""
    if is_leaf(node) or node.op == "expand":
        return True
    if node.op in ALIASES:
        return _lacks_elements(node.inputs[0])
    return node.op == "concat" and any(map(_lacks_elements, node.inputs))


def _ancestors(node: Node) -> set[Node]:
    found = {node}
    for source in node.inputs:
        found |= _ancestors(source)
    return found


def _cut(group: Component, env: Env) -> None:
    """Decide which axes are cut, and where the last axis falls apart."""
    group.splits = tuple(sorted({0, *(place for write in group.writes for place in _misaligned(write.source))}))
    group.cut = group.shape
    whole = []
    for axis, (size, extent) in enumerate(zip(group.tile, group.shape, strict=True)):
        if size >= extent:
            continue
        cut = tuple(size if a == axis else s for a, s in enumerate(group.shape))
        if _may_cut(group, cut, axis, env):
            group.cut = tuple(size if a == axis else s for a, s in enumerate(group.cut))
        else:
            whole.append(axis)
    group.kept_whole = tuple(whole)


def _may_cut(group: Component, cut: tuple[int, ...], axis: int, env: Env) -> bool:
    """Whether two neighbouring tiles share at most as much work as each has of its own, and a tile reads nothing that
    another one overwrites.
    """
    trial = Component(group.body, group.writes, group.shape, group.tile, cut, (), group.splits)
    first, second = (0,) * len(cut), tuple(int(a == axis) for a in range(len(cut)))
    needs = [needs_of([(w.source, box) for w in trial.writes for box in trial.boxes(t)], env) for t in (first, second)]
    own = shared = 0
    for need in needs[0]:
        if need.loaded:
            stores = [store for store in group.body.stores if store.target is memory_of(need.node)]
            if stores and not all(same_place(need.node, s) and need.box[axis][1] <= cut[axis] for s in stores):
                return False
            continue
        again = [other.box for other in needs[1] if other.node is need.node]
        common = sum(_work(need.node, part) for box in again if (part := overlap(need.box, box)))
        shared += common
        own += _work(need.node, need.box) - common
    return shared <= own or own == shared == 0


def _work(node: Node, box: Box) -> int:
    """Elements that computing a box takes: of a reduction those that it reads."""
    axis = node.attrs.get("axis")
    return volume(box) * (1 if axis is None else node.inputs[0].shape[axis])


def _misaligned(node: Node) -> set[int]:
    """Places along a result's last axis where a concat joins rows that are no whole number of 32 B blocks."""
    if is_leaf(node) or not node.inputs:
        return set()
    if node.op == "concat":
        starts = {at[-1] for at in node.attrs["places"]}
        misaligned = {start for start in starts if start * node.dtype.itemsize % BLOCK_BYTES}
        if misaligned:
            return misaligned
    if node.op in ALIASES or node.op in ("transpose", "interleave", "gathermask"):
        return set()
    if node.attrs.get("axis") == node.rank - 1:
        return set()
    return set().union(*(_misaligned(source) for source in node.inputs if source.shape[-1:] == node.shape[-1:]))
