"""The language kernels are written in: pyasc's names, signatures and meaning."""

from ascend_sim.asc.datamove import data_copy as data_copy
from ascend_sim.asc.datamove import data_copy_pad as data_copy_pad
from ascend_sim.asc.datamove import set_pad_value as set_pad_value
