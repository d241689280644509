"""One core's run over its tasks: copies in, vector steps, copies out, and the flags between the pipes.

Flags go by frame of unified buffer, not by tensor. With f a frame of the loads and g one of the results:

    MTE2_V f    set when frame f is loaded          V waits before it computes
    V_MTE2 f    set when V has read frame f         MTE2 waits before it loads the frame again
    V_MTE3 g    set when a result is computed       MTE3 waits before it copies it out
    MTE3_V g    set when frame g is copied out      V waits before it writes the frame again

With two frames of loads the next task's copies are issued before this task's computation. The compiler's own barriers
order V with itself.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from typing import Any

from ascend_sim import asc
from ascend_sim.frontends.pypto.errors import PyptoValueError
from ascend_sim.frontends.pypto.graph import Node
from ascend_sim.frontends.pypto.lowering.bodies import memory_of
from ascend_sim.frontends.pypto.lowering.emit import Emitter
from ascend_sim.frontends.pypto.lowering.filling import Filling, Sizes
from ascend_sim.frontends.pypto.lowering.memory import Memory, Region
from ascend_sim.frontends.pypto.lowering.plan import Placement, Plan
from ascend_sim.frontends.pypto.lowering.tasks import Task
from ascend_sim.frontends.pypto.places import Site
from ascend_sim.frontends.pypto.regions import Box, lows
from ascend_sim.frontends.pypto.symbols import Scalar, Symbol, key_of, value_of

MTE2_V, V_MTE2 = asc.HardEvent.MTE2_V, asc.HardEvent.V_MTE2
V_MTE3, MTE3_V = asc.HardEvent.V_MTE3, asc.HardEvent.MTE3_V
MTE3_MTE2 = asc.HardEvent.MTE3_MTE2
KEPT_FLAG = 2  # after the two frames

# site, asc call, its arguments, what it is for: a step, a loaded tensor's buffer number, a store
Issue = Callable[[Site, Callable[..., Any], tuple[Any, ...], Any], None]


class Flags:
    """Flags that are set and not yet waited for; `issue` is the core's."""

    def __init__(self, issue: Issue) -> None:
        self._issue = issue
        self._set: dict[tuple[Any, int], Site] = {}

    def set(self, site: Site, event: Any, number: int) -> None:
        self._issue(site, asc.set_flag, (event, number), None)
        self._set[event, number] = site

    def wait(self, site: Site, event: Any, number: int) -> None:
        """Wait, if the flag has been set."""
        if self._set.pop((event, number), None) is not None:
            self._issue(site, asc.wait_flag, (event, number), None)

    def drain(self) -> None:
        """Wait for everything that is left."""
        for (event, number), site in list(self._set.items()):
            self.wait(site, event, number)


class TileRun:
    """One task on its way: its plan and place, how far it is filled, its symbols' values as the core's scalars."""

    def __init__(self, task: Task, placement: Placement, env: Mapping[Symbol, Any], emitter: Emitter) -> None:
        self.task = task
        self.placement = placement
        self.plan: Plan = placement.plan
        self.emitter = emitter
        self.env = env
        self._values: dict[int, Any] = {}
        self._filled: Filling | None = None

    def value(self, scalar: Scalar) -> Any:
        """A scalar's value, computed once per task."""
        if isinstance(scalar, int):
            return scalar
        found = self._values.get(id(scalar))
        if found is None:
            found = self._values[id(scalar)] = value_of(scalar, self.env)
        return found

    @property
    def filled(self) -> Filling:
        """How far the tile is filled."""
        if self._filled is None:
            values = tuple(int(self.value(scalar)) for scalar in self.emitter.scalars)
            found = self.placement.fillings.get(values)
            if found is None:
                keys = map(key_of, self.emitter.scalars)
                made = self.emitter.filling(self.placement, dict(zip(keys, values, strict=True)))
                found = self.placement.fillings[values] = made
            self._filled = found
        return self._filled

    def touched(self) -> Iterator[tuple[Node, tuple[int, ...], Box, bool]]:
        """The filled parts of global tensors that the task reads and writes: tensor, offsets, box, whether it reads."""
        plan, filled = self.plan, self.filled
        for number in plan.loads:
            node = plan.buffers.nodes[number]
            box, sizes = self.placement.boxes[number], filled.buffers[number]
            offsets = tuple(int(self.value(o)) for o in node.attrs.get("offsets", (0,) * node.rank))
            yield memory_of(node), offsets, _cut(box, sizes), True
        for out, sizes in zip(plan.outs, filled.stores, strict=True):
            store = out.write.store
            offsets = tuple(int(self.value(o)) for o in store.offsets)
            yield store.target, offsets, _cut(self.placement.parts[out.part], sizes), False

    def contents(self) -> Any:
        """What stands in the kept buffers when this task has filled them: equal for tasks that share them."""
        plan, filled = self.plan, self.filled
        places = [plan.buffers.nodes[n].attrs.get("offsets", ()) for n in plan.kept if n in plan.loads]
        offsets = tuple(int(self.value(offset)) for place in places for offset in place)
        boxes = tuple(self.placement.boxes[n] for n in plan.kept)
        return id(plan), offsets, boxes, tuple(filled.buffers[n] for n in plan.kept)


class Runs:
    """The tasks of a core as they come up: `make(i)` is task number i, `kinds[i]` what it does."""

    def __init__(self, count: int, make: Callable[[int], TileRun], kinds: Callable[[], Sequence[Hashable]]) -> None:
        self._count, self._make, self._kinds = count, make, kinds
        self._made: dict[int, TileRun] = {}

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, index: int) -> TileRun:
        found = self._made.get(index)
        if found is None:
            self._made.pop(index - 2, None)  # done
            found = self._made[index] = self._make(index)
        return found

    def kind(self, index: int) -> Hashable:
        return self._kinds()[index]


class CoreRun:
    """The tasks of one core in one stage. `pitches`: elements between neighbours along every axis, by global tensor."""

    def __init__(
        self,
        runs: Runs,
        memory: Memory,
        tensors: Mapping[Node, asc.GlobalTensor],
        shapes: Mapping[Node, tuple[int, ...]],
        chained: bool,
    ) -> None:
        self.runs = runs
        self.memory = memory
        self.mode = memory.mode
        self.tensors = tensors
        self.shapes = shapes
        self.pitches = {node: _pitches(shape) for node, shape in shapes.items()}
        self.chained = chained
        self.ahead = self.mode.loads == 2 and not self.mode.shared and not chained
        self.flags = Flags(self.issue)
        self.loaded: set[int] = set()  # frames that hold what has not been computed yet
        self.kept: Any = None  # what stands in the kept buffers
        self.tables: Any = None  # the plan whose tables stand in unified buffer
        self.stored: Site | None = None  # where the present task stored last

    def issue(self, site: Site, function: Callable[..., Any], arguments: tuple[Any, ...], purpose: Any) -> None:
        """Make an asc call from the user's line; the one gate to the core."""
        site.call(function, *arguments)

    def run(self) -> None:
        """All tasks, then every flag that is left."""
        for index in asc.tiles(range(len(self.runs)), self.runs.kind):
            self._task(index, self.runs[index])
        self.flags.drain()

    def _task(self, index: int, run: TileRun) -> None:
        refresh = bool(run.plan.kept) and run.contents() != self.kept
        if refresh:
            self._load_kept(run)
        self._load(index)
        if self.ahead and index + 1 < len(self.runs):
            self._load(index + 1)
        if run.plan.tables and self.tables != id(run.plan):
            self._build_tables(run)
        frames = self._frames(index)
        if refresh:
            self._steps(run, frames, kept=True)
            self.kept = run.contents()
        self.stored = None
        self.flags.wait(next(s.node.site for s in run.plan.steps if not s.kept), MTE2_V, frames[0])
        self._steps(run, frames, kept=False)
        self.loaded.discard(frames[0])
        if self.stored is not None:
            self.flags.set(self.stored, MTE3_V, frames[1])
        if (self.mode.shared or self.chained) and index + 1 < len(self.runs):
            self._take_turns(self.stored or run.plan.steps[-1].node.site, frames)

    def _frames(self, index: int) -> tuple[int, int]:
        return index % self.mode.loads, index % self.mode.results

    def _take_turns(self, site: Site, frames: tuple[int, int]) -> None:
        """The next task loads nothing before this one is done with the memory, or the data, that they share."""
        if self.mode.shared:
            self.flags.set(site, V_MTE2, frames[0])
        self.flags.set(site, MTE3_MTE2, 0)
        self.flags.wait(site, MTE3_MTE2, 0)

    # -- copies in --------------------------------------------------------------------------------------------------

    def _load(self, index: int) -> None:
        """The copies into a task's frame, unless they have been issued ahead."""
        run = self.runs[index]
        numbers = [n for n in run.plan.loads if n not in run.plan.kept]
        frame = self._frames(index)[0]
        if frame in self.loaded or not numbers:
            return
        self.loaded.add(frame)
        self.flags.wait(run.plan.sites[numbers[0]], V_MTE2, frame)
        for number in numbers:
            self._copy_in(run, number, frame)
        self.flags.set(run.plan.sites[numbers[-1]], MTE2_V, frame)

    def _load_kept(self, run: TileRun) -> None:
        """What is kept is loaded anew, once V no longer reads it."""
        numbers = [n for n in run.plan.loads if n in run.plan.kept]
        if not numbers:
            return
        site = run.plan.sites[numbers[0]]
        if self.kept is not None:
            self.flags.set(site, V_MTE2, KEPT_FLAG)
            self.flags.wait(site, V_MTE2, KEPT_FLAG)
        for number in numbers:
            self._copy_in(run, number, 0)
        self.flags.set(site, MTE2_V, KEPT_FLAG)

    def _copy_in(self, run: TileRun, number: int, frame: int) -> None:
        node, box = run.plan.buffers.nodes[number], run.placement.boxes[number]
        sizes = run.filled.buffers[number]
        if 0 in sizes:
            return
        memory, site = memory_of(node), run.plan.sites[number]
        offsets = node.attrs.get("offsets", (0,) * node.rank)
        start = self._start(run, memory, offsets, box, sizes, site)
        for copy in run.emitter.loads(number, sizes, self.pitches[memory], frame):
            function, arguments = copy.load(self.tensors[memory][start + copy.elements])
            self.issue(site, function, arguments, number)

    def _start(self, run: TileRun, memory: Node, offsets: Sequence[Scalar], box: Box, sizes: Sizes, site: Site) -> Any:
        """The element of a global tensor at which a box begins; the scalar unit computes it. `site`: of the access."""
        start: Any = 0
        for axis, (offset, low, pitch, extent) in enumerate(
            zip(offsets, lows(box), self.pitches[memory], self.shapes[memory], strict=True)
        ):
            place = run.value(offset)
            first, end = int(place) + low, int(place) + low + sizes[axis]
            if first < 0 or end > extent:
                raise PyptoValueError(
                    f"{site}: elements {first}..{end - 1} of dim {axis} of {memory.name} are asked for, which "
                    f"has {extent}; give the tail's size as valid_shape"
                )
            if not isinstance(offset, int):
                place = place * pitch if pitch != 1 else place
                start = place + (start + low * pitch)
            else:
                start = start + (place + low) * pitch
        return start

    # -- computation ------------------------------------------------------------------------------------------------

    def _build_tables(self, run: TileRun) -> None:
        self.tables = id(run.plan)
        for step in run.plan.steps:
            if step.table >= 0:
                for function, arguments in run.emitter.table(step.table):
                    self.issue(step.node.site, function, arguments, step)

    def _steps(self, run: TileRun, frames: tuple[int, int], kept: bool) -> None:
        """The vector steps, kept ones or the others, with the copies out that follow them."""
        plan, mine, issue = run.plan, run.emitter.mine, self.issue
        if kept:
            self.flags.wait(plan.steps[0].node.site, MTE2_V, KEPT_FLAG)
        for index, (step, calls) in enumerate(zip(plan.steps, run.emitter.calls(run.filled, frames), strict=True)):
            if step.kept is not kept:
                continue
            site = step.node.site
            if calls and (self.mode.shared or mine.places[step.out].region is Region.OUT):
                self.flags.wait(site, MTE3_V, frames[1])
            for function, arguments in calls:
                issue(site, function, arguments, step)
            if index == mine.last_load_use:
                self.flags.set(site, V_MTE2, frames[0])
            if index in run.emitter.store_after:
                self._copy_out(run, index, frames)

    def _copy_out(self, run: TileRun, index: int, frames: tuple[int, int]) -> None:
        """The stores whose result the step `index` has completed."""
        plan = run.plan
        for number, out in enumerate(plan.outs):
            if run.emitter.store_after[number] != index:
                continue
            store = out.write.store
            box = run.placement.parts[out.part]
            sizes = run.filled.stores[number]
            if 0 in sizes:
                continue
            start = self._start(run, store.target, store.offsets, box, sizes, store.site)
            self.flags.set(store.site, V_MTE3, frames[1])
            self.flags.wait(store.site, V_MTE3, frames[1])
            for copy in run.emitter.stores(number, sizes, self.pitches[store.target], frames):
                function, arguments = copy.store(self.tensors[store.target][start + copy.elements])
                self.issue(store.site, function, arguments, store)
            self.stored = store.site


def _cut(box: Box, sizes: Sizes) -> Box:
    """The filled part of a box."""
    return tuple((low, low + size) for (low, _), size in zip(box, sizes, strict=True))


def _pitches(shape: Sequence[int]) -> tuple[int, ...]:
    found = []
    step = 1
    for size in reversed(shape):
        found.append(step)
        step *= size
    return tuple(reversed(found))
