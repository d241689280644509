"""From a checked call to its record: the shared back half of every vector form."""

from __future__ import annotations

from collections.abc import Sequence
from types import FrameType
from typing import Any

from ascend_sim.asc import checks
from ascend_sim.asc.operands import REPEAT_BYTES, fits, refuse, whole
from ascend_sim.asc.recorder import RECORDER, Run
from ascend_sim.asc.state import FULL_MASK, CoreState
from ascend_sim.asc.tensors import LocalTensor
from ascend_sim.asc.views import Into, make_run
from ascend_sim.asc.walk import Layout, Walk
from ascend_sim.isa.enums import MaskMode
from ascend_sim.isa.row import Row
from ascend_sim.plurals import counted
from ascend_sim.program import BLOCK_BYTES, Access, Instr, Region, VectorWork, Work

Hit = tuple[Instr, Run | None, CoreState]
MAX_COUNT = 1 << 20  # more elements than any UB holds

Operand = tuple[str, LocalTensor, Layout]  # role, tensor, where its lanes are


def play(hit: Hit, *scalars: Any) -> None:
    """Record one instruction, leave the registers as it leaves them, compute its values (with the call's scalars)."""
    instr, run, RECORDER.state = hit
    RECORDER.append(instr)
    RECORDER.pending = 0
    if run is not None:
        run(*scalars)


def lanes_of(*tensors: LocalTensor) -> int:
    """Elements per repeat: a repeat is 256 B of the widest operand."""
    return REPEAT_BYTES // max(2, *(tensor.dtype.itemsize for tensor in tensors))


def mask_bits(row: Row, mask: Any, lanes: int) -> int:
    """Lane bits of a mask argument in Normal mode: a number of first lanes, or 64-bit words, low word first."""
    if not isinstance(mask, (tuple, list)):
        return (1 << whole(row.name, "mask", mask, 1, lanes, f"{lanes} lanes a repeat")) - 1
    needed = 2 if lanes > 64 else 1
    if len(mask) < needed:
        refuse(
            row.name,
            f"mask has {counted(len(mask), 'word')} of 64 bits, {needed} are needed for {lanes} lanes a repeat",
        )
    words = [whole(row.name, f"mask[{i}]", word, 0, (1 << 64) - 1) for i, word in enumerate(mask[:needed])]
    bits = sum(word << 64 * i for i, word in enumerate(words)) & ((1 << lanes) - 1)
    if not bits:
        refuse(row.name, f"mask {list(mask)} selects none of the {lanes} lanes of a repeat")
    return bits


def masked_walk(row: Row, lanes: int, mask: Any, repeats: int, is_set_mask: bool) -> tuple[Walk, CoreState]:
    """The walk of a mask/repeat form under the present mask mode, and the registers that the call leaves.

    In Counter mode the mask counts the elements of the whole call and `repeats` is ignored; without `is_set_mask` the
    mask registers decide as the kernel has set them.
    """
    state = RECORDER.state
    if not isinstance(is_set_mask, bool):
        refuse(row.name, f"is_set_mask must be True or False, not {is_set_mask!r}")
    if state.mask_mode is MaskMode.COUNTER:
        if is_set_mask:
            count = mask[0] if isinstance(mask, (tuple, list)) and mask else mask
            state = state.replace(mask=(whole(row.name, "mask", count, 0, (1 << 32) - 1), 0))
        return Walk.counted(lanes, state.mask[0]), state
    if is_set_mask:
        bits = mask_bits(row, mask, lanes)
        state = state.replace(mask=(bits & ((1 << 64) - 1), bits >> 64))
    return Walk.masked(lanes, repeats, state.mask[0] | state.mask[1] << 64), state


def counted_walk(row: Row, lanes: int, count: Any) -> tuple[Walk, CoreState]:
    """The walk of a count form; the call sets Counter mode and leaves Normal mode with every lane on."""
    number = whole(row.name, "count", count, 0, MAX_COUNT)
    return Walk.counted(lanes, number), RECORDER.state.replace(mask_mode=MaskMode.NORMAL, mask=FULL_MASK)


def dense_layout(tensor: LocalTensor, lanes: int) -> Layout:
    """The layout of a count form: everything in a row."""
    return Layout(tensor.dtype, tensor.addr, BLOCK_BYTES, lanes * tensor.dtype.itemsize)


def strided_layout(row: Row, tensor: LocalTensor, role: str, block: Any, repeat: Any) -> Layout:
    """The layout of a mask/repeat form from its two strides in blocks of 32 B."""
    block_stride = checks.check_stride(row, f"{role}_blk_stride", block)
    repeat_stride = checks.check_stride(row, f"{role}_rep_stride", repeat)
    return Layout(tensor.dtype, tensor.addr, block_stride * BLOCK_BYTES, repeat_stride * BLOCK_BYTES)


def make_hit(
    frame: FrameType,
    row: Row,
    walk: Walk,
    operands: Sequence[Operand],
    into: Into,
    after: CoreState,
    count_form: bool,
    sets_mask: bool,
    reads_dst: bool = False,
) -> Hit:
    """Check bounds and overlaps of `operands` (destination first), then make the instruction and its values."""
    _, _, dst = operands[0]
    sequential = False
    for index, (role, tensor, layout) in enumerate(operands):
        fits(row.name, role, tensor, layout.end(walk) - tensor.addr)
        if index:
            may = row.accumulates and index == 2 and dst.dtype.name in ("float16", "float32", "int32")
            sequential |= checks.check_overlap(row, walk, dst, role, layout, may)
    if reads_dst:
        checks.check_overlap(row, walk, dst, "dst", dst, False)
    if dst.block_stride == 0 and dst.access(walk).blocks > 1:
        refuse(row.name, "dst_blk_stride is 0, which is undefined when a repeat writes more than one block")
    sequential |= checks.writes_again(walk, dst)
    sources = [layout for _, _, layout in operands[1:]] + ([dst] if reads_dst else [])
    work = vector_work(walk, [layout for _, _, layout in operands], count_form, sets_mask)
    reads = tuple(region for layout in sources for region in layout.regions(walk))
    instr = make_instr(frame, row, work, reads, dst.regions(walk))
    run = make_run(RECORDER.ub, walk, dst, sources, into, sequential) if RECORDER.values else None
    return instr, run, after


def vector_work(
    walk: Walk,
    layouts: Sequence[Layout],
    count_form: bool,
    sets_mask: bool,
    results: tuple[Access, ...] | None = (),
) -> VectorWork:
    """What the cost model needs; the widest operand decides the throughput.

    `results` comes before the accesses of `layouts` when the destination walks in its own way; None when the result
    goes to a register, as accesses always begin with a destination in UB.
    """
    width = max((layout.dtype for layout in layouts), key=lambda dtype: dtype.itemsize)
    accesses: tuple[Access, ...] = ()
    if walk.elements and results is not None:
        accesses = results + tuple(layout.access(walk) for layout in layouts)
    return VectorWork(width.name, walk.lanes, walk.repeats, walk.elements, count_form, accesses, sets_mask)


def make_instr(
    frame: FrameType, row: Row, work: Work, reads: tuple[Region, ...], writes: tuple[Region, ...], detail: str = ""
) -> Instr:
    """The instruction that a call issues; one object for all calls that differ only in what it does not depend on.

    A call in a loop first meets the mask registers of the code before, then those that it left itself.
    """
    place = RECORDER.place(frame)
    key = (row.call, work, reads, writes, RECORDER.pending, place, detail)
    found: Instr | None = RECORDER.cache.get(key)
    if found is None:
        found = RECORDER.cache[key] = Instr(row, row.pipe, work, reads, writes, RECORDER.pending, place, detail)
    return found
