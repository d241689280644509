"""Where jobs are done: processes that die cost their jobs only, and what is no executor is refused."""

from __future__ import annotations

import multiprocessing
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from ascend_sim.errors import InputError
from ascend_sim.tune.executors import Lost, executor_named
from ascend_sim.tune.processes import Processes


def squared(common: int, job: int) -> int:
    return common + job * job


def deadly(folder: str, job: int) -> int:
    """Job 2 dies every time, job 4 the first time."""
    if job == 2:
        os.kill(os.getpid(), signal.SIGKILL)
    if job == 4 and not (Path(folder) / "4").exists():
        (Path(folder) / "4").touch()
        os._exit(3)
    return -job


def counted(common: dict[str, int], _job: int) -> tuple[int, int]:
    common["calls"] = common.get("calls", 0) + 1
    return os.getpid(), common["calls"]


def refusing(_common: None, job: int) -> int:
    raise InputError(f"not {job}")


@pytest.mark.parametrize("workers", [1, 3])
def test_every_job_once(workers: int):
    with Processes(workers) as executor:
        assert sorted(executor.run(squared, 7, range(10))) == [(n, 7 + n * n) for n in range(10)]
        assert list(executor.run(squared, 7, [])) == []


def test_started_anew(monkeypatch: pytest.MonkeyPatch):
    context = multiprocessing.get_context("spawn")
    monkeypatch.setattr(multiprocessing, "Process", context.Process)
    with Processes(2) as executor:
        assert sorted(executor.run(squared, 7, [3, 4])) == [(0, 16), (1, 23)]


def test_a_process_that_dies_costs_its_job_only(tmp_path: Path):
    with Processes(2) as executor:
        found = dict(executor.run(deadly, str(tmp_path), range(6)))
    assert found.pop(2) == Lost("its process was killed by SIGKILL (out of memory?), 3 times")
    assert found == {n: -n for n in (0, 1, 3, 4, 5)}
    assert not multiprocessing.active_children()


def test_a_process_keeps_what_is_common():
    with Processes(2) as executor:
        found = [answer for _, answer in executor.run(counted, {}, range(8))]
    for process in {process for process, _ in found}:
        mine = [calls for pid, calls in found if pid == process]
        assert mine == list(range(1, len(mine) + 1))


KILLED = """
import os, signal
from ascend_sim.tune.processes import Processes
from tests.tune.test_executors import squared

with Processes(2) as executor:
    for _ in executor.run(squared, 7, range(100)):
        os.kill(os.getpid(), signal.SIGKILL)
"""


def test_processes_end_with_the_one_that_started_them():
    """They hold its output open for as long as they live."""
    ended = subprocess.run([sys.executable, "-c", KILLED], stdout=subprocess.PIPE, timeout=20, check=False)
    assert ended.returncode == -signal.SIGKILL


@pytest.mark.parametrize("workers", [1, 2])
def test_what_a_job_raises(workers: int):
    with Processes(workers) as executor, pytest.raises(InputError, match=r"^not 5$"):
        list(executor.run(refusing, None, [5]))
    assert not multiprocessing.active_children()


@pytest.mark.parametrize(
    ("text", "workers", "message"),
    [
        (None, 0, "workers is 0, it must be 1 or more"),
        ("ray://h:1", None, "executor 'ray://h:1': allowed are processes, or dask://HOST:PORT of a scheduler"),
        ("dask", None, "executor 'dask': allowed are processes, or dask://HOST:PORT of a scheduler"),
        (
            "dask://h:1",
            2,
            "workers is for processes of this machine; a Dask cluster has as many as were started for it",
        ),
        *(
            (
                f"dask://{address}",
                None,
                f"executor 'dask://{address}': the form is dask://HOST:PORT, for example dask://10.0.0.5:8786",
            )
            for address in ("", "host", "host:", "host:many", "host:99999", ":8786", "me@host:1", "host:1/x")
        ),
    ],
)
def test_what_is_no_executor(text: str | None, workers: int | None, message: str):
    with pytest.raises(InputError, match=f"^{re.escape(message)}$"):
        executor_named(text, workers)
