"""AclTensor: what it takes from an array, what it refuses."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from ascend_sim.errors import InputError
from ascend_sim.host.aclnn import AclFormat, AclTensor
from ascend_sim.host.device import Device


def test_from_a_contiguous_array() -> None:
    array = np.zeros((2, 3), ml_dtypes.bfloat16)
    tensor = AclTensor.from_numpy(array)
    assert (tensor.shape, tensor.dtype, tensor.strides, tensor.offset) == ((2, 3), "bfloat16", (3, 1), 0)
    assert (tensor.storage_shape, tensor.format, tensor.is_contiguous) == ((2, 3), AclFormat.ACL_FORMAT_ND, True)
    tensor.array()[1, 2] = 5
    assert array[1, 2] == 5


def test_from_a_view() -> None:
    whole = np.empty((4, 6), np.float32)
    whole[...] = np.arange(24).reshape(4, 6)
    tensor = AclTensor.from_numpy(whole[1:3, 2::2])
    assert (tensor.shape, tensor.strides, tensor.offset, tensor.storage_shape) == ((2, 2), (6, 2), 8, (4, 6))
    assert not tensor.is_contiguous
    assert tensor.array().tolist() == [[8, 10], [14, 16]]


@pytest.mark.parametrize(
    ("shape", "strides", "contiguous"),
    [((2, 3), (3, 1), True), ((2, 3), (1, 2), False), ((1, 3), (99, 1), True), ((2, 0), (5, 7), True), ((), (), True)],
)
def test_contiguous(shape: Any, strides: Any, contiguous: bool) -> None:
    assert AclTensor(shape, "float32", strides=strides, storage_shape=(100,)).is_contiguous == contiguous


def test_a_view_of_device_memory() -> None:
    buffer = Device().memory.malloc(64)
    buffer.write(np.arange(16, dtype=np.float32))
    transposed = AclTensor((3, 2), "float32", strides=(1, 4), offset=5, storage_shape=(4, 4), data=buffer)
    assert transposed.array().tolist() == [[5, 9], [6, 10], [7, 11]]


def test_refusals() -> None:
    small = Device().memory.malloc(8)
    cases: list[tuple[dict[str, Any], str]] = [
        ({"strides": (1,)}, "AclTensor: 2 dims and 1 stride; give one per dim"),
        ({"strides": (-3, 1)}, "AclTensor: offset 0 and strides (-3, 1) must not be negative"),
        (
            {"strides": (3, 1), "offset": 1},
            "AclTensor: shape (2, 3) with strides (3, 1) from element 1 reaches element 6; the storage has 6",
        ),
        ({"data": small}, "AclTensor: a storage of 6 float32 takes 24 B; the memory has 8 B"),
        (
            {"data": np.zeros((6, 2), np.float32)[:, 0]},
            "AclTensor: data must be a contiguous array; AclTensor.from_numpy takes any",
        ),
        ({"dtype": "float8"}, "input AclTensor: unknown data type 'float8': allowed are "),
    ]
    for changes, text in cases:
        with pytest.raises(InputError) as refused:
            AclTensor(**({"shape": (2, 3), "dtype": "float32"} | changes))
        assert str(refused.value).startswith(text)
    with pytest.raises(InputError, match="takes a numpy array, not list"):
        AclTensor.from_numpy([1.0])  # type: ignore[arg-type]


def test_what_is_gone_has_no_elements() -> None:
    tensor = AclTensor.from_numpy(np.zeros(3, np.float32))
    tensor.destroy()
    with pytest.raises(InputError, match=r"AclTensor \(3,\) float32 has been destroyed$"):
        tensor.array()
    with pytest.raises(InputError, match=r"AclTensor \(3,\) float32 has been destroyed already"):
        tensor.destroy()
    with pytest.raises(InputError, match=r"AclTensor \(3,\) float32 has no data"):
        AclTensor((3,), "float32").array()
