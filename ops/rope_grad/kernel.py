"""The kernel of rope_grad: one head per core, tile after tile of rows, a single buffer per queue (unless the
tiling says otherwise).

Instruction for instruction the real one (ascend-transformer-boost, op_kernel/rope_grad.cpp): CopyIn, Compute, CopyOut.
"""

from typing import Any

from ascend_sim import asc
from ascend_sim.asc.memory import HostData
from ascend_sim.host.operator import Call

from .tiling import BUFFER_NUM, FP16_BYTES, TILING_FIELDS, tiling_buffer

VECIN, VECOUT, VECCALC = asc.TPosition.VECIN, asc.TPosition.VECOUT, asc.TPosition.VECCALC
BLOCK_FP16 = 16  # elements of a 32 B block
REPEAT_BLOCKS = 8  # 256 B, one row of a head


def launch(call: Call) -> None:
    """Run the kernel on one core per head."""
    tensors = call.tensors
    tiling = tiling_buffer(call.tiling.words).view(HostData)
    head_bytes = 8 * len(TILING_FIELDS)
    fields: Any = call.tiling.data
    rope_grad[call.tiling.block_dim](
        tensors["q_embedded_grad"],
        tensors["k_embedded_grad"],
        tensors["cos"],
        tensors["sin"],
        tensors["q_grad"],
        tensors["k_grad"],
        tiling[:head_bytes].view("int64"),
        tiling[head_bytes:].view("int32"),
        fields["rowsPerLoop"] * fields["headSize"],
        fields.get("bufferNum", BUFFER_NUM),
    )


class RopeGrad:
    """What one core keeps: sizes, the places of its head in GM, the seven buffers, the rows done so far."""

    def __init__(self, hidden_size: int, head_size: int, max_process_num: int, buffers: int) -> None:
        self.hidden_size = hidden_size
        self.head_size = head_size
        self.max_process_num = max_process_num
        self.rows_per_loop = max_process_num // head_size
        self.buffers = buffers
        self.rows_done = 0
        self.q_in_gm, self.k_in_gm, self.cos_gm, self.sin_gm = (asc.GlobalTensor() for _ in range(4))
        self.q_out_gm, self.k_out_gm = asc.GlobalTensor(), asc.GlobalTensor()
        self.q_in, self.k_in, self.cos, self.sin = (asc.TQue(VECIN, 1) for _ in range(4))
        self.q_out, self.k_out = asc.TQue(VECOUT, 1), asc.TQue(VECOUT, 1)
        self.work = asc.TBuf(VECCALC)

    def init_buffers(self, pipe: asc.TPipe) -> None:
        nbytes = self.max_process_num * FP16_BYTES
        for queue in (self.q_in, self.k_in, self.cos, self.sin, self.q_out, self.k_out):
            pipe.init_buffer(queue, self.buffers, nbytes)
        pipe.init_buffer(self.work, nbytes)


@asc.jit
def rope_grad(
    q_embedded_grad: asc.GlobalAddress,
    k_embedded_grad: asc.GlobalAddress,
    cos: asc.GlobalAddress,
    sin: asc.GlobalAddress,
    q_grad: asc.GlobalAddress,
    k_grad: asc.GlobalAddress,
    tiling: asc.GlobalAddress,
    samples: asc.GlobalAddress,
    max_process_num: asc.ConstExpr[int],
    buffers: asc.ConstExpr[int],
) -> None:
    """Gradients (tokens, heads * 128) times the weights of their positions; block c takes head c."""
    fields, lengths = asc.GlobalTensor(), asc.GlobalTensor()
    fields.set_global_buffer(tiling)
    lengths.set_global_buffer(samples)
    _, hidden_size, head_size, _, batch = (fields.get_value(i) for i in range(len(TILING_FIELDS)))
    asc.pipe_barrier(asc.PipeID.PIPE_ALL)
    pipe = asc.TPipe()
    op = RopeGrad(hidden_size, head_size, max_process_num, buffers)
    column = asc.get_block_idx() * head_size  # where this core's head begins in a row
    op.q_in_gm.set_global_buffer(q_embedded_grad + column)
    op.k_in_gm.set_global_buffer(k_embedded_grad + column)
    op.cos_gm.set_global_buffer(cos)
    op.sin_gm.set_global_buffer(sin)
    op.q_out_gm.set_global_buffer(q_grad + column)
    op.k_out_gm.set_global_buffer(k_grad + column)
    op.init_buffers(pipe)
    for sample in range(batch):  # at most 32, of any lengths
        process(op, lengths.get_value(sample))


@asc.jit
def process(op: RopeGrad, length: int) -> None:
    """One sample: full tiles (of 96 rows), then what is left; positions begin at 0 again."""
    full, tail = length // op.rows_per_loop, length % op.rows_per_loop
    for tile in asc.tiles(range(full)):
        copy_in(op, tile, op.rows_per_loop)
        compute(op, op.rows_per_loop)
        copy_out(op, tile, op.rows_per_loop)
    if tail > 0:
        copy_in(op, full, tail)
        compute(op, tail)
        copy_out(op, full, tail)
    op.rows_done = op.rows_done + length
    asc.pipe_barrier(asc.PipeID.PIPE_ALL)


@asc.jit
def copy_in(op: RopeGrad, tile: int, rows: int) -> None:
    """The head's columns of both gradients, row by row; whole rows of the tables."""
    q_in, k_in = op.q_in.alloc_tensor(asc.float16), op.k_in.alloc_tensor(asc.float16)
    cos, sin = op.cos.alloc_tensor(asc.float16), op.sin.alloc_tensor(asc.float16)
    first = (op.rows_done + tile * op.rows_per_loop) * op.hidden_size
    angle = tile * op.rows_per_loop * op.head_size
    other_heads = (op.hidden_size - op.head_size) // BLOCK_FP16
    head_rows = asc.DataCopyParams(rows, op.head_size // BLOCK_FP16, other_heads, 0)
    asc.data_copy(q_in, op.q_in_gm[first], head_rows)
    asc.data_copy(k_in, op.k_in_gm[first], head_rows)
    asc.data_copy(cos, op.cos_gm[angle], rows * op.head_size)
    asc.data_copy(sin, op.sin_gm[angle], rows * op.head_size)
    op.q_in.enque(q_in)
    op.k_in.enque(k_in)
    op.cos.enque(cos)
    op.sin.enque(sin)


@asc.jit
def compute(op: RopeGrad, rows: int) -> None:
    """work = cos + [sin2, -sin1]; q = q * work; k = k * work."""
    q_in, k_in = op.q_in.deque(asc.float16), op.k_in.deque(asc.float16)
    cos, sin = op.cos.deque(asc.float16), op.sin.deque(asc.float16)
    q_out, k_out = op.q_out.alloc_tensor(asc.float16), op.k_out.alloc_tensor(asc.float16)
    work = op.work.get(asc.float16)
    half = op.head_size // 2
    half_blocks = op.head_size // (2 * BLOCK_FP16)
    count = rows * op.head_size
    # the second half of every sine row becomes the first of work: read 4 blocks, skip 4, write 4, skip 4
    asc.data_copy(work, sin[half], asc.DataCopyParams(rows, half_blocks, half_blocks, half_blocks))
    asc.pipe_barrier(asc.PipeID.PIPE_V)
    # the first half, negated, becomes the second: one repeat per row, of which 64 lanes
    strides = asc.UnaryRepeatParams(1, 1, REPEAT_BLOCKS, REPEAT_BLOCKS)
    asc.muls(work[half], sin, -1.0, half, rows, strides)
    asc.pipe_barrier(asc.PipeID.PIPE_V)
    asc.add(work, cos, work, count)
    asc.pipe_barrier(asc.PipeID.PIPE_V)
    asc.mul(q_out, q_in, work, count)
    asc.pipe_barrier(asc.PipeID.PIPE_V)
    asc.mul(k_out, k_in, work, count)
    asc.pipe_barrier(asc.PipeID.PIPE_V)
    op.q_out.enque(q_out)
    op.k_out.enque(k_out)
    op.q_in.free_tensor(q_in)
    op.k_in.free_tensor(k_in)
    op.cos.free_tensor(cos)
    op.sin.free_tensor(sin)


@asc.jit
def copy_out(op: RopeGrad, tile: int, rows: int) -> None:
    """Both results back between the other heads' columns."""
    q_out, k_out = op.q_out.deque(asc.float16), op.k_out.deque(asc.float16)
    first = (op.rows_done + tile * op.rows_per_loop) * op.hidden_size
    other_heads = (op.hidden_size - op.head_size) // BLOCK_FP16
    head_rows = asc.DataCopyParams(rows, op.head_size // BLOCK_FP16, 0, other_heads)
    asc.data_copy(op.q_out_gm[first], q_out, head_rows)
    asc.data_copy(op.k_out_gm[first], k_out, head_rows)
    op.q_out.free_tensor(q_out)
    op.k_out.free_tensor(k_out)
