"""Whatever a caller hands over, the first phase answers with a code and a text, never with a traceback."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ascend_sim.host.aclnn import AclFormat, AclTensor, Status, get_recent_err_msg
from ascend_sim.host.aclnn.functions import function_named
from ascend_sim.host.aclnn.interface import Parameter
from ascend_sim.host.aclnn.registry import interfaces
from ascend_sim.host.device import Device

DEVICES = {soc: Device(soc, values=False) for soc in ("ascend910b", "ascend950")}
SHAPES = st.one_of(
    st.lists(st.sampled_from([0, 1, 2, 3, 32, 64, 1026]), max_size=5).map(tuple),
    st.tuples(st.sampled_from([1, 2]), st.sampled_from([1, 8]), st.sampled_from([1, 3]), st.sampled_from([16, 64])),
)
TENSORS = st.builds(
    AclTensor,
    SHAPES,
    st.sampled_from(["float32", "float16", "bfloat16", "float32", "int32"]),
    format=st.sampled_from([AclFormat.ACL_FORMAT_ND] * 9 + [AclFormat.ACL_FORMAT_NCHW]),
)
OTHERS = st.sampled_from([None, 3, "x", [1.0], object()])
VALUES = st.one_of(
    st.integers(-2, 6),
    st.lists(st.integers(-4, 70), max_size=3),
    st.builds(np.array, st.lists(st.sampled_from([0, 1, 16, "half"]), max_size=2)),
    st.sampled_from([None, "half", "interleave", "BSND", "", 1.5, [0.5, 1], True, [0, 16], [0, 64], (8, 24), object()]),
)


@pytest.mark.parametrize("soc", DEVICES)
@pytest.mark.parametrize("name", interfaces())
@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_first_phase(name: str, soc: str, data: st.DataObject) -> None:
    interface, _ = interfaces()[name]
    shape_for_all = data.draw(st.one_of(st.none(), TENSORS))

    def argument(parameter: Parameter) -> Any:
        if parameter.kind == "attribute":
            return data.draw(VALUES)
        if shape_for_all is not None and data.draw(st.integers(0, 5)):
            return shape_for_all
        return data.draw(st.one_of(TENSORS, TENSORS, TENSORS, OTHERS))

    arguments = [argument(parameter) for parameter in interface.parameters]
    get_recent_err_msg()
    with DEVICES[soc]:
        status, size, executor = function_named(f"{name}_get_workspace_size")(*arguments)
    assert status in set(Status)
    refused = status != Status.ACLNN_SUCCESS
    assert (executor is None, get_recent_err_msg() != "") == (refused, refused)
    assert size >= 0
