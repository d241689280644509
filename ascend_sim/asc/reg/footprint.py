"""Which UB bytes the loads and stores of a vector function touch, round by round: bounds, order, exact regions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ascend_sim.asc.operands import refuse
from ascend_sim.asc.reg.engine import grid
from ascend_sim.asc.reg.trace import Body, Loop, Node, Path, nodes_of
from ascend_sim.asc.reg.values import Flags, Mask
from ascend_sim.plurals import counted
from ascend_sim.program import BLOCK_BYTES, Memory, Region, VfUnit

Bytes = npt.NDArray[np.int64]


@dataclass(eq=False, slots=True)
class Footprint:
    """`at[..., k]`: the k-th byte address of every round (an axis per loop of the path); `used`: which of them count
    (None: all). `at` is None for an indexed access, which may touch `low` to `high`."""

    node: Node
    low: int
    high: int  # one past the last byte
    at: Bytes | None
    used: Flags | None

    @property
    def is_store(self) -> bool:
        return self.node.unit is VfUnit.STORE

    def bytes_of(self) -> Bytes:
        """All byte addresses, flat, in the order of rounds."""
        if self.at is None:
            return np.arange(self.low, self.high)
        return self.at[np.broadcast_to(self.used, self.at.shape)] if self.used is not None else self.at.reshape(-1)

    def rounds(self, loops: int) -> Bytes:
        """The round of the outermost `loops` loops (numbered through) to which each of `bytes_of` belongs."""
        assert self.at is not None
        shape = self.at.shape
        outer = shape[:loops]
        number = np.arange(int(np.prod(outer)), dtype=np.int64).reshape(*outer, *(1,) * (len(shape) - loops))
        whole = np.broadcast_to(number, shape)
        return whole[np.broadcast_to(self.used, shape)] if self.used is not None else whole.reshape(-1)


def footprints(body: Body, ub_bytes: int) -> list[Footprint]:
    """Of all loads and stores in program order; refuses what leaves its tensor or unified buffer."""
    masks = static_masks(body)
    found = []
    for node in nodes_of(body.items):
        if node.access is not None:
            footprint = _footprint(node, masks)
            _check_bounds(footprint, ub_bytes)
            found.append(footprint)
    return found


def static_masks(body: Body) -> dict[int, tuple[Mask, Path]]:
    """Masks that do not depend on data: slot -> (mask with an axis per loop, those loops)."""
    found = {}
    for node in nodes_of(body.items):
        if node.unit is VfUnit.MASK and not node.reads and node.compute is not None:
            mask = node.compute() if node.counter is None else node.compute(grid(node.counter, node.path, {}))
            flags = mask.flags
            if flags is not None and flags.ndim <= len(node.path):
                mask.flags = flags.reshape((1,) * (len(node.path) + 1 - flags.ndim) + flags.shape)
            found[node.writes[0]] = (mask, node.path)
    return found


def _footprint(node: Node, masks: dict[int, tuple[Mask, Path]]) -> Footprint:
    access = node.access
    assert access is not None
    first = grid(access.address, node.path, {})
    trips = tuple(loop.trips for loop in node.path)
    if access.indexed:
        end = access.tensor.addr + access.tensor.size * access.tensor.dtype.itemsize
        return Footprint(node, int(first.min()), max(end, int(first.max())), None, None)
    inside = np.arange(access.length, dtype=np.int64)
    if access.blocks > 1:
        inside = (np.arange(access.blocks)[:, None] * access.block_stride + inside).reshape(-1)
    used = _used(node, masks, len(inside))
    at = np.broadcast_to(first, trips)[..., None] + inside
    if used is None:
        return Footprint(node, int(at.min()), int(at.max()) + 1, at, None)
    touched = at[np.broadcast_to(used, at.shape)]
    low, high = (int(touched.min()), int(touched.max()) + 1) if touched.size else (int(at.min()), int(at.min()))
    return Footprint(node, low, high, at, used)


def _used(node: Node, masks: dict[int, tuple[Mask, Path]], nbytes: int) -> Flags | None:
    """Flags per byte of a store: those of active lanes, when the mask does not depend on data."""
    known = masks.get(node.mask)
    if node.unit is not VfUnit.STORE or known is None:
        return None
    mask, path = known
    active = mask.moved(path, node.path).lanes(node.lane_bytes)
    if active is None:
        return None
    assert node.access is not None
    per_lane = node.access.dtype.itemsize
    if nbytes < per_lane * active.shape[-1]:
        active = active[..., : nbytes // per_lane]  # only the first lanes are stored
    return np.repeat(active, nbytes // active.shape[-1], -1)


def _check_bounds(footprint: Footprint, ub_bytes: int) -> None:
    node = footprint.node
    access = node.access
    assert access is not None
    name = f"Reg::{node.name}"
    at = footprint.at
    if at is not None and (int(at.min()) < 0 or int(at.max()) >= ub_bytes):
        refuse(
            name,
            f"at {node.place} reaches UB bytes {int(at.min())}..{int(at.max())}, allowed are 0..{ub_bytes - 1} "
            "(inactive lanes included)",
        )
    if not footprint.is_store or at is None or footprint.low == footprint.high:
        return  # a store whose mask is empty writes nothing, wherever it points
    tensor = access.tensor
    held = tensor.size * tensor.dtype.itemsize
    end = tensor.addr + -(-held // BLOCK_BYTES) * BLOCK_BYTES
    if footprint.low < tensor.addr or footprint.high > end:
        refuse(
            name,
            f"at {node.place} writes UB bytes {footprint.low}..{footprint.high - 1}, but its tensor holds bytes "
            f"{tensor.addr}..{tensor.addr + held - 1} ({counted(tensor.size, 'element')} of {tensor.dtype.name})",
        )


def conflicting_loops(prints: Sequence[Footprint]) -> set[Loop]:
    """Loops whose rounds cannot be computed side by side, every instruction for all rounds before the next one.

    That is where an instruction touches bytes in a round that a later instruction of the body touches in an earlier
    one, and one of the two writes them. A load that reaches into the line behind, which a later round stores, is none.
    """
    found: set[Loop] = set()
    for index, first in enumerate(prints):
        for second in prints[index:]:
            if not (first.is_store or second.is_store):
                continue
            shared = _common(first.node.path, second.node.path)
            if not shared or found.issuperset(shared):
                continue
            if first.high <= second.low or second.high <= first.low:
                continue
            if _overlaps_itself(first, len(shared)) if first is second else _meets_earlier(first, second, len(shared)):
                found.update(shared)
    return found


def _common(first: Path, second: Path) -> Path:
    shared = []
    for one, two in zip(first, second, strict=False):
        if one is not two:
            break
        shared.append(one)
    return tuple(shared)


def _overlaps_itself(store: Footprint, loops: int) -> bool:
    """Whether two rounds of the `loops` outermost loops write one byte."""
    if store.at is None:
        return True
    owner = np.empty(store.high - store.low, np.int64)
    written, rounds = store.bytes_of() - store.low, store.rounds(loops)
    owner[written] = rounds
    return bool((owner[written] != rounds).any())


def _meets_earlier(first: Footprint, second: Footprint, loops: int) -> bool:
    """Whether `second`, the later instruction of the body, touches a byte in an earlier round of the `loops` outermost
    loops than `first`."""
    if first.at is None or second.at is None:
        return True
    low = min(first.low, second.low)
    latest = np.full(max(first.high, second.high) - low, -1, np.int64)
    latest[first.bytes_of() - low] = first.rounds(loops)  # rounds go up, the last one stays
    return bool((latest[second.bytes_of() - low] > second.rounds(loops)).any())


def unordered(body: Body, prints: Sequence[Footprint]) -> Footprint | None:
    """A load of bytes that an earlier store of the same call writes, with no memory barrier between them; None if all
    are ordered. Loads into a register that the store reads wait for it anyway."""
    order = {id(node): number for number, node in enumerate(nodes_of(body.items))}
    barriers = [number for number, node in enumerate(nodes_of(body.items)) if node.unit is VfUnit.BARRIER]
    stores = [footprint for footprint in prints if footprint.is_store]
    for load in prints:
        for store in stores:
            if load.is_store or store.high <= load.low or load.high <= store.low:
                continue
            if set(load.node.writes) & set(store.node.reads):
                continue
            first, last = order[id(store.node)], order[id(load.node)]
            if first > last:  # the store of an earlier round of a loop around both
                shared = _common(store.node.path, load.node.path)
                if not shared:
                    continue
                inside = [order[id(node)] for node in nodes_of(shared[-1].items)]
                first, last = min(inside), max(inside)
                meet = _meets_earlier(load, store, len(shared))
            else:
                meet = _share_bytes(store, load)
            if meet and not any(first < number < last for number in barriers):
                return load
    return None


def _share_bytes(first: Footprint, second: Footprint) -> bool:
    return bool(np.isin(second.bytes_of(), first.bytes_of()).any())


def regions_of(prints: Sequence[Footprint]) -> tuple[tuple[Region, ...], tuple[Region, ...]]:
    """Exact bytes that the call reads (before it has written them itself) and writes."""
    low = min((footprint.low for footprint in prints), default=0)
    high = max((footprint.high for footprint in prints), default=0)
    read = np.zeros(high - low, np.bool_)
    written = np.zeros(high - low, np.bool_)
    for footprint in prints:
        touched = footprint.bytes_of() - low
        if footprint.is_store:
            written[touched] = True
        else:
            read[touched[~written[touched]]] = True
    return _runs(read, low), _runs(written, low)


def _runs(flags: npt.NDArray[np.bool_], low: int) -> tuple[Region, ...]:
    """The set bytes (the first is `low`) as regions: equal runs at an even pitch become one."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], flags.view(np.int8), [0]])))
    starts, lengths = edges[::2] + low, edges[1::2] - edges[::2]
    found: list[Region] = []
    index = 0
    while index < len(starts):
        last = index
        if index + 1 < len(starts):
            pitch = starts[index + 1] - starts[index]
            while (
                last + 1 < len(starts)
                and lengths[last + 1] == lengths[index]
                and starts[last + 1] - starts[last] == pitch
            ):
                last += 1
        count = last - index + 1
        dims = ((count, int(pitch)),) if count > 1 else ()
        found.append(Region(Memory.UB, int(starts[index]), int(lengths[index]), dims))
        index = last + 1
    return tuple(found)
