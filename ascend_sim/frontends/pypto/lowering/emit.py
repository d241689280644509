"""From a plan's steps to asc calls, for one combination of frames and one filling of the tile.

The calls of a step are made once and used again for every tile that is filled alike.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ascend_sim import asc
from ascend_sim.frontends.pypto.graph import Node
from ascend_sim.frontends.pypto.lowering import moves, permute, reduce, vector
from ascend_sim.frontends.pypto.lowering.filling import Filling, Frames, Sizes, filling, scalars_of
from ascend_sim.frontends.pypto.lowering.layout import Ref
from ascend_sim.frontends.pypto.lowering.memory import Memory, PlanMemory, Region
from ascend_sim.frontends.pypto.lowering.operands import Call, Dim, Operand, chunks, collapsed, places
from ascend_sim.frontends.pypto.lowering.plan import MOVES, Placement, Plan, Step
from ascend_sim.frontends.pypto.lowering.transfers import Transfer, transfers
from ascend_sim.frontends.pypto.symbols import Key, key_of

MAX_GATHER_REPEATS = 65535


class Emitter:
    """Calls of one plan under one memory map."""

    def __init__(self, plan: Plan, memory: Memory) -> None:
        self.plan = plan
        self.memory = memory
        self.mine: PlanMemory = memory.plans[id(plan)]
        self.scalars = scalars_of(plan)
        self._made: dict[Any, Any] = {}
        writers = {step.out: index for index, step in enumerate(plan.steps)}
        self.store_after = [writers[out.ref.buffer] for out in plan.outs]  # the step that completes each store's source

    def address(self, number: int, frames: Frames) -> int:
        """First byte of a buffer."""
        place = self.mine.places[number]
        bases = self.memory.frames[place.region]
        frame = frames[0] if place.region is Region.IN else frames[1] if place.region is Region.OUT else 0
        return bases[frame] + place.offset

    def operand(self, ref: Ref, frames: Frames) -> Operand:
        start = self.address(ref.buffer, frames)
        end = start + self.mine.places[ref.buffer].nbytes
        return Operand(ref.dtype.asc, start + ref.offset, ref.strides, end)

    def loads(self, number: int, sizes: Sizes, pitches: Sequence[int], frame: int) -> list[Transfer]:
        """The copies that fill a buffer."""
        key = ("load", number, sizes, frame)
        found: list[Transfer] | None = self._made.get(key)
        if found is None:
            local = self.operand(self.plan.buffers.whole(number), (frame, 0))
            found = self._made[key] = transfers(sizes, pitches, local, to_ub=True)
        return found

    def stores(self, out: int, sizes: Sizes, pitches: Sequence[int], frames: Frames) -> list[Transfer]:
        """The copies of store number `out`."""
        key = ("store", out, sizes, frames)
        found: list[Transfer] | None = self._made.get(key)
        if found is None:
            local = self.operand(self.plan.outs[out].ref, frames)
            found = self._made[key] = transfers(sizes, pitches, local, to_ub=False)
        return found

    def filling(self, placement: Placement, values: Mapping[Key, int]) -> Filling:
        """How far a tile is filled; tiles that are filled alike share it, and the calls with it."""
        made = filling(self.plan, placement, lambda s: s if isinstance(s, int) else values[key_of(s)])
        shared: Filling = self._made.setdefault(("filling", made.key), made)
        return shared

    def calls(self, filled: Filling, frames: Frames) -> list[list[Call]]:
        """The calls of all steps for one filling of the tile."""
        found = filled.calls.get(frames)
        if found is None:
            steps = zip(self.plan.steps, filled.inner, strict=True)
            found = filled.calls[frames] = [
                [] if 0 in filled.buffers[step.out] else self._step(step, i, filled.buffers[step.out], inner, frames)
                for i, (step, inner) in enumerate(steps)
            ]
        return found

    def table(self, number: int) -> list[Call]:
        """The calls that build an offset table."""
        return self.plan.tables[number].build(self._table_address(number))

    def _table_address(self, number: int) -> int:
        return self.memory.frames[Region.KEPT][0] + self.mine.tables[number]

    def _step(self, step: Step, index: int, sizes: Sizes, inner: Any, frames: Frames) -> list[Call]:
        node = step.node
        target = self.operand(self.plan.buffers.whole(step.out), frames)
        scratch = self.memory.frames[Region.REST][0] + self.mine.scratch[index]
        if node.op in MOVES:
            return self._pieces(step, target, inner, frames, scratch)
        operands = [self.operand(ref, frames) for ref in step.operands]
        if node.op in ("sum", "amax", "amin"):
            return reduce.reduce(node, inner, target, operands[0], scratch)
        if node.op == "gathermask":
            return _every(node, sizes, target, operands[0])
        if step.permutation is not None:
            return permute.permute(step.permutation, sizes, target, operands[0], self._table_address(step.table))
        return _computed(node, sizes, [target, *operands], scratch)

    def _pieces(self, step: Step, target: Operand, filled: Sequence[Sizes], frames: Frames, scratch: int) -> list[Call]:
        """The pieces that are not computed in place, each as far as it is filled."""
        found: list[Call] = []
        for (ref, _, _, at), sizes in zip(step.pieces, filled, strict=True):
            if ref.buffer in self.plan.hosts and self.plan.hosts[ref.buffer][0] == step.out:
                continue
            if 0 in sizes:
                continue
            offset = sum(place * stride for place, stride in zip(at, target.strides, strict=True))
            part = Operand(target.dtype, target.addr + offset, target.strides, target.end)
            found += moves.move(step.node, sizes, part, self.operand(ref, frames), scratch)
        return found


def _computed(node: Node, sizes: Sizes, operands: list[Operand], scratch: int) -> list[Call]:
    """An element-wise operation; casts to integers set the flag that says what becomes of too large numbers."""
    if node.op == "full":
        return _fill(node, sizes, operands[0])
    flags: list[Call] = []
    if node.op == "cast" and not node.dtype.is_float:
        flags.append((asc.set_saturation_flag, (asc.SaturationFlag.CAST, node.attrs["saturates"])))
    return flags + vector.element_wise(node, sizes, operands, scratch)


def _fill(node: Node, sizes: Sizes, target: Operand) -> list[Call]:
    dims = collapsed(sizes, [target])
    return [(asc.duplicate, (target.tensor(at), node.attrs["scalar"], dims[-1].size)) for (at,) in places(dims[:-1], 1)]


def _every(node: Node, sizes: Sizes, target: Operand, source: Operand) -> list[Call]:
    """GatherMask with a fixed pattern: a repeat per row, all rows in one call where the results lie side by side."""
    step, pattern = node.attrs["step"], node.attrs["pattern"]
    wide = source.with_strides((*source.strides[:-1], source.itemsize * step))
    *outer, inner = collapsed(sizes, [target, wide])
    if not outer:  # one run: rows follow each other without a gap
        return _pack(target, source, 0, 0, pattern, inner.size * step, 1, 0)
    rows = outer.pop()
    packed = rows.strides[0] == inner.size * target.itemsize
    found: list[Call] = []
    if not packed:
        outer, rows = [*outer, rows], Dim(1, (0, 0))
    for to, of in places(outer, 2):
        for first, count in chunks(rows.size, MAX_GATHER_REPEATS):
            at = to + first * rows.strides[0], of + first * rows.strides[1]
            found += _pack(target, source, *at, pattern, inner.size * step, count, rows.strides[1])
    return found


def _pack(
    target: Operand, source: Operand, to: int, of: int, pattern: int, width: int, rows: int, stride: int
) -> list[Call]:
    """`rows` rows of `width` elements, `stride` bytes apart, packed."""
    params = asc.GatherMaskParams(1, rows, stride // 32, 0)
    return [(asc.gather_mask, (target.tensor(to), source.tensor(of), pattern, True, width, params))]
