"""Micro-benchmarks on one block: one instruction over and over, large copies, scalar arithmetic; UB bank conflicts."""

from __future__ import annotations

from ascend_sim import asc
from ascend_sim.accuracy.kernels.case import Case, arrays
from ascend_sim.accuracy.kernels.flags import MTE2_V, hand_over
from ascend_sim.accuracy.rows import Row

SCRATCH_BYTES = 32
CONFLICT_COUNT = 4096
CONFLICT_REPEATS = 64
BINARY = ("add", "mul", "max", "min")


@asc.jit
def vector_loop(
    x: asc.GlobalAddress,
    y: asc.GlobalAddress,
    z: asc.GlobalAddress,
    limit: int,
    ops: asc.ConstExpr[tuple[str, ...]],
    count: asc.ConstExpr[int],
) -> None:
    """Queues place the operands, but there is neither enque nor deque, nor any flag: copies and compute are unordered
    (a race that does not change the time)."""
    pipe = asc.TPipe()
    binary = ops[0] in BINARY
    gms = [asc.GlobalTensor() for _ in range(3)]
    for gm, address in zip(gms, (x, y, z), strict=True):
        gm.set_global_buffer(address)
    positions = [asc.TPosition.VECIN] * (2 if binary else 1) + [asc.TPosition.VECOUT]
    queues = [asc.TQue(position, 1) for position in positions]
    for queue in queues:
        pipe.init_buffer(queue, 1, count * 2)
    *inputs, out = [queue.alloc_tensor(asc.float16) for queue in queues]
    for local, gm in zip(inputs, gms, strict=False):
        asc.data_copy(local, gm, count)
    for _ in range(int(limit)):
        if binary:
            getattr(asc, ops[0])(out, inputs[0], inputs[1], count)
        else:
            source = inputs[0]
            for op in ops:
                getattr(asc, op)(out, source, count)
                source = out
    asc.data_copy(gms[2], out, count)
    for queue, local in zip(queues, (*inputs, out), strict=True):
        queue.free_tensor(local)


@asc.jit
def copy_loop(x: asc.GlobalAddress, y: asc.GlobalAddress, limit: int, chunk: asc.ConstExpr[int]) -> None:
    """Load and store a chunk through one buffer; each barrier orders its own pipe only."""
    pipe = asc.TPipe()
    source, target = asc.GlobalTensor(), asc.GlobalTensor()
    source.set_global_buffer(x)
    target.set_global_buffer(y)
    buffer = asc.TBuf(asc.TPosition.VECCALC)
    pipe.init_buffer(buffer, chunk * 2)
    local = buffer.get(asc.float16)
    for i in range(int(limit)):
        asc.data_copy(local, source[i * chunk], chunk)
        asc.pipe_barrier(asc.PipeID.PIPE_MTE2)
        asc.data_copy(target[i * chunk], local, chunk)
        asc.pipe_barrier(asc.PipeID.PIPE_MTE3)


@asc.jit
def scalar_loop(y: asc.GlobalAddress, limit: int) -> None:
    """acc = acc * c1 + c2 in fp32 registers; then eight stores to UB and one copy out.

    The recorder keeps scalar work with the instruction that follows it, so a store stands after every 1000 steps.
    """
    pipe = asc.TPipe()
    gm = asc.GlobalTensor()
    gm.set_global_buffer(y)
    queue = asc.TQue(asc.TPosition.VECOUT, 1)
    pipe.init_buffer(queue, 1, SCRATCH_BYTES)
    out = queue.alloc_tensor(asc.float32)
    acc = asc.number(1.0, asc.float32)
    factor, term = asc.number(1.0, asc.float32), asc.number(0.0, asc.float32)
    for i in range(int(limit)):
        for _ in range(STEPS):
            acc = acc * factor + term
        out.set_value(i % 8, acc)
    for i in range(8):
        out.set_value(i, acc)
    queue.enque(out)
    out = queue.deque(asc.float32)
    asc.data_copy(gm, out, 8)
    queue.free_tensor(out)


STEPS = 1000


@asc.jit
def conflict_loop(
    x: asc.GlobalAddress,
    y: asc.GlobalAddress,
    places: asc.ConstExpr[tuple[int, int, int]],
    src0_strides: asc.ConstExpr[tuple[int, int]],
    calls: asc.ConstExpr[int],
) -> None:
    """The same Add of 64 repeats between two counter reads; only where its operands lie matters."""
    asc.init_soc_state()
    src0, src1, dst = (asc.LocalTensor(asc.float32, asc.TPosition.VECCALC, at, CONFLICT_COUNT) for at in places)
    for local, address in ((src0, x), (src1, y)):
        gm = asc.GlobalTensor()
        gm.set_global_buffer(address)
        asc.data_copy(local, gm, CONFLICT_COUNT)
    hand_over(MTE2_V, 0)
    params = asc.BinaryRepeatParams(1, src0_strides[0], 1, 8, src0_strides[1], 8)
    asc.pipe_barrier(asc.PipeID.PIPE_ALL)
    for _ in range(calls):
        asc.add(dst, src0, src1, 64, CONFLICT_REPEATS, params)
    asc.pipe_barrier(asc.PipeID.PIPE_ALL)


def build_vector(row: Row) -> Case:
    """`ops` (one two-source instruction, or a chain of one-source ones), `count` (half), `calls`."""
    p = row.params
    ops, count = tuple(p["ops"]), p["count"]
    x, y, z = arrays(3, (count,), "float16")
    return Case(lambda limit: vector_loop[1](x, y, z, min(limit, p["calls"]), ops, count), p["calls"], core_bound=True)


def build_copy(row: Row) -> Case:
    """`chunk_bytes`, `chunks`."""
    chunk, chunks = row.params["chunk_bytes"] // 2, row.params["chunks"]
    x, y = arrays(2, (chunk * chunks,), "float16")
    return Case(lambda limit: copy_loop[1](x, y, min(limit, chunks), chunk), chunks)


def build_scalar(row: Row) -> Case:
    """`iterations`."""
    tiles = row.params["iterations"] // STEPS
    (y,) = arrays(1, (8,), "float32")
    return Case(lambda limit: scalar_loop[1](y, min(limit, tiles)), tiles, core_bound=True, heavy=True)


def build_conflicts(row: Row) -> Case:
    """`src0`, `src1`, `dst` (UB addresses), `src0_block_stride`, `src0_repeat_stride` (blocks), `calls`."""
    p = row.params
    places = p["src0"], p["src1"], p["dst"]
    strides = p["src0_block_stride"], p["src0_repeat_stride"]
    x, y = arrays(2, (CONFLICT_COUNT,), "float32")
    return Case(lambda _limit: conflict_loop[1](x, y, places, strides, p["calls"]))
