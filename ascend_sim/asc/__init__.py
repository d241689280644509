"""The language kernels are written in: pyasc's names, signatures and meaning. Every module lists what it offers.

`from ascend_sim import asc` in place of `import asc`, and a vector kernel file runs here unchanged. Two
additions: `asc.bfloat16` (pyasc has no such type, so a kernel that names it is not portable to a board by way of
pyasc), and `asc.tiles`, which marks a loop over tiles.
"""

from typing import NoReturn as _NoReturn

from ascend_sim.asc import lib as lib
from ascend_sim.asc import reg as reg
from ascend_sim.asc import runtime as runtime
from ascend_sim.asc import unsupported as _unsupported
from ascend_sim.asc.allocator import *  # noqa: F403
from ascend_sim.asc.bits import *  # noqa: F403
from ascend_sim.asc.cache import *  # noqa: F403
from ascend_sim.asc.compare import *  # noqa: F403
from ascend_sim.asc.constexpr import *  # noqa: F403
from ascend_sim.asc.convert import *  # noqa: F403
from ascend_sim.asc.datamove import *  # noqa: F403
from ascend_sim.asc.debug import *  # noqa: F403
from ascend_sim.asc.fill import *  # noqa: F403
from ascend_sim.asc.flags import *  # noqa: F403
from ascend_sim.asc.gathering import *  # noqa: F403
from ascend_sim.asc.jit import *  # noqa: F403
from ascend_sim.asc.layout import *  # noqa: F403
from ascend_sim.asc.loopmode import *  # noqa: F403
from ascend_sim.asc.loops import *  # noqa: F403
from ascend_sim.asc.masks import *  # noqa: F403
from ascend_sim.asc.options import *  # noqa: F403
from ascend_sim.asc.params import *  # noqa: F403
from ascend_sim.asc.permute import *  # noqa: F403
from ascend_sim.asc.pipe import *  # noqa: F403
from ascend_sim.asc.queue import *  # noqa: F403
from ascend_sim.asc.reduce import *  # noqa: F403
from ascend_sim.asc.reduce_tensor import *  # noqa: F403
from ascend_sim.asc.reg.vf import *  # noqa: F403
from ascend_sim.asc.registers import *  # noqa: F403
from ascend_sim.asc.scalars import *  # noqa: F403
from ascend_sim.asc.scattering import *  # noqa: F403
from ascend_sim.asc.select import *  # noqa: F403
from ascend_sim.asc.shapes import *  # noqa: F403
from ascend_sim.asc.squeeze import *  # noqa: F403
from ascend_sim.asc.struct import *  # noqa: F403
from ascend_sim.asc.system import *  # noqa: F403
from ascend_sim.asc.tbuf import *  # noqa: F403
from ascend_sim.asc.tensors import *  # noqa: F403
from ascend_sim.asc.tiles import *  # noqa: F403
from ascend_sim.asc.vector import *  # noqa: F403
from ascend_sim.isa.dtypes import *  # noqa: F403
from ascend_sim.isa.enums import *  # noqa: F403
from ascend_sim.program import HardEvent as HardEvent
from ascend_sim.program import PipeID as PipeID


def __getattr__(name: str) -> _NoReturn:
    _unsupported.refuse(name, globals())
