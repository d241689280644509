"""load_align and store_align: between unified buffer and registers, in the order of a distribution mode.

Loads take no mask. A load reads the bytes of its mode (256 B, 128 B when it widens, one element when it broadcasts),
whatever lies there; a store writes active lanes only.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from sys import _getframe
from types import FrameType
from typing import Any

import numpy as np

from ascend_sim.asc.operands import refuse, whole
from ascend_sim.asc.reg.affine import Affine
from ascend_sim.asc.reg.checks import emit, mask_register, name_of, same_dtype, start, vector
from ascend_sim.asc.reg.pointer import UbPointer
from ascend_sim.asc.reg.registers import REGISTER_BYTES, RegTensor
from ascend_sim.asc.reg.trace import UbAccess
from ascend_sim.asc.reg.values import Array, Mask, Value
from ascend_sim.isa import reg as rows
from ascend_sim.isa.row import Row
from ascend_sim.program import BLOCK_BYTES, VfUnit

__all__ = ["LoadDist", "StoreDist", "load_align", "store_align"]

BLOCKS = REGISTER_BYTES // BLOCK_BYTES
MAX_BLOCK_STRIDE = 0xFFFF


class LoadDist(Enum):
    """How `load_align` lays UB elements into lanes: (kind, element bytes; 0 for any)."""

    DIST_NORM = ("norm", 0)
    DIST_BRC_B8 = ("broadcast", 1)
    DIST_BRC_B16 = ("broadcast", 2)
    DIST_BRC_B32 = ("broadcast", 4)
    DIST_US_B8 = ("upsample", 1)
    DIST_US_B16 = ("upsample", 2)
    DIST_DS_B8 = ("downsample", 1)
    DIST_DS_B16 = ("downsample", 2)
    DIST_UNPACK_B8 = ("unpack", 1)
    DIST_UNPACK_B16 = ("unpack", 2)
    DIST_UNPACK_B32 = ("unpack", 4)
    DIST_UNPACK4_B8 = ("unpack4", 1)
    DIST_BLK = ("block", 0)
    DIST_E2B_B16 = ("element_to_block", 2)
    DIST_E2B_B32 = ("element_to_block", 4)
    DIST_BDINTLV = ("de_interleave_blocks", 0)
    DIST_DINTLV_B8 = ("de_interleave", 1)
    DIST_DINTLV_B16 = ("de_interleave", 2)
    DIST_DINTLV_B32 = ("de_interleave", 4)


class StoreDist(Enum):
    """How `store_align` lays lanes into UB: (kind, lane bytes; 0 for any)."""

    DIST_NORM = ("norm", 0)
    DIST_NORM_B8 = ("norm", 1)
    DIST_NORM_B16 = ("norm", 2)
    DIST_NORM_B32 = ("norm", 4)
    DIST_FIRST_ELEMENT_B8 = ("first", 1)
    DIST_FIRST_ELEMENT_B16 = ("first", 2)
    DIST_FIRST_ELEMENT_B32 = ("first", 4)
    DIST_PACK_B16 = ("pack", 2)
    DIST_PACK_B32 = ("pack", 4)
    DIST_PACK_B64 = ("pack", 8)
    DIST_PACK4_B32 = ("pack4", 4)
    DIST_INTLV_B8 = ("interleave", 1)
    DIST_INTLV_B16 = ("interleave", 2)
    DIST_INTLV_B32 = ("interleave", 4)


_TWO_REGISTERS = ("de_interleave", "de_interleave_blocks", "interleave")


def load_align(*operands: Any, dist: LoadDist = LoadDist.DIST_NORM, block_stride: Any = None, mask: Any = None) -> None:
    """LoadAlign.

    `load_align(dst, src)` with the mode `dist`; `load_align(dst0, dst1, src, dist=DIST_DINTLV_...)` for the modes that
    fill two registers; `load_align(dst, src, block_stride=n, mask=m)` reads eight blocks of 32 B, n blocks apart
    (masked lanes become 0). `src` is a tensor argument of the vector function, moved with + or []. It starts on a 32 B
    block, with the broadcasting modes on an element.
    """
    row = rows.LOAD_ALIGN
    frame = _getframe(1)
    if not isinstance(dist, LoadDist):
        refuse(name_of(row), f"dist must be a LoadDist, not {dist!r}")
    kind, wanted = dist.value
    registers, source = _operands(row, operands, kind in _TWO_REGISTERS, dist.name, "dst")
    width = _width(row, registers, source, "src", wanted, dist.name)
    if block_stride is not None:
        _load_blocks(row, frame, registers[0], source, block_stride, mask, kind)
        return
    if mask is not None:
        refuse(name_of(row), "a load takes a mask only with block_stride (it reads what its mode reads)")
    lanes = REGISTER_BYTES // width
    length, fill = _loaders(lanes, width)[kind]
    access = _access(row, source, length, "src", width if kind == "broadcast" else BLOCK_BYTES)
    body = start(row)
    cost = f"{row.cost}2" if kind in _TWO_REGISTERS or kind == "downsample" else row.cost
    emit(row, frame, body, registers, (), fill, source.dtype.name, VfUnit.LOAD, access, cost=cost)


def _loaders(lanes: int, width: int) -> dict[str, tuple[int, Callable[[Array], Any]]]:
    """Bytes read and register value(s) per kind of mode."""
    per_block = BLOCK_BYTES // width

    def blocks(x: Array) -> Array:
        return x.reshape(*x.shape[:-1], -1, per_block)

    def joined(x: Array) -> Value:
        return Value(np.ascontiguousarray(x).reshape(*x.shape[:-2], -1))

    return {
        "norm": (REGISTER_BYTES, lambda x: Value(x.copy())),
        "broadcast": (width, lambda x: Value(np.repeat(x, lanes, -1))),
        "upsample": (REGISTER_BYTES // 2, lambda x: Value(np.repeat(x, 2, -1))),
        "downsample": (2 * REGISTER_BYTES, lambda x: Value(x[..., ::2].copy())),
        "unpack": (REGISTER_BYTES // 2, lambda x: Value(x.copy(), 2)),
        "unpack4": (REGISTER_BYTES // 4, lambda x: Value(x.copy(), 4)),
        "block": (BLOCK_BYTES, lambda x: Value(np.tile(x, BLOCKS))),
        "element_to_block": (BLOCKS * width, lambda x: Value(np.repeat(x, per_block, -1))),
        "de_interleave": (2 * REGISTER_BYTES, lambda x: (Value(x[..., ::2].copy()), Value(x[..., 1::2].copy()))),
        "de_interleave_blocks": (
            2 * REGISTER_BYTES, lambda x: (joined(blocks(x)[..., ::2, :]), joined(blocks(x)[..., 1::2, :]))
        ),
    }  # fmt: skip


def _load_blocks(
    row: Row, frame: FrameType, dst: RegTensor, source: UbPointer, block_stride: Any, mask: Any, kind: str
) -> None:
    body = start(row)
    if kind != "norm":
        refuse(name_of(row), "block_stride goes with DIST_NORM")
    stride = whole(name_of(row), "block_stride", block_stride, 0, MAX_BLOCK_STRIDE, "in blocks of 32 B") * BLOCK_BYTES
    active = mask_register(row, mask, body)
    access = _access(row, source, BLOCK_BYTES, "src", BLOCK_BYTES)
    access.blocks, access.block_stride = BLOCKS, stride
    size = source.dtype.itemsize

    def compute(view: Array, lanes: Mask) -> Value:
        data = np.ascontiguousarray(view).reshape(*view.shape[:-2], -1)
        flags = lanes.lanes(size)
        return Value(data.copy() if flags is None else np.where(flags, data, data.dtype.type(0)))

    emit(row, frame, body, (dst,), (active,), compute, source.dtype.name, VfUnit.LOAD, access, cost="LoadAlignBlocks")


def store_align(*operands: Any, dist: StoreDist = StoreDist.DIST_NORM, block_stride: Any = None) -> None:
    """StoreAlign.

    `store_align(dst, src, mask)` with the mode `dist`; `store_align(dst, src0, src1, mask, dist=DIST_INTLV_...)`
    interleaves two registers; `store_align(dst, src, mask, block_stride=n)` writes eight blocks of 32 B, n blocks
    apart. `dst` is a tensor argument of the vector function, moved with + or []; it starts on a 32 B block, with the
    first-element modes on an element.
    """
    row = rows.STORE_ALIGN
    frame = _getframe(1)
    body = start(row)
    if not isinstance(dist, StoreDist):
        refuse(name_of(row), f"dist must be a StoreDist, not {dist!r}")
    if not operands:
        refuse(name_of(row), "takes dst, src and mask")
    *others, mask = operands
    kind, wanted = dist.value
    registers, target = _operands(row, others[::-1], kind in _TWO_REGISTERS, dist.name, "src")
    registers.reverse()
    active = mask_register(row, mask, body)
    width = _width(row, registers, target, "dst", 0, dist.name)
    lane_bytes = wanted or width
    if kind in ("norm", "first", "interleave") and lane_bytes != width:
        refuse(name_of(row), f"{dist.name} stores lanes of {lane_bytes} B, but src is {registers[0].dtype.name}")
    if block_stride is not None:
        _store_blocks(row, frame, target, registers[0], active, block_stride, kind)
        return
    length, pick, dtype = _storer(kind, width, lane_bytes, target.dtype.numpy)
    access = _access(row, target, length, "dst", width if kind == "first" else BLOCK_BYTES)
    access.dtype = dtype
    cost = f"{row.cost}2" if kind == "interleave" else row.cost
    emit(
        row, frame, body, (), (*registers, active), pick, target.dtype.name, VfUnit.STORE, access, active, lane_bytes,
        cost=cost,
    )  # fmt: skip


Picked = tuple[Array, Any]


def _storer(kind: str, width: int, lane: int, dtype: np.dtype[Any]) -> tuple[int, Callable[..., Picked], np.dtype[Any]]:
    """Bytes written, from register value(s) and mask to (elements, active flags), and the elements' type."""
    if kind in ("pack", "pack4"):
        part = np.dtype(f"u{lane // (2 if kind == 'pack' else 4)}")
        return REGISTER_BYTES * part.itemsize // lane, _packer(lane, part), part
    if kind == "interleave":

        def interleave(first: Value, second: Value, mask: Mask) -> Picked:
            one, two = np.broadcast_arrays(first.raw(dtype), second.raw(dtype))
            both = np.stack([one, two], -1)
            flags = mask.lanes(width)
            return both.reshape(*both.shape[:-2], -1), None if flags is None else np.repeat(flags, 2, -1)

        return 2 * REGISTER_BYTES, interleave, dtype
    lanes = 1 if kind == "first" else REGISTER_BYTES // width

    def plain(value: Value, mask: Mask) -> Picked:
        flags = mask.lanes(width)
        return value.raw(dtype)[..., :lanes], None if flags is None else flags[..., :lanes]

    return lanes * width, plain, dtype


def _packer(lane: int, part: np.dtype[Any]) -> Callable[[Value, Mask], Picked]:
    """Keep the low bytes of every lane."""
    wide = np.dtype(f"u{lane}")
    gap = lane // part.itemsize

    def pack(value: Value, mask: Mask) -> Picked:
        flags = mask.lanes(lane)
        if value.gap == gap and value.phase == 0 and value.data.itemsize == part.itemsize:
            return np.ascontiguousarray(value.data).view(part), flags
        return value.raw(wide).astype(part), flags

    return pack


def _store_blocks(
    row: Row, frame: FrameType, target: UbPointer, src: RegTensor, active: Any, block_stride: Any, kind: str
) -> None:
    body = start(row)
    if kind != "norm":
        refuse(name_of(row), "block_stride goes with DIST_NORM")
    stride = whole(name_of(row), "block_stride", block_stride, 0, MAX_BLOCK_STRIDE, "in blocks of 32 B") * BLOCK_BYTES
    access = _access(row, target, BLOCK_BYTES, "dst", BLOCK_BYTES)
    access.blocks, access.block_stride = BLOCKS, stride
    dtype = target.dtype.numpy

    def pick(value: Value, mask: Mask) -> Picked:
        data = value.raw(dtype)
        flags = mask.lanes(dtype.itemsize)
        shape = (BLOCKS, BLOCK_BYTES // dtype.itemsize)
        return data.reshape(*data.shape[:-1], *shape), None if flags is None else flags.reshape(
            *flags.shape[:-1], *shape
        )

    emit(
        row, frame, body, (), (src, active), pick, target.dtype.name, VfUnit.STORE, access, active, dtype.itemsize,
        cost="StoreAlignBlocks",
    )  # fmt: skip


def _operands(row: Row, operands: Any, two: bool, dist: str, role: str) -> tuple[list[RegTensor], UbPointer]:
    """The register(s) and the pointer of a load; of a store with its operands turned round."""
    wanted = 3 if two else 2
    if len(operands) != wanted:
        given = len(operands) - 1
        refuse(name_of(row), f"{dist} moves {wanted - 1} register{'s' if two else ''}, given: {max(given, 0)}")
    *registers, pointer = operands
    body = start(row)
    roles = (f"{role}0", f"{role}1") if two else (role,)
    found = [vector(row, name, register, body) for name, register in zip(roles, registers, strict=True)]
    other = "src" if role == "dst" else "dst"
    return found, pointer_of(row, other, pointer)


def pointer_of(row: Row, role: str, pointer: Any) -> UbPointer:
    if not isinstance(pointer, UbPointer):
        refuse(
            name_of(row),
            f"{role} must be a LocalTensor that the vector function got as an argument (or that plus an offset), not "
            f"{type(pointer).__name__}",
        )
    return pointer


def _width(row: Row, registers: list[RegTensor], pointer: UbPointer, role: str, wanted: int, dist: str) -> int:
    """Element bytes, after checking that registers and tensor share a dtype that the mode takes."""
    others = [("register", register.dtype) for register in registers]
    dtype = same_dtype(row, [(role, pointer.dtype), *others])
    if wanted and dtype.itemsize != wanted:
        refuse(name_of(row), f"{dist} moves elements of {wanted} B, but {role} is {dtype.name}")
    return dtype.itemsize


def _access(row: Row, pointer: UbPointer, length: int, role: str, alignment: int) -> UbAccess:
    """The bytes of a move, which start on a multiple of `alignment` bytes in every round."""
    address: Affine = pointer.address
    body = start(row)
    for loop in address.steps:
        if loop not in body.path:
            refuse(name_of(row), f"{role} uses the index of a loop that has ended")
    off = [number for number in (address.const, *address.steps.values()) if number % alignment]
    if off:
        refuse(
            name_of(row),
            f"{role} starts at UB byte {address!r}, which is not always a multiple of {alignment} "
            f"({'a 32 B block' if alignment == BLOCK_BYTES else 'the size of an element'})",
        )
    return UbAccess(address, length, pointer.dtype.numpy, pointer.tensor)
