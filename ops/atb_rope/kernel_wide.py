"""What the kernels that compute in fp32 share: a 16-bit buffer for what moves, an fp32 one for what is computed."""

from ascend_sim import asc

from .kernel_base import (
    PIPE_ALL,
    PIPE_V,
    VECCALC,
    Core,
    Event,
    load_shifted,
    rotate_aligned,
    rotate_shifted,
    store_twice,
    swap_parts,
)
from .tiling import BLOCK_FP16, COMMON_ELEMENTS, TILING_BYTES, length_bytes

FP16_BYTES = 2
NARROW_STRIDE, WIDE_STRIDE = 4, 8  # blocks of a repeat of 64 elements, 16-bit and fp32


class Buffers:
    """`common`: x, its copies and the result in 16 bit; `wide`: the same, cos, sin and the masks in fp32."""

    def __init__(self, core: Core, pipe: asc.TPipe, dtype: asc.DataType, batch: int) -> None:
        wide, common = asc.TBuf(VECCALC), asc.TBuf(VECCALC)
        taken = TILING_BYTES + length_bytes(core.s.cos_format, batch) + COMMON_ELEMENTS * FP16_BYTES
        pipe.init_buffer(wide, core.s.ub_bytes - taken)  # the real kernels ask for 2 B a sample more than there is
        pipe.init_buffer(common, COMMON_ELEMENTS * FP16_BYTES)
        self.wide, self.common = wide.get(asc.float32), common.get(dtype)


class Views:
    """x, its copy shifted left (or swapped), and its copy shifted right, in one of the two buffers."""

    def __init__(self, buffer: asc.LocalTensor, x: int, left: int, right: int) -> None:
        self.x, self.left, self.right = buffer[x], buffer[left], buffer[right]


@asc.jit
def widen(dst: asc.LocalTensor, src: asc.LocalTensor, repeats: int) -> None:
    """16 bit to fp32, 64 elements a repeat."""
    strides = asc.UnaryRepeatParams(1, 1, WIDE_STRIDE, NARROW_STRIDE)
    asc.cast(dst, src, asc.RoundMode.CAST_NONE, 64, repeats, strides, is_set_mask=False)


@asc.jit
def widen_all(core: Core, wide: Views, narrow: Views, size: int) -> None:
    """x and both copies, needed or not, as the real kernels do."""
    repeats = core.s.repeats(size)
    widen(wide.x, narrow.x, repeats)
    widen(wide.left, narrow.left, repeats)
    widen(wide.right, narrow.right, repeats)


@asc.jit
def rotate_wide(
    core: Core, buffer: asc.LocalTensor, wide: Views, narrow: Views, out: asc.LocalTensor, size: int, event_id: int
) -> None:
    """Widen, then rotate in fp32."""
    if core.s.aligned:
        asc.pipe_barrier(PIPE_V)
        widen_all(core, wide, narrow, size)
        asc.pipe_barrier(PIPE_V)
        rotate_aligned(core, buffer, wide.x, wide.left, out, size)
    else:
        asc.set_flag(Event.MTE2_V, event_id)
        asc.wait_flag(Event.MTE2_V, event_id)
        widen_all(core, wide, narrow, size)
        asc.pipe_barrier(PIPE_V)
        rotate_shifted(core, buffer, wide.x, wide.left, wide.right, out, size)


@asc.jit
def store_narrow(
    core: Core,
    out_gm: asc.GlobalTensor,
    narrow: asc.LocalTensor,
    wide: asc.LocalTensor,
    size: int,
    mode: asc.RoundMode,
    event_id: int,
) -> None:
    """fp32 to 16 bit, then to GM."""
    strides = asc.UnaryRepeatParams(1, 1, NARROW_STRIDE, WIDE_STRIDE)
    asc.cast(narrow, wide, mode, 64, core.s.repeats(size), strides, is_set_mask=False)
    asc.set_flag(Event.V_MTE3, event_id)
    asc.wait_flag(Event.V_MTE3, event_id)
    asc.data_copy(out_gm, narrow, asc.DataCopyParams(1, size // BLOCK_FP16, 0, 0))


@asc.jit
def load_copies(core: Core, narrow: Views, size: int) -> None:
    """x with its parts swapped, or shifted by a part to either side."""
    asc.set_flag(Event.MTE2_V, 1)
    asc.set_flag(Event.MTE2_MTE3, 2)
    asc.wait_flag(Event.MTE2_V, 1)
    asc.wait_flag(Event.MTE2_MTE3, 2)
    if core.s.aligned:
        swap_parts(core, narrow.x, narrow.left, size)
    else:
        store_twice(core, narrow.x, size, core.scratch_at)
        asc.pipe_barrier(PIPE_ALL)
        load_shifted(core, narrow.left, narrow.right, size, core.scratch_at)
