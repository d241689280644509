from __future__ import annotations

import re

import ml_dtypes
import numpy as np
import pytest

from ascend_sim.cli.inputs import read_array, read_inputs, read_shape
from ascend_sim.errors import InputError
from ascend_sim.host.tensors import TensorInfo


def test_shapes():
    assert read_shape("x", "2,32,8,128:float16") == TensorInfo((2, 32, 8, 128), "float16")
    assert read_shape("x", "(4, 1): bf16".replace("bf16", "bfloat16")) == TensorInfo((4, 1), "bfloat16")
    assert read_shape("x", ":float32") == TensorInfo((), "float32")
    assert read_shape("x", "(4,):float32") == TensorInfo((4,), "float32")


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("2,3", "input x: '2,3' has no data type; the form is NAME=SHAPE:DTYPE"),
        ("2,a:float16", "input x: shape '2,a' must be integers between commas; the form is"),
        ("2,,3:float16", "input x: shape '2,,3' must be integers between commas; the form is"),
        ("2,-1:float16", "input x: shape '2,-1' has a negative dim; dims are counts of elements"),
        ("2:float17", "input x: unknown data type 'float17': allowed are"),
    ],
)
def test_shapes_that_are_refused(text, error):
    with pytest.raises(InputError, match=re.escape(error)):
        read_shape("x", text)


def test_npy_files_keep_their_dtype_unless_told_otherwise(tmp_path):
    values = np.array([[1.0, 1.00390625, 3e38]], np.float32)
    np.save(tmp_path / "x.npy", values)
    plain = read_array("x", f"{tmp_path}/x.npy")
    assert (plain.dtype, plain.tolist()) == (np.float32, values.tolist())
    rounded = read_array("x", f"{tmp_path}/x.npy:bfloat16")
    assert rounded.dtype == ml_dtypes.bfloat16
    assert rounded.astype(np.float32)[0, 1] == 1.0  # a tie goes to even
    assert np.isinf(read_array("x", f"{tmp_path}/x.npy:float16")[0, 2])


def test_arrays_come_native_contiguous_and_writable(tmp_path):
    np.save(tmp_path / "x.npy", np.asfortranarray(np.arange(6, dtype=">f4").reshape(2, 3)))
    found = read_array("x", f"{tmp_path}/x.npy")
    assert found.dtype.isnative
    assert found.flags.c_contiguous
    assert found.flags.writeable
    assert found.tolist() == [[0, 1, 2], [3, 4, 5]]
    np.save(tmp_path / "s.npy", np.float32(3))
    assert read_array("x", f"{tmp_path}/s.npy").shape == ()


def test_saved_bfloat16_has_to_be_named(tmp_path):
    np.save(tmp_path / "b.npy", np.array([1.5, 2.0]).astype(ml_dtypes.bfloat16))
    found = read_array("x", f"{tmp_path}/b.npy:bfloat16")
    assert found.astype(np.float32).tolist() == [1.5, 2.0]
    with pytest.raises(
        InputError, match=r"holds raw 2-byte elements; say what they are, for example @.*b.npy:bfloat16"
    ):
        read_array("x", f"{tmp_path}/b.npy")


def test_npz_files_by_name(tmp_path):
    np.savez(tmp_path / "out.npz", in_x=np.ones(3, np.float16), in_cos=np.zeros(2, np.float16), sin=np.ones(1))
    found = read_inputs({"x": f"@{tmp_path}/out.npz", "sin": f"@{tmp_path}/out.npz:float16"})
    assert found["x"].tolist() == [1, 1, 1]
    assert (found["sin"].dtype, found["sin"].tolist()) == (np.float16, [1])
    with pytest.raises(InputError, match=re.escape("holds in_x, in_cos, sin, but neither r1 nor in_r1")):
        read_array("r1", f"{tmp_path}/out.npz")
    np.savez(tmp_path / "one.npz", anything=np.ones(3))
    assert read_array("x", f"{tmp_path}/one.npz").shape == (3,)


def test_a_colon_in_a_path_is_part_of_it(tmp_path):
    (tmp_path / "a:b").mkdir()
    np.save(tmp_path / "a:b" / "x.npy", np.ones(2, np.float32))
    assert read_array("x", f"{tmp_path}/a:b/x.npy").dtype == np.float32
    assert read_array("x", f"{tmp_path}/a:b/x.npy:float16").dtype == np.float16


def test_files_that_are_refused(tmp_path):
    def error(text):
        with pytest.raises(InputError) as caught:
            read_array("x", text)
        return str(caught.value)

    where = f"input x: cannot read '{tmp_path}"
    assert error(f"{tmp_path}/no.npy") == f"{where}/no.npy': there is no such file"
    assert error(str(tmp_path)) == f"{where}': it is a directory"
    for name, content in (("text.npy", b"hello"), ("empty.npy", b""), ("bad.npz", b"PK\x03\x04")):
        (tmp_path / name).write_bytes(content)
        assert error(f"{tmp_path}/{name}") == f"{where}/{name}': it is not a numpy file of numbers (.npy or .npz)"
    np.save(tmp_path / "o.npy", np.array([{}], object), allow_pickle=True)
    assert error(f"{tmp_path}/o.npy") == f"{where}/o.npy': it is not a numpy file of numbers (.npy or .npz)"
    np.save(tmp_path / "s.npy", np.array(["a"]))
    assert error(f"{tmp_path}/s.npy") == f"input x: '{tmp_path}/s.npy' holds str32 values, kernels take numbers"
    np.save(tmp_path / "f.npy", np.ones(4, np.float32))
    whole = (tmp_path / "f.npy").read_bytes()
    (tmp_path / "f.npy").write_bytes(whole[:-4])
    assert error(f"{tmp_path}/f.npy").startswith(where)
    assert error(f"{tmp_path}/f.npy:float17").startswith("input x: unknown data type 'float17'")
