"""The SimPy machine: a `Program` and a chip give a `Timeline`.

Units that need nobody else (scalar unit, vector pipe, flags inside a core) compute ahead; only what shares something,
GM transfers and SyncAll, lives on SimPy's clock. Times are whole cycles, and the same program gives the same cycles
whatever the order of its blocks.
"""

from ascend_sim.machine.device import LaunchKind, Machine

__all__ = ["LaunchKind", "Machine"]
