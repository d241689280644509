"""The library's published test rows, and how one of them is walked through the stages of an operation."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt

from ascend_sim.frontends import atb
from ascend_sim.host.device import Device

Array = npt.NDArray[Any]
Case = dict[str, Any]

PARAMS = {"rope_grad": atb.RopeGradParam, "atb_rope": atb.RopeParam}
ELSEWHERE = {"Ascend310P": "Ascend310P3", "Ascend310B": "Ascend310B1", "Ascend910A": "Ascend910A"}
NUMPY = {"float16": np.float16, "float": np.float32, "bf16": ml_dtypes.bfloat16, "int32": np.int32, "uint32": np.uint32}


def load(name: str) -> list[Case]:
    rows: list[Case] = json.loads((Path(__file__).parent / f"cases_{name}.json").read_text())
    return rows


@dataclass
class Walk:
    """Where a case came to: the last stage, its status, and tensors as they were then."""

    stage: str
    status: atb.Status
    inputs: list[Array] = field(default_factory=list)
    outputs: list[Array] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    fault: bool = False


def chip(case: Case) -> str | None:
    """The family that a row runs on here, None for rows that run on none of the simulated chips.

    An empty list means every chip.
    """
    socs = case.get("soc", ["Ascend910B"])
    if not socs or "Ascend910B" in socs:
        return "Ascend910B1"
    return None


@contextmanager
def on_chip(case: Case) -> Iterator[Device]:
    """A device, and for rows of other chips the library's belief that it is on one of them."""
    with Device("Ascend910B1") as device:
        if chip(case) is not None:
            yield device
        else:
            with atb.pretend_soc(ELSEWHERE[case["soc"][0]]):
                yield device


def walk(operator: str, case: Case, device: Device) -> Walk:
    """Create, infer, set up, execute, synchronise; ends at the first stage that is refused."""
    status, operation = atb.CreateOperation(PARAMS[operator](**case["params"]))
    if status:
        assert operation is None
        return Walk("CreateOperation", status)
    assert operation is not None
    descs = [
        atb.TensorDesc(dtype, form, shape)
        for dtype, form, shape in zip(case["dtypes"], case["formats"], case["in_shapes"], strict=True)
    ]
    status, inferred = operation.InferShape(descs)
    if status:
        assert inferred == []
        return Walk("InferShape", status)
    if "out_shapes" in case:
        outs = zip(case["out_dtypes"], case["out_formats"], case["out_shapes"], strict=True)
        inferred = [atb.TensorDesc(*out) for out in outs]
    return run(operation, case, descs, inferred, device)


def run(
    operation: atb.Operation, case: Case, descs: list[atb.TensorDesc], outs: list[atb.TensorDesc], device: Device
) -> Walk:
    """The device's half: real arrays."""
    inputs = [draw(case, i, desc) for i, desc in enumerate(descs)]
    outputs = [np.full(desc.nbytes, 0xFF, np.uint8) for desc in outs]
    pack = atb.VariantPack(
        [atb.Tensor(desc, array, None, array.nbytes) for desc, array in zip(descs, inputs, strict=True)],
        [atb.Tensor(desc, array, None, array.nbytes) for desc, array in zip(outs, outputs, strict=True)],
    )
    _, context = atb.CreateContext()
    assert context is not None
    stream = object()
    context.SetExecuteStream(stream)
    status, size = operation.Setup(pack, context)
    if status:
        assert size == 0
        return Walk("Setup", status)
    workspace = np.full(size, 0xFF, np.uint8) if size else None
    status = operation.Execute(pack, workspace, context)
    fault = bool(atb.aclrtSynchronizeStream(stream))
    assert atb.DestroyOperation(operation) == atb.DestroyContext(context) == 0
    shaped = [out.view(array_dtype(desc)).reshape(desc.shape.shape) for out, desc in zip(outputs, outs, strict=True)]
    warnings = device.launches[-1].warnings if device.launches else []
    return Walk("Execute", status, inputs, shaped, warnings, fault)


def array_dtype(desc: atb.TensorDesc) -> Any:
    return ml_dtypes.bfloat16 if desc.dtype.text == "bfloat16" else np.dtype(desc.dtype.text)


def draw(case: Case, index: int, desc: atb.TensorDesc) -> Array:
    """What the row's data generator makes: (high - low) * U[0, 1) + low, cast. Interleaved tables hold pairs."""
    low, high = (float(text) for text in case["data_gen"][index]["range"].split(","))
    rng = np.random.default_rng([zlib.crc32(case["name"].encode()), index])
    with np.errstate(invalid="ignore"):
        values = (high - low) * rng.random(desc.shape.shape) + low
    if case["params"].get("rotaryCoeff") == desc.shape.dims[-1] and index in (2, 3):
        values = np.repeat(values[..., ::2], 2, axis=-1)
    with np.errstate(over="ignore"):
        return values.astype(array_dtype(desc))


def expected_failure(case: Case) -> tuple[str, int] | None:
    expect = case["expect"]
    return None if isinstance(expect, str) else (expect["stage"], expect["code"])


def within_tolerance(actual: Array, golden: Array) -> bool:
    """The library's own rule for all elements; NaN and infinity count as 0 on both sides."""
    allowed = 2.0**-7 if actual.dtype == ml_dtypes.bfloat16 else 2.0**-8
    a, g = (
        np.where(np.isfinite(values), values, 0) for values in (actual.astype(np.float64), golden.astype(np.float64))
    )
    return bool((np.abs(a - g) <= allowed * np.maximum(1, np.abs(g))).all())
