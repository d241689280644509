"""What data_copy and data_copy_pad refuse, with the full texts."""

from __future__ import annotations

import ml_dtypes
import numpy as np
from isa_bench import Bench, refused

from ascend_sim import asc
from ascend_sim.asc.params import (
    DataCopyEnhancedParams,
    DataCopyExtParams,
    DataCopyPadExtParams,
    DataCopyPadParams,
    DataCopyParams,
    SliceInfo,
)
from ascend_sim.asc.tensors import GlobalAddress, GlobalTensor, TPosition
from ascend_sim.isa import dtypes as t


def test_data_copy_amounts() -> None:
    with Bench() as bench:
        gm = bench.gm(np.zeros(100, np.float16), "x")
        ub = bench.local(t.float16, 0, 64)
        refused(
            lambda: asc.data_copy(ub, gm, 20),
            "DataCopy: count 20 of float16 is 40 B, allowed are multiples of 32 B: the hardware moves whole 32 B "
            "blocks and would drop the last 8 B (data_copy_pad moves any number of bytes)",
        )
        refused(lambda: asc.data_copy(ub, gm, -16), "DataCopy: count is -16, allowed are 0..4294967295")
        refused(
            lambda: asc.data_copy(ub, gm[64:], 64),
            "DataCopy: src touches bytes 128..255 of kernel argument 'x', which holds 200 B (allowed are bytes 0..199)",
        )
        refused(
            lambda: asc.data_copy(gm[-16:], ub, 64),
            "DataCopy: dst touches bytes -32..95 of kernel argument 'x', which holds 200 B (allowed are bytes 0..199)",
        )
        refused(
            lambda: asc.data_copy(ub, gm, 80),
            "DataCopy: dst needs 160 B from UB byte 0 on, but the tensor holds 64 elements of float16 (128 B)",
        )
        refused(
            lambda: asc.data_copy(ub[8:], gm, 16),
            "DataCopy: dst starts at UB byte 16, which is not a multiple of 32: UB operands start on a 32 B block",
        )
        refused(
            lambda: asc.data_copy(ub, gm, DataCopyParams(4096, 1)),
            "DataCopy: DataCopyParams.block_count is 4096, allowed are 0..4095",
        )
        refused(
            lambda: asc.data_copy(ub, gm, DataCopyParams(1, 1, 65536)),
            "DataCopy: DataCopyParams.src_stride is 65536, allowed are 0..65535",
        )
        assert not bench.core.instrs


def test_data_copy_forms() -> None:
    with Bench() as bench:
        gm = bench.gm(np.zeros(100, np.float16), "x")
        ub = bench.local(t.float16, 0, 64)
        refused(
            lambda: asc.data_copy(ub, gm, 1.5), "DataCopy: count must be an integer, not float (write // to divide)"
        )
        refused(lambda: asc.data_copy(ub, gm), "DataCopy: give a count of elements or DataCopyParams")
        refused(
            lambda: asc.data_copy(ub, gm, DataCopyExtParams(1, 32)),
            "DataCopy: DataCopyExtParams belongs to data_copy_pad; data_copy takes a count or DataCopyParams",
        )
        refused(
            lambda: asc.data_copy(ub, gm, DataCopyParams(1, 1), DataCopyEnhancedParams()),
            "DataCopy: enhanced_params set conversions of cube moves and are not simulated: leave them out",
        )
        refused(
            lambda: asc.data_copy(ub, gm, [SliceInfo(0, 7, 0, 1, 8)], [SliceInfo(0, 7, 0, 1, 8)], 1),
            "DataCopy: the form with slice lists is not simulated: use DataCopyParams or data_copy_pad",
        )
        assert not bench.core.instrs


def test_data_copy_operands() -> None:
    with Bench() as bench:
        gm = bench.gm(np.zeros(100, np.float16), "x")
        ub = bench.local(t.float16, 0, 64)
        refused(
            lambda: asc.data_copy(gm, gm, 16),
            "DataCopy: dst is a GlobalTensor, src a GlobalTensor; allowed are GlobalTensor -> LocalTensor, LocalTensor "
            "-> GlobalTensor, LocalTensor -> LocalTensor",
        )
        refused(
            lambda: asc.data_copy(ub, GlobalAddress(gm.allocation, t.float16), 16),
            "DataCopy: dst is a LocalTensor, src a GlobalAddress; allowed are GlobalTensor -> LocalTensor, LocalTensor "
            "-> GlobalTensor, LocalTensor -> LocalTensor (lay a GlobalTensor on the address with set_global_buffer)",
        )
        refused(
            lambda: asc.data_copy(ub, GlobalTensor(), 16),
            "DataCopy: src is a GlobalTensor without a buffer: call set_global_buffer(...) first",
        )
        refused(
            lambda: asc.data_copy(DataCopyParams(1, 1), gm, 16),
            "DataCopy: dst is a DataCopyParams, src a GlobalTensor; allowed are GlobalTensor -> LocalTensor, "
            "LocalTensor -> GlobalTensor, LocalTensor -> LocalTensor",
        )
        refused(
            lambda: asc.data_copy(ub, 7, 16),
            "DataCopy: dst is a LocalTensor, src a int; allowed are GlobalTensor -> LocalTensor, LocalTensor -> "
            "GlobalTensor, LocalTensor -> LocalTensor",
        )
        refused(
            lambda: asc.data_copy(bench.local(t.float32, 0, 64), gm, 16),
            "DataCopy: dtype float16 -> float32 is not supported on Ascend 910B / 910_93 (arch 2201), allowed are "
            "int8, uint8, int16, uint16, float16, bfloat16, int32, uint32, float32, int64, uint64, float64",
        )
        refused(
            lambda: asc.data_copy(bench.local(t.float16, 0, 64, TPosition.A1), gm, 16),
            "DataCopy: dst is in A1, allowed are VECIN, VECOUT and VECCALC (unified buffer)",
        )
        refused(
            lambda: asc.data_copy(ub[16:], ub, 32),
            "DataCopy: src (UB byte 0 on) and dst (UB byte 32 on) overlap: they must be equal or disjoint",
        )
        assert not bench.core.instrs


def test_data_copy_pad_amounts() -> None:
    with Bench() as bench:
        gm = bench.gm(np.zeros(100, np.float16), "x")
        ub = bench.local(t.float16, 0, 64)
        pad = DataCopyPadExtParams(t.float16)
        refused(
            lambda: asc.data_copy_pad(ub, gm, DataCopyExtParams(1, 31), pad),
            "DataCopyPad: block_len is 31 B, allowed are multiples of 2 B, the size of float16",
        )
        refused(
            lambda: asc.data_copy_pad(ub, gm, DataCopyExtParams(1, 1 << 21), pad),
            "DataCopyPad: DataCopyExtParams.block_len is 2097152, allowed are 0..2097151",
        )
        refused(
            lambda: asc.data_copy_pad(gm, ub, DataCopyExtParams(4096, 2)),
            "DataCopyPad: DataCopyExtParams.block_count is 4096, allowed are 0..4095",
        )
        refused(
            lambda: asc.data_copy_pad(ub, gm, DataCopyExtParams(3, 40, 30, 0), pad),
            "DataCopyPad: dst needs 192 B from UB byte 0 on, but the tensor holds 64 elements of float16 (128 B)",
        )
        refused(
            lambda: asc.data_copy_pad(ub, gm[98:], DataCopyExtParams(2, 2, 2, 0), pad),
            "DataCopyPad: src touches bytes 196..201 of kernel argument 'x', which holds 200 B (allowed are bytes "
            "0..199)",
        )
        assert not bench.core.instrs


def test_data_copy_pad_structs() -> None:
    with Bench() as bench:
        gm = bench.gm(np.zeros(100, np.float16), "x")
        ub = bench.local(t.float16, 0, 64)
        ext, pad = DataCopyExtParams(1, 32), DataCopyPadExtParams(t.float16)
        refused(
            lambda: asc.data_copy_pad(ub, gm, ext),
            "DataCopyPad: GM -> UB with DataCopyExtParams takes pad_params of type DataCopyPadExtParams, given: none",
        )
        refused(
            lambda: asc.data_copy_pad(ub, gm, ext, DataCopyPadParams()),
            "DataCopyPad: GM -> UB with DataCopyExtParams takes pad_params of type DataCopyPadExtParams, given: "
            "DataCopyPadParams",
        )
        refused(
            lambda: asc.data_copy_pad(ub, gm, ext, DataCopyPadExtParams(t.float32)),
            "DataCopyPad: DataCopyPadExtParams.dtype is float32, but dst is float16: they must be equal",
        )
        refused(
            lambda: asc.data_copy_pad(ub, gm, ext, DataCopyPadExtParams(t.float16, True, 17, 0)),
            "DataCopyPad: DataCopyPadExtParams.left_padding is 17 elements of float16 = 34 B, allowed are at most 16 "
            "elements (32 B a side)",
        )
        refused(
            lambda: asc.data_copy_pad(ub, gm, DataCopyParams(1, 32), DataCopyPadParams(True, 0, 1, 3)),
            "DataCopyPad: DataCopyPadParams.padding_value is 3, allowed is 0 (DataCopyPadExtParams takes other values)",
        )
        refused(
            lambda: asc.data_copy_pad(gm, ub, ext, pad),
            "DataCopyPad: pad_params belong to GM -> UB: a copy to GM writes no padding",
        )
        refused(
            lambda: asc.data_copy_pad(ub, ub, ext, pad),
            "DataCopyPad: dst is a LocalTensor, src a LocalTensor; allowed are GlobalTensor -> LocalTensor, "
            "LocalTensor -> GlobalTensor",
        )
        refused(
            lambda: asc.data_copy_pad(ub, gm, (1, 32), pad),
            "DataCopyPad: data_copy_params must be DataCopyExtParams or DataCopyParams, not tuple",
        )
        wide, local = bench.gm(np.zeros(100, np.int64), "y"), bench.local(t.int64, 0, 64)
        refused(
            lambda: asc.data_copy_pad(local, wide, ext, DataCopyPadExtParams(t.int64, True, 0, 1, 3)),
            "DataCopyPad: DataCopyPadExtParams.padding_value is 3, allowed is 0 for 64-bit types such as int64",
        )
        assert not bench.core.instrs


def test_outside_a_kernel_nothing_records() -> None:
    with Bench() as bench:
        gm, ub = bench.gm(np.zeros(64, ml_dtypes.bfloat16)), bench.local(t.bfloat16, 0, 64)
    refused(
        lambda: asc.data_copy(ub, gm, 64),
        "asc instructions can only be called inside a kernel: decorate the function with @asc.jit and launch it as "
        "kernel[blocks](...)",
    )
