"""Elements in another order: transpose and interleave, by Gather with a table of byte offsets.

The table covers as many of the result's inner dims as make up to `TABLE_ENTRIES`, and of the next one as many steps as
there is room for; what lies outside is a loop. It is built once per core: the scalar unit writes the first entries, the
vector unit doubles them.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

from ascend_sim import asc
from ascend_sim.frontends.pypto.errors import LoweringError
from ascend_sim.frontends.pypto.graph import Node
from ascend_sim.frontends.pypto.lowering.operands import BLOCK_BYTES, Call, Dim, Operand, chunks, places

TABLE_ENTRIES = 1024
_ENTRY_BYTES = 4
_GRAIN = BLOCK_BYTES // _ENTRY_BYTES  # entries of a block: what a vector operand may start on
_MAX_SCALAR_ENTRIES = 256


@dataclass(frozen=True, slots=True)
class Table:
    """Byte offsets of a block of elements: the sum over `dims` (size, bytes per step), outermost first."""

    dims: tuple[tuple[int, int], ...]

    @property
    def entries(self) -> int:
        return math.prod(size for size, _ in self.dims)

    @property
    def nbytes(self) -> int:
        return -(-self.entries // _GRAIN) * BLOCK_BYTES

    def build(self, addr: int) -> list[Call]:
        """The calls that write the table."""
        place = asc.TPosition.VECCALC
        table = asc.LocalTensor(asc.int32, place, addr, self.nbytes // _ENTRY_BYTES)
        done, axis = self._by_scalar()
        calls: list[Call] = []
        for i, index in enumerate(itertools.product(*(range(size) for size, _ in self.dims))):
            if i == done:
                break
            calls.append((table.set_value, (i, sum(j * step for j, (_, step) in zip(index, self.dims, strict=True)))))
        block = math.prod(size for size, _ in self.dims[axis + 1 :])
        while axis >= 0:
            size, step = self.dims[axis]
            steps = done // block
            while steps < size:
                more = min(steps, size - steps)
                target = asc.LocalTensor(
                    asc.int32, place, addr + done * _ENTRY_BYTES, self.nbytes // _ENTRY_BYTES - done
                )
                calls.append((asc.adds, (target, table, steps * step, more * block)))
                steps, done = steps + more, done + more * block
            block, axis = done, axis - 1
        return calls

    def _by_scalar(self) -> tuple[int, int]:
        """How many entries the scalar unit writes, and the dim along which the vector unit goes on from there."""
        block = 1
        for axis in range(len(self.dims) - 1, -1, -1):
            size, _ = self.dims[axis]
            steps = _GRAIN // math.gcd(block, _GRAIN)
            ends_well = size * block % _GRAIN == 0 or axis == 0
            if ends_well and steps <= size and steps * block <= _MAX_SCALAR_ENTRIES:
                return steps * block, axis
            block *= size
        if self.entries > _MAX_SCALAR_ENTRIES:
            raise LoweringError(
                f"a table of {self.entries} offsets has no run of 8 that repeats; use sizes with a factor of 8"
            )
        return self.entries, -1


@dataclass(frozen=True, slots=True)
class Permutation:
    """A box in another order: dims (size, destination stride, source stride); the last `inner` of them by the table,
    and `run` steps at a time of the one before, if `run` is not 0.
    """

    dims: tuple[tuple[int, int, int], ...]
    inner: int
    run: int = 0

    @property
    def block(self) -> int:
        """Entries of the inner dims."""
        return math.prod(size for size, _, _ in self.dims[len(self.dims) - self.inner :])

    @property
    def table(self) -> Table:
        covered = self.dims[len(self.dims) - self.inner :]
        if self.run:
            _, to, source = self.dims[len(self.dims) - self.inner - 1]
            covered = ((self.run, to, source), *covered)
        return Table(tuple((size, source) for size, _, source in covered))


def permutation_of(node: Node, sizes: Sequence[int], target: Operand, source: Operand) -> Permutation:
    """How a transpose or interleave of a box of `sizes` walks; `source` has the result's axes."""
    if target.itemsize not in (2, 4):
        raise LoweringError(f"{node.name}: {node.op} of {node.dtype.name}: Gather moves 16 and 32 bit elements only")
    dims = list(zip(sizes, target.strides, source.strides, strict=True))
    if node.op == "interleave":  # rows [x | y] are read as 2 x n and written as n x 2
        half, size = sizes[-1] // 2, target.itemsize
        dims[-1:] = [(half, 2 * size, size), (2, size, half * size)]
    inner, entries, step = 0, 1, target.itemsize
    for size, to, _ in reversed(dims):
        if size > 1 and (to != step or entries * size > TABLE_ENTRIES):
            break
        inner, entries, step = inner + 1, entries * size, step * size
    return Permutation(tuple(dims), inner, _run(dims[: len(dims) - inner], entries, step, target.itemsize))


def _run(outer: Sequence[tuple[int, int, int]], entries: int, step: int, itemsize: int) -> int:
    """Steps of the next dim that the table takes too: they must follow each other, and start on 32 B blocks."""
    if not outer or outer[-1][1] != step:
        return 0
    aligned = BLOCK_BYTES // math.gcd(BLOCK_BYTES, entries * itemsize)
    run = min(TABLE_ENTRIES // entries, outer[-1][0])
    return run - run % aligned


def permute(plan: Permutation, sizes: Sequence[int], target: Operand, source: Operand, table: int) -> list[Call]:
    """The calls: one Gather per step outside the table. `sizes`: the steps that hold data, of the dims outside it."""
    outer = plan.dims[: len(plan.dims) - plan.inner]
    walked = [Dim(min(size, have), (to, of)) for (size, to, of), have in zip(outer, sizes, strict=False)]
    along = walked.pop() if plan.run else Dim(1, (0, 0))
    offsets = asc.LocalTensor(asc.uint32, asc.TPosition.VECCALC, table, plan.table.nbytes // _ENTRY_BYTES)
    base = source.addr % BLOCK_BYTES
    origin = source.tensor(-base)
    found: list[Call] = []
    for to, of in places(walked, 2):
        for first, count in chunks(along.size, max(1, plan.run)):
            ends = to + first * along.strides[0], base + of + first * along.strides[1]
            found.append((asc.gather, (target.tensor(ends[0]), origin, offsets, ends[1], count * plan.block)))
    return found
