"""dcos and dsin where there is nothing to sum: template A's pass over the elements, and zeros for an empty dy."""

from types import SimpleNamespace

from ascend_sim import asc

from ..shared.tiles_arch35 import VECIN, VECOUT
from ..shared.walks_arch35 import core_index, smaller

BUFFERS = 2
ZEROS_BYTES = 32 * 1024  # a tile of zeros; any size would do


def one_block(dtype: asc.DataType, elements: int) -> asc.DataCopyExtParams:
    """Elements that are neighbours in GM and in UB."""
    return asc.DataCopyExtParams(1, elements * dtype.sizeof(), 0, 0)


class Products:
    """Queues of one core for tiles of `elements`."""

    def __init__(self, pipe: asc.TPipe, dtype: asc.DataType, elements: int) -> None:
        self.dtype = dtype
        self.dy, self.x, self.out = asc.TQue(VECIN, 1), asc.TQue(VECIN, 1), asc.TQue(VECOUT, 1)
        for queue in (self.dy, self.x, self.out):
            pipe.init_buffer(queue, BUFFERS, elements * dtype.sizeof())


@asc.jit
def multiply_tables(
    pipe: asc.TPipe,
    dy: asc.GlobalAddress,
    factors: tuple[asc.GlobalAddress, asc.GlobalAddress],
    results: tuple[asc.GlobalAddress, asc.GlobalAddress],
    tiling: asc.ConstExpr[SimpleNamespace],
) -> None:
    """dcos = dy * x and dsin = dy * rot(x), each product rounded once to its dtype; dy comes in for either.

    `factors` are x, as y has it, and rot(x). Lines are cut as in the pass that rotated x.
    """
    core = core_index()
    if core >= tiling.usedCoreNum:
        return
    grad = asc.GlobalTensor()
    grad.set_global_buffer(dy)
    sources, targets = (asc.GlobalTensor(), asc.GlobalTensor()), (asc.GlobalTensor(), asc.GlobalTensor())
    for tensor, address in zip((*sources, *targets), (*factors, *results), strict=True):
        tensor.set_global_buffer(address)
    ub = Products(pipe, dy.dtype, tiling.ubFactorN * tiling.d)
    lines = tiling.blockTailFactorN if core == tiling.usedCoreNum - 1 else tiling.blockFactorN
    for at in range(0, lines, tiling.ubFactorN):
        count = smaller(tiling.ubFactorN, lines - at) * tiling.d
        place = (core * tiling.blockFactorN + at) * tiling.d
        for source, target in zip(sources, targets, strict=True):
            multiply_tile(ub, grad[place], source[place], target[place], count)


@asc.jit
def multiply_tile(ub: Products, dy: asc.GlobalTensor, x: asc.GlobalTensor, out: asc.GlobalTensor, count: int) -> None:
    params, padding = one_block(ub.dtype, count), asc.DataCopyPadExtParams(ub.dtype, False, 0, 0, 0)
    for queue, source in ((ub.dy, dy), (ub.x, x)):
        tile = queue.alloc_tensor(ub.dtype)
        asc.data_copy_pad(tile, source, params, padding)
        queue.enque(tile)
    dy_tile, x_tile = ub.dy.deque(ub.dtype), ub.x.deque(ub.dtype)
    product = ub.out.alloc_tensor(ub.dtype)
    asc.mul(product, x_tile, dy_tile, count)
    ub.dy.free_tensor(dy_tile)
    ub.x.free_tensor(x_tile)
    ub.out.enque(product)
    done = ub.out.deque(ub.dtype)
    asc.data_copy_pad(out, done, params)
    ub.out.free_tensor(done)


@asc.jit
def zero_tables(results: tuple[asc.GlobalAddress, asc.GlobalAddress], elements: int, cores: int) -> None:
    """Zeros for `elements` of either result: a tile of them in UB, copied as often as needed."""
    dtype = results[0].dtype
    share = -(-elements // cores)
    first = core_index() * share
    last = smaller(first + share, elements)
    step = smaller(ZEROS_BYTES // dtype.sizeof(), share)
    zeros = asc.TQue(VECOUT, 1)
    asc.TPipe().init_buffer(zeros, 1, step * dtype.sizeof())
    tile = zeros.alloc_tensor(dtype)
    asc.duplicate(tile, 0, step)
    zeros.enque(tile)
    tile = zeros.deque(dtype)
    for address in results:
        out = asc.GlobalTensor()
        out.set_global_buffer(address)
        for at in asc.tiles(range(first, last, step)):
            asc.data_copy_pad(out[at], tile, one_block(dtype, smaller(step, last - at)))
    zeros.free_tensor(tile)
