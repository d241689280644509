"""The levels by which `reduce_sum` (mask form), `reduce_max` and `reduce_min` come to one result.

Level 0 reduces every repeat of the source; each later level reduces the results of the one before, until one is left.
Extremes keep (value, lane number) pairs, so a later level looks at every second lane. Without an index all levels share
the start of the temporary buffer; with one each level starts on its own 32 B block and stays readable, and the scalar
unit follows the lane numbers back.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ascend_sim.asc.issue import lanes_of
from ascend_sim.asc.operands import fits, refuse
from ascend_sim.asc.recorder import RECORDER, Run
from ascend_sim.asc.reduce import Call, reduce_repeats
from ascend_sim.asc.sequence import Steps
from ascend_sim.asc.tensors import LocalTensor
from ascend_sim.isa.dtypes import uint16, uint32
from ascend_sim.isa.enums import MaskMode, ReduceOrder
from ascend_sim.isa.row import Row
from ascend_sim.plurals import counted
from ascend_sim.program import BLOCK_BYTES, HardEvent

MAX_REPEATS = 255


class Levels:
    """What both kinds share: `steps` is being built for `row`, from `src` over `tmp` to `dst`."""

    width = 1  # elements of one result
    order = ReduceOrder.ORDER_ONLY_VALUE

    def __init__(
        self, steps: Steps, row: Row, dst: LocalTensor, src: LocalTensor, tmp: LocalTensor, with_index: bool
    ) -> None:
        self.steps, self.row = steps, row
        self.dst, self.src, self.tmp = dst, src, tmp
        self.with_index = with_index
        self.size = src.dtype.itemsize
        self.lanes = lanes_of(src)

    def check(self, repeats: int, stride: int) -> None:
        """The tensors hold what a reduction of `repeats` repeats needs."""
        fits(self.row.name, "dst", self.dst, self.size * (2 if self.with_index else 1))
        needed = self.needed(repeats)
        if self.tmp.size < needed:
            refuse(
                self.row.name,
                f"shared_tmp_buffer has {counted(self.tmp.size, 'element')} of {self.tmp.dtype.name}, but {repeats} "
                f"repeats need {needed}",
            )

    def needed(self, repeats: int) -> int:
        """Elements that the temporary buffer must hold."""
        return self.aligned(repeats * self.width)

    def aligned(self, elements: int) -> int:
        per_block = BLOCK_BYTES // self.size
        return -(-elements // per_block) * per_block

    def repeats_into(self, dst: LocalTensor, src: LocalTensor, bits: int, repeats: int, stride: int) -> None:
        """One result per repeat of `src` to `dst`; more than 255 repeats take several instructions."""
        mask = (bits & ((1 << 64) - 1), bits >> 64)
        per_repeat = stride * BLOCK_BYTES // self.size
        for first in range(0, repeats, MAX_REPEATS):
            part = Call(mask, min(MAX_REPEATS, repeats - first), 1, 1, stride, True, self.order)
            target, source = dst[first * self.width], src[first * per_repeat]
            self.steps.add(reduce_repeats(self.steps.frame, self.row, target, source, part))

    def move(self, pairs: list[tuple[int, int]]) -> None:
        """The scalar unit copies elements at UB byte addresses (from, to), then the vector unit and MTE3 may go on."""
        self.steps.flags(HardEvent.V_S)
        cells = [np.zeros((), self.src.dtype.numpy) for _ in pairs]
        for (source, _), cell in zip(pairs, cells, strict=True):
            self.steps.load(source, self.size, self.reader(source, cell))
        for (_, target), cell in zip(pairs, cells, strict=True):
            self.steps.store(target, self.size, self.writer(target, cell))
        self.steps.flags(HardEvent.S_V, HardEvent.S_MTE3)

    def element(self, addr: int, dtype: Any = None) -> Any:
        """A 0-d view of the element at a UB byte address."""
        kind = self.src.dtype.numpy if dtype is None else dtype
        return np.ndarray((), kind, buffer=RECORDER.ub.data, offset=addr)

    def reader(self, addr: int, cell: Any) -> Run | None:
        if not RECORDER.values:
            return None
        view = self.element(addr, cell.dtype)

        def run() -> None:
            cell[...] = view

        return run

    def writer(self, addr: int, cell: Any) -> Run | None:
        if not RECORDER.values:
            return None
        view = self.element(addr, cell.dtype)

        def run() -> None:
            view[...] = cell

        return run


class Sum(Levels):
    """Sums of repeats, then a tree over the sums."""

    def reduce(self, src: LocalTensor, bits: int, repeats: int, stride: int) -> None:
        tmp, steps = self.tmp, self.steps
        self.repeats_into(tmp, src, bits, repeats, stride)
        if repeats > 1:
            steps.barrier()
            self.sums_of_sums(repeats)
            steps.barrier()
        left = -(-repeats // self.lanes)
        if left == 1:
            self.move([(tmp.addr, self.dst.addr)])
        else:
            self.repeats_into(self.dst, tmp, (1 << left) - 1, 1, 8)

    def sums_of_sums(self, count: int) -> None:
        """The first `count` sums in place, one result per repeat, in Counter mode."""
        RECORDER.state = RECORDER.state.replace(mask_mode=MaskMode.COUNTER)
        part = Call(count, 1, 1, 1, 8, True, self.order)
        self.steps.add(reduce_repeats(self.steps.frame, self.row, self.tmp, self.tmp, part))
        RECORDER.state = RECORDER.state.replace(mask_mode=MaskMode.NORMAL)


class Extreme(Levels):
    """Maxima or minima of repeats as (value, lane number) pairs, then of the pairs."""

    width = 2
    order = ReduceOrder.ORDER_VALUE_INDEX

    def needed(self, repeats: int) -> int:
        if repeats <= 1 and self.with_index:
            return 2  # body and tail of a count form meet there
        total = level = self.aligned(2 * repeats)
        while self.with_index and level:
            pairs = -(-2 * repeats // self.lanes)
            total += self.aligned(2 * pairs)
            level = 0 if pairs == 1 else 1
            repeats = pairs
        return total

    def check(self, repeats: int, stride: int) -> None:
        super().check(repeats, stride)
        last = (repeats - 1) * stride * BLOCK_BYTES // self.size + self.lanes - 1
        if self.with_index and self.size == 2 and last > 65535:
            refuse(self.row.name, f"the index may reach {last}, but with {self.src.dtype.name} it is stored in 16 bits")

    def reduce(self, src: LocalTensor, bits: int, repeats: int, stride: int) -> None:
        if repeats == 1 and self.with_index:
            self.repeats_into(self.dst, src, bits, 1, stride)
            return
        self.repeats_into(self.tmp, src, bits, repeats, stride)
        if self.with_index:
            self.reduce_with_index(repeats, stride)
        else:
            self.reduce_without_index(repeats)

    def reduce_with_index(self, repeats: int, stride: int) -> None:
        levels = [(0, repeats)]  # first element in the temporary buffer, pairs
        while levels[-1][1] > 1:
            start, pairs = levels[-1]
            after = start + self.aligned(2 * pairs)
            self.steps.barrier()
            levels.append((after, self.pairs_into(after, start, pairs)))
        self.follow_back(levels, stride)

    def reduce_without_index(self, repeats: int) -> None:
        """All levels share the start of the buffer; the last one is a repeat of its own even for one pair."""
        if repeats > 1:
            self.steps.barrier()
            pairs = self.pairs_into(0, 0, repeats)
            while 2 * pairs > self.lanes:
                self.steps.barrier()
                pairs = self.pairs_into(0, 0, pairs)
            self.steps.barrier()
            self.repeats_into(self.tmp, self.tmp, every_second(pairs), 1, 8)
        self.move([(self.tmp.addr, self.dst.addr)])

    def pairs_into(self, start: int, source: int, pairs: int) -> int:
        """Reduce the pairs at element `source` of the temporary buffer to element `start`; gives how many are left."""
        full, tail = divmod(2 * pairs, self.lanes)
        if full:
            self.repeats_into(self.tmp[start], self.tmp[source], every_second(self.lanes // 2), full, 8)
        if tail:
            target, rest = self.tmp[start + 2 * full], self.tmp[source + full * self.lanes]
            self.repeats_into(target, rest, every_second(tail // 2), 1, 8)
        return full + bool(tail)

    def follow_back(self, levels: list[tuple[int, int]], stride: int) -> None:
        """The scalar unit reads the value and the lane number of every level and stores value and index."""
        value = np.zeros((), self.src.dtype.numpy)
        index = np.zeros((), (uint16 if self.size == 2 else uint32).numpy)
        self.steps.flags(HardEvent.V_S)
        top = self.tmp.addr + levels[-1][0] * self.size
        self.steps.load(top, self.size, self.reader(top, value))
        read = self._index_reader([start for start, _ in levels], stride, index) if RECORDER.values else None
        for start, pairs in reversed(levels):
            addr = self.tmp.addr + (start + 1) * self.size
            self.steps.load(addr, self.size, read if start == 0 else None, ((pairs, 2 * self.size),))
        self.steps.store(self.dst.addr, self.size, self.writer(self.dst.addr, value))
        self.steps.store(self.dst.addr + self.size, self.size, self.writer(self.dst.addr + self.size, index))
        self.steps.flags(HardEvent.S_V, HardEvent.S_MTE3)

    def _index_reader(self, starts: list[int], stride: int, index: Any) -> Run:
        half = self.lanes // 2
        words = self.tmp_words(index.dtype)
        per_repeat = stride * BLOCK_BYTES // self.size

        def run() -> None:
            pair = 0
            for level in reversed(starts[1:]):
                pair = pair * half + int(words[level + 2 * pair + 1]) // 2
            found = pair * per_repeat + int(words[starts[0] + 2 * pair + 1])
            index[...] = found & (0xFFFF if self.size == 2 else 0xFFFF_FFFF)

        return run

    def tmp_words(self, kind: Any) -> Any:
        """The temporary buffer as whole numbers."""
        return np.ndarray((self.tmp.size,), kind, buffer=RECORDER.ub.data, offset=self.tmp.addr)

    def reduce_count(self, count: int) -> None:
        """Full repeats, then the tail, then the better of the two."""
        repeats, tail = divmod(count, self.lanes)
        if not count:
            return
        fits(self.row.name, "src", self.src, count * self.size)
        self.check(max(repeats, 1), 8)
        if repeats:
            self.reduce(self.src, (1 << self.lanes) - 1, repeats, 8)
        if tail and not repeats:
            self.reduce(self.src, (1 << tail) - 1, 1, 8)
        elif tail:
            self.join_tail(repeats * self.lanes, tail)

    def join_tail(self, first: int, tail: int) -> None:
        """Reduce the `tail` elements from `first` on and keep the better of body and tail in `dst`."""
        steps, size, dst = self.steps, self.size, self.dst
        kind = (uint16 if size == 2 else uint32).numpy
        values = [np.zeros((), self.src.dtype.numpy) for _ in range(2)]
        indices = [np.zeros((), kind) for _ in range(3)]  # body, tail, which of the two
        for part in range(2):
            if part:
                self.reduce(self.src[first], (1 << tail) - 1, 1, 8)
            steps.flags(HardEvent.V_S)
            steps.load(dst.addr, size, self.reader(dst.addr, values[part]))
            if self.with_index:
                steps.load(dst.addr + size, size, self.reader(dst.addr + size, indices[part]))
        for part in range(2):
            addr = self.tmp.addr + part * size
            steps.store(addr, size, self.writer(addr, values[part]))
        steps.flags(HardEvent.S_V)
        self.reduce(self.tmp, 0b11, 1, 8)
        if not self.with_index:
            return
        steps.flags(HardEvent.V_S)
        steps.load(dst.addr + size, size, self.reader(dst.addr + size, indices[2]))
        steps.store(dst.addr + size, size, self._chosen_index(indices, first) if RECORDER.values else None)
        steps.flags(HardEvent.S_V, HardEvent.S_MTE3)

    def _chosen_index(self, indices: list[Any], first: int) -> Run:
        body, tail, which = indices
        view = self.element(self.dst.addr + self.size, body.dtype)

        def run() -> None:
            view[...] = body if int(which) == 0 else int(tail) + first

        return run


def every_second(count: int) -> int:
    """Mask bits of the first `count` even lanes."""
    return sum(1 << 2 * i for i in range(count))
