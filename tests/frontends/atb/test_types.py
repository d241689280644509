"""Descriptions of tensors as ATB's users write them."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from ascend_sim.asc.memory import DeviceArray
from ascend_sim.errors import InputError
from ascend_sim.frontends import atb
from ascend_sim.frontends.atb.types import data_type, tensor_format


@pytest.mark.parametrize("given", ["float", "float32", "ACL_FLOAT", 0, np.float32, np.dtype("float32")])
def test_a_dtype_by_any_of_its_names(given: object) -> None:
    assert data_type(given) is atb.DataType.ACL_FLOAT


def test_bfloat16() -> None:
    assert data_type(ml_dtypes.bfloat16) is data_type("bf16") is data_type(27) is atb.DataType.ACL_BF16
    assert atb.DataType.ACL_BF16.itemsize == 2


@pytest.mark.parametrize("given", ["nd", "ND", "ACL_FORMAT_ND", 2])
def test_a_format_by_any_of_its_names(given: object) -> None:
    assert tensor_format(given) is atb.Format.ACL_FORMAT_ND


def test_unknown_names() -> None:
    with pytest.raises(InputError, match=r"^unknown dtype 'fp16': allowed are float32, "):
        atb.TensorDesc("fp16", "nd", (1,))
    with pytest.raises(
        InputError, match=r"^unknown format 'zz': allowed are ACL's names, with or without ACL_FORMAT_$"
    ):
        atb.TensorDesc("half", "zz", (1,))
    with pytest.raises(InputError, match=r"^a tensor takes a numpy array or a DeviceArray, not list$"):
        atb.VariantPack([[1, 2]])


def test_dims_count_as_far_as_dim_num_says() -> None:
    desc = atb.TensorDesc("float16", "nd", atb.Dims([3, 4, 5], 2))
    assert (desc.shape.shape, desc.nbytes) == ((3, 4), 24)
    assert desc == atb.TensorDesc("half", "nd", (3, 4))
    assert desc != atb.TensorDesc("half", "nd", (3, 5))
    assert atb.TensorDesc("half", "nd", ()).nbytes == 0


def test_tensors_on_arrays() -> None:
    array = np.zeros((2, 3), ml_dtypes.bfloat16)
    pack = atb.VariantPack(in_tensors=[array], out_tensors=[DeviceArray((4,), "int32")])
    given, made = pack.in_tensors[0], pack.out_tensors[0]
    assert (given.data is array, given.dataSize, given.desc.dtype) == (True, 12, atb.DataType.ACL_BF16)
    assert (made.dataSize, made.desc.shape.shape) == (16, (4,))


def test_the_library_s_constants() -> None:
    assert (atb.NO_ERROR, atb.ERROR_COPY_HOST_MEMORY_FAIL, atb.ACL_BF16, atb.ACL_FORMAT_FRACTAL_NZ) == (0, 29, 27, 29)
    assert [status.value for status in atb.Status] == list(range(30))
