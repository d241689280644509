"""The real operators through their interfaces: values, strides, empty tensors."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt
import pytest

import ascend_sim
from ascend_sim import aclnn
from ascend_sim.host.device import Device
from ascend_sim.host.registry import operator_named

Array = npt.NDArray[Any]


def draw(*shape: int, dtype: Any = np.float32, seed: int = 0) -> Array:
    return np.random.default_rng([seed, *shape]).standard_normal(shape, np.float32).astype(dtype)


def call(soc: str, interface: str, *arguments: Any) -> float:
    """Both phases on a new device; the simulated time in us."""
    with Device(soc) as device:
        status, size, executor = getattr(aclnn, f"{interface}GetWorkspaceSize")(*arguments)
        assert status == 0, aclnn.get_recent_err_msg()
        workspace = device.memory.malloc(size) if size else None
        assert getattr(aclnn, interface)(workspace, size, executor, None) == 0, aclnn.get_recent_err_msg()
        assert device.default_stream.synchronize() == 0
        return device.default_stream.elapsed_us


def golden(op: str, soc: str, inputs: dict[str, Array], **attrs: Any) -> dict[str, Array]:
    operator = operator_named(op)
    return operator.golden(soc, inputs, operator.bind_attrs(attrs))


@pytest.mark.parametrize("dtype", [np.float16, np.float32, ml_dtypes.bfloat16])
@pytest.mark.parametrize("soc", ["ascend910b", "ascend950"])
def test_inplace_partial_rotary_mul(soc: str, dtype: Any) -> None:
    x, cos, sin = draw(2, 8, 2, 32, dtype=dtype), draw(2, 8, 1, 16, dtype=dtype), draw(2, 8, 1, 16, dtype=dtype, seed=1)
    expected = golden("inplace_partial_rotary_mul", soc, {"x": x.copy(), "cos": cos, "sin": sin}, partial_slice=[8, 24])
    assert call(soc, "aclnnInplacePartialRotaryMul", x, cos, sin, 1, [8, 24]) > 0
    assert np.array_equal(x, expected["x"])


def test_no_slice_means_the_whole_axis_there() -> None:
    x, table = draw(2, 8, 2, 32), draw(2, 8, 1, 32)
    expected = golden(
        "inplace_partial_rotary_mul", "ascend910b", {"x": x.copy(), "cos": table, "sin": table}, partial_slice=()
    )
    call("ascend910b", "aclnnInplacePartialRotaryMul", x, table, table, 1, None)
    assert np.array_equal(x, expected["x"])


def test_inplace_partial_rotary_mul_grad() -> None:
    dy, cos, sin = draw(2, 8, 2, 32, dtype=np.float16), draw(1, 8, 1, 16), draw(1, 8, 1, 16, seed=1)
    inputs = {"dy": dy.copy(), "cos": cos, "sin": sin}
    expected = golden("inplace_partial_rotary_mul_grad", "ascend950", inputs, partial_slice=[8, 24])
    call("ascend950", "aclnnInplacePartialRotaryMulGrad", dy, cos, sin, 1, [8, 24])
    assert np.array_equal(dy, expected["dy"])


@pytest.mark.parametrize("mode", [0, 1])
def test_rotary_position_embedding_copies_strided_inputs(mode: int) -> None:
    x, cos, sin = draw(2, 3, 8, 64).transpose(0, 2, 1, 3), draw(1, 8, 1, 128)[..., ::2], draw(1, 8, 1, 64, seed=1)
    out = np.full((2, 8, 3, 64), np.nan, np.float32)
    before = x.copy()
    call("ascend910b", "aclnnRotaryPositionEmbedding", x, cos, sin, mode, out)
    solid = {name: np.ascontiguousarray(array) for name, array in (("x", x), ("cos", cos), ("sin", sin))}
    assert np.array_equal(out, golden("rotary_position_embedding", "ascend910b", solid, mode=mode)["y"])
    assert np.array_equal(x, before)


def test_rotary_position_embedding_of_nothing_launches_nothing() -> None:
    x, table, out = draw(2, 0, 3, 64), draw(1, 0, 1, 64), draw(2, 0, 3, 64)
    assert call("ascend910b", "aclnnRotaryPositionEmbedding", x, table, table, 0, out) == 0


@pytest.mark.parametrize("with_x", [False, True])
def test_rotary_position_embedding_grad(with_x: bool) -> None:
    dy, cos, sin = draw(2, 8, 3, 64), draw(1, 8, 1, 64), draw(1, 8, 1, 64, seed=1)
    x = draw(2, 8, 3, 64, seed=2) if with_x else None
    outs = [np.full(shape, np.nan, np.float32) for shape in (dy.shape, cos.shape, cos.shape)]
    given = outs if with_x else [outs[0], None, None]
    call("ascend910b", "aclnnRotaryPositionEmbeddingGrad", dy, cos, sin, x, 0, *given)
    inputs = {"dy": dy, "cos": cos, "sin": sin} | ({"x": x} if x is not None else {})
    expected = golden("rotary_position_embedding_grad", "ascend910b", inputs, mode=0)
    for name, out in zip(("dx", "dcos", "dsin"), outs, strict=True):
        assert np.array_equal(out, expected[name]) if name in expected else np.isnan(out).all()


@pytest.mark.parametrize("mode", [0, 3])
@pytest.mark.parametrize("cos_dims", [(2, 8, 3), (1, 8, 1), (2, 1, 3)])
def test_rotary_position_embedding_grad_on_the_950(cos_dims: tuple[int, ...], mode: int) -> None:
    """With x, which needs the workspace that the first phase asked for."""
    dy, x = draw(2, 8, 3, 64, dtype=np.float16), draw(2, 8, 3, 64, dtype=np.float16, seed=1)
    cos, sin = (draw(*cos_dims, 64, dtype=np.float16, seed=seed) for seed in (2, 3))
    outs = [np.full(shape, np.nan, np.float16) for shape in (dy.shape, cos.shape, cos.shape)]
    call("ascend950", "aclnnRotaryPositionEmbeddingGrad", dy, cos, sin, x, mode, *outs)
    inputs = {"dy": dy, "cos": cos, "sin": sin, "x": x}
    expected = golden("rotary_position_embedding_grad", "ascend950", inputs, mode=mode)
    for name, out in zip(("dx", "dcos", "dsin"), outs, strict=True):
        assert np.array_equal(out, expected[name]), name


@pytest.mark.parametrize("interface", ["aclnnApplyRotaryPosEmb", "aclnnApplyRotaryPosEmbV2"])
def test_apply_rotary_pos_emb_writes_strided_tensors_back(interface: str) -> None:
    whole = draw(2, 3, 8, 64)
    query, key = whole.transpose(0, 2, 1, 3), draw(2, 8, 1, 64)
    cos, sin = draw(2, 8, 1, 64, seed=1), draw(2, 8, 1, 64, seed=2)
    inputs = {"query": query.copy(), "key": key.copy(), "cos": cos, "sin": sin}
    expected = golden("apply_rotary_pos_emb", "ascend910b", inputs, layout=1)
    call("ascend910b", interface, query, key, cos, sin, 1, *(["half"] if interface.endswith("V2") else []))
    assert np.array_equal(whole.transpose(0, 2, 1, 3), expected["query"])
    assert np.array_equal(key, expected["key"])


@pytest.mark.parametrize("wanted", ["all", "without sin", "no forward"])
def test_apply_rotary_pos_emb_grad(wanted: str) -> None:
    inputs = {
        "grad_query_embed": draw(2, 8, 3, 64),
        "grad_key_embed": draw(2, 8, 1, 64),
        "cos": draw(1, 8, 1, 64, seed=1),
        "sin": draw(1, 8, 1, 64, seed=2),
        "query": draw(2, 8, 3, 64, seed=3),
        "key": draw(2, 8, 1, 64, seed=4),
    }
    outs: list[Any] = [np.full(inputs[name].shape, np.nan, np.float32) for name in list(inputs)[:4]]
    if wanted == "no forward":
        del inputs["query"], inputs["key"]
    given = [*inputs.values(), *([None] * (6 - len(inputs)))]
    if wanted != "all":
        outs[3] = None
    call("ascend950", "aclnnApplyRotaryPosEmbGrad", *given, "half", 1, *outs)
    expected = golden("apply_rotary_pos_emb_grad", "ascend950", inputs, layout=1)
    tolerance = operator_named("apply_rotary_pos_emb_grad").tolerance
    for name, out in zip(("grad_query", "grad_key", "grad_cos", "grad_sin"), outs, strict=True):
        if out is not None and name in expected:
            np.testing.assert_allclose(out, expected[name], tolerance.relative, tolerance.absolute)
        elif out is not None:
            assert np.isnan(out).all()


def test_a_session_sees_the_interface_and_the_time_of_a_run() -> None:
    x, table = draw(2, 8, 2, 32), draw(2, 8, 1, 32)
    with ascend_sim.session() as session:
        status, size, executor = aclnn.aclnn_inplace_partial_rotary_mul_get_workspace_size(x, table, table, 1, [0, 32])
        assert (status, repr(executor)) == (
            0,
            "<OpExecutor of aclnnInplacePartialRotaryMul: 16777216 B of workspace, not run yet>",
        )
        assert aclnn.aclnn_inplace_partial_rotary_mul(np.empty(size, np.uint8), size, executor, None) == 0
        assert session.device.default_stream.synchronize() == 0
    (record,) = session.records
    run = ascend_sim.run(
        "inplace_partial_rotary_mul",
        ((2, 8, 2, 32), "float32"),
        *[((2, 8, 1, 32), "float32")] * 2,
        partial_slice=[0, 32],
    )
    assert (record.caller, record.duration_us) == ("aclnnInplacePartialRotaryMul", pytest.approx(run.duration_us))
