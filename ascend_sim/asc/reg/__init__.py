"""Register instructions of the 950, for the bodies of vector functions (`asc.vf`): Ascend C's Reg API in pyasc's style.

A RegTensor holds 256 B. Operands go destination first, then sources, then the mask; `mode` says what inactive lanes of
the destination become. Tensors are the vector function's arguments, moved by `+` with loop indices.
"""

from ascend_sim.asc.reg.casts import *  # noqa: F403
from ascend_sim.asc.reg.elementwise import *  # noqa: F403
from ascend_sim.asc.reg.indexed import *  # noqa: F403
from ascend_sim.asc.reg.masks import *  # noqa: F403
from ascend_sim.asc.reg.moves import *  # noqa: F403
from ascend_sim.asc.reg.reductions import *  # noqa: F403
from ascend_sim.asc.reg.registers import Counter as Counter
from ascend_sim.asc.reg.registers import MaskMergeMode as MaskMergeMode
from ascend_sim.asc.reg.registers import MaskPattern as MaskPattern
from ascend_sim.asc.reg.registers import MaskReg as MaskReg
from ascend_sim.asc.reg.registers import RegTensor as RegTensor
from ascend_sim.asc.reg.shuffle import *  # noqa: F403
