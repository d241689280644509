"""The aclnn side of the table of documented refusals: code and text at the first phase, nothing launched."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from refusal_calls import GOOD, Row
from refusals import ROWS

from ascend_sim.host.aclnn import AclFormat, AclTensor, Status, get_recent_err_msg
from ascend_sim.host.aclnn.functions import function_named
from ascend_sim.host.device import Device


def arguments(row: Row) -> dict[str, Any]:
    """The good call's arguments with the row's change; tensors without memory."""
    good = GOOD[row.good]
    tensors: dict[str, Any] = {}
    for name, shape in {**good.shapes, **row.shapes}.items():
        tensors[name] = None if shape is None else AclTensor(shape, row.dtypes.get(name, "float32"))
    special = next(iter(tensors))
    if row.special == "format":
        tensors[special] = AclTensor(tensors[special].shape, "float32", format=AclFormat.ACL_FORMAT_NCHW)
    if row.special == "strides":
        special = next((name for name in tensors if "out" in name), special)
        array = np.zeros((*tensors[special].shape, 2), np.float32)[..., 0]
        tensors[special] = AclTensor.from_numpy(array)
    return tensors | dict(good.attrs) | dict(row.attrs)


@pytest.mark.parametrize("row", ROWS, ids=str)
def test_code_and_text(row: Row) -> None:
    good = GOOD[row.good]
    device = Device(good.soc, values=False)
    get_recent_err_msg()
    with device:
        status, size, executor = function_named(f"{good.interface}GetWorkspaceSize")(**arguments(row))
    text = get_recent_err_msg()
    assert (int(status), size, executor) == (row.code, 0, None), text
    assert text.startswith(f"{good.interface}GetWorkspaceSize: ")
    assert row.text in text
    assert text.endswith(f" ({Status(row.code).name}, {row.code})")
    assert device.launches == []


@pytest.mark.parametrize("name", GOOD)
def test_the_unchanged_call_passes_all_checks(name: str) -> None:
    """So that a row is refused for its change: what is refused here is for want of a chip or of kernels alone."""
    good = GOOD[name]
    with Device(good.soc, values=False):
        status, _, _ = function_named(f"{good.interface}GetWorkspaceSize")(**arguments(Row(name, "", 0, "", "")))
    assert status in (Status.ACLNN_SUCCESS, Status.ACLNN_ERR_INNER_FIND_KERNEL_ERROR)
