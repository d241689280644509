"""Inputs of a run as the command line names them: `SHAPE:DTYPE`, `@file.npy`, `@file.npy:DTYPE`."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ascend_sim.errors import InputError
from ascend_sim.host.tensors import TensorInfo, read_dtype
from ascend_sim.isa.dtypes import DataType

Array = npt.NDArray[Any]

FORM = "NAME=SHAPE:DTYPE (x=2,32,8,128:float16) or NAME=@FILE (x=@x.npy, x=@x.npy:bfloat16)"


def read_inputs(texts: Mapping[str, str]) -> dict[str, Array | TensorInfo]:
    """Arrays for files, `TensorInfo` for shapes."""
    return {
        name: read_array(name, text[1:]) if text.startswith("@") else read_shape(name, text)
        for name, text in texts.items()
    }


def read_shape(name: str, text: str) -> TensorInfo:
    """`2,32,8,128:float16`."""
    dims, colon, dtype = text.partition(":")
    if not colon:
        raise InputError(f"input {name}: {text!r} has no data type; the form is {FORM}")
    try:
        shape = tuple(int(dim) for dim in bare.removesuffix(",").split(",")) if (bare := dims.strip("()[] ")) else ()
    except ValueError:
        raise InputError(f"input {name}: shape {dims!r} must be integers between commas; the form is {FORM}") from None
    if any(dim < 0 for dim in shape):
        raise InputError(f"input {name}: shape {dims!r} has a negative dim; dims are counts of elements")
    return TensorInfo(shape, read_dtype(name, dtype.strip()))


def read_array(name: str, text: str) -> Array:
    """`x.npy`, `x.npy:bfloat16`, or an npz that holds the input under its name or as `in_<name>`."""
    path, dtype = _split_dtype(name, text)
    array = _load(name, path)
    if array.dtype.kind == "V" and array.dtype.names is None:
        array = _from_raw(name, path, array, dtype)
    if array.dtype.kind not in "biuf" and array.dtype.name != "bfloat16":
        raise InputError(f"input {name}: {str(path)!r} holds {array.dtype.name} values, kernels take numbers")
    array = array.astype(array.dtype.newbyteorder("="), copy=False)
    if dtype is not None:
        with np.errstate(over="ignore"):
            array = array.astype(dtype.numpy, copy=False)
    return np.ascontiguousarray(array).reshape(array.shape)


def _split_dtype(name: str, text: str) -> tuple[Path, DataType | None]:
    """The file and the data type behind the last colon, if what stands there is one and not a part of the name."""
    head, colon, tail = text.rpartition(":")
    if not colon or Path(text).exists() or "/" in tail or "\\" in tail:
        return Path(text), None
    return Path(head), _dtype(name, tail)


def _dtype(name: str, text: str) -> DataType:
    try:
        return DataType(text.strip())
    except InputError as error:
        raise InputError(f"input {name}: {error}") from None


def _load(name: str, path: Path) -> Array:
    where = f"input {name}: cannot read {str(path)!r}"
    if not path.exists():
        raise InputError(f"{where}: there is no such file")
    if path.is_dir():
        raise InputError(f"{where}: it is a directory")
    try:
        with path.open("rb") as file:
            loaded = np.load(file, allow_pickle=False)
            if isinstance(loaded, np.lib.npyio.NpzFile):
                key = _npz_key(name, loaded.files)
                if key is None:
                    names = ", ".join(loaded.files) or "nothing"
                    raise _NoSuchArrayError(
                        f"input {name}: {str(path)!r} holds {names}, but neither {name} nor in_{name}"
                    )
                loaded = loaded[key]
            return np.asarray(loaded)
    except _NoSuchArrayError as error:
        raise InputError(str(error)) from None
    except (ValueError, EOFError, zipfile.BadZipFile, SyntaxError):
        raise InputError(f"{where}: it is not a numpy file of numbers (.npy or .npz)") from None
    except OSError as error:
        raise InputError(f"{where}: {error.strerror or error}") from None


class _NoSuchArrayError(Exception):
    """An npz file that is sound but does not hold what is asked for."""


def _npz_key(name: str, files: list[str]) -> str | None:
    """Under which name an npz holds the input, if it does."""
    named = [key for key in (name, f"in_{name}") if key in files]
    if named:
        return named[0]
    return files[0] if len(files) == 1 else None


def _from_raw(name: str, path: Path, array: Array, dtype: DataType | None) -> Array:
    """numpy saves bfloat16 as nameless 2-byte elements; only the user can say that they are that."""
    if dtype is None or dtype.itemsize != array.dtype.itemsize:
        raise InputError(
            f"input {name}: {str(path)!r} holds raw {array.dtype.itemsize}-byte elements; "
            f"say what they are, for example @{path}:bfloat16"
        )
    return array.view(dtype.numpy)
