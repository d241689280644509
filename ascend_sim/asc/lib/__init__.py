"""pyasc's `asc.lib`."""

from ascend_sim.asc.lib import runtime as runtime
