"""The parameter structs of vector instructions and copies: pyasc's names, order and defaults.

A struct may be changed after it is made, as in pyasc. Its fields live in one tuple, `key`, which a change replaces: a
recorder key holds the tuple, so a later change never touches what was recorded.
"""

from __future__ import annotations

from typing import Any

from ascend_sim.isa.dtypes import DataType
from ascend_sim.isa.enums import BlockMode, DeqScale, TransposeType, pad_t

__all__ = [
    "BinaryRepeatParams",
    "BrcbRepeatParams",
    "CopyRepeatParams",
    "DataCopyEnhancedParams",
    "DataCopyExtParams",
    "DataCopyPadExtParams",
    "DataCopyPadParams",
    "DataCopyParams",
    "GatherMaskParams",
    "GatherRepeatParams",
    "LoopModeParams",
    "MrgSort4Info",
    "SliceInfo",
    "TransDataTo5HDParams",
    "TransposeParamsExt",
    "UnaryRepeatParams",
    "VdeqInfo",
]


class Field:
    """The `index`-th entry of a struct's `key`."""

    __slots__ = ("index",)

    def __init__(self, index: int) -> None:
        self.index = index

    def __get__(self, struct: Params | None, owner: type[Params] | None = None) -> Any:
        return self if struct is None else struct.key[self.index]

    def __set__(self, struct: Params, value: Any) -> None:
        struct.key = (*struct.key[: self.index], value, *struct.key[self.index + 1 :])


class Params:
    """Base of the structs; equal by type and value, hashed by the present value."""

    __slots__ = ("key",)
    key: tuple[Any, ...]

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and isinstance(other, Params) and self.key == other.key

    def __hash__(self) -> int:
        return hash((type(self).__name__, self.key))

    @classmethod
    def field_names(cls) -> tuple[str, ...]:
        """Field names in positional order."""
        found = {name: item.index for name, item in vars(cls).items() if isinstance(item, Field)}
        return tuple(sorted(found, key=found.__getitem__))

    def __repr__(self) -> str:
        inside = ", ".join(f"{name}={value!r}" for name, value in zip(self.field_names(), self.key, strict=True))
        return f"{type(self).__name__}({inside})"


class BinaryRepeatParams(Params):
    """How a two-source instruction walks its operands, in 32 B blocks (`blk`: within a repeat, `rep`: between
    repeats).
    """

    __slots__ = ()
    dst_blk_stride = Field(0)
    src0_blk_stride = Field(1)
    src1_blk_stride = Field(2)
    dst_rep_stride = Field(3)
    src0_rep_stride = Field(4)
    src1_rep_stride = Field(5)

    def __init__(
        self,
        dst_blk_stride: int = 1,
        src0_blk_stride: int = 1,
        src1_blk_stride: int = 1,
        dst_rep_stride: int = 8,
        src0_rep_stride: int = 8,
        src1_rep_stride: int = 8,
    ) -> None:
        self.key = (
            dst_blk_stride,
            src0_blk_stride,
            src1_blk_stride,
            dst_rep_stride,
            src0_rep_stride,
            src1_rep_stride,
        )


class UnaryRepeatParams(Params):
    """How a one-source instruction walks its operands, in 32 B blocks (`blk`: within a repeat, `rep`: between
    repeats).
    """

    __slots__ = ()
    dst_blk_stride = Field(0)
    src_blk_stride = Field(1)
    dst_rep_stride = Field(2)
    src_rep_stride = Field(3)

    def __init__(
        self,
        dst_blk_stride: int = 1,
        src_blk_stride: int = 1,
        dst_rep_stride: int = 8,
        src_rep_stride: int = 8,
    ) -> None:
        self.key = (dst_blk_stride, src_blk_stride, dst_rep_stride, src_rep_stride)


class CopyRepeatParams(Params):
    """Strides of `copy` in 32 B blocks: `stride` within a repeat, `repeat_size` between repeats. All default to 0."""

    __slots__ = ()
    dst_stride = Field(0)
    src_stride = Field(1)
    dst_repeat_size = Field(2)
    src_repeat_size = Field(3)

    def __init__(
        self,
        dst_stride: int = 0,
        src_stride: int = 0,
        dst_repeat_size: int = 0,
        src_repeat_size: int = 0,
    ) -> None:
        self.key = (dst_stride, src_stride, dst_repeat_size, src_repeat_size)


class BrcbRepeatParams(Params):
    """Destination strides of `brcb` in 32 B blocks."""

    __slots__ = ()
    dst_blk_stride = Field(0)
    dst_rep_stride = Field(1)

    def __init__(
        self,
        dst_blk_stride: int = 1,
        dst_rep_stride: int = 8,
    ) -> None:
        self.key = (dst_blk_stride, dst_rep_stride)


class GatherRepeatParams(Params):
    """Destination strides of `gatherb` in 32 B blocks."""

    __slots__ = ()
    dst_blk_stride = Field(0)
    dst_rep_stride = Field(1)

    def __init__(
        self,
        dst_blk_stride: int = 1,
        dst_rep_stride: int = 8,
    ) -> None:
        self.key = (dst_blk_stride, dst_rep_stride)


class GatherMaskParams(Params):
    """How `gather_mask` walks its sources, in 32 B blocks."""

    __slots__ = ()
    src0_block_stride = Field(0)
    repeat_times = Field(1)
    src0_repeat_stride = Field(2)
    src1_repeat_stride = Field(3)

    def __init__(
        self,
        src0_block_stride: int = 1,
        repeat_times: int = 1,
        src0_repeat_stride: int = 0,
        src1_repeat_stride: int = 0,
    ) -> None:
        self.key = (src0_block_stride, repeat_times, src0_repeat_stride, src1_repeat_stride)


class DataCopyParams(Params):
    """`block_count` bursts of `block_len` 32 B blocks; strides are gaps (end of a burst to the next start) in 32 B
    blocks. With `data_copy_pad` `block_len` and the GM side's gap are bytes.
    """

    __slots__ = ()
    block_count = Field(0)
    block_len = Field(1)
    src_stride = Field(2)
    dst_stride = Field(3)

    def __init__(
        self,
        block_count: int = 1,
        block_len: int = 0,
        src_stride: int = 0,
        dst_stride: int = 0,
    ) -> None:
        self.key = (block_count, block_len, src_stride, dst_stride)


class DataCopyExtParams(Params):
    """As DataCopyParams with 32-bit fields: `block_len` and the GM side's gap in bytes, the UB side's gap in 32 B
    blocks.
    """

    __slots__ = ()
    block_count = Field(0)
    block_len = Field(1)
    src_stride = Field(2)
    dst_stride = Field(3)
    rsv = Field(4)

    def __init__(
        self,
        block_count: int = 1,
        block_len: int = 0,
        src_stride: int = 0,
        dst_stride: int = 0,
        rsv: int = 0,
    ) -> None:
        self.key = (block_count, block_len, src_stride, dst_stride, rsv)


class LoopModeParams(Params):
    """Loop mode of `data_copy_pad` on the 950: the whole copy is done `loop1_size` times per round of an outer loop of
    `loop2_size` rounds; each stride is bytes from one repetition's start to the next one's.
    """

    __slots__ = ()
    loop1_size = Field(0)
    loop2_size = Field(1)
    loop1_src_stride = Field(2)
    loop1_dst_stride = Field(3)
    loop2_src_stride = Field(4)
    loop2_dst_stride = Field(5)

    def __init__(
        self,
        loop1_size: int = 1,
        loop2_size: int = 1,
        loop1_src_stride: int = 0,
        loop1_dst_stride: int = 0,
        loop2_src_stride: int = 0,
        loop2_dst_stride: int = 0,
    ) -> None:
        self.key = (loop1_size, loop2_size, loop1_src_stride, loop1_dst_stride, loop2_src_stride, loop2_dst_stride)


class DataCopyPadParams(Params):
    """Padding of `data_copy_pad` in elements, each side at most 32 B; only the value 0 is allowed."""

    __slots__ = ()
    is_pad = Field(0)
    left_padding = Field(1)
    right_padding = Field(2)
    padding_value = Field(3)

    def __init__(
        self,
        is_pad: bool = False,
        left_padding: int = 0,
        right_padding: int = 0,
        padding_value: int = 0,
    ) -> None:
        self.key = (is_pad, left_padding, right_padding, padding_value)


class TransDataTo5HDParams(Params):
    """Repeats of `trans_data_to_5hd`; strides in 32 B blocks; the half flags choose 8-bit halves."""

    __slots__ = ()
    dst_high_half = Field(0)
    src_high_half = Field(1)
    repeat_times = Field(2)
    dst_rep_stride = Field(3)
    src_rep_stride = Field(4)

    def __init__(
        self,
        dst_high_half: bool = False,
        src_high_half: bool = False,
        repeat_times: int = 1,
        dst_rep_stride: int = 0,
        src_rep_stride: int = 0,
    ) -> None:
        self.key = (dst_high_half, src_high_half, repeat_times, dst_rep_stride, src_rep_stride)


class DataCopyPadExtParams(Params):
    """Padding of `data_copy_pad` for elements of `dtype`: counts in elements, each side at most 32 B."""

    __slots__ = ()
    dtype = Field(0)
    is_pad = Field(1)
    left_padding = Field(2)
    right_padding = Field(3)
    padding_value = Field(4)

    def __init__(
        self,
        dtype: DataType,
        is_pad: bool = False,
        left_padding: int = 0,
        right_padding: int = 0,
        padding_value: float = 0,
    ) -> None:
        self.key = (dtype, is_pad, left_padding, right_padding, padding_value)


class DataCopyEnhancedParams(Params):
    """Conversions on the way of a cube-side copy; a vector core takes only the defaults."""

    __slots__ = ()
    block_mode = Field(0)
    deq_scale = Field(1)
    deq_value_in = Field(2)
    sid_store_mode_in = Field(3)
    is_relu_in = Field(4)
    pad_mode_in = Field(5)
    pad_value_in = Field(6)

    def __init__(
        self,
        block_mode: BlockMode = BlockMode.BLOCK_MODE_NORMAL,
        deq_scale: DeqScale = DeqScale.DEQ_NONE,
        deq_value_in: int = 0,
        sid_store_mode_in: int = 0,
        is_relu_in: bool = False,
        pad_mode_in: pad_t = pad_t.PAD_NONE,
        pad_value_in: int = 0,
    ) -> None:
        self.key = (block_mode, deq_scale, deq_value_in, sid_store_mode_in, is_relu_in, pad_mode_in, pad_value_in)


class SliceInfo(Params):
    """One dimension of a sliced copy: first and last index, gap between bursts, burst length in 32 B blocks,
    extent.
    """

    __slots__ = ()
    start_index = Field(0)
    end_index = Field(1)
    stride = Field(2)
    burst_len = Field(3)
    shape_value = Field(4)

    def __init__(
        self,
        start_index: int = 0,
        end_index: int = 0,
        stride: int = 0,
        burst_len: int = 0,
        shape_value: int = 0,
    ) -> None:
        self.key = (start_index, end_index, stride, burst_len, shape_value)


class TransposeParamsExt(Params):
    """Shape and kind of a `transpose` with layout change."""

    __slots__ = ()
    n_size = Field(0)
    c_size = Field(1)
    h_size = Field(2)
    w_size = Field(3)
    transpose_type = Field(4)

    def __init__(
        self,
        n_size: int = 0,
        c_size: int = 0,
        h_size: int = 0,
        w_size: int = 0,
        transpose_type: TransposeType = TransposeType.TRANSPOSE_ND2ND_B16,
    ) -> None:
        self.key = (n_size, c_size, h_size, w_size, transpose_type)


class VdeqInfo(Params):
    """Per-lane scale, offset and sign mode of a vector dequantisation; 16 entries each."""

    __slots__ = ()
    scale = Field(0)
    offset = Field(1)
    sign_mode = Field(2)

    def __init__(
        self,
        scale: tuple[float, ...] = (),
        offset: tuple[int, ...] = (),
        sign_mode: tuple[bool, ...] = (),
    ) -> None:
        self.key = (tuple(scale), tuple(offset), tuple(sign_mode))


class MrgSort4Info(Params):
    """Lengths of the four sorted lists that one merge reads, and which of them are valid."""

    __slots__ = ()
    element_lengths = Field(0)
    if_exhausted_suspension = Field(1)
    valid_bit = Field(2)
    repeat_times = Field(3)

    def __init__(
        self,
        element_lengths: tuple[int, ...] = (),
        if_exhausted_suspension: bool = False,
        valid_bit: int = 15,
        repeat_times: int = 1,
    ) -> None:
        self.key = (tuple(element_lengths), if_exhausted_suspension, valid_bit, repeat_times)
