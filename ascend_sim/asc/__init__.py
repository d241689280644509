"""The language kernels are written in: pyasc's names, signatures and meaning. Every module lists what it offers."""

from ascend_sim.asc.convert import *  # noqa: F403
from ascend_sim.asc.datamove import data_copy as data_copy
from ascend_sim.asc.datamove import data_copy_pad as data_copy_pad
from ascend_sim.asc.datamove import set_pad_value as set_pad_value
from ascend_sim.asc.params import *  # noqa: F403
from ascend_sim.asc.vector import *  # noqa: F403
from ascend_sim.isa.enums import *  # noqa: F403
