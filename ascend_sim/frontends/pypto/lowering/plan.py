"""The plan of one tile: its buffers, what is loaded into them, the vector steps in order, and what is stored.

Tiles that differ only in where they lie share a plan (`Placement` says where). A concat's pieces are computed straight
into the concat's buffer where the rows allow it. What does not change from one tile to the next (see `KeptRule`) is
kept in unified buffer over the tiles instead of being loaded and computed again.
"""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from ascend_sim.frontends.pypto.graph import Node
from ascend_sim.frontends.pypto.lowering import scratch
from ascend_sim.frontends.pypto.lowering.bodies import reads_of
from ascend_sim.frontends.pypto.lowering.demand import BLOCK_BYTES, needs_of, pieces_of
from ascend_sim.frontends.pypto.lowering.layout import Buffers, Ref, nbytes_of
from ascend_sim.frontends.pypto.lowering.operands import Operand
from ascend_sim.frontends.pypto.lowering.permute import Permutation, Table, permutation_of
from ascend_sim.frontends.pypto.lowering.tiles import Component, Tile, Write
from ascend_sim.frontends.pypto.places import Site
from ascend_sim.frontends.pypto.regions import Box, extents
from ascend_sim.frontends.pypto.symbols import Env, Symbol, symbols_of

MOVES = frozenset({"concat", "copy"})  # made of copies inside unified buffer
OWN_LAYOUT = frozenset({"gathermask", "interleave", "transpose", "sum", "amax", "amin"})  # write dense results only


@dataclass(eq=False, slots=True)
class Step:
    """A computation: `node`'s box in buffer `out`, from `operands`; a move's pieces: operand, box, place in `out`."""

    node: Node
    out: int
    operands: list[Ref]
    pieces: list[tuple[Ref, Node, Box, tuple[int, ...]]] = field(default_factory=list)
    scratch: int = 0  # bytes
    kept: bool = False
    permutation: Permutation | None = None
    table: int = -1  # number of the table that the permutation uses

    @property
    def heritable(self) -> list[Ref]:
        """Operands whose place the result may take: of axpy the one that it adds to, not the one that it scales."""
        return self.operands[:1] if self.node.op == "axpy" else self.operands


@dataclass(eq=False, slots=True)
class Out:
    """A store of `source`'s box number `part` (of the write's boxes), from `ref`."""

    write: Write
    part: int
    ref: Ref


@dataclass(eq=False, slots=True)
class Plan:
    """See the module's text. `loads` are buffer numbers; `hosts`: (host, byte offset) by buffer of a concat's piece."""

    component: Component
    buffers: Buffers
    loads: list[int]
    steps: list[Step]
    outs: list[Out]
    hosts: dict[int, tuple[int, int]]
    kept: frozenset[int]
    tables: list[Table] = field(default_factory=list)
    sites: dict[int, Site] = field(default_factory=dict)  # of the loads: the view's line, else that of its first use
    unseen: frozenset[int] = frozenset()  # buffers that count for nothing: to see what is left without them

    def nbytes(self, number: int) -> int:
        if number in self.unseen:
            return 0
        return nbytes_of(self.buffers.nodes[number], self.buffers.boxes[number])

    def signature(self) -> Any:
        """Equal for plans that differ only in where their tile lies."""
        buffers = tuple((n.uid, extents(b)) for n, b in zip(self.buffers.nodes, self.buffers.boxes, strict=True))
        steps = tuple((s.node.uid, s.out, *s.operands, *(p[0] for p in s.pieces)) for s in self.steps)
        return id(self.component), buffers, steps, tuple((id(o.write), o.part, o.ref) for o in self.outs), self.kept


@dataclass(eq=False, slots=True)
class Placement:
    """Where the buffers of a plan lie for one tile: the box of each, and the box of every write's part."""

    plan: Plan
    boxes: list[Box]
    parts: list[Box]
    fillings: dict[tuple[int, ...], Any] = field(default_factory=dict)  # by the values of the symbolic sizes


KeptRule = Callable[[Node], bool]


def make_plan(component: Component, tile: Tile, env: Env, kept: KeptRule, interleaved: bool) -> tuple[Plan, Placement]:
    """The plan of a tile and its place. `interleaved` takes the copies of an unrolled body in turn."""
    parts = component.boxes(tile)
    roots = [(write.source, box) for write in component.writes for box in parts]
    needs = needs_of(roots, env)
    buffers = Buffers()
    for need in needs:
        buffers.add(need.node, need.box)
    stored = {buffers.ref(node, box, env).buffer for node, box in roots}
    may_stay = [n not in stored and kept(need.node) for n, need in enumerate(needs)]
    staying = {n for n, need in enumerate(needs) if need.loaded and may_stay[n]}
    steps = []
    for number, need in enumerate(needs):
        if not need.loaded:
            steps.append(step := _step(buffers, number, env, False))
            step.kept = may_stay[number] and staying.issuperset(_sources(step))
            staying |= {number} if step.kept else set()
    held = frozenset(staying)
    steps = _ordered(steps, interleaved)
    hosts = _hosted(buffers, steps, stored, held)
    for number, (host, _) in hosts.items():
        buffers.strides[number] = buffers.strides[host]
    for step in steps:  # again, with the strides of what moved into a concat
        fresh = _step(buffers, step.out, env, step.kept)
        step.operands, step.pieces = fresh.operands, fresh.pieces
        step.scratch = scratch.needed(
            step.node,
            extents(buffers.boxes[step.out]),
            [buffers.whole(step.out), *step.operands],
            [(extents(inside), ref) for ref, _, inside, _ in step.pieces],
        )
    outs = [
        Out(write, part, buffers.ref(write.source, box, env))
        for write in component.writes
        for part, box in enumerate(parts)
    ]
    loads = [n for n, need in enumerate(needs) if need.loaded]
    tables, sites = _tables(buffers, steps), _load_sites(buffers, loads, steps)
    plan = Plan(component, buffers, _by_first_use(loads, steps), steps, outs, hosts, held, tables, sites)
    return plan, Placement(plan, buffers.boxes, parts)


def _load_sites(buffers: Buffers, loads: Sequence[int], steps: Sequence[Step]) -> dict[int, Site]:
    found = {n: buffers.nodes[n].site for n in loads}
    for step in reversed(steps):
        found |= {n: step.node.site for n in _sources(step) if n in found and buffers.nodes[n].is_global}
    return found


def _step(buffers: Buffers, number: int, env: Env, kept: bool) -> Step:
    """The step that computes buffer `number`."""
    node, box = buffers.nodes[number], buffers.boxes[number]
    step = Step(node, number, [], kept=kept)
    if node.op in MOVES:
        pieces = [(node.inputs[0], box, (0,) * node.rank)] if node.op == "copy" else pieces_of(node, box)
        for source, inside, at in pieces:
            step.pieces.append((buffers.ref(source, inside, env), source, inside, at))
    elif node.op in ("sum", "amax", "amin"):
        source, axis = node.inputs[0], node.attrs["axis"]
        inside = (*box[:axis], (0, source.shape[axis]), *box[axis + 1 :])
        step.operands.append(buffers.ref(source, inside, env))
    elif node.op == "gathermask":
        low, high = box[-1]
        inside = (*box[:-1], (low * node.attrs["step"], high * node.attrs["step"]))
        step.operands.append(buffers.ref(node.inputs[0], inside, env))
    elif node.op == "interleave":
        step.operands.append(buffers.ref(node.inputs[0], (*box[:-1], (0, node.inputs[0].shape[-1])), env))
    elif node.op == "transpose":
        parts = [(0, 1)] * node.rank
        for place, axis in enumerate(node.attrs["order"]):
            parts[axis] = box[place]
        found = buffers.ref(node.inputs[0], tuple(parts), env)
        turned = tuple(found.strides[axis] for axis in node.attrs["order"])
        step.operands.append(Ref(found.buffer, found.offset, turned, found.dtype))
    else:
        step.operands += [buffers.operand(source, box, env) for source in node.inputs]
    return step


def _tables(buffers: Buffers, steps: Sequence[Step]) -> list[Table]:
    """The offset tables of the steps that change the order of elements, each once."""
    found: list[Table] = []
    for step in steps:
        if step.node.op not in ("transpose", "interleave"):
            continue
        target, source = (Operand(r.dtype.asc, 0, r.strides, 0) for r in (buffers.whole(step.out), step.operands[0]))
        step.permutation = permutation_of(step.node, extents(buffers.boxes[step.out]), target, source)
        table = step.permutation.table
        if table not in found:
            found.append(table)
        step.table = found.index(table)
    return found


def _sources(step: Step) -> list[int]:
    """Buffers that a step reads."""
    return [ref.buffer for ref in step.operands] + [piece[0].buffer for piece in step.pieces]


def _ordered(steps: list[Step], interleaved: bool) -> list[Step]:
    """Kept steps first, then as the kernel was written; the copies of an unrolled body in turn if `interleaved`."""
    writers = {step.out: step for step in steps}
    waiting = {step.out: sum(n in writers for n in set(_sources(step))) for step in steps}
    readers: dict[int, list[Step]] = {}
    for step in steps:
        for number in set(_sources(step)):
            readers.setdefault(number, []).append(step)

    def rank(step: Step) -> tuple[Any, ...]:
        position, copy = step.node.order
        turn = (position, copy) if interleaved else (copy, position)
        return (not step.kept, *turn, step.node.uid, step.out)

    heap = [(rank(step), step.out) for step in steps if not waiting[step.out]]
    heapq.heapify(heap)
    found = []
    while heap:
        _, number = heapq.heappop(heap)
        found.append(writers[number])
        for reader in readers.get(number, ()):
            waiting[reader.out] -= 1
            if not waiting[reader.out]:
                heapq.heappush(heap, (rank(reader), reader.out))
    return found


def _by_first_use(loads: Sequence[int], steps: Sequence[Step]) -> list[int]:
    first = {n: i for i, n in reversed(list(enumerate(itertools.chain.from_iterable(map(_sources, steps)))))}
    return sorted(loads, key=lambda n: first.get(n, len(first)))


def _hosted(
    buffers: Buffers, steps: Sequence[Step], stored: set[int], held: frozenset[int]
) -> dict[int, tuple[int, int]]:
    """Pieces of a concat that are computed in place, and operands that these take the place of in turn: read by nobody
    else, and results of operations that can write strided rows.
    """
    readers: dict[int, int] = {}
    for step in steps:
        for number in set(_sources(step)):
            readers[number] = readers.get(number, 0) + 1
    writers = {step.out: step for step in steps}
    hosts: dict[int, tuple[int, int]] = {}

    def may_host(number: int, reader: Step) -> bool:
        writer = writers.get(number)
        plain = writer is not None and writer.node.op not in (*OWN_LAYOUT, *MOVES)
        return plain and readers[number] == 1 and number not in stored and (number in held) == (reader.out in held)

    for step in steps:
        if step.node.op != "concat" or step.node.attrs.get("overlaps"):
            continue
        strides = buffers.strides[step.out]
        for ref, source, inside, at in step.pieces:
            piece = ref.buffer
            offset = sum(place * stride for place, stride in zip(at, strides, strict=True))
            same = buffers.nodes[piece] is source and buffers.boxes[piece] == inside
            fits = same and offset % BLOCK_BYTES == 0
            reader = step
            while fits and may_host(piece, reader):
                hosts[piece] = (step.out, offset)
                reader = writers[piece]
                fits = False
                for operand in reader.heritable:
                    number = operand.buffer
                    if number not in hosts and operand == buffers.whole(number) and _alike(buffers, number, piece):
                        piece, fits = number, may_host(number, reader)
                        break
    return hosts


def _alike(buffers: Buffers, a: int, b: int) -> bool:
    """Whether two buffers have the same sizes, element for element."""
    same = extents(buffers.boxes[a]) == extents(buffers.boxes[b])
    return same and buffers.nodes[a].dtype.itemsize == buffers.nodes[b].dtype.itemsize


# -- what is kept ------------------------------------------------------------------------------------------------------


def symbols_below(node: Node, seen: dict[Node, frozenset[Symbol]]) -> frozenset[Symbol]:
    """Loop indices and dims that a node's value depends on."""
    if node not in seen:
        own: frozenset[Symbol] = frozenset() if node.is_global else node.symbols()
        seen[node] = own.union(*(symbols_below(source, seen) for source in node.inputs))
    return seen[node]


def kept_rule(component: Component, env: Env, repeated: Callable[[Symbol], bool], written: frozenset[int]) -> KeptRule:
    """Which tensors stay the same from one tile to the next: those that do not depend on what moves fastest, the last
    axis that is cut, else the innermost loop, nor on a global tensor that the stage writes (`written`, by uid).
    """
    stays = _stays(component, env, repeated)

    def kept(node: Node) -> bool:
        return stays(node) and node.uid not in written and written.isdisjoint(uid for uid, _ in reads_of(node))

    return kept


def _stays(component: Component, env: Env, repeated: Callable[[Symbol], bool]) -> KeptRule:
    """`kept_rule`, as far as places go."""
    counts = component.counts()
    moving = [axis for axis, count in enumerate(counts) if count > 1]
    if moving:
        first = (0,) * len(counts)
        second = tuple(int(axis == moving[-1]) for axis in range(len(counts)))
        boxes: list[dict[Node, set[Box]]] = []
        for tile in (first, second):
            found: dict[Node, set[Box]] = {}
            for need in needs_of([(w.source, b) for w in component.writes for b in component.boxes(tile)], env):
                found.setdefault(need.node, set()).add(need.box)
            boxes.append(found)
        return lambda node: node in boxes[0] and boxes[0][node] == boxes[1].get(node)
    loops = [loop.symbol for loop in component.body.loops if repeated(loop.symbol)]
    if not loops:
        return lambda node: False
    seen: dict[Node, frozenset[Symbol]] = {}
    return lambda node: loops[-1] not in symbols_below(node, seen)


def moving_views(component: Component) -> frozenset[Symbol]:
    """Symbols in the offsets of views of computed tensors: a tile's boxes depend on their values."""
    found: set[Symbol] = set()
    seen: set[Node] = set()

    def visit(node: Node) -> None:
        if node in seen:
            return
        seen.add(node)
        if node.op == "view" and not node.inputs[0].is_global:
            for offset in node.attrs["offsets"]:
                found.update(symbols_of(offset))
        for source in node.inputs:
            visit(source)

    for write in component.writes:
        visit(write.source)
    return frozenset(found)
