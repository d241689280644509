"""Keys 11xx: mode half for small tensors on A2 and A3. Every core loads its whole share at once, in one tile.

The share is `groups` groups (positions) of `heads` lines; the lines of a group lie together in x and share one line of
cos and sin. With `one_angle` all groups share a single line.

    cos, sin  GM -> UB ; 16 bit: Cast to fp32
    x         GM -> UB ; 16 bit: Cast to fp32
    negate the first half of sin ; swap the halves of x into y
    y = y * sin' ; x = x * cos ; y = y + x
    16 bit: Cast y in place, half to even ; y UB -> GM
"""

from types import SimpleNamespace

from ascend_sim import asc

from .half_plan import Sizes
from .kernel_half import (
    FP32_BYTES,
    FP32_PER_BLOCK,
    FP32_PER_REPEAT,
    MAX_REPEATS,
    copy_in_lines,
    copy_out_lines,
    negate_first_halves,
    smaller,
    spread_lines,
    swap_halves,
)

VECIN, VECOUT, VECCALC = asc.TPosition.VECIN, asc.TPosition.VECOUT, asc.TPosition.VECCALC


class Share:
    """What one core does."""

    def __init__(self, tiling: SimpleNamespace, core: int, sizes: Sizes) -> None:
        is_last = core == tiling.formerCoreNum - 1
        self.groups: int = tiling.formerUbLast if is_last else tiling.formerUbLoop
        self.heads: int = tiling.axisLenX3
        self.lines = self.groups * self.heads
        self.one_angle = tiling.isThreeOneDim == 1
        self.angle_lines = 1 if self.one_angle else self.groups
        self.wide = sizes.pitch > FP32_PER_REPEAT  # a line takes more than one repeat
        self.spread = self.one_angle and self.wide  # cos and sin are copied to all heads of a group
        self.first_group = asc.number(core, asc.int64) * tiling.formerUbLoop  # 64 bits: offsets may pass 2**31


class Buffers:
    """The unified buffer of one core; fp32 data goes straight to its place and needs no queue on the way in."""

    def __init__(self, share: Share, sizes: Sizes) -> None:
        self.pipe = pipe = asc.TPipe()
        self.x, self.cos, self.sin = asc.TQue(VECIN, 1), asc.TQue(VECIN, 1), asc.TQue(VECIN, 1)
        self.y = asc.TQue(VECOUT, 1)
        self.x32, self.cos32, self.sin32 = asc.TBuf(VECCALC), asc.TBuf(VECCALC), asc.TBuf(VECCALC)
        if sizes.widen:
            pipe.init_buffer(self.x, 1, share.lines * sizes.pitch * sizes.itemsize)
            pipe.init_buffer(self.cos, 1, share.angle_lines * sizes.pitch * sizes.itemsize)
            pipe.init_buffer(self.sin, 1, share.angle_lines * sizes.pitch * sizes.itemsize)
        pipe.init_buffer(self.y, 1, share.lines * sizes.pitch * FP32_BYTES)
        pipe.init_buffer(self.x32, share.lines * sizes.pitch * FP32_BYTES)
        angle_lines = share.heads if share.spread else share.angle_lines
        pipe.init_buffer(self.cos32, angle_lines * sizes.pitch * FP32_BYTES)
        pipe.init_buffer(self.sin32, angle_lines * sizes.pitch * FP32_BYTES)


@asc.jit
def rotary_half_small(
    x: asc.GlobalAddress,
    cos: asc.GlobalAddress,
    sin: asc.GlobalAddress,
    y: asc.GlobalAddress,
    tiling: asc.ConstExpr[SimpleNamespace],
) -> None:
    """y = rotation of x by cos and sin."""
    sizes = Sizes(tiling, x.dtype)
    share = Share(tiling, asc.get_block_idx(), sizes)
    first_angle = 0 if share.one_angle else share.first_group * sizes.line
    x_gm, cos_gm, sin_gm, y_gm = asc.GlobalTensor(), asc.GlobalTensor(), asc.GlobalTensor(), asc.GlobalTensor()
    x_gm.set_global_buffer(x + share.first_group * share.heads * sizes.line)
    y_gm.set_global_buffer(y + share.first_group * share.heads * sizes.line)
    cos_gm.set_global_buffer(cos + first_angle)
    sin_gm.set_global_buffer(sin + first_angle)
    ub = Buffers(share, sizes)
    x32, cos32, sin32 = ub.x32.get(asc.float32), ub.cos32.get(asc.float32), ub.sin32.get(asc.float32)
    if sizes.widen:
        copy_in_widened(ub.cos, cos32, cos_gm, share.angle_lines, sizes)
        copy_in_widened(ub.sin, sin32, sin_gm, share.angle_lines, sizes)
        copy_in_widened(ub.x, x32, x_gm, share.lines, sizes)
    else:
        copy_in_lines(cos32, cos_gm, share.angle_lines, sizes)
        copy_in_lines(sin32, sin_gm, share.angle_lines, sizes)
        copy_in_lines(x32, x_gm, share.lines, sizes)
        loaded = ub.pipe.fetch_event_id(asc.HardEvent.MTE2_V)  # no queues here: one flag for the three copies
        asc.set_flag(asc.HardEvent.MTE2_V, loaded)
        asc.wait_flag(asc.HardEvent.MTE2_V, loaded)
    y32 = ub.y.alloc_tensor(asc.float32)
    compute(y32, x32, cos32, sin32, share, sizes)
    copy_out(ub, y32, y_gm, share, sizes)


@asc.jit
def copy_in_widened(queue: asc.TQue, to: asc.LocalTensor, gm: asc.GlobalTensor, lines: int, sizes: Sizes) -> None:
    narrow = queue.alloc_tensor(sizes.dtype)
    copy_in_lines(narrow, gm, lines, sizes)
    queue.enque(narrow)
    narrow = queue.deque(sizes.dtype)
    asc.cast(to, narrow, asc.RoundMode.CAST_NONE, lines * sizes.pitch)
    queue.free_tensor(narrow)


@asc.jit
def compute(
    y: asc.LocalTensor,
    x: asc.LocalTensor,
    cos: asc.LocalTensor,
    sin: asc.LocalTensor,
    share: Share,
    sizes: Sizes,
) -> None:
    negate_first_halves(sin, share.angle_lines, sizes)
    swap_halves(y, x, share.lines, sizes)
    if share.spread:
        spread_lines(cos, sin, share.heads - 1, sizes)
    multiply(y, sin, x, cos, share, sizes)
    asc.add(y, y, x, share.lines * sizes.pitch)


@asc.jit
def multiply(
    y: asc.LocalTensor,
    sin: asc.LocalTensor,
    x: asc.LocalTensor,
    cos: asc.LocalTensor,
    share: Share,
    sizes: Sizes,
) -> None:
    """y *= sin' and x *= cos, in the longest instructions that the broadcast allows."""
    pitch = sizes.pitch
    group = share.heads * pitch
    if share.heads == 1 and not share.one_angle:  # as many angles as lines
        asc.mul(y, y, sin, share.groups * pitch)
        asc.mul(x, x, cos, share.groups * pitch)
    elif not share.wide and share.heads == 1:  # one angle for all groups of one line: one repeat per group
        multiply_lines(y, sin, share.groups, sizes)
        multiply_lines(x, cos, share.groups, sizes)
    else:
        for g in range(share.groups):
            angle = 0 if share.one_angle else g * pitch
            if share.spread:
                asc.mul(y[g * group], y[g * group], sin, group)
                asc.mul(x[g * group], x[g * group], cos, group)
            elif share.wide:
                multiply_one_by_one(y[g * group], sin[angle], x[g * group], cos[angle], share, sizes)
            else:
                multiply_lines(y[g * group], sin[angle], share.heads, sizes)
                multiply_lines(x[g * group], cos[angle], share.heads, sizes)


@asc.jit
def multiply_lines(tensor: asc.LocalTensor, angle: asc.LocalTensor, lines: int, sizes: Sizes) -> None:
    """`lines` lines times one line of at most 64 elements: one repeat per line, the second source does not move."""
    line_blocks = sizes.pitch // FP32_PER_BLOCK
    params = asc.BinaryRepeatParams(1, 1, 1, line_blocks, line_blocks, 0)
    for first in range(0, lines, MAX_REPEATS):
        part = tensor[first * sizes.pitch]
        asc.mul(part, part, angle, sizes.pitch, smaller(MAX_REPEATS, lines - first), params)


@asc.jit
def multiply_one_by_one(
    y: asc.LocalTensor,
    sin: asc.LocalTensor,
    x: asc.LocalTensor,
    cos: asc.LocalTensor,
    share: Share,
    sizes: Sizes,
) -> None:
    """Lines of more than one repeat under one line of angles: two instructions per line."""
    for head in range(share.heads):
        line = head * sizes.pitch
        asc.mul(y[line], y[line], sin, sizes.pitch)
        asc.mul(x[line], x[line], cos, sizes.pitch)


@asc.jit
def copy_out(ub: Buffers, y32: asc.LocalTensor, y_gm: asc.GlobalTensor, share: Share, sizes: Sizes) -> None:
    if sizes.widen:  # in place: what is written never passes what is still to be read
        asc.cast(y32.reinterpret_cast(sizes.dtype), y32, asc.RoundMode.CAST_RINT, share.lines * sizes.pitch)
    ub.y.enque(y32)
    y = ub.y.deque(sizes.dtype)
    copy_out_lines(y_gm, y, share.lines, sizes)
    ub.y.free_tensor(y)
