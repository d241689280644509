"""Why a pipe does not work: every cycle in which it stands still has exactly one of these reasons."""

from __future__ import annotations

from enum import IntEnum


class Reason(IntEnum):
    """What a pipe waits for. The pipe of a gap is idle outwardly or, while results of its own are still in flight,
    only inwardly (`Gap.in_flight`)."""

    START = 0  # the block's prologue
    COLD_START = 1  # the part of it that a cold launch adds
    DISPATCH = 2  # the scalar unit was busy with what stands in front
    QUEUE = 3  # the scalar unit stood before a full queue
    FLAG = 4  # a flag was not yet set
    BARRIER = 5  # PipeBarrier in the source, or the part of SyncAll that waits for this core's own work
    AUTO_SYNC = 6  # a wait that the compiler put in
    CORES = 7  # SyncAll: other cores had not arrived
    SCALAR_MEMORY = 8  # GetValue or SetValue in GM missed the data cache
    HOLD = 9  # a flag or barrier instruction itself held the pipe
    MASK = 10  # setting the mask registers for a count
    BANKS = 11  # UB bank conflicts
    ENGINE = 12  # the transfer engine between two transfers
    PORT = 13  # a load and a store of this core shared its port
    L2 = 14  # L2 served others as well
    HBM_LATENCY = 15  # data came from HBM, where one core alone gets only so much (outstanding requests)
    HBM = 16  # HBM served others as well, or wrote back what was displaced
    DONE = 17  # nothing left to do in this block

    @property
    def text(self) -> str:
        """What the reports call it."""
        return _TEXTS[self]


_TEXTS = {
    Reason.START: "start of the block",
    Reason.COLD_START: "cold start",
    Reason.DISPATCH: "not yet issued by the scalar unit",
    Reason.QUEUE: "scalar unit before a full queue",
    Reason.FLAG: "flag not yet set",
    Reason.BARRIER: "PipeBarrier",
    Reason.AUTO_SYNC: "wait put in by the compiler",
    Reason.CORES: "other cores",
    Reason.SCALAR_MEMORY: "scalar access to GM missed the data cache",
    Reason.HOLD: "flag or barrier instruction",
    Reason.MASK: "setting the mask registers",
    Reason.BANKS: "UB bank conflicts",
    Reason.ENGINE: "transfer engine between two transfers",
    Reason.PORT: "port shared by a load and a store",
    Reason.L2: "L2 shared with other cores",
    Reason.HBM_LATENCY: "HBM latency (one core's requests)",
    Reason.HBM: "HBM shared with other cores",
    Reason.DONE: "nothing left to do",
}
