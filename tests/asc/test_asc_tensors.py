"""LocalTensor and GlobalTensor: views, sizes, scalar access, explicit addresses."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from asc_bench import calls, instrs, record, refused

from ascend_sim import asc
from ascend_sim.asc import TPosition
from ascend_sim.asc.memory import DeviceArray
from ascend_sim.asc.tensors import NoMemoryError
from ascend_sim.program import Memory, ScalarWork
from ascend_sim.soc import load


def local(size: int = 64, dtype: Any = asc.float32, addr: int = 0) -> asc.LocalTensor:
    return asc.LocalTensor(dtype, TPosition.VECCALC, addr, size)


def test_views() -> None:
    def body() -> None:
        tensor = asc.LocalTensor(dtype=asc.float32, pos=TPosition.VECIN, addr=64, tile_size=32)
        assert tensor[8] is tensor[8:]
        assert tensor(8) is tensor[8]
        assert tensor[asc.number(8, asc.int32)] is tensor[8]
        assert (tensor[8].addr, tensor[8].size, tensor[8][4].addr) == (96, 24, 112)
        assert tensor[32].get_size() == 0
        halves = tensor.reinterpret_cast(asc.float16)
        assert (halves.dtype, halves.addr, halves.size) == (asc.float16, 64, 64)
        assert tensor.reinterpret_cast(asc.float16) is halves
        assert (tensor.get_size(), tensor.get_length(), tensor.get_phy_addr(2)) == (32, 128, 72)
        assert tensor.get_position() == TPosition.VECIN
        assert tensor.get_user_tag() == -1
        tensor.set_user_tag(5)
        assert tensor.get_user_tag() == 5

    record(body)


def test_different_tensors_have_different_keys() -> None:
    """In the largest unified buffer that a chip may have: keys stand for tensors in the recorder."""
    most = 1 << 20

    def body() -> None:
        places = [(addr, size) for addr in (0, 32, most - 32, most) for size in (0, 1, 32, most - addr) if size <= most]
        tensors = [
            asc.LocalTensor(dtype, pos, addr, size)
            for addr, size in dict.fromkeys(places)
            if addr + size <= most
            for dtype in (asc.int8, asc.uint8)
            for pos in (asc.TPosition.VECIN, asc.TPosition.VECCALC)
        ]
        assert len({tensor.key for tensor in tensors}) == len(tensors) == 48

    record(body, soc=load("ascend910b", {"ub.bytes": most}))


def test_tensors_may_be_moved_and_resized() -> None:
    def body() -> None:
        tensor, empty = local(), asc.LocalTensor(asc.float16)
        key = tensor.key
        view = tensor[8]
        tensor.set_buffer_len(128)
        assert (tensor.size, tensor[8].size, view.size) == (32, 24, 56)
        assert tensor.key != key
        empty.set_addr_with_offset(tensor, 4)
        assert (empty.addr, empty.size) == (16, 56)
        tensor.set_shape_info(asc.ShapeInfo([4, 8]))
        assert asc.get_shape_size(tensor.get_shape_info()) == 32

    record(body)


@pytest.mark.parametrize(
    ("use", "text"),
    [
        (lambda t: t[2:5], "tensor slices take the form t[i] or t[i:], not [2:5]"),
        (lambda t: t[:], "tensor slices take the form t[i] or t[i:], not [:]"),
        (lambda t: t[1::2], "tensor slices take the form t[i] or t[i:], not [1::2]"),
        (lambda t: t[1.5], "tensor index must be an integer, not float (write // to divide)"),
        (lambda t: t["a"], "tensor index must be an integer, not str"),
        (lambda t: t[65], "LocalTensor slice starts at element 65, allowed are 0..64"),
        (lambda t: t[-1], "LocalTensor slice starts at element -1, allowed are 0..64"),
        (list, "a LocalTensor cannot be iterated: read elements with get_value(index)"),
        (lambda t: t.get_value(64), "get_value: index 64 is outside the tensor, allowed are 0..63"),
        (lambda t: t.set_value(0.5, 1), "set_value: the index must be an integer, not float (write // to divide)"),
        (
            lambda t: t.reinterpret_cast(asc.void),
            "reinterpret_cast takes a numeric data type such as asc.float32, not asc.void",
        ),
        (lambda t: t.get_shape_info(), "this LocalTensor has no shape: call set_shape_info first"),
        (
            lambda t: t.set_size(50_000),
            "set_size: 50000 elements of asc.float32 at address 0 end at 200000, but the unified buffer has 196608 B",
        ),
        (
            lambda _: local(8, addr=196_600),
            "LocalTensor: 8 elements of asc.float32 at address 196600 end at 196632, but the unified buffer has "
            "196608 B",
        ),
        (lambda _: local(8, "float32"), "LocalTensor takes a numeric data type such as asc.float32, not 'float32'"),
    ],
)
def test_refusals(use: Any, text: str) -> None:
    refused(lambda: use(local()), text)


def test_values_in_unified_buffer() -> None:
    seen: list[Any] = []

    def body() -> None:
        floats, bytes_ = local(4), local(16, asc.uint8)
        seen.append(float(floats.get_value(0)))  # never written: 0xFF everywhere
        floats.set_value(1, 0.1)
        seen.append(floats.get_value(1))
        bytes_.set_value(0, 300)
        seen.append(bytes_.get_value(0))
        words = local(4, asc.int32, 32)
        words.set_value(3, -5)
        seen.append(words.get_value(3) / 2)

    record(body)
    assert np.isnan(seen[0])
    assert seen[1] == float(np.float32(0.1))
    assert seen[2:] == [44, -2]


@pytest.mark.parametrize("dtype", ["int8", "uint16", "int64", "uint64", "float16", "float64"])
def test_every_dtype_reads_back(dtype: str) -> None:
    x = np.zeros(4, dtype)

    def body(x: asc.GlobalAddress) -> None:
        tensor = asc.GlobalTensor()
        tensor.set_global_buffer(x, 4)
        tensor.set_value(1, 100)
        assert tensor.get_value(1) == 100
        assert tensor[1:].get_value(0).dtype is x.dtype
        tensor[2].set_value(1, tensor.get_value(1))

    record(body, x)
    assert x.tolist() == [0, 100, 0, 100]


def test_bfloat16_arrays() -> None:
    x = np.array([1.5, 0], ml_dtypes.bfloat16)

    def body(x: asc.GlobalAddress) -> None:
        assert x.dtype is asc.bfloat16
        tensor = asc.GlobalTensor()
        tensor.set_global_buffer(x)
        tensor.set_value(1, tensor.get_value(0) * 1.01)

    record(body, x)
    assert float(x[1]) == 1.515625  # 1.5 * bfloat16(1.01) = 1.51171875, half way between two: to the even one


def test_scalar_access_is_recorded() -> None:
    def body(x: asc.GlobalAddress) -> None:
        tensor = asc.GlobalTensor()
        tensor.set_global_buffer(x + 2)
        tensor.get_value(1)
        local().set_value(3, 0)

    program = record(body, np.zeros(8, np.float32))
    load, store = program.blocks[0].instrs
    assert load.work == ScalarWork(Memory.GM, 4, store=False)
    assert store.work == ScalarWork(Memory.UB, 4, store=True)
    assert list(program.blocks[0].gm_addresses) == [512 + 12]
    assert [(r.start, r.length) for r in store.writes] == [(12, 4)]
    assert calls(load) == {"SET_GLOBAL_BUFFER": 1}
    assert (load.name, store.name, load.pipe.name) == ("GetValue", "SetValue", "PIPE_S")


def test_global_tensors() -> None:
    def body(x: asc.GlobalAddress) -> None:
        tensor = asc.GlobalTensor()
        tensor.set_global_buffer(x, 64)
        view = tensor[16:]
        assert (view.offset, view.get_size(), view(4).offset) == (64, 48, 80)
        again = asc.GlobalTensor()
        again.set_global_buffer(view.get_phy_addr(2))
        assert (again.offset, again.get_size(), again.dtype) == (72, 0, asc.float32)
        tensor.set_l2_cache_hint(asc.CacheMode.CACHE_MODE_DISABLE)
        assert tensor.l2_bypass
        assert tensor[8].l2_bypass
        tensor.set_l2_cache_hint()
        assert not tensor.l2_bypass
        tensor.set_shape_info(asc.ShapeInfo([8, 8]))
        assert tensor.get_shape_info().shape(1) == 8

    assert instrs(body, np.zeros(64, np.float32)) == []


def test_global_refusals() -> None:
    def unset() -> None:
        asc.GlobalTensor()[0]

    def unset_value() -> None:
        asc.GlobalTensor().get_value(0)

    def wrong_buffer() -> None:
        asc.GlobalTensor().set_global_buffer(np.zeros(4))  # type: ignore[arg-type]

    def outside(x: asc.GlobalAddress) -> None:
        tensor = asc.GlobalTensor()
        tensor.set_global_buffer(x)
        tensor[2].get_value(-3)

    refused(unset, "this GlobalTensor has no memory yet: call set_global_buffer first", kind=NoMemoryError)
    refused(unset_value, "this GlobalTensor has no memory yet: call set_global_buffer first", kind=NoMemoryError)
    refused(
        wrong_buffer,
        "set_global_buffer takes a GlobalAddress (an array argument of the kernel, or one plus an element offset), not "
        "ndarray",
    )
    refused(
        outside,
        "get_value: element -3 of the GlobalTensor is outside its array 'x' (bytes -4..-1 of 16)",
        np.zeros(4, np.float32),
    )


# -- runs without values ------------------------------------------------------------------------------------------


def test_values_may_be_passed_on_without_being_known() -> None:
    def body(x: asc.GlobalAddress) -> None:
        tensor, ub = asc.GlobalTensor(), local(64)
        tensor.set_global_buffer(x)
        value = tensor.get_value(0)
        ub.set_value(0, value)
        asc.muls(ub, ub, value, 64)
        asc.duplicate(ub, value, 64)
        asc.printf("%f\\n", value)
        assert repr(value.cast(asc.int32)) == "<unknown int32>"

    found = instrs(body, DeviceArray((8,), "float32"), values=False)
    assert [text.split()[0] for text in found] == ["GetValue", "SetValue", "Muls", "Duplicate"]


@pytest.mark.parametrize(
    ("use", "operation"),
    [
        (bool, "__bool__"),
        (int, "__int__"),
        (float, "__float__"),
        (lambda v: v > 1, "__gt__"),
        (lambda v: v == 1, "__eq__"),
        (lambda v: 2 * v, "__rmul__"),
        (lambda v: v.ceildiv(2), "ceildiv"),
        (lambda v: local()[v], "__index__"),
    ],
)
def test_nothing_can_be_decided_by_an_unknown_value(use: Any, operation: str) -> None:
    refused(
        lambda: use(local().get_value(0)),
        f"the kernel needs the value of an element of type asc.float32 ({operation}), but this run computes no values: "
        "run it with values",
        values=False,
    )
