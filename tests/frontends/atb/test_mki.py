"""MKI beneath ATB: operations by name, CanSupport, sizes of tiling data, its own limits and statuses."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ascend_sim.frontends import atb
from ascend_sim.frontends.atb.mki import registry
from ascend_sim.frontends.atb.mki.base import ErrorType, Kernel, LaunchParam, MkiStatus, RunInfo
from ascend_sim.frontends.atb.mki.rope import Rope
from ascend_sim.frontends.atb.mki.rope_grad import RopeGrad, RopeGradOperation
from ascend_sim.host.device import Device

from .making import SHAPES, descs


def launch(lengths: Any = (2, 1, 4, 4), shapes: Any = SHAPES, dtype: str = "float16") -> LaunchParam:
    found = LaunchParam(RopeGrad(tuple(lengths)), [atb.Tensor(desc) for desc in descs(shapes, dtype)])
    found.outTensors = [atb.Tensor(descs()[0]) for _ in range(2)]
    return found


def grad_kernel() -> Kernel:
    found = registry.kernel_named("RopeGradKernel")
    assert found is not None
    return found


class TestOperation:
    def test_asd_ops_are_looked_through_before_atb_ops(self, monkeypatch: pytest.MonkeyPatch) -> None:
        mine = registry.find_operation("RopeGradOperation")
        assert isinstance(mine, RopeGradOperation)
        assert registry.find_operation("NoSuchOperation") is None
        other = RopeGradOperation()
        monkeypatch.setitem(registry.LIBRARIES["AsdOps"], "RopeGradOperation", other)
        assert registry.find_operation("RopeGradOperation") is other

    def test_numbers_of_tensors_by_parameter(self) -> None:
        operation = RopeGradOperation()
        assert (operation.GetInputNum(RopeGrad()), operation.GetOutputNum(RopeGrad())) == (4, 2)
        assert (operation.GetInputNum(Rope()), operation.GetOutputNum(Rope())) == (0, 0)

    def test_shapes(self) -> None:
        given = launch()
        given.outTensors = [atb.Tensor(), atb.Tensor()]
        assert RopeGradOperation().InferShape(given).ok
        assert [item.desc for item in given.outTensors] == descs()[:2]

    @pytest.mark.parametrize(
        "shapes",
        [
            [(11, 1, 128), (11, 1, 128), *SHAPES[2:]],
            [(11, 128), (12, 128), *SHAPES[2:]],
            [(11, 192), (11, 192), *SHAPES[2:]],
            [*SHAPES[:2], (64, 128), (63, 128)],
            [*SHAPES[:2], (64, 64), (64, 64)],
            [*SHAPES[:2], (128,), (128,)],
            SHAPES[:3],
        ],
    )
    def test_refusals(self, shapes: Any) -> None:
        status = RopeGradOperation().InferShape(launch(shapes=shapes))
        assert status.code is ErrorType.ERROR_INFERSHAPE_ERROR
        assert status.to_atb() is atb.Status.ERROR_RT_FAIL


class TestCanSupport:
    def test_what_it_supports(self) -> None:
        assert grad_kernel().CanSupport(launch())

    def test_what_it_does_not(self) -> None:
        kernel = grad_kernel()
        assert not kernel.CanSupport(launch(shapes=SHAPES[:3]))
        assert not kernel.CanSupport(launch(dtype="bf16"))
        assert not kernel.CanSupport(launch(shapes=[(11, 1, 128), *SHAPES[1:]]))
        for change in (
            {"param": Rope()},
            {"outTensors": [atb.Tensor(descs()[0])]},
            {"outTensors": [atb.Tensor(descs(dtype="float")[0]) for _ in range(2)]},
        ):
            given = launch()
            vars(given).update(change)
            assert not kernel.CanSupport(given)
        given = launch()
        given.inTensors[3].desc = atb.TensorDesc("float16", "nhwc", (64, 128))
        assert not kernel.CanSupport(given)

    def test_it_is_asked_when_the_kernel_is_initialised(self, device: Device) -> None:
        status = grad_kernel().Init(launch(dtype="bf16"), device)
        assert (status.code, status.message) == (
            ErrorType.ERROR_INVALID_VALUE,
            "RopeGradKernel does not support this call",
        )
        kernel = grad_kernel()
        assert kernel.Run(launch(), RunInfo()).to_atb() is atb.Status.ERROR_INVALID_PARAM

    @pytest.mark.parametrize(
        ("coeff", "dtypes", "head_dim", "supported"),
        [
            (2, ("float16", "float16", "int32"), 64, True),
            (64, ("float16", "float", "uint32"), 64, True),
            (2, ("bf16", "bf16", "int32"), 64, True),
            (8, ("float16", "float16", "int32"), 64, False),
            (2, ("bf16", "float", "int32"), 64, False),
            (2, ("float", "float", "int32"), 64, False),
            (2, ("float16", "float16", "int64"), 64, False),
            (2, ("float16", "float16", "int32"), 8, False),
            (2, ("float16", "float16", "int32"), 96, False),
        ],
    )
    def test_rope(self, coeff: int, dtypes: tuple[str, str, str], head_dim: int, supported: bool) -> None:
        x, table, lengths = dtypes
        shapes = [(x, (4, 256)), (x, (4, 128)), (table, (4, head_dim)), (table, (4, head_dim)), (lengths, (1,))]
        given = LaunchParam(Rope(coeff), [atb.Tensor(atb.TensorDesc(dtype, "nd", shape)) for dtype, shape in shapes])
        given.outTensors = [atb.Tensor(item.desc) for item in given.inTensors[:2]]
        kernel = registry.kernel_named("RopeKernel")
        assert kernel is not None
        assert kernel.CanSupport(given) == supported


class TestTiling:
    @pytest.mark.parametrize(
        ("batch", "nbytes"), [(0, 0), (1, 44), (4, 56), (33, 172), (99_999, 40 + 4 * 99_999), (100_000, 0)]
    )
    def test_bytes_of_tiling_data(self, batch: int, nbytes: int) -> None:
        assert grad_kernel().GetTilingSize(launch([1] * batch)) == nbytes

    def test_bytes_for_a_foreign_parameter(self) -> None:
        given = launch()
        given.param = Rope()
        assert grad_kernel().GetTilingSize(given) == 0

    def test_mki_alone_takes_more_than_32_samples(self, device: Device) -> None:
        kernel = grad_kernel()
        assert kernel.Init(launch([1] * 40, [(40, 128), (40, 128), *SHAPES[2:]]), device).ok
        assert kernel.kernel_info.tiling.size == 40 + 4 * 40

    @pytest.mark.parametrize(
        ("lengths", "shapes", "text"),
        [
            ([], SHAPES, "batch is 0; there must be at least one sample"),
            ([65], SHAPES, "qSeqLen[0] is 65; allowed are 1 to 64"),
            ([0], SHAPES, "qSeqLen[0] is 0; allowed are 1 to 64"),
            ([1], [(11, 192), (11, 192), *SHAPES[2:]], "hiddenSize 192 is no multiple of headSize 128"),
            ([1], [*SHAPES[:2], (1, 12288), (1, 12288)], "headSize is 12288; allowed are 1 to 12287"),
        ],
    )
    def test_checks_of_the_tiling_function(self, device: Device, lengths: Any, shapes: Any, text: str) -> None:
        status = grad_kernel().Init(launch(lengths, shapes), device)
        assert status == MkiStatus(ErrorType.ERROR_INVALID_VALUE, f"RopeGrad: {text} (ERROR_INVALID_PARAM, 1)")

    @pytest.mark.parametrize(("heads", "blocks"), [(1, 1), (47, 47), (48, 48), (49, 48)])
    def test_a_block_per_head(self, device: Device, heads: int, blocks: int) -> None:
        kernel = grad_kernel()
        assert kernel.Init(launch([11], [(11, 128 * heads)] * 2 + [(11, 128)] * 2), device).ok
        assert kernel.kernel_info.block_dim == blocks


@pytest.mark.parametrize(
    ("code", "status"),
    [
        *((code, 1) for code in (1, 2, 3, 4, 5, 6, 10)), *((code, 4) for code in (7, 8, 9, 13)),
        (0, 0), (11, 27), (12, 29), (14, 3),
    ],
)  # fmt: skip
def test_statuses_as_atb_has_them(code: int, status: int) -> None:
    assert MkiStatus(ErrorType(code)).to_atb() == status


def test_a_test_of_the_operation_s_own_two_parameters(device: Device) -> None:
    """The library's own test: four samples, then eight on the same operation."""
    rng = np.random.default_rng(4)
    _, context = atb.CreateContext()
    assert context is not None
    context.SetExecuteStream(object())
    _, operation = atb.CreateOperation(atb.RopeGradParam([3, 5, 7, 9]))
    assert operation is not None
    for lengths in ([3, 5, 7, 9], [1, 2, 3, 4, 5, 6, 7, 8]):
        assert atb.UpdateOperationParam(operation, atb.RopeGradParam(lengths)) == 0
        rows = sum(lengths)
        q, k = (rng.uniform(-1, 1, (rows, 1024)).astype(np.float16) for _ in range(2))
        cos, sin = (rng.uniform(-1, 1, (16, 128)).astype(np.float16) for _ in range(2))
        given = atb.VariantPack([q, k, cos, sin], [np.zeros_like(q), np.zeros_like(k)])
        assert operation.Setup(given, context) == (0, 0)
        assert operation.Execute(given, None, context) == 0
        c, s = (np.concatenate([table[:n] for n in lengths]).astype(np.float64) for table in (cos, sin))
        weights = np.tile(c + np.concatenate([s[:, 64:], -s[:, :64]], axis=1), (1, 8))
        for gradient, out in zip((q, k), (item.data for item in given.outTensors), strict=True):
            assert np.allclose(out, gradient * weights, rtol=0.02, atol=0.02)


def test_the_kernel_s_own_test(device: Device) -> None:
    """The library's kernel test: 16 samples, 10 heads, a table of 2048 rows."""
    rng = np.random.default_rng(5)
    lengths = tuple(int(n) for n in rng.integers(1, 60, 16))
    q, k = (rng.uniform(-1, 1, (sum(lengths), 1280)).astype(np.float16) for _ in range(2))
    cos, sin = (rng.uniform(-1, 1, (2048, 128)).astype(np.float16) for _ in range(2))
    given = LaunchParam(RopeGrad(lengths), [atb.tensor(array) for array in (q, k, cos, sin)])
    given.outTensors = [atb.tensor(np.zeros_like(array)) for array in (q, k)]
    kernel = grad_kernel()
    assert kernel.Init(given, device).ok
    _, context = atb.CreateContext()
    assert kernel.Run(given, RunInfo(object(), context)).ok
    c, s = (np.concatenate([table[:n] for n in lengths]).astype(np.float64) for table in (cos, sin))
    weights = np.tile(c + np.concatenate([s[:, 64:], -s[:, :64]], axis=1), (1, 10))
    for gradient, item in zip((q, k), given.outTensors, strict=True):
        assert np.allclose(item.data, gradient * weights, rtol=1e-3, atol=1e-3)
