"""transpose and trans_data_to_5hd: blocks of unified buffer turned."""

from __future__ import annotations

from collections.abc import Callable
from sys import _getframe
from types import FrameType
from typing import Any, NamedTuple

import numpy as np

from ascend_sim.asc import checks
from ascend_sim.asc.fill import MAX_UINT16
from ascend_sim.asc.gathering import RAW
from ascend_sim.asc.issue import lanes_of, make_instr
from ascend_sim.asc.operands import REPEAT_BYTES, fits, local, refuse, whole
from ascend_sim.asc.params import TransDataTo5HDParams
from ascend_sim.asc.recorder import CALL_UNIT, RECORDER, outside_kernel
from ascend_sim.asc.regions import overlap
from ascend_sim.asc.tensors import LocalTensor
from ascend_sim.asc.walk import Bytes, fold_runs
from ascend_sim.isa.dtypes import DataType
from ascend_sim.isa.moves import TRANS_DATA_TO_5HD, TRANSPOSE
from ascend_sim.program import BLOCK_BYTES, Access, Instr, Memory, Region, ScalarCall, VectorWork

__all__ = ["trans_data_to_5hd"]

LIST = 16  # blocks that one repeat reads, and writes
_ADDRESS_REGISTERS = 4 * CALL_UNIT[ScalarCall.ALU]  # the lists go into four registers before each instruction
Hit = tuple[Instr, Callable[[], None] | None]
Addresses = tuple[int, ...]


def play(hit: Hit) -> None:
    instr, run = hit
    RECORDER.append(instr)
    RECORDER.pending = 0
    if run is not None:
        run()


def turn_square(dst: LocalTensor, src: LocalTensor, frame: FrameType) -> None:
    """Record one Transpose: a 16x16 matrix of 16-bit elements, turned; dst may be src."""
    rec = RECORDER
    try:
        key = (turn_square, dst.key, src.key, rec.pending, id(frame.f_code), frame.f_lasti)
        hit = rec.cache.get(key)
    except (AttributeError, TypeError, ValueError):
        hit = key = None
    if hit is None:
        hit = rec.cache[key] = _build_square(dst, src, frame)
    play(hit)


def _build_square(dst: LocalTensor, src: LocalTensor, frame: FrameType) -> Hit:
    row = TRANSPOSE
    checks.check_tensors(row, (("dst", dst), ("src", src)))
    nbytes = 16 * BLOCK_BYTES
    fits(row.name, "dst", dst, nbytes)
    fits(row.name, "src", src, nbytes)
    read, written = Region(Memory.UB, src.addr, nbytes), Region(Memory.UB, dst.addr, nbytes)
    if read != written and overlap((read,), (written,)):
        refuse(row.name, f"src (UB byte {src.addr} on) and dst (UB byte {dst.addr} on) must be equal or disjoint")
    accesses = tuple(Access(tensor.addr, 8, BLOCK_BYTES, REPEAT_BYTES) for tensor in (dst, src))
    work = VectorWork(dst.dtype.name, lanes_of(dst), 2, 256, False, accesses, sets_mask=False)
    instr = make_instr(frame, row, work, (read,), (written,))
    if not RECORDER.values:
        return instr, None
    out, values = (
        RECORDER.ub[tensor.addr : tensor.addr + nbytes].view(np.uint16).reshape(16, 16) for tensor in (dst, src)
    )

    def run() -> None:
        out[...] = values.T.copy()

    return instr, run


def trans_data_to_5hd(dst_or_list: Any, src_or_list: Any, params: Any) -> None:
    """TransDataTo5HD: 16 blocks of 32 B read by a list of addresses, turned, written by another list; per repeat.

    The lists are 16 LocalTensors each, or 16 addresses (`get_phy_addr`), or one uint64 LocalTensor each that holds 16
    addresses. Element j of source block k becomes
    * 16-bit types: element k of destination block j,
    * 32-bit types: element k of the row made of destination blocks 2j and 2j + 1,
    * 8-bit types: element k of one half of destination block j; the source half likewise (`dst_high_half`,
      `src_high_half`).
    `params` is TransDataTo5HDParams: repeats, and repeat strides in 32 B blocks. Repeat r works `r * stride` further
    on; with one repeat alone the documents add one stride to the addresses, and so does this.

    pyasc takes the element type of addresses from the tensor that they come from; so does this, by the last
    `get_phy_addr` that gave the first address. A tensor of addresses is data: it needs a run with values.
    """
    frame = _getframe(1)
    if not RECORDER.arch:
        outside_kernel()
    if not isinstance(params, TransDataTo5HDParams):
        refuse(TRANS_DATA_TO_5HD.name, f"params must be TransDataTo5HDParams, not {type(params).__name__}")
    reads: tuple[Region, ...] = ()
    if isinstance(dst_or_list, LocalTensor) and isinstance(src_or_list, LocalTensor):
        dtype, dst, src, reads = _stored_addresses(dst_or_list, src_or_list)
    else:
        dtype, dst, src = _listed(dst_or_list, src_or_list)
    five_hd(dtype, dst, src, TurnParams(*params.key), frame, reads)


class TurnParams(NamedTuple):
    """The fields of TransDataTo5HDParams."""

    dst_high: Any = False
    src_high: Any = False
    repeats: Any = 1
    dst_stride: Any = 0
    src_stride: Any = 0


def five_hd(
    dtype: DataType,
    dst: Addresses,
    src: Addresses,
    params: TurnParams,
    frame: FrameType,
    reads: tuple[Region, ...] = (),
) -> None:
    """Record one TransDataTo5HD of `dtype` by 16 destination and 16 source addresses; `reads` comes on top."""
    rec = RECORDER
    rec.pending += _ADDRESS_REGISTERS
    key = (five_hd, dtype, dst, src, params, reads, rec.pending, id(frame.f_code), frame.f_lasti)
    hit = rec.cache.get(key)
    if hit is None:
        hit = _build_5hd(dtype, dst, src, params, frame, reads)
        if hit is None:
            return
        rec.cache[key] = hit
    play(hit)


def _listed(dst: Any, src: Any) -> tuple[DataType, Addresses, Addresses]:
    """dtype and addresses of two lists of tensors or of addresses."""
    op = TRANS_DATA_TO_5HD.name
    for role, given in (("dst_list", dst), ("src_list", src)):
        if not isinstance(given, list | tuple) or len(given) != LIST:
            what = f"{len(given)} items" if isinstance(given, list | tuple) else type(given).__name__
            refuse(op, f"{role} must be a list of {LIST} LocalTensors or addresses, given: {what}")
    if isinstance(dst[0], LocalTensor):
        dtypes = set()
        for role, items in (("dst_list", dst), ("src_list", src)):
            for i, item in enumerate(items):
                dtypes.add(local(op, f"{role}[{i}]", item).dtype)
        if len(dtypes) > 1:
            names = ", ".join(sorted(dtype.name for dtype in dtypes))
            refuse(op, f"the lists hold tensors of {names}: all must have one dtype")
        return dst[0].dtype, tuple(item.addr for item in dst), tuple(item.addr for item in src)
    to, out_of = (
        tuple(whole(op, f"{role}[{i}]", item, 0, RECORDER.ub_bytes or MAX_ADDRESS) for i, item in enumerate(items))
        for role, items in (("dst_list", dst), ("src_list", src))
    )
    return _dtype_at(to[0]), to, out_of


MAX_ADDRESS = (1 << 18) - 1  # no UB is larger than 256 KiB


def _dtype_at(address: int) -> DataType:
    """The dtype of the tensor whose `get_phy_addr` gave this address last."""
    found: DataType | None = RECORDER.cache.get(("get_phy_addr", address))
    if found is None:
        refuse(
            TRANS_DATA_TO_5HD.name,
            f"the element type at address {address} is not known: take addresses from get_phy_addr() of a tensor",
        )
    return found


def _stored_addresses(dst: LocalTensor, src: LocalTensor) -> tuple[DataType, Addresses, Addresses, tuple[Region, ...]]:
    """dtype and addresses that two uint64 tensors hold, and where these stand."""
    op = TRANS_DATA_TO_5HD.name
    found, regions = [], []
    for role, tensor in (("dst", dst), ("src", src)):
        local(op, role, tensor)
        if tensor.dtype.name != "uint64":
            refuse(op, f"{role} is {tensor.dtype.name}: a tensor of addresses is uint64 (else give lists of tensors)")
        fits(op, role, tensor, LIST * 8)
        if not RECORDER.values:
            refuse(op, f"{role} holds addresses, which a run without values does not know: pass lists of tensors")
        found.append(tuple(RECORDER.ub[tensor.addr : tensor.addr + LIST * 8].view(np.uint64).tolist()))
        regions.append(Region(Memory.UB, tensor.addr, LIST * 8))
    return _dtype_at(found[0][0]), found[0], found[1], tuple(regions)


def _build_5hd(
    dtype: DataType, dst: Addresses, src: Addresses, params: TurnParams, frame: FrameType, reads: tuple[Region, ...]
) -> Hit | None:
    row = TRANS_DATA_TO_5HD
    checks.check_dtypes(row, ("dst", "src"), (dtype, dtype), True)
    repeats = checks.check_repeats(row, params.repeats)
    if not repeats:
        return None
    size = dtype.itemsize
    sides = []
    for role, addresses, stride, high in (
        ("dst", dst, params.dst_stride, params.dst_high),
        ("src", src, params.src_stride, params.src_high),
    ):
        step = checks.check_stride(row, f"{role}_rep_stride", stride, MAX_UINT16) * BLOCK_BYTES
        starts = _block_starts(role, addresses, step, repeats)
        if high and size > 1:
            refuse(row.name, f"{role}_high_half is for 8-bit types, the tensors hold {dtype.name}")
        sides.append(starts + (BLOCK_BYTES // 2 if high else 0))
    written, read = sides
    _check_order(read, written)
    length = BLOCK_BYTES // 2 if size == 1 else BLOCK_BYTES
    work = VectorWork(
        dtype.name, lanes_of_size(size), repeats * 2, repeats * LIST * length // size, False, (), sets_mask=False
    )
    instr = make_instr(frame, row, work, (*_runs(read, length), *reads), _runs(written, length))
    return instr, _turner(RECORDER.ub, dtype, read, written) if RECORDER.values else None


def lanes_of_size(size: int) -> int:
    return REPEAT_BYTES // max(2, size)


def _block_starts(role: str, addresses: Addresses, step: int, repeats: int) -> Any:
    """(repeats, 16) byte addresses; one repeat alone starts one stride further on."""
    op = TRANS_DATA_TO_5HD.name
    for i, address in enumerate(addresses):
        if address % BLOCK_BYTES:
            refuse(op, f"{role}_list[{i}] is UB byte {address}, which is not a multiple of 32")
    moves = np.arange(repeats) if repeats > 1 else np.ones(1, np.int64)
    starts = np.asarray(addresses, np.int64)[None, :] + moves[:, None] * step
    limit = RECORDER.ub_bytes or (len(RECORDER.ub) if RECORDER.ub is not None else MAX_ADDRESS + 1)
    if starts.max() + BLOCK_BYTES > limit:
        refuse(op, f"{role} reaches UB byte {starts.max() + BLOCK_BYTES - 1}, the UB has {limit} B")
    return starts


def _check_order(read: Any, written: Any) -> None:
    """Within a repeat the blocks read and written are the same or disjoint; no repeat reads what an earlier wrote."""
    op = TRANS_DATA_TO_5HD.name
    before: set[int] = set()
    for repeat, (sources, targets) in enumerate(zip(read.tolist(), written.tolist(), strict=True)):
        if before.intersection(sources):
            refuse(op, f"repeat {repeat} reads blocks that an earlier repeat has written: keep src and dst apart")
        common = set(sources) & set(targets)
        if common and set(sources) != set(targets):
            refuse(op, f"in repeat {repeat} src and dst share some blocks, allowed are all 16 or none")
        before.update(targets)


def _runs(starts: Any, length: int) -> tuple[Region, ...]:
    unique = np.unique(starts).tolist()
    return tuple(Region(Memory.UB, *run) for run in fold_runs([(start, length, ()) for start in unique]))


def _turner(ub: Bytes, dtype: DataType, read: Any, written: Any) -> Callable[[], None]:
    """The function that moves the elements: all that are read, then all that are written, the last repeat last."""
    size = dtype.itemsize
    rows = BLOCK_BYTES // size if size > 1 else LIST  # elements taken of each source block
    raw = RAW[size].numpy
    flat = ub[: len(ub) // size * size].view(raw)
    k, j = np.arange(LIST), np.arange(rows)
    source = read[:, None, :] // size + j[None, :, None]  # repeat, row j, source block k
    per_block = BLOCK_BYTES // size
    blocks = written.reshape(len(written), rows, LIST // rows) if size == 4 else written[:, :, None]
    target = blocks[:, :, k // per_block if size == 4 else np.zeros_like(k)] // size + (k % per_block)[None, None, :]
    from_, to = source.reshape(-1), target.reshape(-1)

    def run() -> None:
        flat[to] = flat[from_]

    return run


def block_list(start: int, step: int = BLOCK_BYTES) -> Addresses:
    """16 addresses from `start` on."""
    return tuple(start + i * step for i in range(LIST))


def same_block(start: int) -> Addresses:
    """One address 16 times: each element of the block then fills a row."""
    return (start,) * LIST
