"""The parameter structs of vector instructions and copies: pyasc's names, order and defaults.

A struct may be changed after it is made, as in pyasc. Its fields live in one tuple, `key`, which a change replaces: a
recorder key holds the tuple, so a later change never touches what was recorded.
"""

from __future__ import annotations

from typing import Any, ClassVar, dataclass_transform

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


@dataclass_transform()
class Params:
    """Base of the structs, which name their fields and defaults as a dataclass does; equal by type and value, hashed by
    the present value.
    """

    __slots__ = ("key",)
    key: tuple[Any, ...]
    field_names: ClassVar[tuple[str, ...]] = ()
    """In positional order."""

    def __init_subclass__(cls) -> None:
        names = cls.field_names = tuple(cls.__annotations__)
        defaults = {name: vars(cls)[name] for name in names if name in vars(cls)}
        cls.__init__ = _constructor(cls, names, defaults)  # type: ignore[method-assign]
        for index, name in enumerate(names):
            setattr(cls, name, Field(index))

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and isinstance(other, Params) and self.key == other.key

    def __hash__(self) -> int:
        return hash((type(self).__name__, self.key))

    def __repr__(self) -> str:
        inside = ", ".join(f"{name}={value!r}" for name, value in zip(self.field_names, self.key, strict=True))
        return f"{type(self).__name__}({inside})"


def _constructor(cls: type[Params], names: tuple[str, ...], defaults: dict[str, Any]) -> Any:
    """`__init__` as one would write it by hand: kernels make structs in their loops, and any other way costs more."""
    parameters = "".join(f", {name}=defaults[{name!r}]" if name in defaults else f", {name}" for name in names)
    made: dict[str, Any] = {"defaults": defaults}
    exec(f"def __init__(self{parameters}): self.key = ({', '.join(names)},)", made)
    made["__init__"].__qualname__ = f"{cls.__name__}.__init__"
    return made["__init__"]


class BinaryRepeatParams(Params):
    """How a two-source instruction walks its operands, in 32 B blocks (`blk`: within a repeat, `rep`: between
    repeats).
    """

    __slots__ = ()
    dst_blk_stride: int = 1
    src0_blk_stride: int = 1
    src1_blk_stride: int = 1
    dst_rep_stride: int = 8
    src0_rep_stride: int = 8
    src1_rep_stride: int = 8


class UnaryRepeatParams(Params):
    """How a one-source instruction walks its operands, in 32 B blocks (`blk`: within a repeat, `rep`: between
    repeats).
    """

    __slots__ = ()
    dst_blk_stride: int = 1
    src_blk_stride: int = 1
    dst_rep_stride: int = 8
    src_rep_stride: int = 8


class CopyRepeatParams(Params):
    """Strides of `copy` in 32 B blocks: `stride` within a repeat, `repeat_size` between repeats. All default to 0."""

    __slots__ = ()
    dst_stride: int = 0
    src_stride: int = 0
    dst_repeat_size: int = 0
    src_repeat_size: int = 0


class BrcbRepeatParams(Params):
    """Destination strides of `brcb` in 32 B blocks."""

    __slots__ = ()
    dst_blk_stride: int = 1
    dst_rep_stride: int = 8


class GatherRepeatParams(Params):
    """Destination strides of `gatherb` in 32 B blocks."""

    __slots__ = ()
    dst_blk_stride: int = 1
    dst_rep_stride: int = 8


class GatherMaskParams(Params):
    """How `gather_mask` walks its sources, in 32 B blocks."""

    __slots__ = ()
    src0_block_stride: int = 1
    repeat_times: int = 1
    src0_repeat_stride: int = 0
    src1_repeat_stride: int = 0


class DataCopyParams(Params):
    """`block_count` bursts of `block_len` 32 B blocks; strides are gaps (end of a burst to the next start) in 32 B
    blocks. With `data_copy_pad` `block_len` and the GM side's gap are bytes.
    """

    __slots__ = ()
    block_count: int = 1
    block_len: int = 0
    src_stride: int = 0
    dst_stride: int = 0


class DataCopyExtParams(Params):
    """As DataCopyParams with 32-bit fields: `block_len` and the GM side's gap in bytes, the UB side's gap in 32 B
    blocks.
    """

    __slots__ = ()
    block_count: int = 1
    block_len: int = 0
    src_stride: int = 0
    dst_stride: int = 0
    rsv: int = 0


class LoopModeParams(Params):
    """Loop mode of `data_copy_pad` on the 950: the whole copy is done `loop1_size` times per round of an outer loop of
    `loop2_size` rounds; each stride is bytes from one repetition's start to the next one's.
    """

    __slots__ = ()
    loop1_size: int = 1
    loop2_size: int = 1
    loop1_src_stride: int = 0
    loop1_dst_stride: int = 0
    loop2_src_stride: int = 0
    loop2_dst_stride: int = 0


class DataCopyPadParams(Params):
    """Padding of `data_copy_pad` in elements, each side at most 32 B; only the value 0 is allowed."""

    __slots__ = ()
    is_pad: bool = False
    left_padding: int = 0
    right_padding: int = 0
    padding_value: int = 0


class TransDataTo5HDParams(Params):
    """Repeats of `trans_data_to_5hd`; strides in 32 B blocks; the half flags choose 8-bit halves."""

    __slots__ = ()
    dst_high_half: bool = False
    src_high_half: bool = False
    repeat_times: int = 1
    dst_rep_stride: int = 0
    src_rep_stride: int = 0


class DataCopyPadExtParams(Params):
    """Padding of `data_copy_pad` for elements of `dtype`: counts in elements, each side at most 32 B."""

    __slots__ = ()
    dtype: DataType
    is_pad: bool = False
    left_padding: int = 0
    right_padding: int = 0
    padding_value: float = 0


class DataCopyEnhancedParams(Params):
    """Conversions on the way of a cube-side copy; a vector core takes only the defaults."""

    __slots__ = ()
    block_mode: BlockMode = BlockMode.BLOCK_MODE_NORMAL
    deq_scale: DeqScale = DeqScale.DEQ_NONE
    deq_value_in: int = 0
    sid_store_mode_in: int = 0
    is_relu_in: bool = False
    pad_mode_in: pad_t = pad_t.PAD_NONE
    pad_value_in: int = 0


class SliceInfo(Params):
    """One dimension of a sliced copy: first and last index, gap between bursts, burst length in 32 B blocks,
    extent.
    """

    __slots__ = ()
    start_index: int = 0
    end_index: int = 0
    stride: int = 0
    burst_len: int = 0
    shape_value: int = 0


class TransposeParamsExt(Params):
    """Shape and kind of a `transpose` with layout change."""

    __slots__ = ()
    n_size: int = 0
    c_size: int = 0
    h_size: int = 0
    w_size: int = 0
    transpose_type: TransposeType = TransposeType.TRANSPOSE_ND2ND_B16


class VdeqInfo(Params):
    """Per-lane scale, offset and sign mode of a vector dequantisation; 16 entries each."""

    __slots__ = ()
    scale: tuple[float, ...] = ()
    offset: tuple[int, ...] = ()
    sign_mode: tuple[bool, ...] = ()


class MrgSort4Info(Params):
    """Lengths of the four sorted lists that one merge reads, and which of them are valid."""

    __slots__ = ()
    element_lengths: tuple[int, ...] = ()
    if_exhausted_suspension: bool = False
    valid_bit: int = 15
    repeat_times: int = 1
