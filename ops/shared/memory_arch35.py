"""Global memory of the 950's rotary kernels: x, cos, sin and the result, flat, with the sizes of their lines."""

from types import SimpleNamespace

from ascend_sim import asc

from .rotations import INTERLEAVE_HALF
from .templates_arch35 import MODE_PARTS
from .tiles_arch35 import Buffers, Line


class Heads:
    """A tensor in GM with `count` heads at each position, `step` of them in a tile; `y` takes the results."""

    def __init__(self, x: asc.GlobalAddress, y: asc.GlobalAddress, count: int, step: int) -> None:
        self.x, self.y = asc.GlobalTensor(), asc.GlobalTensor()
        self.x.set_global_buffer(x)
        self.y.set_global_buffer(y)
        self.count, self.step = count, step


class Memory:
    """The tensors in GM and the sizes of their lines: input, result, cos row. All `heads` have the same cos rows."""

    def __init__(
        self,
        pipe: asc.TPipe,
        heads: tuple[Heads, ...],
        cos: asc.GlobalAddress,
        sin: asc.GlobalAddress,
        lines: tuple[Line, Line],
        row: Line,
    ) -> None:
        self.pipe = pipe
        self.heads = heads
        self.line, self.result = lines
        self.row = row
        self.cos, self.sin = asc.GlobalTensor(), asc.GlobalTensor()
        self.cos.set_global_buffer(cos)
        self.sin.set_global_buffer(sin)

    @property
    def step(self) -> int:
        """Heads of the largest tile."""
        return max(heads.step for heads in self.heads)

    def buffers(self, lines: int, rows: int, depth: int, cos_buffers: int = 2) -> Buffers:
        """Room for a tile of `lines` lines with `rows` cos rows."""
        return Buffers(self.pipe, self.line, self.result, self.row, lines, rows, cos_buffers, depth)


def slice_in_place(
    x: asc.GlobalAddress, cos: asc.GlobalAddress, sin: asc.GlobalAddress, tiling: SimpleNamespace
) -> Memory:
    """sliceLength elements of every line of x, from sliceStart on, changed in place."""
    line = Line(x.dtype, tiling.sliceLength, tiling.d)
    row = Line(cos.dtype, tiling.sliceLength, tiling.sliceLength)
    start = x + tiling.sliceStart
    heads = Heads(start, start, tiling.n, tiling.ubFactorN)
    return Memory(asc.TPipe(), (heads,), cos, sin, (line, line), row)


def whole_lines(
    pipe: asc.TPipe,
    x: asc.GlobalAddress,
    cos: asc.GlobalAddress,
    sin: asc.GlobalAddress,
    y: asc.GlobalAddress,
    tiling: SimpleNamespace,
    in_batches: bool = False,
    back: bool = False,
) -> Memory:
    """Lines of d elements, rotated from x to y in mode rotaryMode, or `back` from the gradient x to the gradient y.

    What is read or written as pairs of neighbours lies in UB in one part; in the templates whose tiles are batches
    (`in_batches`) it lies as far apart as the rest.
    """
    dim = tiling.d
    parts = MODE_PARTS[tiling.rotaryMode]
    row = Line(cos.dtype, dim, dim, parts)
    line = woven = Line(x.dtype, dim, dim, parts)
    if tiling.rotaryMode == INTERLEAVE_HALF:
        woven = Line(x.dtype, dim, dim, pitch_bytes=line.pitch_bytes if in_batches else 0)
    heads = Heads(x, y, tiling.n, tiling.ubFactorN)
    return Memory(pipe, (heads,), cos, sin, (line, woven) if back else (woven, line), row)
