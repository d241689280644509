"""What a launch takes, and how arrays lie in global memory."""

from __future__ import annotations

import gc
import sys
import types
from typing import Any

import numpy as np
import pytest
from asc_bench import RecordingDevice, record

from ascend_sim import asc
from ascend_sim.asc.memory import DeviceArray, GlobalMemory, HostData
from ascend_sim.errors import ArgumentError, InputError, KernelError


def kinds(**arguments: Any) -> dict[str, Any]:
    """What a kernel sees of each argument."""
    seen: dict[str, Any] = {}

    def body(a: Any = None, b: Any = None, c: Any = None, d: Any = None) -> None:
        seen.update(a=a, b=b, c=c, d=d)

    full = {name: arguments.get(name, 0) for name in "abcd"}
    with RecordingDevice() as device:
        asc.jit(body)[1](**full)
    assert device.programs
    return seen


def test_scalars() -> None:
    seen = kinds(a=3, b=0.1, c=True, d=np.int64(2**40))
    assert [seen[name].dtype for name in "abcd"] == [asc.int32, asc.float32, asc.int8, asc.int64]
    assert seen["b"] == float(np.float32(0.1))
    seen = kinds(a=np.float16(2.5), b=np.bool_(True), c=asc.number(5, asc.uint8), d=np.float64(0.1))
    assert [seen[name].dtype for name in "abcd"] == [asc.float16, asc.int8, asc.uint8, asc.float64]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (2**31, "argument 'a' = 2147483648 does not fit int32, which a Python int becomes; pass np.int64(2147483648)"),
        (
            np.zeros(3, bool),
            "argument 'a' is an array of bool, which kernels do not take; allowed are int8..int64, uint8..uint64, "
            "float16, bfloat16, float32, float64",
        ),
        (np.zeros(3, ">f4"), "argument 'a' has dtype >f4, which is not in native byte order"),
        (
            DeviceArray((3,), "float32"),
            "argument 'a' is a DeviceArray without data, but this device computes values; pass an array, or open the "
            "device with values=False",
        ),
    ],
)
def test_refused_values(value: Any, text: str) -> None:
    with pytest.raises(ArgumentError) as caught:
        kinds(a=value)
    assert str(caught.value) == f"kernel 'body': {text}"


def test_missing_and_superfluous_arguments() -> None:
    def body(x: int, y: int = 3) -> None: ...

    kernel = asc.jit(body)
    cases: list[tuple[tuple[Any, ...], dict[str, Any], str]] = [
        ((), {}, "argument 'x' is missing"),
        ((1,), {}, "argument 'y' is missing (a kernel's own defaults are not applied at launch)"),
        ((1, 2, 3), {}, "too many positional arguments"),
        ((1, 2), {"z": 3}, "got an unexpected keyword argument 'z'"),
    ]
    for args, kwargs, text in cases:
        with RecordingDevice(), pytest.raises(ArgumentError) as caught:
            kernel[1](*args, **kwargs)
        assert str(caught.value) == f"kernel 'body': {text}"


@asc.jit
def increment(x: asc.GlobalAddress, n: asc.ConstExpr[int]) -> None:
    tensor = asc.GlobalTensor()
    tensor.set_global_buffer(x)
    for i in range(n):
        tensor.set_value(i, tensor.get_value(i) + 1)


@asc.jit
def touch(x: asc.GlobalAddress) -> None:
    tensor = asc.GlobalTensor()
    tensor.set_global_buffer(x)
    tensor.get_value(0)


def test_arrays_that_are_not_contiguous_are_copied_in_and_back() -> None:
    x = np.arange(12, dtype=np.int32).reshape(3, 4)
    record(increment, x[:, 1], 3)
    assert x[:, 1].tolist() == [2, 6, 10]
    record(increment, x.T, 12)  # element order of the transposed array
    assert x.tolist() == [[1, 3, 3, 4], [5, 7, 7, 8], [9, 11, 11, 12]]


def test_views_share_the_memory_and_the_address_of_their_array() -> None:
    x = np.zeros(1024, np.int32)
    with RecordingDevice() as device:
        increment[1](x, 1)
        increment[1](x[100:], 1)
        increment[1](x.reshape(32, 32), 1)
        increment[1](np.zeros(4, np.int32), 1)
    assert x[[0, 100]].tolist() == [2, 1]
    first = [program.blocks[0].gm_addresses[0] for program in device.programs]
    assert first == [512, 512 + 400, 512, 512 + 4096]


def test_a_new_array_at_an_old_place_gets_a_new_address() -> None:
    memory = GlobalMemory()
    bases = []
    for _ in range(3):
        array = np.zeros(8, np.float32)
        bases.append(memory.place("x", array, array.nbytes, array).base)
        memory.place("x", array, array.nbytes, None)
        del array
    assert bases == [512, 1024, 1536]


def test_a_device_does_not_keep_arrays_alive() -> None:
    array = np.zeros(8, np.int32)
    references = sys.getrefcount(array)
    with RecordingDevice():
        increment[1](array, 1)
        assert sys.getrefcount(array) == references


def test_read_only_arrays_may_be_read() -> None:
    x = np.arange(3, dtype=np.int32)
    x.flags.writeable = False

    def body(x: asc.GlobalAddress) -> None:
        tensor = asc.GlobalTensor()
        tensor.set_global_buffer(x)
        assert tensor.get_value(2) == 2

    record(body, x)
    with pytest.raises(KernelError) as refused:
        record(increment, x, 1)
    assert str(refused.value).endswith(
        " in increment: this writes to an array that is read-only: kernels work on the arrays of a launch in place"
    )


def test_empty_arrays() -> None:
    record(increment, np.zeros(0, np.int32), 0)
    with pytest.raises(KernelError, match=r"src touches bytes 0\.\.31 of kernel argument 'x', which holds 0 B$"):
        record(load_one_block, np.zeros(0, np.int32))


def load_one_block(x: asc.GlobalAddress) -> None:
    tensor = asc.GlobalTensor()
    tensor.set_global_buffer(x)
    asc.data_copy(asc.LocalTensor(asc.int32, asc.TPosition.VECIN, 0, 8), tensor, 8)


def test_device_arrays() -> None:
    array = DeviceArray((2, 8), "float")
    assert (array.size, array.nbytes, repr(array)) == (16, 64, "DeviceArray((2, 8), 'float32')")
    with RecordingDevice(values=False) as device:
        touch[1](array)
        touch[1](array)
    assert [program.blocks[0].gm_addresses[0] for program in device.programs] == [512, 512]
    with pytest.raises(InputError, match=r"^DeviceArray shape \(-1,\): every dimension must be 0 or more$"):
        DeviceArray((-1,), "float")


@pytest.mark.parametrize("values", [True, False])
def test_tiling_data_can_be_read_without_values(values: bool) -> None:
    """Two views of one piece of memory, of which the kernel's loops depend."""
    seen: list[Any] = []

    def body(head: asc.GlobalAddress, samples: asc.GlobalAddress) -> None:
        fields, lengths = asc.GlobalTensor(), asc.GlobalTensor()
        fields.set_global_buffer(head)
        lengths.set_global_buffer(samples)
        seen.extend(lengths.get_value(i) for i in range(fields.get_value(0)))

    data = np.frombuffer(np.int64(2).tobytes() + np.array([7, 9], np.int32).tobytes(), np.uint8).copy().view(HostData)
    program = record(body, data[:8].view(np.int64), data[8:].view(np.int32), values=values)
    assert seen == [7, 9]
    assert [item.dtype for item in seen] == [asc.int32, asc.int32]
    assert list(program.blocks[0].gm_addresses) == [512, 520, 524]


class FakeTensor:
    """What a launch asks of a torch tensor."""

    def __init__(self, array: Any, dtype: str, device: str = "cpu") -> None:
        self.array, self.dtype, self.device = array, dtype, FakeTorchDevice(device)

    def detach(self) -> FakeTensor:
        return self

    def view(self, dtype: Any) -> FakeTensor:
        return FakeTensor(self.array.view(dtype), "torch.int16")

    def numpy(self) -> Any:
        return self.array

    def __bool__(self) -> bool:
        raise RuntimeError("Boolean value of Tensor with more than one value is ambiguous")


class FakeTorchDevice:
    def __init__(self, kind: str) -> None:
        self.type = kind

    def __str__(self) -> str:
        return f"{self.type}:0"


def test_torch_tensors_go_by_way_of_numpy(monkeypatch: pytest.MonkeyPatch) -> None:
    torch = types.ModuleType("torch")
    torch.int16, torch.Tensor = np.int16, FakeTensor  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "torch", torch)
    tensor = FakeTensor(np.zeros(4, np.int32), "torch.int32")
    brain = FakeTensor(np.zeros(4, np.uint16), "torch.bfloat16")
    with RecordingDevice() as device:
        increment[1](tensor, 2)
        increment[1](tensor, 2)
        increment[1](brain, 1)
    assert tensor.array.tolist() == [2, 2, 0, 0]
    assert brain.array.tolist() == [0x3F80, 0, 0, 0]  # 1.0
    assert [program.blocks[0].gm_addresses[0] for program in device.programs] == [512, 512, 1024]
    with RecordingDevice(), pytest.raises(ArgumentError) as caught:
        increment[1](FakeTensor(np.zeros(4, np.int32), "torch.int32", "cuda"), 2)
    assert str(caught.value) == (
        "kernel 'increment': argument 'x' is a torch tensor on cuda:0; only the CPU's are taken"
    )


def test_garbage_collection_is_as_it_was() -> None:
    record(increment, np.zeros(4, np.int32), 1)
    assert gc.isenabled()
    gc.disable()
    try:
        record(increment, np.zeros(4, np.int32), 1)
        assert not gc.isenabled()
    finally:
        gc.enable()


# -- annotations as strings (this file has `from __future__ import annotations`) -----------------------------------


def test_constexpr_annotations_are_found() -> None:
    inner = int

    def body(a: asc.ConstExpr[int], b: asc.ConstExpr, c: Unknown, d: asc.ConstExpr[inner]) -> None:  # noqa: F821
        inner(d)

    assert asc.jit(body).constexprs == {"a": int, "b": object, "d": int}


def test_a_constexpr_that_cannot_be_resolved() -> None:
    def body(a: asc.ConstExpr[Unknown]) -> None:  # noqa: F821
        ...

    with pytest.raises(ArgumentError) as caught:
        asc.jit(body)
    assert str(caught.value) == (
        "kernel 'body': the annotation 'asc.ConstExpr[Unknown]' cannot be resolved: name 'Unknown' is not defined"
    )
