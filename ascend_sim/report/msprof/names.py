"""What msprof calls things (facts read in the source of Ascend/msopprof)."""

from __future__ import annotations

from ascend_sim.program import PipeID

LANES = {  # pipe: (name, sort index, colour, process id in a core's own trace)
    PipeID.PIPE_S: ("SCALAR", 1, "startup", 10),
    PipeID.PIPE_MTE1: ("MTE1", 3, "thread_state_running", 50),
    PipeID.PIPE_M: ("CUBE", 4, "background_memory_dump", 40),
    PipeID.PIPE_FIX: ("FIXP", 5, "thread_state_unknown", 80),
    PipeID.PIPE_MTE2: ("MTE2", 6, "thread_state_iowait", 60),
    PipeID.PIPE_V: ("VECTOR", 7, "cq_build_failed", 30),
    PipeID.PIPE_MTE3: ("MTE3", 8, "rail_response", 70),
    PipeID.PIPE_ALL: ("ALL", 11, "good", 100),
}
SET_COLOUR, WAIT_COLOUR = "black", "yellow"
PIPE_CODES = {PipeID.PIPE_V: "VEC", PipeID.PIPE_M: "CUBE", PipeID.PIPE_S: "SCALAR"}


def core_name(core: int) -> str:
    """`core0.veccore1`: two vector cores belong to one AI Core."""
    return f"core{core // 2}.veccore{core % 2}"


def process_sort_index(core: int) -> int:
    """Where a vector core stands among the processes; the AI Core's cube core has the place before its two."""
    return 3 * (core // 2) + 2 + core % 2


def pipe_code(pipe: PipeID) -> str:
    """The pipe's name in a flag's detail."""
    return PIPE_CODES.get(pipe, pipe.name.removeprefix("PIPE_"))
