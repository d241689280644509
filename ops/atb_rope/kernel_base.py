"""What the five kernels of rope share: sizes, places in GM, and the steps of one row (a token, or several at once).

    cos, sin   GM -> UB, one row, spread over all heads
    x          GM -> UB, one slice of whole heads, and a copy in which the two parts of every group are swapped
    x          out = swapped * (-1, 1) * sin + x * cos, then UB -> GM

Where a part is no multiple of 32 B the copy cannot be made in UB: x then goes to scratch memory twice, and comes back
shifted by a part to either side; masks (-1, 0) and (0, 1) pick what is meant from each.
"""

from types import SimpleNamespace

from ascend_sim import asc

from .tiling import BLOCK_BYTES, BLOCK_FP16, KINDS, TILING_BYTES, TILING_FIELDS, length_bytes, slice_elements

VECIN, VECCALC = asc.TPosition.VECIN, asc.TPosition.VECCALC
PIPE_ALL, PIPE_V, PIPE_MTE2, PIPE_MTE3 = (
    asc.PipeID.PIPE_ALL,
    asc.PipeID.PIPE_V,
    asc.PipeID.PIPE_MTE2,
    asc.PipeID.PIPE_MTE3,
)
Event = asc.HardEvent
ODD_LANES = 0xAAAA_AAAA_AAAA_AAAA
DEFAULT_STRIDE = 8  # blocks of a repeat


class Sizes:
    """Sizes of a launch in elements; a `slice` is the part of a row that is handled at once."""

    def __init__(self, t: SimpleNamespace) -> None:
        kind = KINDS[t.path]
        self.lanes = kind.lanes
        self.multiple: int = t.multiple
        self.head_dim: int = t.headDim  # of a row, which may hold `multiple` tokens
        self.real_head_dim: int = t.headDim // t.multiple
        self.stride: int = self.real_head_dim // t.rotaryCoeff
        self.groups_per_head: int = self.multiple * t.rotaryCoeff // 2
        self.interleaved: bool = self.real_head_dim == t.rotaryCoeff
        self.aligned: bool = self.stride % BLOCK_FP16 == 0
        self.tokens: int = t.ntokens
        self.cores: int = t.realCore
        self.cos_format: int = t.cosFormat
        self.hidden_q: int = t.hiddenSizeQ
        self.hidden_k: int = t.hiddenSizeK
        self.slice = slice_elements(getattr(t, "sliceSize", kind.slice_elements), t.headDim)
        self.pitch = round_up(self.slice, self.lanes)  # a slice in UB
        self.first_q = min(self.hidden_q, self.slice)
        self.first_k = min(self.hidden_k, self.slice)
        self.ub_bytes: int = t.maxUbSize

    def rows(self, core: int) -> int:
        """Rows of a core: the last one takes the rest."""
        front = self.front_rows
        return self.tokens - (self.cores - 1) * front if core == self.cores - 1 else front

    @property
    def front_rows(self) -> int:
        return -(-self.tokens // self.cores)

    def slices(self, hidden: int) -> list[tuple[int, int]]:
        """(offset, size) of every slice of a row."""
        return [(start, min(self.slice, hidden - start)) for start in range(0, hidden, self.slice)]

    def repeats(self, size: int) -> int:
        return -(-size // self.lanes)


class Core:
    """One core: its sizes, tensors in GM and UB, and where the parts of its buffers begin (set by each kernel)."""

    def __init__(self, s: Sizes) -> None:
        self.s = s
        self.q, self.k, self.cos, self.sin, self.seqlen = (asc.GlobalTensor() for _ in range(5))
        self.q_out, self.k_out = asc.GlobalTensor(), asc.GlobalTensor()
        self.cos_scratch, self.x_scratch = asc.GlobalTensor(), asc.GlobalTensor()
        self.lengths = asc.TQue(VECIN, 1)
        self.first_row = 0
        self.rows = 0
        # element offsets in the buffer that the rotation works in
        self.cos_at = self.sin_at = self.neg_at = self.one_at = 0
        # element offset of this core's part of the scratch memory
        self.scratch_at = 0


def round_up(value: int, multiple: int) -> int:
    return -(-value // multiple) * multiple


@asc.jit
def begin(
    core: Core,
    pipe: asc.TPipe,
    tensors: tuple[asc.GlobalAddress, ...],
    tiling: asc.GlobalAddress,
    batch: int,
) -> None:
    """Tiling data into UB and registers, then the places of all tensors."""
    buffer, fields = asc.TBuf(VECCALC), asc.GlobalTensor()
    fields.set_global_buffer(tiling)
    pipe.init_buffer(buffer, TILING_BYTES)
    words = buffer.get(asc.uint32)
    asc.data_copy(words, fields, TILING_BYTES // 4)
    asc.pipe_barrier(PIPE_ALL)
    for i in range(len(TILING_FIELDS)):
        words.get_value(i)  # what it brings the kernel has from the host: `Sizes`
    asc.pipe_barrier(PIPE_ALL)
    s = core.s
    lengths = length_bytes(s.cos_format, batch)
    if lengths:
        pipe.init_buffer(core.lengths, 1, lengths)
    places = (core.q, core.k, core.cos, core.sin, core.seqlen, core.q_out, core.k_out)
    for place, tensor in zip((*places, core.cos_scratch, core.x_scratch), tensors, strict=True):
        place.set_global_buffer(tensor)
    index = asc.get_block_idx()
    core.first_row = asc.number(index, asc.int64) * s.front_rows
    core.rows = s.rows(index)


# -- sample lengths: tables as long as the tokens ---------------------------------------------------------------------


@asc.jit
def expand_tables(core: Core, buffer: asc.LocalTensor, capacity: int, lengths: tuple[int, ...]) -> None:
    """Rows 0 to length - 1 of both tables once per sample, into scratch memory, which then stands for the tables."""
    s = core.s
    asc.pipe_barrier(PIPE_ALL)
    expand_table(core, buffer, core.cos, core.cos_scratch, capacity, lengths)
    asc.pipe_barrier(PIPE_ALL)
    expand_table(core, buffer, core.sin, core.cos_scratch[s.tokens * s.head_dim], capacity, lengths)
    asc.pipe_barrier(PIPE_ALL)


@asc.jit
def expand_table(
    core: Core,
    buffer: asc.LocalTensor,
    table: asc.GlobalTensor,
    expanded: asc.GlobalTensor,
    capacity: int,
    lengths: tuple[int, ...],
) -> None:
    """One table; `capacity`: elements of `buffer`."""
    s = core.s
    seqlen = core.lengths.alloc_tensor(asc.int32)
    asc.data_copy(seqlen, core.seqlen, round_up(len(lengths), DEFAULT_STRIDE))
    asc.pipe_barrier(PIPE_ALL)
    rows_per_loop = capacity // s.head_dim
    done = 0
    for sample, length in enumerate(lengths):
        seqlen.get_value(sample)  # brings `length`
        for row in asc.tiles(range(0, length, rows_per_loop)):
            count = min(rows_per_loop, length - row) * s.head_dim
            asc.data_copy(buffer, table[row * s.head_dim], blocks_of(count, table.dtype))
            asc.pipe_barrier(PIPE_ALL)
            asc.data_copy(expanded[(done + row) * s.head_dim], buffer, blocks_of(count, table.dtype))
            asc.pipe_barrier(PIPE_ALL)
        done += length
    core.lengths.free_tensor(seqlen)


def use_expanded_tables(core: Core, scratch_elements: int) -> None:
    """The tables of all cores are now the expanded ones; scratch for shifted rows begins `scratch_elements` further."""
    s = core.s
    core.cos, core.sin = core.cos_scratch, core.cos_scratch[s.tokens * s.head_dim]
    core.cos_scratch = core.cos_scratch[2 * s.tokens * s.head_dim]
    core.x_scratch = core.x_scratch[scratch_elements]


def blocks_of(count: int, dtype: asc.DataType) -> asc.DataCopyParams:
    """One burst of `count` elements, rounded up to whole blocks."""
    return asc.DataCopyParams(1, -(-count * dtype.sizeof() // BLOCK_BYTES), 0, 0)


# -- constants in UB: (-1, 1), or (-1, 0) and (0, 1) -------------------------------------------------------------------


@asc.jit
def write_signs(core: Core, buffer: asc.LocalTensor) -> None:
    """The sign of sin for every element of a slice of q (k's slices are no longer)."""
    s = core.s
    heads = s.first_q // s.head_dim
    if s.interleaved:
        write_interleaved_masks(core, buffer)
    elif s.aligned:
        write_group(core, buffer, -1.0, 1.0)
        asc.set_flag(Event.S_V, 1)
        asc.wait_flag(Event.S_V, 1)
        repeat_group(core, buffer, heads)
    else:
        write_group(core, buffer, -1.0, 0.0)
        if 2 * s.stride * buffer.dtype.sizeof() % BLOCK_BYTES == 0:
            asc.set_flag(Event.S_V, 1)
            asc.wait_flag(Event.S_V, 1)
            repeat_group(core, buffer, heads)
            asc.pipe_barrier(PIPE_V)
        else:
            repeat_group_by_scalar(core, buffer, heads)
            asc.set_flag(Event.S_V, 1)
            asc.wait_flag(Event.S_V, 1)
        asc.adds(buffer[core.one_at], buffer[core.neg_at], 1.0, s.lanes * s.repeats(s.first_q))


@asc.jit
def write_group(core: Core, buffer: asc.LocalTensor, first: float, second: float) -> None:
    """One group, element by element, with the scalar unit."""
    for i in range(core.s.stride):
        buffer.set_value(core.neg_at + i, first)
        buffer.set_value(core.neg_at + i + core.s.stride, second)


@asc.jit
def repeat_group(core: Core, buffer: asc.LocalTensor, heads: int) -> None:
    """The group once per token of a row, and those once per group of every head."""
    s = core.s
    group = 2 * s.stride
    blocks = group * buffer.dtype.sizeof() // BLOCK_BYTES
    for i in range(1, s.multiple):
        asc.data_copy(buffer[core.neg_at + group * i], buffer[core.neg_at], asc.DataCopyParams(1, blocks, 0, 0))
    asc.pipe_barrier(PIPE_V)
    wide = group * s.multiple
    for i in range(1, heads * s.groups_per_head // s.multiple):
        asc.data_copy(
            buffer[core.neg_at + wide * i], buffer[core.neg_at], asc.DataCopyParams(1, blocks * s.multiple, 0, 0)
        )


@asc.jit
def repeat_group_by_scalar(core: Core, buffer: asc.LocalTensor, heads: int) -> None:
    """Groups that are no whole blocks go element by element."""
    group = 2 * core.s.stride
    for i in range(1, heads * core.s.groups_per_head):
        for j in range(group):
            buffer.set_value(core.neg_at + group * i + j, buffer.get_value(core.neg_at + j))


@asc.jit
def write_interleaved_masks(core: Core, buffer: asc.LocalTensor) -> None:
    """-1, 0, -1, 0, ... and 0, 1, 0, 1, ...: all -1, then the odd lanes 0."""
    s = core.s
    repeats = s.repeats(s.first_q)
    asc.duplicate(buffer[core.neg_at], -1.0, s.lanes * repeats)
    mask = [ODD_LANES] * (s.lanes // 64) if s.lanes > 64 else [ODD_LANES, 0]
    asc.duplicate(buffer[core.neg_at], 0.0, mask, repeats, 1, DEFAULT_STRIDE)
    asc.reset_mask()
    asc.pipe_barrier(PIPE_V)
    asc.adds(buffer[core.one_at], buffer[core.neg_at], 1.0, s.lanes * repeats)


# -- one row ----------------------------------------------------------------------------------------------------------


@asc.jit
def load_angles(core: Core, buffer: asc.LocalTensor, row: int, count: int) -> None:
    """cos and sin of one row into `buffer`, spread over `count` elements: all heads of all its tokens."""
    s = core.s
    size = buffer.dtype.sizeof()
    first = (core.first_row + row) * s.head_dim
    cos, sin = buffer[core.cos_at], buffer[core.sin_at]
    blocks = -(-s.real_head_dim * size // BLOCK_BYTES)
    other_heads = -(-(count // s.multiple - s.real_head_dim) * size // BLOCK_BYTES)
    asc.set_flag(Event.S_MTE2, 1)
    asc.wait_flag(Event.S_MTE2, 1)
    tokens = asc.DataCopyParams(s.multiple, blocks, 0, other_heads)
    asc.data_copy(cos, core.cos[first], tokens)
    asc.data_copy(sin, core.sin[first], tokens)
    if s.cos_format == 1:
        asc.pipe_barrier(PIPE_ALL)
    asc.set_flag(Event.MTE2_MTE3, 1)
    asc.set_flag(Event.MTE2_V, 1)
    heads = count // s.head_dim
    if s.real_head_dim * size % BLOCK_BYTES:
        asc.wait_flag(Event.MTE2_MTE3, 1)
        spread_through_scratch(core, cos, blocks, heads, count)
        asc.set_flag(Event.MTE2_MTE3, 1)
        asc.wait_flag(Event.MTE2_MTE3, 1)
        spread_through_scratch(core, sin, blocks, heads, count)
        asc.wait_flag(Event.MTE2_V, 1)
    else:
        asc.wait_flag(Event.MTE2_V, 1)
        spread = asc.DataCopyParams(s.multiple, blocks, other_heads, other_heads)
        for head in range(1, heads):
            asc.data_copy(cos[s.real_head_dim * head], cos, spread)
            asc.data_copy(sin[s.real_head_dim * head], sin, spread)
        asc.wait_flag(Event.MTE2_MTE3, 1)


@asc.jit
def spread_through_scratch(core: Core, angles: asc.LocalTensor, blocks: int, heads: int, count: int) -> None:
    """Rows that are no whole blocks: to scratch memory head after head, each over the last one's padding, and back."""
    for head in range(heads):
        target = core.cos_scratch[core.scratch_at + core.s.head_dim * head]
        asc.data_copy(target, angles, asc.DataCopyParams(1, blocks, 0, 0))
        asc.pipe_barrier(PIPE_MTE3)
    asc.set_flag(Event.MTE3_MTE2, 1)
    asc.wait_flag(Event.MTE3_MTE2, 1)
    asc.data_copy(angles, core.cos_scratch[core.scratch_at], blocks_of(count, angles.dtype))


@asc.jit
def load_x(core: Core, x_gm: asc.GlobalTensor, size: int, x: asc.LocalTensor) -> None:
    """One slice from GM."""
    asc.set_flag(Event.S_MTE2, 1)
    asc.wait_flag(Event.S_MTE2, 1)
    asc.data_copy(x, x_gm, asc.DataCopyParams(1, size // BLOCK_FP16, 0, 0))


@asc.jit
def swap_parts(core: Core, x: asc.LocalTensor, swapped: asc.LocalTensor, size: int) -> None:
    """The parts of every group change places: two copies inside UB, which step over every other part."""
    s = core.s
    blocks = s.stride // BLOCK_FP16
    parts = asc.DataCopyParams(size // s.head_dim * s.groups_per_head, blocks, blocks, blocks)
    asc.data_copy(swapped[s.stride], x, parts)
    asc.data_copy(swapped, x[s.stride], parts)


@asc.jit
def store_twice(core: Core, x: asc.LocalTensor, size: int, at: int) -> None:
    """x, x into scratch memory from element `at` on."""
    blocks = asc.DataCopyParams(1, size // BLOCK_FP16, 0, 0)
    asc.data_copy(core.x_scratch[at], x, blocks)
    asc.data_copy(core.x_scratch[at + size], x, blocks)


@asc.jit
def load_shifted(core: Core, left: asc.LocalTensor, right: asc.LocalTensor, size: int, at: int) -> None:
    """What stands a part further on, into `left`; what stands a part before, into `right`."""
    blocks = asc.DataCopyParams(1, size // BLOCK_FP16, 0, 0)
    asc.data_copy(left, core.x_scratch[at + core.s.stride], blocks)
    asc.data_copy(right, core.x_scratch[at + size - core.s.stride], blocks)


@asc.jit
def rotate_aligned(
    core: Core, buffer: asc.LocalTensor, x: asc.LocalTensor, swapped: asc.LocalTensor, out: asc.LocalTensor, size: int
) -> None:
    """out = swapped * (-1, 1) * sin + x * cos."""
    count = core.s.repeats(size) * core.s.lanes
    asc.mul(x, buffer[core.cos_at], x, count)
    asc.mul(swapped, buffer[core.neg_at], swapped, count)
    asc.pipe_barrier(PIPE_V)
    asc.mul(swapped, buffer[core.sin_at], swapped, count)
    asc.pipe_barrier(PIPE_V)
    asc.add(out, swapped, x, count)
    asc.pipe_barrier(PIPE_V)


@asc.jit
def rotate_shifted(
    core: Core,
    buffer: asc.LocalTensor,
    x: asc.LocalTensor,
    left: asc.LocalTensor,
    right: asc.LocalTensor,
    out: asc.LocalTensor,
    size: int,
) -> None:
    """out = left * sin * (-1, 0) + (x * cos + right * (0, 1) * sin)."""
    count = core.s.repeats(size) * core.s.lanes
    asc.mul(x, buffer[core.cos_at], x, count)
    asc.mul(right, buffer[core.one_at], right, count)
    asc.pipe_barrier(PIPE_V)
    asc.mul(left, buffer[core.sin_at], left, count)
    asc.mul(right, buffer[core.sin_at], right, count)
    asc.pipe_barrier(PIPE_V)
    asc.mul(left, buffer[core.neg_at], left, count)
    asc.add(right, x, right, count)
    asc.pipe_barrier(PIPE_V)
    asc.add(out, left, right, count)
    asc.pipe_barrier(PIPE_V)
