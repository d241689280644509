"""Sessions: which runs they record, what they keep, how they print."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import ascend_sim
from ascend_sim import aclnn
from ascend_sim.asc.launch import current_device
from ascend_sim.host.device import Device
from ascend_sim.sessions import Session


def call(rows: int = 8) -> None:
    """One RotaryPositionEmbedding of `rows` positions through aclnn, on the current device."""
    device: Any = current_device()
    x, table = np.ones((1, rows, 2, 64), np.float32), np.ones((1, rows, 1, 64), np.float32)
    out = np.empty_like(x)
    status, size, executor = aclnn.aclnn_rotary_position_embedding_get_workspace_size(x, table, table, 0, out)
    assert status == 0, aclnn.get_recent_err_msg()
    workspace = np.empty(size, np.uint8)
    assert aclnn.aclnn_rotary_position_embedding(workspace, size, executor, None) == 0
    assert device.default_stream.synchronize() == 0


def test_every_run_is_recorded_in_order() -> None:
    with ascend_sim.session("Ascend910B4") as session:
        call(8)
        call(16)
    with Device():
        call(8)  # somebody else's
    first, second = session.records
    assert (first.op, first.caller, first.soc) == (
        "RotaryPositionEmbedding",
        "aclnnRotaryPositionEmbedding",
        "Ascend910B4",
    )
    assert first.inputs == "x (1, 8, 2, 64) float32, cos (1, 8, 1, 64) float32, sin (1, 8, 1, 64) float32"
    assert (first.shapes[0], second.shapes[0]) == ((1, 8, 2, 64), (1, 16, 2, 64))
    assert (first.start_us, second.start_us) == (0, first.duration_us)
    assert session.elapsed_us == second.start_us + second.duration_us
    assert repr(session) == f"<Session on Ascend910B4: 2 runs, {session.elapsed_us:.2f} us>"


@pytest.mark.parametrize("keep", [False, True])
def test_programs_are_kept_on_request(keep: bool) -> None:
    with Session(keep=keep) as session:
        call()
    assert len(session.device.launches) == int(keep)


def test_a_session_is_the_current_device_inside_its_block() -> None:
    with ascend_sim.session() as session:
        assert current_device() is session.device
        with Device() as inner:
            assert current_device() is inner
    assert current_device() is not session.device


def test_a_session_ends_when_its_block_fails() -> None:
    session = ascend_sim.session()
    with pytest.raises(ZeroDivisionError), session:
        raise ZeroDivisionError
    assert current_device() is not session.device


def test_the_same_call_takes_the_same_time_as_a_run() -> None:
    with ascend_sim.session() as session:
        call()
    x, table = ((1, 8, 2, 64), "float32"), ((1, 8, 1, 64), "float32")
    run = ascend_sim.run("rotary_position_embedding", x, table, table, mode=0)
    assert session.records[0].duration_us == pytest.approx(run.duration_us)


def test_tables() -> None:
    with ascend_sim.session() as session:
        call(8)
        call(16)
        call(8)
    (row,) = session.key_averages()
    assert (row.key, row.count) == ("RotaryPositionEmbedding", 3)
    assert row.device_time_total == row.self_device_time_total == pytest.approx(session.elapsed_us)
    assert row.device_time == pytest.approx(session.elapsed_us / 3)
    grouped = session.key_averages(group_by_input_shape=True)
    assert sorted((row.count, row.input_shapes[0]) for row in grouped) == [(1, [1, 16, 2, 64]), (2, [1, 8, 2, 64])]
    lines = session.summary().splitlines()
    assert lines[0].startswith("Session on Ascend910B3 ──")
    assert lines[1].split() == ["Operator", "Calls", "Total", "us", "Mean", "us", "Min", "us", "Max", "us", "Share"]
    assert lines[2].split()[:2] == ["RotaryPositionEmbedding", "3"]
    assert lines[3] == f"3 calls, {session.elapsed_us:.2f} us simulated"
    assert ascend_sim.session().summary().splitlines()[1:] == ["no operator has run"]
