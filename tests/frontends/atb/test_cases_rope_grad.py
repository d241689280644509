"""Every published row of RopeGradOperation, and those derived from its checks and its kernel."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
import pytest

from ascend_sim.frontends import atb
from ascend_sim.host.device import Device

from .cases import Array, Case, expected_failure, load, on_chip, walk, within_tolerance

CASES = load("rope_grad")
ROWS = [case for case in CASES if case.get("kind") is None]
PARAM_ROWS = [case for case in CASES if case.get("kind") == "param_api"]


def golden(gradient: Array, cos: Array, sin: Array, q_seq_len: Sequence[int]) -> Array:
    """The test scripts' formula, in fp16 throughout."""
    c = np.concatenate([cos[:n] for n in q_seq_len])
    s = np.concatenate([sin[:n] for n in q_seq_len])
    with np.errstate(all="ignore"):
        weights = c + np.concatenate([s[:, 64:], -s[:, :64]], axis=1)
        return gradient[: len(weights)] * np.tile(weights, (1, gradient.shape[1] // 128))


def test_no_row_is_left_out() -> None:
    assert len(ROWS) + len(PARAM_ROWS) == len(CASES) == 325
    assert Counter(case.get("kind") for case in CASES) == {None: 322, "param_api": 3}
    assert Counter(str(expected_failure(case) and expected_failure(case)[0]) for case in ROWS) == {
        "None": 274, "InferShape": 44, "CreateOperation": 3, "Setup": 1,
    }  # fmt: skip


@pytest.mark.parametrize("case", ROWS, ids=lambda case: case["name"])
def test_stage_and_status_or_values(case: Case) -> None:
    with on_chip(case) as device:
        found = walk("rope_grad", case, device)
    failure = expected_failure(case)
    if failure is not None:
        assert (found.stage, int(found.status)) == failure
        return
    assert (found.stage, found.status) == ("Execute", 0)
    lengths = case["params"]["qSeqLen"]
    if found.fault:
        assert sum(lengths) > case["in_shapes"][0][0]
        return
    check_values(found.inputs, found.outputs, lengths, found.warnings)


def check_values(inputs: list[Array], outputs: list[Array], lengths: list[int], warnings: list[str]) -> None:
    """Bit for bit where there is a core and a sample; untouched bytes elsewhere, with a warning."""
    cores = 48
    rows, columns = min(sum(lengths), len(inputs[0])), min(inputs[0].shape[1], 128 * cores)
    for gradient, out in zip(inputs[:2], outputs, strict=True):
        want = golden(gradient, inputs[2], inputs[3], lengths)
        written = out[:rows, :columns]
        assert within_tolerance(written, want[:rows, :columns])
        nan = np.isnan(want[:rows, :columns])
        assert np.array_equal(written.view(np.uint16)[~nan], want[:rows, :columns].view(np.uint16)[~nan])
        assert np.isnan(written[nan]).all()
        assert (out.view(np.uint16)[rows:] == 0xFFFF).all()
        assert (out.view(np.uint16)[:, columns:] == 0xFFFF).all()
    assert bool(warnings) == (inputs[0].shape[1] > 128 * cores or sum(lengths) < len(inputs[0]))


def test_reading_past_the_tensors_is_a_fault_of_the_device_and_of_no_call() -> None:
    case = next(case for case in ROWS if case["name"] == "derived_sum_more_than_rows")
    with on_chip(case) as device:
        found = walk("rope_grad", case, device)
    assert (found.status, found.fault) == (0, True)


def test_unwritten_heads_are_told_with_their_numbers() -> None:
    case = next(case for case in ROWS if case["name"] == "derived_heads_50_unwritten_tail")
    with on_chip(case) as device:
        found = walk("rope_grad", case, device)
    assert found.warnings == [
        "50 heads on 48 vector cores: each core takes one head and none a second, so heads 48 to 49 (columns 6144 to "
        "6399) of q_grad and k_grad are never written, as on the chip"
    ]


@pytest.mark.parametrize("case", PARAM_ROWS, ids=lambda case: case["name"])
def test_parameter_functions(case: Case) -> None:
    with Device("Ascend910B1"):
        run_calls(case)


def run_calls(case: Case) -> None:
    operation = None
    for call in case["calls"]:
        param = atb.RopeGradParam(**call.get("params", {}))
        if call["call"] == "CreateOperation":
            status, operation = atb.CreateOperation(param)
            assert (operation is None) == call.get("operation_is_null", operation is None)
        elif call["call"] == "UpdateOperationParam":
            status = atb.UpdateOperationParam(operation, param)
        else:
            assert call["call"] == "CloneOperationParam"
            status, cloned = atb.CloneOperationParam(operation, atb.RopeGradParam)
            if status == 0 and "params" in call:
                assert cloned == param
        assert status == (0 if call["expect"] == "ok" else call["expect"]["code"]), call
