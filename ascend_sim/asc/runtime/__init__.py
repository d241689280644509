"""pyasc's `asc.runtime`."""

from ascend_sim.asc.runtime import config as config
