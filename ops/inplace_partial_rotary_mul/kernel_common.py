"""What all A2/A3 kernels of this operator share: the pair swap and the sign flip."""

from ascend_sim import asc

BLOCK_BYTES = 32  # unit of UB addresses and UB strides
FP32_BYTES = 4
FP32_PER_BLOCK = 8
FP32_PER_REPEAT = 64  # one repeat of the vector unit works on 256 bytes
REPEAT_FIELD = 0xFF  # an instruction's repeat field has 8 bits: what is larger wraps
EVEN_LANES = 0x5555_5555_5555_5555  # lanes 0, 2, 4, ... of a repeat
EVEN_LANES_OF_A_BLOCK = 0x55


def smaller(a: int, b: int) -> int:
    return min(a, b)


def doublings(count: int) -> int:
    """How often the first 8 entries of a table are doubled until it has `count`."""
    return max(0, (count - 1).bit_length() - 3)


@asc.jit
def write_first_entries(buffer: asc.TBuf) -> asc.LocalTensor:
    """1, 0, 3, 2, ...: eight entries of the gather table, by the (slow) scalar unit."""
    table = buffer.get(asc.int32)
    for i in range(FP32_PER_BLOCK):
        table.set_value(i, i ^ 1)
    return table


@asc.jit
def complete_gather_table(table: asc.LocalTensor, count: int) -> asc.LocalTensor:
    """The byte offsets 4, 0, 12, 8, 20, 16, ... (`count` of them) with which Gather swaps the two fp32 of every pair.

    The vector unit doubles the filled part: entries n .. 2n - 1 are entries 0 .. n - 1 plus n.
    """
    for k in range(doublings(count)):
        ready = FP32_PER_BLOCK << k
        asc.adds(table[ready], table, ready, smaller(ready, count - ready))
    asc.muls(table, table, FP32_BYTES, count)  # element numbers to bytes
    return table.reinterpret_cast(asc.uint32)


@asc.jit
def negate_even_lanes(tensor: asc.LocalTensor, count: int) -> None:
    """x[2k] = -x[2k] for the first `count` fp32: after the swap the even lanes hold the odd neighbours."""
    full = count // FP32_PER_REPEAT
    rest = count % FP32_PER_REPEAT
    asc.set_mask_norm()
    if full > 0:
        asc.set_vector_mask(0, EVEN_LANES, dtype=asc.float32, mode=asc.MaskMode.NORMAL)
        params = asc.UnaryRepeatParams(1, 1, 8, 8)
        asc.muls(tensor, tensor, -1.0, FP32_PER_REPEAT, full & REPEAT_FIELD, params, is_set_mask=False)
    if rest > 0:  # the rest goes block by block
        asc.set_vector_mask(0, EVEN_LANES_OF_A_BLOCK, dtype=asc.float32, mode=asc.MaskMode.NORMAL)
        params = asc.UnaryRepeatParams(1, 1, 1, 1)
        last = tensor[count - rest]
        asc.muls(last, last, -1.0, FP32_PER_BLOCK, rest // FP32_PER_BLOCK, params, is_set_mask=False)
    asc.reset_mask()
