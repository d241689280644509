"""Every published row of RopeOperation; rows of chips that the operation is not simulated on are listed with why."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from ascend_sim.frontends import atb
from ascend_sim.frontends.atb.mki.base import LaunchParam, RunInfo
from ascend_sim.frontends.atb.mki.registry import find_operation
from ascend_sim.frontends.atb.mki.rope import Rope
from ascend_sim.host.device import Device

from .cases import Array, Case, expected_failure, load, on_chip, walk, within_tolerance

CASES = load("atb_rope")
BY_NAME = {case["name"]: case for case in CASES}
ON_950 = "Ascend950: the operation calls an aclnn operator there, which this front end does not have"
LISTED = {
    "api_065_rope81": ON_950,
    "api_073_rope96": ON_950,
    "api_077_rope96WrongCosFormat": ON_950,
    "api_079_rope950HeadDimUpperBound": ON_950,
}
KERNEL_ROWS = [case for case in CASES if case.get("kind") == "mki_kernel"]
ROWS = [case for case in CASES if case.get("kind") is None and case["name"] not in LISTED]


def golden(x: Array, cos: Array, sin: Array, coeff: int) -> Array:
    """Groups of 2 * stride elements, [x1, x2] to [-x2, x1]; fp16 rounds after every operation, all else at the end.

    `cos` and `sin` have a row for every token.
    """
    work = np.float16 if x.dtype == cos.dtype == np.float16 else np.float32
    tokens, head_dim = cos.shape
    stride = head_dim // coeff
    heads = x.reshape(tokens, -1, head_dim).astype(work)
    turned = np.empty_like(heads)
    for start in range(0, head_dim, 2 * stride):
        first, second = slice(start, start + stride), slice(start + stride, start + 2 * stride)
        turned[..., first], turned[..., second] = -heads[..., second], heads[..., first]
    with np.errstate(all="ignore"):
        rotated = heads * cos.astype(work)[:, None] + turned * sin.astype(work)[:, None]
    return rotated.astype(x.dtype).reshape(x.shape)


def test_no_row_is_left_out() -> None:
    assert len(ROWS) + len(KERNEL_ROWS) + len(LISTED) == len(CASES) == 44
    assert all(BY_NAME[name]["soc"] == ["Ascend950"] for name in LISTED)


@pytest.mark.parametrize("name", LISTED)
def test_listed_rows_are_refused_when_the_operation_is_created(name: str) -> None:
    with Device("Ascend910B1"), atb.pretend_soc("Ascend950PR_9589"):
        status, operation = atb.CreateOperation(atb.RopeParam(**BY_NAME[name]["params"]))
    assert (status, operation) == (atb.Status.ERROR_CANN_ERROR, None)


@pytest.mark.parametrize("case", ROWS, ids=lambda case: case["name"])
def test_stage_and_status_or_values(case: Case) -> None:
    with on_chip(case) as device:
        found = walk("atb_rope", case, device)
    failure = expected_failure(case)
    if failure is not None:
        assert (found.stage, int(found.status)) == failure
        return
    assert (found.stage, found.status, found.fault) == ("Execute", 0, False)
    q, k, cos, sin, seqlen = found.inputs
    if case["params"].get("cosFormat") == 1:
        cos, sin = (np.concatenate([table[:n] for n in seqlen]) for table in (cos, sin))
    for x, out in zip((q, k), found.outputs, strict=True):
        want = golden(x, cos, sin, case["params"].get("rotaryCoeff", 4))
        assert within_tolerance(out, want)
        assert out.tobytes() == want.tobytes()


def run_kernel(case: Case, arrays: list[Array], device: Device) -> list[Array]:
    """MKI alone, as the kernel tests of the library do: no check of ATB's stands before it."""
    launch = LaunchParam(Rope(**case["params"]), [atb.tensor(array) for array in arrays])
    launch.outTensors = [atb.Tensor() for _ in range(2)]
    operation = find_operation("RopeOperation")
    assert operation is not None
    assert operation.InferShape(launch).ok
    kernel = operation.GetBestKernel(launch)
    assert kernel is not None
    assert kernel.Init(launch, device).ok
    outputs = [np.full(array.shape, 0, array.dtype) for array in arrays[:2]]
    for item, out in zip(launch.outTensors, outputs, strict=True):
        item.deviceData, item.dataSize = out, out.nbytes
    _, context = atb.CreateContext()
    workspace = np.zeros(kernel.kernel_info.total_scratch_bytes, np.uint8)
    assert kernel.Run(launch, RunInfo(object(), context, workspace)).ok
    assert context is not None
    assert not context.faults
    return outputs


def kernel_arrays(case: Case, lengths: list[int]) -> list[Array]:
    rng = np.random.default_rng(7)
    dtype: Any = ml_dtypes.bfloat16 if case["dtypes"] == "bf16" else np.float16
    arrays = []
    for shape, data in zip(case["in_shapes"], case["data_gen"], strict=False):
        low, high = (float(text) for text in data["range"].split(","))
        dims = [sum(lengths) if dim == "sum" else dim for dim in shape]
        arrays.append(rng.uniform(low, high, dims).astype(dtype))
    return [*arrays, np.array(lengths, np.int32)]


def check_kernel(name: str, lengths: list[int]) -> None:
    case = BY_NAME[name]
    arrays = kernel_arrays(case, lengths)
    with Device("Ascend910B1") as device:
        outputs = run_kernel(case, arrays, device)
    tolerance = case["tolerance"]["allclose"]
    cos, sin = arrays[2:4]
    if case["params"].get("cosFormat") == 1:
        cos, sin = (np.concatenate([table[:n] for n in lengths]) for table in (cos, sin))
    for x, out in zip(arrays[:2], outputs, strict=True):
        want = golden(x, cos, sin, case["params"]["rotaryCoeff"])
        assert np.allclose(out.astype(np.float32), want.astype(np.float32), **tolerance)
        assert out.tobytes() == want.tobytes()


def test_kernel_row_of_bfloat16_halves() -> None:
    check_kernel("kernelstest_bf16_half", [1, 1, 1])


def test_kernel_row_of_unpadded_samples() -> None:
    """32 samples: short ones, to be quick, and one that the tables are not expanded for in one go."""
    check_kernel("kernelstest_cosformat1", [*(int(n) for n in np.random.default_rng(1).integers(1, 16, 31)), 800])


def test_every_kernel_row_has_a_test() -> None:
    assert {case["name"] for case in KERNEL_ROWS} == {"kernelstest_bf16_half", "kernelstest_cosformat1"}
