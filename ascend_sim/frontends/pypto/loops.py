"""Loops and conditions of kernels. A loop body is traced once, not once per iteration; its index is symbolic.

An unrolled loop becomes one sub-loop per factor, whose body is traced `factor` times. A body with conditions
(`if pypto.is_loop_end(i):`) is traced once for every way through it, each guarded by what its conditions came to.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ascend_sim.frontends.pypto.errors import FeValueError, PyptoTypeError, PyptoValueError
from ascend_sim.frontends.pypto.graph import Block, Guard, Loop
from ascend_sim.frontends.pypto.places import Site, site_of, user_frame
from ascend_sim.frontends.pypto.symbols import (
    DECIDE,
    Key,
    Scalar,
    Symbol,
    SymbolicScalar,
    bounds_of,
    key_of,
    minimum,
)
from ascend_sim.frontends.pypto.trace import Trace, current

MAX_PATHS = 64  # ways through one loop body


def loop(
    *bounds: Scalar,
    name: str | None = None,
    idx_name: str | None = None,
    submit_before_loop: bool = False,
    parallel: bool = False,
    unroll_list: Sequence[int] | None = None,
) -> Iterator[Any]:
    """`loop(stop)`, `loop(start, stop)`, `loop(start, stop, step)`: yields the symbolic index.

    `unroll_list` offers numbers of iterations that may be worked on together; 1 is always among them. `parallel` says
    that iterations do not depend on each other (else that is found out). `submit_before_loop` changes nothing here.
    """
    trace = current("loop")
    start, stop, step = _bounds("loop", bounds)
    made = _Loop(trace, (start, stop, step), name, idx_name, parallel, site_of(user_frame()))
    for factor in _factors("loop", unroll_list):
        for index, _ in made.sub_loop(factor):
            yield index


def loop_unroll(
    *bounds: Scalar,
    name: str | None = None,
    idx_name: str | None = None,
    unroll_list: Sequence[int] | None = None,
    submit_before_loop: bool = False,
) -> Iterator[tuple[Any, int]]:
    """As `loop`, but the body takes the whole stride: yields (index, factor), the index moving by step * factor."""
    trace = current("loop_unroll")
    start, stop, step = _bounds("loop_unroll", bounds)
    made = _Loop(trace, (start, stop, step), name, idx_name, False, site_of(user_frame()))
    for factor in _factors("loop_unroll", unroll_list):
        for index, copy in made.sub_loop(factor, copies=1):
            if copy == 0:
                yield index, factor


def is_loop_begin(scalar: Any) -> Any:
    """Whether this is the loop's first iteration; `scalar` is the loop's index."""
    start, _, _ = _range_of("is_loop_begin", scalar)
    return scalar <= start


def is_loop_end(scalar: Any, *bounds: Any) -> Any:
    """Whether this is the loop's last iteration; `scalar` is the loop's index; `bounds` is of an older form."""
    _, stop, step = _range_of("is_loop_end", scalar)
    return scalar + step >= stop


def cond(scalar: Any) -> Any:
    """A condition for Python's `if`; the condition itself serves as well."""
    return scalar


class _Loop:
    """One `pypto.loop` and the sub-loops that its unroll factors make of it."""

    def __init__(
        self,
        trace: Trace,
        bounds: tuple[Scalar, Scalar, int],
        name: str | None,
        idx_name: str | None,
        parallel: bool,
        site: Site,
    ) -> None:
        self.trace = trace
        self.start, self.stop, self.step = bounds
        number = trace.loops
        trace.loops += 1
        self.name = name or f"loop_{number}"
        self.idx_name = idx_name or f"loop_idx_{number}"
        self.parallel = parallel
        self.site = site
        count: Scalar = (self.stop - self.start + self.step - 1) // self.step
        low, _ = bounds_of(count)
        self.left = count if low is not None and low >= 0 else -minimum(-count, 0)  # iterations not yet in a sub-loop
        self.next: Scalar = self.start  # where the next sub-loop starts

    def sub_loop(self, factor: int, copies: int | None = None) -> Iterator[tuple[Any, int]]:
        """The iterations that `factor` at a time can take; yields the index of every copy of the body."""
        rounds: Scalar = self.left if factor == 1 else self.left // factor
        if isinstance(rounds, int) and rounds <= 0:
            return
        stride = self.step * factor
        end = self.next + rounds * stride
        low = self.next if isinstance(self.next, int) else None
        last = end - stride
        high, symbolic = (last, None) if isinstance(last, int) else (None, last)
        symbol = Symbol(self.idx_name if factor == 1 else f"{self.idx_name}_x{factor}", low, high, symbolic)
        made = Loop(symbol, self.next, end, stride, Block(), self.name, self.site, factor, self.parallel)
        trace = self.trace
        trace.block.items.append(made)
        trace.ranges[symbol] = (self.start, self.stop, self.step)
        yield from _paths(trace, made, factor if copies is None else copies, self.step)
        self.left = self.left - rounds * factor
        self.next = end


def _paths(trace: Trace, made: Loop, copies: int, step: int) -> Iterator[tuple[Any, int]]:
    """Trace the body once for every way through its conditions."""
    outer = trace.position, trace.copy
    index = SymbolicScalar.of(made.symbol)
    waiting: list[list[bool]] = [[]]
    count = 0
    while waiting:
        way = _Way(waiting.pop())
        count += 1
        if count > MAX_PATHS:
            raise PyptoValueError(f"loop {made.name!r}: more than {MAX_PATHS} ways through the ifs of its body")
        block = Block()
        trace.blocks.append(block)
        trace.loop_path.append(made)
        DECIDE.append(way.decide)
        try:
            for copy in range(copies):
                trace.position, trace.copy = outer[0], copy if copies > 1 else outer[1]
                yield index + copy * step, copy
        finally:
            DECIDE.remove(way.decide)
            trace.blocks.remove(block)
            trace.loop_path.remove(made)
        if way.taken:
            made.block.items.append(Guard(tuple(way.taken), block))
        else:
            made.block.items.extend(block.items)
        waiting += way.others()
    trace.position, trace.copy = outer


class _Way:
    """One way through a body: what its conditions are taken to be."""

    def __init__(self, given: list[bool]) -> None:
        self.given = given
        self.taken: list[tuple[Scalar, bool]] = []
        self._known: dict[Key, bool] = {}

    def decide(self, condition: SymbolicScalar) -> bool:
        key = key_of(condition)
        if key not in self._known:
            place = len(self.taken)
            self._known[key] = self.given[place] if place < len(self.given) else True
            self.taken.append((condition, self._known[key]))
        return self._known[key]

    def others(self) -> list[list[bool]]:
        """The ways that part from this one at a condition that it was the first to meet."""
        values = [value for _, value in self.taken]
        return [[*values[:place], False] for place in range(len(self.given), len(values))]


def _bounds(op: str, bounds: Sequence[Any]) -> tuple[Scalar, Scalar, int]:
    if not 1 <= len(bounds) <= 3:
        raise PyptoTypeError(f"{op} takes (stop), (start, stop) or (start, stop, step), not {len(bounds)} bounds")
    for bound in bounds:
        if isinstance(bound, bool) or not isinstance(bound, int | SymbolicScalar):
            raise PyptoTypeError(f"{op}: {bound!r} cannot bound a loop; allowed are integers and symbolic integers")
    start, stop = (0, bounds[0]) if len(bounds) == 1 else bounds[:2]
    step = bounds[2] if len(bounds) == 3 else 1
    if not isinstance(step, int) or step < 1:
        raise PyptoValueError(f"{op}: step is {step}; it must be an integer of at least 1")
    return start, stop, step


def _factors(op: str, unroll_list: Sequence[int] | None) -> list[int]:
    """Unroll factors from large to small, 1 among them."""
    factors = list(unroll_list or ())
    for factor in factors:
        if isinstance(factor, bool) or not isinstance(factor, int) or factor < 1:
            raise PyptoValueError(f"{op}: unroll_list {factors} holds {factor!r}; factors are integers of at least 1")
    return sorted({1, *factors}, reverse=True)


def _range_of(op: str, scalar: Any) -> tuple[Scalar, Scalar, int]:
    """Start, stop and step of the loop that `scalar` is the index of."""
    trace = current(op)
    if isinstance(scalar, SymbolicScalar) and len(scalar.terms) == 1:
        atom, factor = scalar.terms[0]
        if factor == 1 and isinstance(atom, Symbol) and atom in trace.ranges:
            return trace.ranges[atom]
    raise FeValueError(f"{op}({scalar}): it takes the index of a pypto.loop")
