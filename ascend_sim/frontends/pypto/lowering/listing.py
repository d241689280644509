"""A lowered kernel as text: tiles, unified buffer, and a tile's instructions, under the names of the user's file."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from enum import Enum
from typing import TYPE_CHECKING, Any

from ascend_sim import asc
from ascend_sim.asc.params import Params
from ascend_sim.frontends.pypto.graph import Store
from ascend_sim.frontends.pypto.lowering.memory import Region
from ascend_sim.frontends.pypto.lowering.plan import Plan, Step
from ascend_sim.frontends.pypto.lowering.run import CoreRun, Runs
from ascend_sim.frontends.pypto.places import Site

if TYPE_CHECKING:
    from ascend_sim.frontends.pypto.lowering.lowered import Lowered, StageWork

_ON_SCALAR = ("set_value", "set_saturation_flag")
_TABLE = "offsets"  # what the table of a transpose is called
_MOST_ALIKE = 3  # calls of a step that are listed before "and n more like it"
_REGIONS = {Region.KEPT: "kept", Region.IN: "loads", Region.OUT: "results", Region.REST: "rest"}


def listing(lowered: Lowered) -> str:
    """Everything: head, then every stage with its map and the instructions of its first tile (of every kind)."""
    lines = [
        f"kernel {lowered.kernel} on {lowered.chip}: {lowered.block_dim} of {lowered.cores} vector cores",
        f"peak unified buffer {lowered.peak_ub_bytes:,} of {lowered.ub_bytes:,} B",
    ]
    for number, work in enumerate(lowered.stages):
        if len(lowered.stages) > 1:
            lines += ["", f"stage {number}{': after all cores have met (SyncAll)' if number else ''}"]
        lines += _stage(lowered, work)
    return "\n".join(lines)


def _stage(lowered: Lowered, work: StageWork) -> Iterator[str]:
    tasks = [len(share) for share in work.shares] or [0]
    each = f"{min(tasks)}" if min(tasks) == max(tasks) else f"{min(tasks)} to {max(tasks)}"
    order = "; they depend on each other and run in order" if work.chained else ""
    yield f"{len(work.tasks)} tasks, {each} a core{order}"
    for component in work.components:
        loops = " > ".join(
            f"{loop.symbol.name} in {loop.name}({loop.start}, {loop.stop}, {loop.step})"
            for loop in component.body.loops
        )
        names = ", ".join(f"{w.source.name} -> {w.store.target.name}" for w in component.writes)
        yield f"  {loops or 'no loop'}: {names} {list(component.shape)} in tiles of {list(component.cut)}"
        if component.in_parts:
            yield f"    parts of tiles of {list(component.tile)}: float32 for bfloat16 arithmetic has no room else"
        for axis in component.kept_whole:
            yield f"    dim {axis} stays whole: parts of it would do most of their work again"
    yield f"unified buffer, {work.memory.mode}:"
    for plan in work.memory.known:
        yield from _map(work, plan)
        first = next(i for i, place in enumerate(work.placements) if place.plan is plan)
        yield from _Printer(lowered, work, first).lines()


def _map(work: StageWork, plan: Plan) -> Iterator[str]:
    memory = work.memory.plans[id(plan)]
    rows = []
    for number, (node, box) in enumerate(zip(plan.buffers.nodes, plan.buffers.boxes, strict=True)):
        place = memory.places[number]
        frames = work.memory.frames[place.region]
        at = " and ".join(f"{base + place.offset}" for base in frames)
        sizes = [high - low for low, high in box]
        inside = f" in {plan.buffers.nodes[plan.hosts[number][0]].name}" if number in plan.hosts else ""
        text = f"{node.name} {sizes} {node.dtype.name}, {plan.nbytes(number):,} B{inside}"
        rows.append((frames[0] + place.offset, f"  {at:>16}  {_REGIONS[place.region]:<8} {text}"))
    for table, offset in zip(plan.tables, memory.tables, strict=True):
        start = work.memory.frames[Region.KEPT][0] + offset
        rows.append((start, f"  {start:>16}  {'kept':<8} {_TABLE} of {table.entries:,} elements, {table.nbytes:,} B"))
    yield from (text for _, text in sorted(rows))


class _Printer(CoreRun):
    """A core that writes its calls down instead of making them."""

    def __init__(self, lowered: Lowered, work: StageWork, task: int) -> None:
        self.texts: list[str] = []
        self.alike: tuple[Any, ...] = ()
        self.count = 0
        run = work.run(task, lowered.dims)
        tensors: Any = {node: _Global(node.name) for node in lowered.globals}
        super().__init__(Runs(1, lambda _: run, list), work.memory, tensors, lowered.globals, work.chained)

    def lines(self) -> list[str]:
        task = self.runs[0].task
        where = ", ".join(
            f"{loop.symbol.name} = {v}" for loop, v in zip(task.component.body.loops, task.values, strict=True)
        )
        head = f"instructions of tile {list(task.tile)}{f', {where}' if where else ''}:"
        self.run()
        self._close()
        return [head, *self.texts]

    def issue(self, site: Site, function: Callable[..., Any], arguments: tuple[Any, ...], purpose: Any) -> None:
        alike = (id(purpose), function, id(site))
        if alike == self.alike and purpose is not None:
            self.count += 1
            if self.count > _MOST_ALIKE:
                return
        else:
            self._close()
            self.alike, self.count = alike, 1
        pipe = "V"
        if function in (asc.set_flag, asc.wait_flag):
            event = asc.HardEvent(arguments[0])
            pipe = (event.source if function is asc.set_flag else event.destination).name.removeprefix("PIPE_")
        elif function.__name__ in _ON_SCALAR:
            pipe = "S"
        elif isinstance(purpose, int):
            pipe = "MTE2"
        elif isinstance(purpose, Store):
            pipe = "MTE3"
        owner = getattr(function, "__self__", None)  # of set_value, which is a tensor's method
        shown = (owner, *arguments) if isinstance(owner, asc.LocalTensor) else arguments
        texts = [self._text(argument, purpose, place) for place, argument in enumerate(shown)]
        self.texts.append(f"  {pipe:<5}{_name(function):<16}{', '.join(texts):<70} {site}")

    def _close(self) -> None:
        if self.count > _MOST_ALIKE:
            self.texts.append(f"  {'':<5}... and {self.count - _MOST_ALIKE} more like it")
        self.count = 0

    def _text(self, argument: Any, purpose: Any, place: int) -> str:
        if isinstance(argument, asc.LocalTensor):
            return self._buffer(argument, purpose, place)
        if isinstance(argument, Params):
            return f"{type(argument).__name__}{tuple(k for k in argument.key if not isinstance(k, asc.DataType))}"
        return argument.name if isinstance(argument, Enum) else str(argument)

    def _buffer(self, tensor: asc.LocalTensor, purpose: Any, place: int) -> str:
        """The buffer that a tensor lies in: of the step's own, the result first where it is the destination."""
        run = self.runs[0]
        plan = run.plan
        if isinstance(purpose, Step):
            sources = [ref.buffer for ref in purpose.operands] + [piece[0].buffer for piece in purpose.pieces]
            numbers = [purpose.out, *sources] if place == 0 else [*sources, purpose.out]
        elif isinstance(purpose, int):
            numbers = [purpose]
        else:
            numbers = [out.ref.buffer for out in plan.outs if out.write.store is purpose]
        for number in numbers:
            start = run.emitter.address(number, (0, 0))
            if start <= tensor.addr < start + run.emitter.mine.places[number].nbytes:
                return _with_offset(plan.buffers.nodes[number].name, tensor.addr - start)
        tables = [start + self.memory.frames[Region.KEPT][0] for start in run.emitter.mine.tables]
        for table, start in zip(plan.tables, tables, strict=True):
            if start <= tensor.addr < start + table.nbytes:
                return _with_offset(_TABLE, tensor.addr - start)
        return f"scratch@{tensor.addr}"


class _Global:
    """A global tensor as text."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __getitem__(self, element: Any) -> str:
        return f"{self.name}[{element}:]" if element else self.name


def _with_offset(name: str, offset: int) -> str:
    return f"{name}+{offset} B" if offset else name


def _name(function: Callable[..., Any]) -> str:
    """The Ascend C name of an asc call."""
    row = getattr(function, "row", None)
    if row is not None:
        return str(row.name)
    return "".join(part.capitalize() for part in function.__name__.split("_"))
