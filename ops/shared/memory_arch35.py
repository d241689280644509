"""Global memory of the 950's rotary kernels: x, cos, sin and the result, flat, with the sizes of their lines."""

from types import SimpleNamespace

from ascend_sim import asc

from .rotations import INTERLEAVE_HALF
from .templates_arch35 import MODE_PARTS
from .tiles_arch35 import Buffers, Line


class Memory:
    """The tensors in GM and their lines. `y` is the result, laid out as x; without it x is changed in place."""

    def __init__(
        self,
        pipe: asc.TPipe,
        x: asc.GlobalAddress,
        cos: asc.GlobalAddress,
        sin: asc.GlobalAddress,
        y: asc.GlobalAddress | None,
        lines: tuple[Line, Line],
        row: Line,
    ) -> None:
        self.pipe = pipe
        self.line, self.result = lines
        self.row = row
        self.x, self.cos, self.sin = asc.GlobalTensor(), asc.GlobalTensor(), asc.GlobalTensor()
        self.x.set_global_buffer(x)
        self.cos.set_global_buffer(cos)
        self.sin.set_global_buffer(sin)
        self.y = self.x
        if y is not None:
            self.y = asc.GlobalTensor()
            self.y.set_global_buffer(y)

    def buffers(self, lines: int, rows: int, depth: int, cos_buffers: int = 2) -> Buffers:
        """Room for a tile of `lines` lines with `rows` cos rows."""
        return Buffers(self.pipe, self.line, self.result, self.row, lines, rows, cos_buffers, depth)


def slice_in_place(
    x: asc.GlobalAddress, cos: asc.GlobalAddress, sin: asc.GlobalAddress, tiling: SimpleNamespace
) -> Memory:
    """sliceLength elements of every line of x, from sliceStart on, changed in place."""
    line = Line(x.dtype, tiling.sliceLength, tiling.d)
    row = Line(cos.dtype, tiling.sliceLength, tiling.sliceLength)
    return Memory(asc.TPipe(), x + tiling.sliceStart, cos, sin, None, (line, line), row)


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
    return Memory(pipe, x, cos, sin, y, (line, woven) if back else (woven, line), row)
