"""A kernel lowered for one set of shapes on one chip: what each core does, the use of unified buffer, the launch."""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from ascend_sim import asc
from ascend_sim.asc.launch import DeviceLike, current_device
from ascend_sim.asc.memory import DeviceArray
from ascend_sim.errors import KernelError
from ascend_sim.frontends.pypto.errors import LoweringError, PyptoError
from ascend_sim.frontends.pypto.graph import Node
from ascend_sim.frontends.pypto.lowering.bodies import Body, Stage, stages_of
from ascend_sim.frontends.pypto.lowering.emit import Emitter
from ascend_sim.frontends.pypto.lowering.fitting import in_parts, misfit, suggestion
from ascend_sim.frontends.pypto.lowering.memory import MODES, Memory, Mode, arrange
from ascend_sim.frontends.pypto.lowering.plan import KeptRule, Placement, Plan, kept_rule, make_plan, moving_views
from ascend_sim.frontends.pypto.lowering.run import CoreRun, Runs, TileRun
from ascend_sim.frontends.pypto.lowering.tasks import Task, shares, tasks_of
from ascend_sim.frontends.pypto.lowering.tiles import Component, Joined, components_of, depend
from ascend_sim.frontends.pypto.regions import Box, shifted
from ascend_sim.frontends.pypto.symbols import Symbol, SymbolicScalar, value_of
from ascend_sim.frontends.pypto.trace import Trace

Touched = list[tuple[str, Box]]

# Which stores of a body are worked on together, and whether tiles may be worked on in parts: what is tried, in order.
_TRIES: tuple[tuple[tuple[Joined, ...], bool], ...] = (
    ((Joined.BY_LOADS, Joined.BY_WORK), False),
    ((Joined.BY_COPY,), False),
    ((Joined.BY_COPY,), True),
    ((Joined.APART,), False),
    ((Joined.APART,), True),
)


@dataclass(frozen=True, slots=True)
class Target:
    """What a kernel is lowered for: a chip, the unified buffer that a core may use, and the vector cores."""

    chip: str
    ub_bytes: int
    cores: int

    @classmethod
    def of(cls, device: DeviceLike) -> Target:
        return cls(device.soc_name, device.ub_usable_bytes, device.vector_cores)


@dataclass(eq=False, slots=True)
class StageWork:
    """A stage with its tasks, their places, the memory map, and every core's share."""

    stage: Stage
    components: list[Component]
    tasks: list[Task]
    placements: list[Placement]
    memory: Memory
    shares: list[range]
    chained: bool
    emitters: dict[int, Emitter] = field(default_factory=dict)
    _kinds: list[Hashable] = field(default_factory=list)

    def emitter(self, plan: Plan) -> Emitter:
        found = self.emitters.get(id(plan))
        if found is None:
            found = self.emitters[id(plan)] = Emitter(plan, self.memory)
        return found

    def run(self, index: int, dims: Mapping[Symbol, int]) -> TileRun:
        """Task number `index`, with plain numbers in place of the core's scalars."""
        task, placement = self.tasks[index], self.placements[index]
        return TileRun(task, placement, task.env(dims), self.emitter(placement.plan))

    def kinds(self, dims: Mapping[Symbol, int]) -> Sequence[Hashable]:
        """What every task does: its plan, how far its tile is filled, whether it loads what is kept anew."""
        if not self._kinds:
            kept: Any = None
            for index in range(len(self.tasks)):
                run = self.run(index, dims)
                refresh = bool(run.plan.kept) and run.contents() != kept
                self._kinds.append((id(run.plan), run.filled.key, refresh))
                if refresh:
                    kept = run.contents()
        return self._kinds


class Lowered:
    """See the module's text. `str()` lists tiles, buffers and the instructions of one tile."""

    def __init__(self, trace: Trace, shapes: Mapping[str, tuple[int, ...]], target: Target) -> None:
        self.kernel, self.site = trace.kernel, trace.site
        self.chip, self.ub_bytes, self.cores = target.chip, target.ub_bytes, target.cores
        self.dims = _dims(trace, shapes)
        self.globals: dict[Node, tuple[int, ...]] = {
            node: tuple(int(value_of(size, self.dims)) for size in node.shape) for node in trace.globals
        }
        works = [self._work(stage) for stage in stages_of(trace.root, self.dims)]
        self.stages = [work for work in works if work.tasks]
        for work in self.stages:
            self._check_instructions(work)
        self._workspaces: dict[str, Any] = {}

    # -- what it is -------------------------------------------------------------------------------------------------

    @property
    def block_dim(self) -> int:
        """Vector cores that have work."""
        return max((len(work.shares) for work in self.stages), default=1)

    @property
    def peak_ub_bytes(self) -> int:
        """The most unified buffer that a core uses."""
        return max((work.memory.peak_bytes for work in self.stages), default=0)

    def tasks_of(self, core: int) -> list[Task]:
        """What a core does, in order."""
        return [work.tasks[i] for work in self.stages if core < len(work.shares) for i in work.shares[core]]

    def touched(self, core: int, most: int | None = None) -> tuple[Touched, Touched]:
        """The parts of global tensors that the first `most` tasks of a core read and write, by the tensors' names."""
        reads: Touched = []
        writes: Touched = []
        for work in self.stages:
            for index in work.shares[core][:most] if core < len(work.shares) else ():
                run = work.run(index, self.dims)
                for node, offsets, box, is_read in run.touched():
                    (reads if is_read else writes).append((node.name, shifted(box, offsets)))
        return reads, writes

    def __str__(self) -> str:
        from ascend_sim.frontends.pypto.lowering.listing import listing  # noqa: PLC0415 - most runs print none

        return listing(self)

    # -- launching --------------------------------------------------------------------------------------------------

    def launch(self, tensors: Mapping[str, Any], cores: Sequence[int] | None = None, most: int | None = None) -> None:
        """Run on the current device. For samples of large results: only the shares of `cores`, of each at most the
        first `most` tasks of a stage.
        """
        arrays = {node.name: tensors[node.name] for node in self.globals if not node.attrs.get("workspace")}
        arrays |= self._workspace_arrays(current_device().values)
        played = range(self.block_dim) if cores is None else list(cores)
        try:
            self._kernel(played, most)[len(played)](**arrays)
        except KernelError as error:
            if isinstance(error.__cause__, PyptoError):
                raise error.__cause__ from None  # it names the place in the PyPTO file itself
            raise

    def _workspace_arrays(self, values: bool) -> dict[str, Any]:
        """Memory for the kernel's own tensors, the same in every launch."""
        for node, shape in self.globals.items():
            if node.attrs.get("workspace") and node.name not in self._workspaces:
                dtype = node.dtype.asc
                empty: Any = np.zeros(shape, dtype.numpy) if values else DeviceArray(shape, dtype)
                self._workspaces[node.name] = empty
        return self._workspaces

    def _kernel(self, played: Sequence[int], most: int | None) -> Any:
        """The asc kernel: every block plays a core."""

        def entry(**addresses: Any) -> None:
            self._run_core(played[int(asc.get_block_idx())], addresses, most)

        kinds = inspect.Parameter.POSITIONAL_OR_KEYWORD
        entry.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
            [inspect.Parameter(node.name, kinds, annotation=asc.GlobalAddress) for node in self.globals]
        )
        entry.__name__ = entry.__qualname__ = self.kernel
        return asc.jit(entry)

    def _run_core(self, core: int, addresses: Mapping[str, Any], most: int | None) -> None:
        tensors: dict[Node, asc.GlobalTensor] = {}
        for node in self.globals:
            tensors[node] = asc.GlobalTensor()
            tensors[node].set_global_buffer(addresses[node.name])
        dims = {symbol: asc.number(value, asc.int64) for symbol, value in self.dims.items()}
        for number, work in enumerate(self.stages):
            if number:
                self.site.call(asc.sync_all)
            if core >= len(work.shares):
                continue
            share = work.shares[core][:most]

            def made(index: int, work: StageWork = work, share: range = share) -> TileRun:
                task, placement = work.tasks[share[index]], work.placements[share[index]]
                loops = task.component.body.loops
                values = {loop.symbol: asc.number(v, asc.int64) for loop, v in zip(loops, task.values, strict=True)}
                return TileRun(task, placement, {**dims, **values}, work.emitter(placement.plan))

            def kinds(work: StageWork = work, share: range = share) -> Sequence[Hashable]:
                return work.kinds(self.dims)[share.start : share.stop]

            runs = Runs(len(share), made, kinds)
            CoreRun(runs, work.memory, tensors, self.globals, work.chained).run()
        self.site.call(asc.pipe_barrier, asc.PipeID.PIPE_ALL)

    # -- planning ---------------------------------------------------------------------------------------------------

    def _work(self, stage: Stage) -> StageWork:
        """The first way of using unified buffer that fits; the tile that would fit is named when none does."""
        for kinds, halves in _TRIES:
            cuts = [_Cut(stage, self.dims, kind, partial(in_parts, self) if halves else _whole) for kind in kinds]
            if len(cuts) > 1 and len(cuts[0].components) == len(cuts[1].components):
                del cuts[0]
            found = self._first_that_fits(stage, cuts)
            if found is not None:
                return found
        _, memory = self._placed(cuts[-1], cuts[-1].tasks, *_ways(cuts[-1])[-1])
        raise LoweringError(misfit(self, memory, suggestion(self, cuts[-1].components)))

    def _first_that_fits(self, stage: Stage, cuts: Sequence[_Cut]) -> StageWork | None:
        """What a stage becomes. Where the first tile of every component has no room, no more are planned."""
        for way in _ways(cuts[-1]):
            for cut in cuts:
                _, memory = self._placed(cut, cut.first_tasks, *way)
                if memory.peak_bytes > self.ub_bytes:
                    continue
                placements, memory = self._placed(cut, cut.tasks, *way)
                if memory.peak_bytes <= self.ub_bytes:
                    dealt = shares(cut.tasks, self.cores, cut.chained)
                    return StageWork(stage, cut.components, cut.tasks, placements, memory, dealt, cut.chained)
        return None

    def _check_instructions(self, work: StageWork) -> None:
        """Make the calls of a tile of every kind, so that what has no instructions is refused here, not in a launch."""
        seen: set[int] = set()
        for task, placement in enumerate(work.placements):
            if id(placement.plan) not in seen:
                seen.add(id(placement.plan))
                run = work.run(task, self.dims)
                run.emitter.calls(run.filled, (0, 0))

    def _placed(
        self, cut: _Cut, tasks: Sequence[Task], interleaved: bool, keeps: bool, mode: Mode
    ) -> tuple[list[Placement], Memory]:
        """The places of `tasks`, and the memory map of their plans, for one way of using unified buffer."""
        moving = {component: moving_views(component) for component in cut.components}
        rules: dict[Component, KeptRule] = {
            component: kept_rule(component, self.dims, _repeats, cut.written) if keeps else _nothing
            for component in cut.components
        }
        plans: dict[Any, Plan] = {}
        made: dict[Any, Placement] = {}
        placements = []
        for task in tasks:
            component = task.component
            env = task.env(self.dims) if moving[component] else self.dims
            key = (id(component), task.tile, *(env[s] for s in moving[component] if s in env))
            if key not in made:
                plan, place = make_plan(component, task.tile, env, rules[component], interleaved)
                shared = plans.setdefault(plan.signature(), plan)
                made[key] = Placement(shared, place.boxes, place.parts)
            placements.append(made[key])
        return placements, arrange(list(plans.values()), mode)


class _Cut:
    """A stage cut into tasks; `joined`: which stores are worked on together; `parts`: what is a component's cut where
    its tiles are worked on in parts.
    """

    def __init__(
        self,
        stage: Stage,
        dims: Mapping[Symbol, int],
        joined: Joined,
        parts: Callable[[Component], tuple[int, ...] | None],
    ) -> None:
        found: dict[Body, list[Component]] = {body: components_of(body, dims, joined) for body in stage.bodies}
        self.components = [component for group in found.values() for component in group]
        self.chained = stage.chained or any(
            depend(a, b) for group in found.values() for a, b in itertools.permutations(group, 2)
        )
        self.written = frozenset().union(*(body.writes for body in stage.bodies))
        for component in self.components:
            whole, component.cut = component.cut, parts(component) or component.cut
            component.in_parts = component.cut != whole
        self.tasks = tasks_of(stage, found, dims)
        self.first_tasks = list({task.component: task for task in reversed(self.tasks)}.values())


def _ways(cut: _Cut) -> list[tuple[bool, bool, Mode]]:
    """Ways of using unified buffer, the fastest first: the copies of unrolled bodies in turn or one after another,
    unchanging tensors kept or not, and how many frames loads and results have.
    """
    unrolled = any(loop.factor > 1 for component in cut.components for loop in component.body.loops)
    ways = [(True, True, mode) for mode in MODES[:2]] if unrolled else []
    ways += [(False, True, mode) for mode in MODES[:3]]
    return ways + [(False, False, mode) for mode in MODES]


def _repeats(symbol: Symbol) -> bool:
    """Whether a loop may run more than once."""
    return symbol.low is None or symbol.high is None or symbol.high > symbol.low


def _whole(component: Component) -> None:
    """Tiles are worked on as they are."""


def _nothing(node: Node) -> bool:
    return False


def _dims(trace: Trace, shapes: Mapping[str, tuple[int, ...]]) -> dict[Symbol, int]:
    """The values of the dynamic dims."""
    found: dict[Symbol, int] = {}
    for node in trace.globals:
        if node.name not in shapes:
            continue
        for size, given in zip(node.shape, shapes[node.name], strict=True):
            if isinstance(size, SymbolicScalar):
                ((symbol, _),) = size.terms
                assert isinstance(symbol, Symbol)
                found[symbol] = given
    return found
