"""Rows of the instructions that order others, and of scalar access to memory."""

from __future__ import annotations

from ascend_sim.isa.row import Row, declare
from ascend_sim.program import PipeID

SET_FLAG = declare(Row("SetFlag", "set_flag", PipeID.PIPE_S, "flag", "set_flag"))
WAIT_FLAG = declare(Row("WaitFlag", "wait_flag", PipeID.PIPE_S, "flag", "wait_flag"))
PIPE_BARRIER = declare(Row("PipeBarrier", "pipe_barrier", PipeID.PIPE_S, "barrier", "pipe_barrier"))
DATA_SYNC_BARRIER = declare(Row("DataSyncBarrier", "data_sync_barrier", PipeID.PIPE_S, "barrier", "pipe_barrier"))
SYNC_ALL = declare(Row("SyncAll", "sync_all", PipeID.PIPE_S, "sync", "sync_all"))
GET_VALUE = declare(Row("GetValue", "get_value", PipeID.PIPE_S, "scalar", "get_value"))
SET_VALUE = declare(Row("SetValue", "set_value", PipeID.PIPE_S, "scalar", "set_value"))
