"""A walk through the vector instructions of a block: which UB blocks have been written since the last barrier.

A loop walks through the same states every tile, so each step is worked out once, then looked up.
"""

from __future__ import annotations

from ascend_sim.machine.costs import Op


class Pending(dict[Op, "tuple[bool, Pending]"]):
    """A state of the walk: `state[op]` is whether `op` needs a barrier first, and the state after it. `states` holds
    all states of the walk by the blocks written."""

    __slots__ = ("_states", "_writes")

    def __init__(self, writes: int, states: dict[int, Pending]) -> None:
        super().__init__()
        self._writes = writes
        self._states = states

    def __missing__(self, op: Op) -> tuple[bool, Pending]:
        barrier = bool(self._writes & op.touches)
        writes = op.writes if barrier else self._writes | op.writes
        after = self._states.get(writes)
        if after is None:
            after = self._states[writes] = Pending(writes, self._states)
        step = self[op] = barrier, after
        return step
