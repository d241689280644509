"""Where the compiler puts PIPE_V barriers on architecture 2201 (cce-auto-sync): before a vector instruction that
touches UB blocks which an earlier one writes and no barrier has yet waited for.

The answer depends only on the order of the vector instructions, so it is a walk through states (the blocks written
since the last barrier). A loop walks through the same states every tile: each step is worked out once, then looked up.
"""

from __future__ import annotations

from ascend_sim.machine.costs import Op


class Pending(dict[Op, tuple[bool, "Pending"]]):
    """State of the walk; `state[op]` is whether `op` needs a barrier first, and the state after it."""

    __slots__ = ("_states", "_writes")

    def __init__(self, writes: int, states: dict[int, Pending]) -> None:
        super().__init__()
        self._writes = writes
        self._states = states

    def __missing__(self, op: Op) -> tuple[bool, Pending]:
        barrier = bool(self._writes & op.touches)
        writes = op.writes if barrier else self._writes | op.writes
        step = self[op] = barrier, pending(writes, self._states)
        return step


def pending(writes: int, states: dict[int, Pending]) -> Pending:
    """The state in which the blocks `writes` are being written."""
    found = states.get(writes)
    if found is None:
        found = states[writes] = Pending(writes, states)
    return found
