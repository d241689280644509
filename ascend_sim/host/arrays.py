"""Arrays on their way into and out of a call: what is taken as it is, what is copied, what is refused."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from ascend_sim.errors import InputError
from ascend_sim.host.operator import Operator
from ascend_sim.host.tensors import TensorInfo
from ascend_sim.isa.dtypes import DataType

Array = npt.NDArray[Any]

_INTEGERS = {"int8": 100, "uint8": 100}  # random integers stay below this, or below 1000


def as_inputs(operator: Operator, bound: Mapping[str, Any]) -> dict[str, Array]:
    """The arrays that kernels work on: the caller's own, or contiguous copies where the operator makes them.

    An operator whose page refuses non-contiguous tensors refuses them here.
    """
    return {name: _as_input(operator, name, value) for name, value in bound.items()}


def _as_input(operator: Operator, name: str, value: Any) -> Array:
    if not isinstance(value, np.ndarray):
        raise InputError(
            f"input {name} of {operator.name}: values are to be computed, so an array is needed, not "
            f"{type(value).__name__}; with values=False shapes and dtypes are enough"
        )
    if not value.dtype.isnative:
        raise InputError(f"input {name} of {operator.name}: dtype {value.dtype.str} has foreign byte order")
    inplace = any(output.inplace == name for output in operator.outputs)
    if inplace and not value.flags.writeable:
        raise InputError(f"input {name} of {operator.name} is changed in place, but the array is read-only")
    if value.flags.c_contiguous:
        return value
    if operator.contiguous_only:
        raise InputError(
            f"input {name} of {operator.name} is not contiguous (shape {value.shape}, strides {value.strides} B); "
            f"the operator takes contiguous tensors only: pass numpy.ascontiguousarray({name})"
        )
    return np.ascontiguousarray(value)


def fresh_output(info: TensorInfo) -> Array:
    """An output array of bytes 0xFF, so that elements which no kernel writes show (as NaN, for floats)."""
    return np.full(info.nbytes, 0xFF, np.uint8).view(DataType(info.dtype).numpy).reshape(info.shape)


def random_inputs(
    infos: Mapping[str, TensorInfo],
    seed: int = 0,
    draws: Mapping[str, Callable[[Mapping[str, TensorInfo]], Array]] | None = None,
) -> dict[str, Array]:
    """Seeded random inputs: standard normal values for floats, small non-negative numbers for integers.

    Each input draws from its own stream, so that its values do not depend on the shapes of the others. `draws` makes
    the inputs that it names (see `Input.draw`).
    """
    if isinstance(seed, bool) or not hasattr(seed, "__index__") or seed < 0:
        raise InputError(f"seed is {seed!r}; it must be an integer of 0 or more")
    found: dict[str, Array] = {}
    for index, (name, info) in enumerate(infos.items()):
        draw = draws.get(name) if draws else None
        found[name] = draw(infos) if draw else _random(info, seed, index)
    return found


def _random(info: TensorInfo, seed: int, index: int) -> Array:
    rng = np.random.default_rng([seed, index])
    dtype = DataType(info.dtype)
    if dtype.is_float:
        values: Array = rng.standard_normal(info.shape, np.float32)
    else:
        values = rng.integers(0, _INTEGERS.get(dtype.name, 1000), info.shape)
    return values.astype(dtype.numpy)
