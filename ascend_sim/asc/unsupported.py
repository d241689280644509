"""Names that pyasc has and this simulator does not (yet), with the reason that users are told."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import NoReturn

from ascend_sim.errors import UnsupportedError

_CUBE = "cube instructions are not simulated yet"
_LIBRARY = "the asc.adv library is not simulated yet; write it with the basic vector calls"
_SORT = "sorting instructions are not simulated yet"
_TIME = "a kernel is recorded before it is timed, so it cannot read a clock; the report has the cycles"
_AUTO = "automatic queues and synchronisation are not simulated yet; use TQue or set_flag and wait_flag"
_INSTRUCTION = "this instruction is not simulated yet"
_BOARD = "it reads the state of a real core"
_CPP = "C++ source cannot be simulated"
_MODULE = "what pyasc has in this module stands in asc itself here"

_REASONS: dict[str, tuple[str, ...]] = {
    _CUBE: (
        "mmad",
        "mmad_with_sparse",
        "load_data",
        "load_data_with_sparse",
        "load_data_with_transpose",
        "fixpipe",
        "init_const_value",
        "set_load_data_boundary",
        "set_load_data_padding_value",
        "set_load_data_repeat",
        "set_fix_pipe_pre_quant_flag",
        "set_hf32_mode",
        "set_hf32_trans_mode",
        "set_mm_layout_transform",
        "set_aipp_functions",
        "load_image_to_local",
        "Nd2NzParams",
        "Nz2NdParamsFull",
        "DataCopyCO12DstParams",
        "LoadData2DParams",
        "LoadData2DParamsV2",
        "LoadData2dTransposeParams",
        "LoadData2dTransposeParamsV2",
        "LoadData3DParamsV1",
        "LoadData3DParamsV2",
        "LoadData3DParamsV2Pro",
        "LoadDataRepeatParam",
        "MmadParams",
        "InitConstValueParams",
        "FixpipeConfig",
        "FixpipeParamsV220",
        "LoadImageToLocalParams",
        "CubeFormat",
        "CO2Layout",
        "QuantModes",
        "LayoutMode",
        "IterateMode",
        "IterateOrder",
        "BatchMode",
        "ScheduleType",
        "MatmulConfigMode",
        "AippInputFormat",
        "TensorDesc",
        "ListTensorDesc",
    ),
    _LIBRARY: ("adv",),
    _SORT: (
        "sort",
        "sort32",
        "rp_sort16",
        "mrg_sort",
        "mrg_sort4",
        "get_mrg_sort_result",
        "get_sort_len",
        "get_sort_offset",
        "proposal_concat",
        "proposal_extract",
        "MrgSortSrcList",
    ),
    _TIME: ("get_system_cycle", "print_time_stamp", "metrics_prof_start", "metrics_prof_stop"),
    _AUTO: ("LocalTensorAuto",),
    _INSTRUCTION: (
        "add_deq_relu",
        "add_relu_cast",
        "sub_relu_cast",
        "mul_cast",
        "bilinear_interpolation",
        "cast_deq",
        "set_store_atomic_config",
        "get_store_atomic_config",
        "AtomicDtype",
        "AtomicOp",
        "CheckLocalMemoryIAParam",
        "check_local_memory_ia",
        "dump_acc_chk_point",
    ),
    _BOARD: (
        "get_program_counter",
        "get_arch_version",
        "get_sys_workspace",
        "set_sys_workspace",
        "get_hccl_context",
        "set_hccl_context",
        "icache_preload",
        "get_icache_preload_status",
    ),
    _CPP: ("inline",),
    _MODULE: ("basic", "core", "fwk"),
}

REASONS = {name: reason for reason, names in _REASONS.items() for name in names}


def refuse(name: str, offered: Iterable[str]) -> NoReturn:
    """What `asc.name` answers when there is no such name."""
    if name in REASONS:
        raise UnsupportedError(f"asc.{name}: {REASONS[name]}")
    close = difflib.get_close_matches(name, [n for n in offered if not n.startswith("_")], 3)
    hint = f"; did you mean {' or '.join(f'asc.{n}' for n in close)}?" if close else ""
    raise AttributeError(f"asc has no {name!r}{hint}")
