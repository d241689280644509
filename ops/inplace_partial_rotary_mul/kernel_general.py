"""What the two general kernels (split S, split BSN) share: their sizes, buffers and the steps of one tile.

One tile is `lines` lines, a line being one head of one token. In both kernels it goes through the same steps:

    x    GM -> UB; 16 bit: Cast to fp32
    cos  GM -> UB and spread over the heads; 16 bit: Cast to fp32
    y = x * cos ;  swap the pairs of x
    sin  GM -> UB, into the buffer of cos, likewise
    x = x * sin ;  negate the even lanes of x ;  y = y + x
    16 bit: Cast y, half to even ;  y UB -> GM

Every queue has a single buffer: MTE2, V and MTE3 take turns. (`tune` tries more: `bufferNum`, which the tiling struct
lacks.)
"""

from types import SimpleNamespace

from ascend_sim import asc

from .kernel_common import (
    BLOCK_BYTES,
    FP32_BYTES,
    complete_gather_table,
    negate_even_lanes,
    write_first_entries,
)

BUFFER_NUM = 1
VECIN, VECOUT, VECCALC = asc.TPosition.VECIN, asc.TPosition.VECOUT, asc.TPosition.VECCALC


class Sizes:
    """Sizes of a line in elements. `pitch`: a line in UB, headDim rounded up to 32 bytes of x."""

    def __init__(self, heads: int, head_dim: int, x_dtype: asc.DataType, cos_dtype: asc.DataType) -> None:
        self.heads = heads
        self.head_dim = head_dim
        self.x_dtype = x_dtype
        self.cos_dtype = cos_dtype
        self.pitch = round_up(head_dim, BLOCK_BYTES // x_dtype.sizeof())
        self.widen_x = x_dtype.sizeof() < FP32_BYTES
        self.widen_cos = cos_dtype.sizeof() < FP32_BYTES


class SliceSizes(Sizes):
    """The line is the slice from element `start` on of a head of `last_dim` elements."""

    def __init__(self, tiling: SimpleNamespace, x_dtype: asc.DataType, cos_dtype: asc.DataType) -> None:
        super().__init__(tiling.numHeads, tiling.headDim, x_dtype, cos_dtype)
        self.last_dim: int = tiling.allHeadDim
        self.start: int = tiling.start


class Buffers:
    """The unified buffer of one core: `lines` lines in every queue and fp32 buffer, `table_lines` in the table; the
    queues have `buffers` buffers."""

    def __init__(self, sizes: Sizes, lines: int, table_lines: int, buffers: int = BUFFER_NUM) -> None:
        count = lines * sizes.pitch
        self.pipe = pipe = asc.TPipe()
        self.in_x, self.in_cos, self.out_y = asc.TQue(VECIN, 1), asc.TQue(VECIN, 1), asc.TQue(VECOUT, 1)
        self.x32, self.cos32, self.y32, self.table = (asc.TBuf(VECCALC) for _ in range(4))
        pipe.init_buffer(self.in_x, buffers, count * sizes.x_dtype.sizeof())
        pipe.init_buffer(self.in_cos, buffers, count * sizes.cos_dtype.sizeof())
        pipe.init_buffer(self.out_y, buffers, count * sizes.x_dtype.sizeof())
        if sizes.widen_x:
            pipe.init_buffer(self.x32, count * FP32_BYTES)
        if sizes.widen_cos:  # fp32 cos and sin are used where they land
            pipe.init_buffer(self.cos32, count * FP32_BYTES)
        if sizes.widen_x:
            pipe.init_buffer(self.y32, count * FP32_BYTES)
        pipe.init_buffer(self.table, table_lines * sizes.pitch * FP32_BYTES)


def round_up(value: int, multiple: int) -> int:
    return -(-value // multiple) * multiple


def rows_of_core(tiling: SimpleNamespace, core: int) -> tuple[int, int]:
    """`(first row, rows)` of a core: the front cores take one row more than the tail cores behind them.

    The first row counts in 64 bits: multiplied by a row's elements it may pass 2**31.
    """
    core = asc.number(core, asc.int64)
    if core < tiling.frontCoreNum:
        return core * tiling.coreCalcNum, tiling.coreCalcNum
    behind = core - tiling.frontCoreNum
    return tiling.frontCoreNum * tiling.coreCalcNum + behind * tiling.coreCalcTail, tiling.coreCalcTail


@asc.jit
def gather_table(ub: Buffers, count: int) -> asc.LocalTensor:
    """No flag between the scalar unit's entries and the vector unit's: the compiler's auto sync orders them."""
    return complete_gather_table(write_first_entries(ub.table), count)


@asc.jit
def copy_in_x(ub: Buffers, x_gm: asc.GlobalTensor, lines: int, sizes: SliceSizes) -> asc.LocalTensor:
    """`lines` slices, as fp32. What lies between them is stepped over: it never enters UB and is never written."""
    x = ub.in_x.alloc_tensor(sizes.x_dtype)
    asc.data_copy_pad(x, x_gm, slices(lines, sizes, to_ub=True), asc.DataCopyPadExtParams(sizes.x_dtype))
    loaded = ub.pipe.fetch_event_id(asc.HardEvent.MTE2_V)  # no EnQue and DeQue here: the flag is set by hand
    asc.set_flag(asc.HardEvent.MTE2_V, loaded)
    asc.wait_flag(asc.HardEvent.MTE2_V, loaded)
    return widen_x(ub, x, lines * sizes.pitch, sizes)


@asc.jit
def widen_x(ub: Buffers, x: asc.LocalTensor, count: int, sizes: Sizes) -> asc.LocalTensor:
    """x as fp32; its 16-bit buffer is free for the next tile from then on."""
    if not sizes.widen_x:
        return x
    x32 = ub.x32.get(asc.float32)
    asc.cast(x32, x, asc.RoundMode.CAST_NONE, count)
    ub.in_x.free_tensor(x)
    return x32


@asc.jit
def widen_cos(ub: Buffers, cos: asc.LocalTensor, count: int, sizes: Sizes) -> asc.LocalTensor:
    """cos (or sin) as fp32."""
    if not sizes.widen_cos:
        return cos
    cos32 = ub.cos32.get(asc.float32)
    asc.cast(cos32, cos, asc.RoundMode.CAST_NONE, count)
    return cos32


@asc.jit
def times_cos(ub: Buffers, x32: asc.LocalTensor, cos: asc.LocalTensor, count: int, sizes: Sizes) -> asc.LocalTensor:
    """y = x * cos; an fp32 x needs no temporary and computes in the output's own buffer."""
    cos32 = widen_cos(ub, cos, count, sizes)
    y32 = ub.y32.get(asc.float32) if sizes.widen_x else ub.out_y.alloc_tensor(asc.float32)
    asc.mul(y32, x32, cos32, count)
    return y32


@asc.jit
def add_times_sin(
    ub: Buffers,
    x32: asc.LocalTensor,
    sin: asc.LocalTensor,
    y32: asc.LocalTensor,
    count: int,
    sizes: Sizes,
) -> None:
    """y += rot(x) * sin, the pairs of x being swapped already: the sign comes last, by flipping the even lanes.

    The buffers of sin and x go back to their queues as soon as nothing reads them any more.
    """
    sin32 = widen_cos(ub, sin, count, sizes)
    if sizes.widen_cos:
        ub.in_cos.free_tensor(sin)
    asc.mul(x32, x32, sin32, count)
    if not sizes.widen_cos:
        ub.in_cos.free_tensor(sin)
    negate_even_lanes(x32, count)
    asc.add(y32, y32, x32, count)
    if not sizes.widen_x:
        ub.in_x.free_tensor(x32)


@asc.jit
def copy_out(ub: Buffers, y32: asc.LocalTensor, x_gm: asc.GlobalTensor, lines: int, sizes: SliceSizes) -> None:
    """Back to the slices that `copy_in_x` read."""
    y = narrow_y(ub, y32, lines * sizes.pitch, sizes)
    asc.data_copy_pad(x_gm, y, slices(lines, sizes, to_ub=False))
    ub.out_y.free_tensor(y)


@asc.jit
def narrow_y(ub: Buffers, y32: asc.LocalTensor, count: int, sizes: Sizes) -> asc.LocalTensor:
    """y in x's dtype, handed over to MTE3; this is the only rounding of a 16-bit result."""
    if sizes.widen_x:
        y = ub.out_y.alloc_tensor(sizes.x_dtype)
        asc.cast(y, y32, asc.RoundMode.CAST_RINT, count)
        ub.out_y.enque(y)
    else:
        ub.out_y.enque(y32)
    handed_over: asc.LocalTensor = ub.out_y.deque(sizes.x_dtype)
    return handed_over


def slices(lines: int, sizes: SliceSizes, to_ub: bool) -> asc.DataCopyExtParams:
    """One block per line. Gaps count bytes in GM and 32 B blocks in UB, where lines follow each other without any."""
    block_bytes = sizes.head_dim * sizes.x_dtype.sizeof()
    gap_bytes = (sizes.last_dim - sizes.head_dim) * sizes.x_dtype.sizeof()
    return asc.DataCopyExtParams(lines, block_bytes, gap_bytes if to_ub else 0, 0 if to_ub else gap_bytes)
