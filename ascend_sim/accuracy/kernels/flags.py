"""Hand-set flags of the kernels that use no TPipe, and the split of rows over blocks that they share."""

from __future__ import annotations

from ascend_sim import asc

MTE2_V, V_MTE2 = asc.HardEvent.MTE2_V, asc.HardEvent.V_MTE2
V_MTE3, MTE3_V = asc.HardEvent.V_MTE3, asc.HardEvent.MTE3_V
MTE3_MTE2 = asc.HardEvent.MTE3_MTE2


def hand_over(event: asc.HardEvent, event_id: int) -> None:
    """What the event's second pipe gets next waits for all that its first pipe has been given so far."""
    asc.set_flag(event, event_id)
    asc.wait_flag(event, event_id)


def even_share(total: int, blocks: int, block: int) -> tuple[int, int]:
    """`(first, count)` of a block's contiguous share; the first `total % blocks` blocks get one more."""
    each, rest = divmod(total, blocks)
    return block * each + min(block, rest), each + (block < rest)
