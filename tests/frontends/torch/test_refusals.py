"""The PyTorch side of the table of documented refusals: what Python refuses when compiling, what comes from aclnn."""

from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed: pip install 'ascend-sim[torch]'")

from refusal_calls import GOOD, NO_KERNEL, Row  # noqa: E402
from refusals import ROWS  # noqa: E402
from torch._subclasses import FakeTensorMode  # noqa: E402

import ascend_sim  # noqa: E402
import ascend_sim.frontends.torch as front  # noqa: E402
from ascend_sim.errors import InputError  # noqa: E402

ASKED = [row for row in ROWS if row.torch]


def call(row: Row) -> Any:
    """The good call with the row's change, as a PyTorch program makes it."""
    good = GOOD[row.good]
    given: dict[str, Any] = {}
    for name, shape in {**good.shapes, **row.shapes}.items():
        if not name.endswith("out") and name != "rotate":
            dtype = getattr(torch, row.dtypes.get(name, "float32"))
            given[good.torch_names.get(name, name)] = None if shape is None else torch.zeros(shape, dtype=dtype)
    if row.special == "strides":
        name = next(iter(given))
        given[name] = torch.zeros((*given[name].shape, 2))[..., 0]
    named = {name: row.attrs[name] for name in row.attrs if name in good.torch_attrs}
    attrs = {**good.torch_attrs, **(row.torch_attrs if row.torch_attrs is not None else named)}
    function = getattr(front, good.function, None) or getattr(torch.ops.cann_ops_transformer, good.function)
    return function(**given, **attrs)


@pytest.mark.parametrize("row", ASKED, ids=str)
def test_eager(row: Row) -> None:
    good = GOOD[row.good]
    with ascend_sim.session(good.soc) as session, pytest.raises((InputError, front.AclnnError)) as refused:
        call(row)
    assert session.records == []
    if row.torch == "compile":
        assert isinstance(refused.value, ValueError)
        assert str(refused.value).startswith(f"{good.function}: ")
    else:
        assert isinstance(refused.value, front.AclnnError)
        assert refused.value.status == row.code
        assert str(refused.value).startswith(f"{good.interface}GetWorkspaceSize: ")
        assert row.text in str(refused.value)


@pytest.mark.parametrize("row", ASKED, ids=str)
def test_compile_time(row: Row) -> None:
    """Fake tensors meet the same Python checks, and none of those that need a chip."""
    with FakeTensorMode():
        if row.torch == "compile":
            with pytest.raises(ValueError, match=f"^{GOOD[row.good].function}: "):
                call(row)
        else:
            call(row)


@pytest.mark.parametrize("name", GOOD)
def test_the_unchanged_call_passes_all_checks(name: str) -> None:
    """So that a row is refused for its change; without a chip or kernels the call ends with just that."""
    codes = []
    with ascend_sim.session(GOOD[name].soc):
        try:
            call(Row(name, "", 0, "run", ""))
        except front.AclnnError as error:
            codes.append(error.status)
    assert codes in ([], [NO_KERNEL])
