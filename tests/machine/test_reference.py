"""The machine equals the plain one, cycle for cycle, on random programs."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st

from ascend_sim.errors import DeadlockError
from ascend_sim.machine import Machine
from ascend_sim.machine.l2 import L2
from ascend_sim.program import HardEvent
from ascend_sim.soc import load

from .build import BlockBuilder, program
from .reference import PlainLaunch

EVENTS = [
    name
    for name in HardEvent.__members__
    if all(part in ("S", "V", "MTE2", "MTE3") for part in name.split("_")) and name != "V_V"
]
BYTES = (32, 256, 1024, 4096, 20480)
UB = tuple(range(0, 8192, 1024))


@st.composite
def steps(draw, syncs: int):
    """Calls of one block; flags are paired, some waited for before they are set."""
    calls = []
    raised = []
    for _ in range(draw(st.integers(1, 40))):
        kind = draw(
            st.sampled_from(
                ("vector",) * 3 + ("load", "load", "store", "flag", "flag", "take", "barrier", "scalar", "early")
            )
        )
        if kind == "vector":
            name = draw(st.sampled_from(("Add", "Mul", "Exp", "Muls", "Gather")))
            sources = [draw(st.sampled_from(UB)) for _ in range(2 if name in ("Add", "Mul") else 1)]
            calls.append(
                (
                    "vector",
                    name,
                    draw(st.sampled_from(UB)),
                    *sources,
                    draw(st.sampled_from((64, 256, 1024))),
                    draw(st.booleans()),
                )
            )
        elif kind in ("load", "store"):
            rows = draw(st.sampled_from((1, 1, 1, 3)))
            nbytes = draw(st.sampled_from(BYTES[:3] if rows > 1 else BYTES))
            gm = draw(st.integers(0, 200)) * draw(st.sampled_from((32, 512, 4096)))
            pitch = nbytes + draw(st.sampled_from((0, 64, 5000)))
            calls.append((kind, gm, draw(st.sampled_from(UB)), nbytes, rows, pitch, draw(st.booleans())))
        elif kind == "flag":
            flag = (draw(st.sampled_from(EVENTS)), draw(st.integers(0, 1)))
            if flag not in raised:
                raised.append(flag)
                calls.append(("set", *flag))
        elif kind == "take" and raised:
            calls.append(("wait", *raised.pop(draw(st.integers(0, len(raised) - 1)))))
        elif kind == "early":
            flag = (draw(st.sampled_from(EVENTS)), 2)
            if not flag[0].endswith("_S"):
                calls += [("wait", *flag), ("set", *flag)]
        elif kind == "barrier":
            calls.append(("barrier", draw(st.sampled_from(("V", "MTE2", "MTE3", "ALL")))))
        elif kind == "scalar":
            calls.append(
                draw(
                    st.one_of(
                        st.tuples(st.sampled_from(("get_value", "set_value")), st.sampled_from(UB)),
                        st.tuples(st.just("gm_value"), st.integers(0, 40).map(lambda n: n * 32), st.booleans()),
                    )
                )
            )
    for _ in range(syncs):
        calls.insert(draw(st.integers(0, len(calls))), ("sync_all",))
    return calls


def build(number: int, calls, known) -> BlockBuilder:
    block = BlockBuilder(number, known)
    for name, *arguments in calls:
        if name == "vector":
            op, dst, *sources, nbytes, count = arguments
            block.vector(op, dst, *sources, nbytes=nbytes, count=count)
        else:
            getattr(block, name)(*arguments)
    return block


@st.composite
def launches(draw):
    syncs = draw(st.sampled_from((0, 0, 0, 1, 2)))
    cores = draw(st.integers(1, 4))
    blocks = draw(st.integers(1, cores if syncs else cores + 3))
    shared = draw(st.booleans())
    calls = [draw(steps(syncs)) for _ in range(1 if shared else blocks)]
    known: dict[object, object] = {}
    built = [build(number, calls[0 if shared else number], known) for number in range(blocks)]
    overrides = {
        "cores.aiv": cores,
        "cores.aic": 1,
        "l2.bytes": draw(st.sampled_from(("16 KiB", "64 KiB", "192 MiB"))),
        "timing.queues.vector_entries": draw(st.sampled_from((1, 2, 4, 32))),
        "timing.queues.mte2_entries": draw(st.sampled_from((1, 2, 32))),
        "timing.queues.mte3_entries": draw(st.sampled_from((1, 2, 32))),
        "l2.read_bytes_per_cycle_per_aic": draw(st.sampled_from((100, 140, 400))),
        "l2.write_bytes_per_cycle_per_aic": draw(st.sampled_from((60, 400))),
        "hbm.peak_gbps": draw(st.sampled_from((100, 1600))),
        "timing.scalar.prologue_cycles": draw(st.sampled_from((1, 50))),
        "timing.launch.stagger_cycles": draw(st.sampled_from((0, 7))),
    }
    return program(*built, auto_sync=draw(st.booleans())), load("ascend910b", overrides)


SETTINGS = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])


@settings(SETTINGS, max_examples=60)
@given(launches())
def test_machine_equals_the_plain_one(launch):
    compare(*launch)


@pytest.mark.slow
@settings(SETTINGS, max_examples=150)
@given(launches())
def test_machine_equals_the_plain_one_on_many_programs(launch):
    compare(*launch)


def compare(launched, soc):
    plain = PlainLaunch(soc, launched, L2(soc.l2.bytes)).run()
    if any(core.finish < 0 for core in plain.values()) or len(plain) < launched.block_dim:
        event("deadlock")
        with pytest.raises(DeadlockError):
            Machine(soc).run(launched, l2="cold")
    else:
        event(f"{launched.block_dim} blocks")
        assert_equal(Machine(soc).run(launched, l2="cold"), plain)


def assert_equal(timeline, plain):
    for line in timeline.cores:
        core = plain[line.program.block]
        assert list(line.dispatch) == core.dispatch
        assert list(line.start) == core.start
        assert list(line.end) == core.end
        assert line.finish == core.finish
        assert (line.core, line.begin) == (core.number, core.begin)


def test_scalar_unit_is_asked_when_only_its_flag_is_missing():
    """While a load is under way, V and MTE3 wait for what the scalar unit has yet to issue."""
    block = BlockBuilder(0).load(0, 0, 4096).set("MTE2_V").load(8192, 0, 65536)
    block.wait("V_MTE3").store(1 << 20, 4096, 256)
    block.wait("MTE2_V").wait("S_V").vector("Add", 0, 32, 64, nbytes=256).set("S_V").set("V_MTE3")
    launched = program(block)
    soc = load("ascend910b", {"timing.queues.vector_entries": 2})
    plain = PlainLaunch(soc, launched, L2(soc.l2.bytes)).run()
    timeline = Machine(soc).run(launched, l2="cold")
    assert_equal(timeline, plain)
    line = timeline.cores[0]
    assert line.start[4] < line.end[2], "the store begins while the second load is under way"
