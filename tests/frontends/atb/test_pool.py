"""Runners come from a pool of 64 per type and context, go back to it, and keep nothing alive."""

from __future__ import annotations

import gc
import weakref

import pytest

from ascend_sim.frontends import atb
from ascend_sim.frontends.atb.rope_grad_ops_runner import RopeGradOpsRunner
from ascend_sim.frontends.atb.runner_pool import POOL_SLOTS, RunnerPool
from ascend_sim.host.device import Device

from .making import LENGTHS, Ready, created, pack


def pool_of(context: atb.Context, name: str = "RopeGradOpsRunner") -> RunnerPool:
    return context.GetRunnerPool(atb.RunnerTypeRegister.GetRunnerTypeIdx(name))


def test_types_are_found_by_name() -> None:
    register = atb.RunnerTypeRegister
    found = [register.GetRunnerTypeIdx(name) for name in ("RopeGradOpsRunner", "RopeOpsRunner")]
    assert len(set(found)) == 2
    assert min(found) >= 0
    assert register.GetRunnerTypeIdx("NoSuchRunner") == -1


def test_sixty_five_operations_of_one_type_work(device: Device, context: atb.Context) -> None:
    operations = [created(atb.RopeGradParam(LENGTHS)) for _ in range(POOL_SLOTS + 1)]
    packs = [pack() for _ in operations]
    for operation, given in zip(operations, packs, strict=True):
        assert operation.Setup(given, context) == (0, 0)
    assert pool_of(context).used == POOL_SLOTS == 64
    for operation, given in zip(operations, packs, strict=True):
        assert operation.Execute(given, None, context) == 0
    want = packs[0].outTensors[0].data.tobytes()
    assert all(given.outTensors[0].data.tobytes() == want for given in packs)
    atb.DestroyOperation(operations[-1])  # the one without a slot
    assert pool_of(context).used == POOL_SLOTS
    for operation in operations:
        atb.DestroyOperation(operation)
    assert pool_of(context).used == 0


def test_the_first_free_slot_is_taken_and_its_runner_used_again(ready: Ready) -> None:
    pool = pool_of(ready.context)
    ready.set_up()
    first = pool.items[0].runner
    other = created(atb.RopeGradParam([11]))
    other.Setup(ready.pack, ready.context)
    assert [item.is_used for item in pool.items[:3]] == [True, True, False]
    atb.DestroyOperation(ready.operation)
    assert [item.is_used for item in pool.items[:3]] == [False, True, False]
    again = created(atb.RopeGradParam([5, 6]))
    assert again.Setup(ready.pack, ready.context) == (0, 0)
    assert pool.items[0].runner is first
    assert isinstance(first, RopeGradOpsRunner)
    assert first.param == atb.RopeGradParam([5, 6])
    assert again.Execute(ready.pack, None, ready.context) == 0


def test_a_changed_parameter_gives_the_runner_back(ready: Ready) -> None:
    pool = pool_of(ready.set_up().context)
    assert pool.used == 1
    atb.UpdateOperationParam(ready.operation, atb.RopeGradParam(LENGTHS))
    assert pool.used == 1
    atb.UpdateOperationParam(ready.operation, atb.RopeGradParam([11]))
    assert pool.used == 0
    ready.set_up()
    assert pool.used == 1


def test_an_operation_that_nobody_holds_gives_its_runner_back(ready: Ready) -> None:
    pool = pool_of(ready.set_up().context)
    del ready.operation
    assert pool.used == 0


def test_pools_belong_to_a_type_and_a_context(ready: Ready) -> None:
    ready.set_up()
    other = Ready(ready.device).set_up()
    assert pool_of(ready.context) is not pool_of(other.context)
    assert pool_of(ready.context) is pool_of(ready.context)
    assert (pool_of(ready.context).used, pool_of(ready.context, "RopeOpsRunner").used) == (1, 0)


def test_the_same_runner_serves_all_setups_of_an_operation(ready: Ready) -> None:
    for _ in range(3):
        ready.set_up()
    assert pool_of(ready.context).used == 1


class TestNothingLeaks:
    @pytest.fixture(autouse=True)
    def _without_the_collector(self) -> object:
        """What is freed here is freed by its last holder, without the cycle collector."""
        gc.collect()
        gc.disable()
        yield
        gc.enable()

    def test_tensors_after_destroy(self, ready: Ready) -> None:
        ready.set_up()
        assert ready.execute() == 0
        arrays = [weakref.ref(item.data) for item in (*ready.pack.inTensors, *ready.pack.outTensors)]
        atb.DestroyOperation(ready.operation)
        ready.pack = atb.VariantPack()
        assert [array() for array in arrays] == [None] * 6
        assert pool_of(ready.context).items[0].runner is not None

    def test_operation_and_context(self, ready: Ready) -> None:
        ready.set_up()
        assert ready.execute() == 0
        held = [weakref.ref(ready.operation), weakref.ref(ready.context)]
        atb.DestroyOperation(ready.operation)
        atb.DestroyContext(ready.context)
        del ready.operation, ready.context
        assert [item() for item in held] == [None, None]

    def test_runners_of_a_destroyed_context(self, ready: Ready) -> None:
        ready.set_up()
        runner = weakref.ref(pool_of(ready.context).items[0].runner)
        atb.DestroyContext(ready.context)
        atb.DestroyOperation(ready.operation)
        assert runner() is None

    def test_a_thousand_operations(self, context: atb.Context) -> None:
        given = pack()
        for _ in range(200):
            operation = created(atb.RopeGradParam(LENGTHS))
            operation.Setup(given, context)
            atb.DestroyOperation(operation)
        pool = pool_of(context)
        assert pool.used == 0
        assert sum(item.runner is not None for item in pool.items) == 1
