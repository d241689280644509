"""PyPTO's tensor-level kernels on the simulated core, under PyPTO's names; see README.md in this folder.

`from ascend_sim.frontends import pypto` gives the names. `import pypto` works after `pypto.install_shim()`, or with
`python -m ascend_sim.frontends.pypto FILE`.
"""

from __future__ import annotations

from typing import Any

from ascend_sim.frontends.pypto import experimental as experimental
from ascend_sim.frontends.pypto import frontend as frontend
from ascend_sim.frontends.pypto.config import get_codegen_options as get_codegen_options
from ascend_sim.frontends.pypto.config import get_debug_options as get_debug_options
from ascend_sim.frontends.pypto.config import get_host_options as get_host_options
from ascend_sim.frontends.pypto.config import get_pass_options as get_pass_options
from ascend_sim.frontends.pypto.config import get_runtime_options as get_runtime_options
from ascend_sim.frontends.pypto.config import get_verify_options as get_verify_options
from ascend_sim.frontends.pypto.config import platform as platform
from ascend_sim.frontends.pypto.config import reset_options as reset_options
from ascend_sim.frontends.pypto.config import set_codegen_options as set_codegen_options
from ascend_sim.frontends.pypto.config import set_cube_tile_shapes as set_cube_tile_shapes
from ascend_sim.frontends.pypto.config import set_debug_options as set_debug_options
from ascend_sim.frontends.pypto.config import set_host_options as set_host_options
from ascend_sim.frontends.pypto.config import set_pass_options as set_pass_options
from ascend_sim.frontends.pypto.config import set_runtime_options as set_runtime_options
from ascend_sim.frontends.pypto.config import set_semantic_label as set_semantic_label
from ascend_sim.frontends.pypto.config import set_verify_options as set_verify_options
from ascend_sim.frontends.pypto.creation import Element as Element
from ascend_sim.frontends.pypto.creation import clone as clone
from ascend_sim.frontends.pypto.creation import element as element
from ascend_sim.frontends.pypto.creation import full as full
from ascend_sim.frontends.pypto.dtypes import CastMode as CastMode
from ascend_sim.frontends.pypto.dtypes import DataType as DataType
from ascend_sim.frontends.pypto.dtypes import PrecisionType as PrecisionType
from ascend_sim.frontends.pypto.dtypes import RunMode as RunMode
from ascend_sim.frontends.pypto.dtypes import SaturationMode as SaturationMode
from ascend_sim.frontends.pypto.dtypes import TileOpFormat as TileOpFormat
from ascend_sim.frontends.pypto.dtypes import bytes_of as bytes_of
from ascend_sim.frontends.pypto.elementwise import abs as abs  # noqa: A004 - PyPTO's own names, here and below
from ascend_sim.frontends.pypto.elementwise import add as add
from ascend_sim.frontends.pypto.elementwise import axpy_ as axpy_
from ascend_sim.frontends.pypto.elementwise import cast as cast
from ascend_sim.frontends.pypto.elementwise import div as div
from ascend_sim.frontends.pypto.elementwise import exp as exp
from ascend_sim.frontends.pypto.elementwise import maximum as maximum
from ascend_sim.frontends.pypto.elementwise import minimum as minimum
from ascend_sim.frontends.pypto.elementwise import mul as mul
from ascend_sim.frontends.pypto.elementwise import neg as neg
from ascend_sim.frontends.pypto.elementwise import reciprocal as reciprocal
from ascend_sim.frontends.pypto.elementwise import rsqrt as rsqrt
from ascend_sim.frontends.pypto.elementwise import sqrt as sqrt
from ascend_sim.frontends.pypto.elementwise import sub as sub
from ascend_sim.frontends.pypto.errors import FeAttributeError
from ascend_sim.frontends.pypto.errors import FeError as FeError
from ascend_sim.frontends.pypto.errors import PyptoError as PyptoError
from ascend_sim.frontends.pypto.interleaving import deinterleave as deinterleave
from ascend_sim.frontends.pypto.interleaving import gathermask as gathermask
from ascend_sim.frontends.pypto.interleaving import interleave as interleave
from ascend_sim.frontends.pypto.loops import cond as cond
from ascend_sim.frontends.pypto.loops import is_loop_begin as is_loop_begin
from ascend_sim.frontends.pypto.loops import is_loop_end as is_loop_end
from ascend_sim.frontends.pypto.loops import loop as loop
from ascend_sim.frontends.pypto.loops import loop_unroll as loop_unroll
from ascend_sim.frontends.pypto.reducing import amax as amax
from ascend_sim.frontends.pypto.reducing import amin as amin
from ascend_sim.frontends.pypto.reducing import rms_norm as rms_norm
from ascend_sim.frontends.pypto.reducing import sum as sum  # noqa: A004
from ascend_sim.frontends.pypto.shaping import assemble as assemble
from ascend_sim.frontends.pypto.shaping import concat as concat
from ascend_sim.frontends.pypto.shaping import expand_clone as expand_clone
from ascend_sim.frontends.pypto.shaping import reshape as reshape
from ascend_sim.frontends.pypto.shaping import squeeze as squeeze
from ascend_sim.frontends.pypto.shaping import transpose as transpose
from ascend_sim.frontends.pypto.shaping import unsqueeze as unsqueeze
from ascend_sim.frontends.pypto.shaping import view as view
from ascend_sim.frontends.pypto.shim import install_shim as install_shim
from ascend_sim.frontends.pypto.symbols import SymbolicScalar as SymbolicScalar
from ascend_sim.frontends.pypto.symbols import ceildiv as ceildiv
from ascend_sim.frontends.pypto.symbols import larger as max  # noqa: A004, F401
from ascend_sim.frontends.pypto.symbols import smaller as min  # noqa: A004, F401
from ascend_sim.frontends.pypto.symbols import symbolic_scalar as symbolic_scalar
from ascend_sim.frontends.pypto.tensor import DYN as DYN
from ascend_sim.frontends.pypto.tensor import DYNAMIC as DYNAMIC
from ascend_sim.frontends.pypto.tensor import STATIC as STATIC
from ascend_sim.frontends.pypto.tensor import Tensor as Tensor
from ascend_sim.frontends.pypto.tensor import tensor as tensor
from ascend_sim.frontends.pypto.trace import get_vec_tile_shapes as get_vec_tile_shapes
from ascend_sim.frontends.pypto.trace import set_vec_tile_shapes as set_vec_tile_shapes

jit = frontend.jit
globals().update({dtype.name: dtype for dtype in DataType})
DT_FP16, DT_FP32, DT_BF16 = DataType.DT_FP16, DataType.DT_FP32, DataType.DT_BF16
DT_INT16, DT_INT32 = DataType.DT_INT16, DataType.DT_INT32


def __getattr__(name: str) -> Any:
    """What PyPTO has and this front end has not, said in its words."""
    if name.startswith("__"):
        raise AttributeError(name)
    why = "; the cube unit is not simulated" if "matmul" in name or "_mm" in name or "conv" in name else ""
    raise FeAttributeError(f"pypto.{name}: this front end has no such name{why}; its README lists what it takes")
