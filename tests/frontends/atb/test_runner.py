"""The runner: its kernel graph, what a second Setup is spared, tiling data and arguments."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from ascend_sim.frontends import atb
from ascend_sim.frontends.atb import ops_runner
from ascend_sim.frontends.atb.kernel_cache import GLOBAL_COUNT, LOCAL_COUNT, entries
from ascend_sim.frontends.atb.mki.base import Kernel
from ascend_sim.frontends.atb.mki.rope import Rope
from ascend_sim.frontends.atb.mki.rope_grad import RopeGrad
from ascend_sim.frontends.atb.ops_runner import OpsRunner
from ascend_sim.frontends.atb.param_compare import params_equal
from ascend_sim.frontends.atb.rope_ops_runner import RopeOpsRunner

from .making import LENGTHS, SHAPES, Ready, created, pack


@pytest.fixture(autouse=True)
def _no_tilings_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ops_runner, "_THREAD", threading.local())


def runner_of(operation: atb.Operation) -> OpsRunner:
    assert operation._runner is not None
    found = operation._runner.runner
    assert isinstance(found, OpsRunner)
    return found


def kernel_of(operation: atb.Operation) -> Kernel:
    impl = runner_of(operation).kernel_graph.nodes[0].impl
    assert impl is not None
    assert impl.kernel is not None
    return impl.kernel


class TestKernelGraph:
    def test_rope_grad_is_one_node(self, ready: Ready) -> None:
        graph = runner_of(ready.set_up().operation).kernel_graph
        assert (len(graph.inTensors), len(graph.outTensors), graph.internalTensors, len(graph.nodes)) == (4, 2, [], 1)
        node = graph.nodes[0]
        assert (node.opDesc.op_id, node.opDesc.name, node.opDesc.param) == (
            0,
            "RopeGradOperation",
            RopeGrad((2, 1, 4, 4)),
        )
        assert all(mine is its for mine, its in zip(node.inTensors, graph.inTensors, strict=True))
        assert all(mine is its for mine, its in zip(node.outTensors, graph.outTensors, strict=True))
        assert node.inTensorViewFuncs == ()

    def test_rope_sees_q_and_k_in_two_dims(self, context: atb.Context) -> None:
        q, k = np.zeros((2, 3, 4, 64), np.float16), np.zeros((2, 3, 1, 64), np.float16)
        table, lengths = np.zeros((6, 64), np.float16), np.array([3, 3], np.int32)
        given = atb.VariantPack([q, k, table, table, lengths], [q.copy(), k.copy()])
        operation = created(atb.RopeParam(2))
        assert operation.Setup(given, context)[0] == 0
        runner = runner_of(operation)
        assert isinstance(runner, RopeOpsRunner)
        node = runner.kernel_graph.nodes[0]
        assert node.impl is not None
        seen = [item.desc for item in node.impl.launch_param.inTensors]
        assert [desc.shape.shape for desc in seen] == [(6, 256), (6, 64), (6, 64), (6, 64), (2,)]
        assert seen[4].dtype is atb.DataType.ACL_UINT32
        assert node.opDesc.param == Rope(2, 0)
        assert node.inTensors[0].desc.shape.shape == (2, 3, 4, 64)


class TestTilingData:
    def test_forty_bytes_and_four_per_sample(self, ready: Ready) -> None:
        kernel = kernel_of(ready.set_up().operation)
        info = kernel.kernel_info
        assert info.tiling.size == 40 + 4 * len(LENGTHS) == 56
        assert info.tiling[:40].view(np.int64).tolist() == [64, 128, 128, 11, 4]
        assert info.tiling[40:].view(np.int32).tolist() == LENGTHS
        assert (info.block_dim, info.args_bytes, info.scratch_sizes, info.memset) == (1, 128, (), None)

    @pytest.mark.parametrize(("batch", "kernel_bytes"), [(1, 64), (6, 64), (7, 96), (32, 192)])
    def test_room_in_the_host_buffer(self, ready: Ready, batch: int, kernel_bytes: int) -> None:
        operation = created(atb.RopeGradParam([1] * batch))
        given = pack([(batch, 128), (batch, 128), (1, 128), (1, 128)])
        assert operation.Setup(given, ready.context) == (0, 0)
        assert runner_of(operation).GetTilingBufferSize() == kernel_bytes
        assert operation._pack.tilingBufferSize == 512
        buffer = operation._pack.hostTilingBuffer
        assert buffer is not None
        assert buffer.size == 3 << 20
        assert buffer[40 : 40 + 4 * batch].view(np.int32).tolist() == [1] * batch

    def test_every_setup_takes_the_next_buffer(self, ready: Ready) -> None:
        first = ready.set_up().operation._pack.hostTilingBuffer
        assert ready.set_up().operation._pack.hostTilingBuffer is not first
        for _ in range(126):
            ready.context.GetHostTilingBuffer()
        assert ready.set_up().operation._pack.hostTilingBuffer is first


class TestReuse:
    def test_a_second_setup_of_the_same_inputs_plans_nothing(self, ready: Ready) -> None:
        statistic = runner_of(ready.set_up().operation).statistic
        graph = runner_of(ready.operation).kernel_graph
        ready.pack = pack()
        ready.set_up()
        assert (statistic.setups, statistic.setups_reused, statistic.tilings_computed) == (2, 1, 1)
        assert runner_of(ready.operation).kernel_graph is graph
        assert ready.execute() == 0
        assert (ready.pack.outTensors[0].data != 7).any()

    def test_other_inputs_are_planned_anew(self, ready: Ready) -> None:
        statistic = runner_of(ready.set_up().operation).statistic
        wide = pack([(11, 256), (11, 256), *SHAPES[2:]])
        assert ready.operation.Setup(wide, ready.context) == (0, 0)
        assert (statistic.setups, statistic.setups_reused, statistic.tilings_computed) == (2, 0, 2)
        assert kernel_of(ready.operation).kernel_info.block_dim == 2

    def test_a_new_parameter_on_an_old_runner_is_planned_anew(self, ready: Ready) -> None:
        runner = runner_of(ready.set_up().operation)
        atb.UpdateOperationParam(ready.operation, atb.RopeGradParam([11]))
        ready.set_up()
        assert runner_of(ready.operation) is runner
        assert (runner.statistic.setups_reused, runner.statistic.tilings_computed) == (0, 2)
        assert kernel_of(ready.operation).kernel_info.tiling[40:].view(np.int32).tolist() == [11]

    def test_an_equal_parameter_on_an_old_runner_is_not(self, ready: Ready) -> None:
        runner = runner_of(ready.set_up().operation)
        atb.DestroyOperation(ready.operation)
        ready.operation = created(atb.RopeGradParam(LENGTHS))
        ready.set_up()
        assert runner_of(ready.operation) is runner
        assert (runner.statistic.setups, runner.statistic.setups_reused) == (2, 1)
        assert ready.execute() == 0

    def test_tilings_are_shared_by_the_runners_of_a_type(self, ready: Ready) -> None:
        ready.set_up()
        other = created(atb.RopeGradParam(LENGTHS))
        other.Setup(ready.pack, ready.context)
        statistic = runner_of(other).statistic
        assert (statistic.tilings_computed, statistic.tilings_cached) == (0, 1)
        assert kernel_of(other) is not kernel_of(ready.operation)
        assert other.Execute(ready.pack, None, ready.context) == 0

    def test_one_entry_by_default(self, ready: Ready) -> None:
        ready.set_up()
        other = created(atb.RopeGradParam([11]))
        other.Setup(ready.pack, ready.context)
        third = created(atb.RopeGradParam(LENGTHS))
        third.Setup(ready.pack, ready.context)
        assert runner_of(third).statistic.tilings_computed == 1

    @pytest.mark.parametrize(("text", "count"), [("", 1), ("0", 1), ("7", 7), ("5000", 1024), ("-3", 1), ("x", 1)])
    def test_more_entries_by_environment(self, monkeypatch: pytest.MonkeyPatch, text: str, count: int) -> None:
        for variable in (LOCAL_COUNT, GLOBAL_COUNT):
            monkeypatch.setenv(variable, text)
            assert entries(variable) == count

    def test_parameters_are_compared_by_registered_types(self) -> None:
        assert params_equal(RopeGrad((1,)), RopeGrad((1,)))
        assert not params_equal(RopeGrad((1,)), RopeGrad((2,)))
        assert not params_equal(Rope(), RopeGrad())
        assert not params_equal(3, 3)


def test_rope_tiling_data_and_arguments(ready: Ready) -> None:
    arrays = [np.zeros(shape, np.float16) for shape in ((4, 256), (4, 128), (4, 64), (4, 64))]
    given = atb.VariantPack([*arrays, np.array([4], np.int32)], [array.copy() for array in arrays[:2]])
    operation = created(atb.RopeParam(2, 1))
    assert operation.Setup(given, ready.context)[0] == 0
    info = kernel_of(operation).kernel_info
    ub_bytes = ready.device.soc.ub.usable_bytes
    assert info.tiling.view(np.uint32).tolist() == [256, 128, 64, 4, 2, 2, 4, 4, 1, 1, ub_bytes, 1]
    assert (info.tiling_id, info.block_dim, info.args_bytes) == (20, 4, 8 * 11 + 64)
    assert info.memset == (8, 4 * 32)
    assert runner_of(operation).GetTilingBufferSize() == 64
