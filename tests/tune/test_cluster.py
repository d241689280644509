"""Sweeps and tunings on a real Dask cluster of two worker processes."""

from __future__ import annotations

import os
import re
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

import pytest

from ascend_sim.errors import InputError
from ascend_sim.host.registry import operator_at, operator_named
from ascend_sim.host.tensors import TensorInfo
from ascend_sim.scaffold.writing import write_operator
from ascend_sim.soc import load
from ascend_sim.tune import cluster as clusters
from ascend_sim.tune.axes import Axis, read_axes
from ascend_sim.tune.cluster import Cluster
from ascend_sim.tune.executors import Lost
from ascend_sim.tune.processes import Processes
from ascend_sim.tune.search import tune
from ascend_sim.tune.sources import source_of
from ascend_sim.tune.sweep import Sweep, run_sweep, time_point
from ascend_sim.tune.text import tuning_json

pytest.importorskip("distributed")

OP = operator_named("inplace_partial_rotary_mul")
INPUTS = {name: TensorInfo((1, 4, heads, 32), "float16") for name, heads in (("x", 2), ("cos", 1), ("sin", 1))}
POINTS = 16
OVER = f"x.S=4..{4 * POINTS}:+4"


def a_sweep(over: str = OVER) -> Sweep:
    return Sweep(OP, INPUTS, OP.bind_attrs({"partial_slice": (0, 32)}), "Ascend910B3", read_axes([over]))


def environment(**more: str) -> dict[str, str]:
    return os.environ | {"PYTHONPATH": os.pathsep.join(sys.path), "PYTHONDONTWRITEBYTECODE": ""} | more


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    command = [sys.executable, str(Path(__file__).with_name("dask_cluster.py"))]
    with subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env=environment(DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES="0"),
    ) as process:
        assert process.stdout
        yield process.stdout.readline().strip()
        process.terminate()  # its workers go with it


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a busy machine a scheduler may need longer than one of a user's should."""
    monkeypatch.setattr(clusters, "CONNECT_S", 20.0)


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> list[object]:
    return list(run_sweep(a_sweep(), tmp_path_factory.mktemp("local") / "r.sweep", Processes(1)))


def deadly(_common: None, job: int) -> int:
    if job == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    return -job


def kept(path: Path) -> int:
    """Points in a results file that nobody has open."""
    with closing(sqlite3.connect(path)) as connection:
        return int(connection.execute("SELECT count(*) FROM points").fetchone()[0])


def kill_itself(address: str, path: str) -> None:
    """A client that comes to an end with 8 points."""

    def done(n: int, _of: int) -> None:
        if n == 8:
            os.kill(os.getpid(), signal.SIGKILL)

    run_sweep(a_sweep(), Path(path), Cluster(address), done=done)


def test_a_worker_is_killed(address: str, expected: list[object], tmp_path: Path):
    cluster, seen = Cluster(address), []

    def done(n: int, of: int) -> None:
        seen.append((n, of))
        if n == 5:
            os.kill(min(cluster._client.run(os.getpid).values()), signal.SIGKILL)

    assert run_sweep(a_sweep(), tmp_path / "r.sweep", cluster, done=done) == expected
    assert seen == [(n, POINTS) for n in range(POINTS + 1)]


def test_tilings_are_timed_there_too(address: str):
    found = [
        tuning_json(tune(OP, INPUTS, {"partial_slice": (0, 32)}, load("Ascend910B3"), limit=6, executor=executor))
        for executor in (Processes(1), Cluster(address))
    ]
    for tuning in found:
        del tuning["seconds"], tuning["workers"]
    assert found[0] == found[1]


def test_the_client_is_stopped_and_killed(address: str, expected: list[object], tmp_path: Path):
    path = tmp_path / "r.sweep"

    def done(n: int, _of: int) -> None:
        if n == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_sweep(a_sweep(), path, Cluster(address), done=done)
    assert kept(path) == 3
    script = f"import sys; from {__name__} import kill_itself; kill_itself(*sys.argv[1:])"
    ended = subprocess.run([sys.executable, "-c", script, address, str(path)], env=environment(), check=False)
    assert ended.returncode == -signal.SIGKILL
    assert kept(path) == 8
    seen = []
    assert run_sweep(a_sweep(), path, Cluster(address), done=lambda n, _of: seen.append(n)) == expected
    assert seen == list(range(8, POINTS + 1))


def test_an_operator_of_a_folder_is_sent_along(address: str, tmp_path: Path):
    mine = operator_at(write_operator("my_rope", tmp_path))
    axis = Axis(f"{mine.inputs[0].name}.0", ("2", "4"))
    one = Sweep(mine, mine.example.inputs, mine.bind_attrs(mine.example.attrs), mine.default_soc, [axis])
    rows = run_sweep(one, tmp_path / "1.sweep", Processes(2))
    assert all("duration_us" in result for _, result in rows)
    with Cluster(address) as cluster:
        job = (source_of(mine, remote=True), False), one.points()[1]
        (tmp_path / "my_rope").rename(tmp_path / "elsewhere")  # no worker reads it
        assert list(cluster.run(time_point, job[0], [job[1]])) == [(0, rows[1][1])]


def greet(server: socket.socket) -> None:
    """As something else does: the one who has gone already, and the next."""
    for _ in range(2):
        connection, _address = server.accept()
        with connection, suppress(OSError):
            connection.sendall(b"SSH-2.0-x")


def nobody(port: int, reason: str) -> str:
    return f"^{re.escape(f'no Dask scheduler at 127.0.0.1:{port}: {reason}')}$"


def test_nobody_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]):
    path = tmp_path / "r.sweep"
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        with monkeypatch.context() as patch:
            patch.setattr(clusters, "CONNECT_S", 0.3)
            with pytest.raises(InputError, match=nobody(port, "no answer")):
                run_sweep(a_sweep(), path, Cluster(f"127.0.0.1:{port}"))
        greeter = threading.Thread(target=greet, args=(server,))
        greeter.start()
        with pytest.raises(InputError, match=nobody(port, "something else listens there")):
            run_sweep(a_sweep(), path, Cluster(f"127.0.0.1:{port}"))
        greeter.join()
    with pytest.raises(InputError, match=nobody(port, "Connection refused")):
        run_sweep(a_sweep(), path, Cluster(f"127.0.0.1:{port}"))
    assert list(tmp_path.iterdir()) == []
    assert capfd.readouterr() == ("", "")


def test_no_workers(address: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]):
    monkeypatch.setattr(clusters, "WORKERS_S", 0.2)
    monkeypatch.setattr(Cluster, "_workers", lambda _self: {})
    text = f"the Dask scheduler at {address} has no workers; start some: dask worker {address}"
    with pytest.raises(InputError, match=f"^{re.escape(text)}$"):
        Cluster(address).__enter__()
    assert capfd.readouterr().err == (
        f"note: the Dask scheduler at {address} has no workers yet; waiting 0.2 s for some\n"
    )


def test_workers_with_another_version(address: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(clusters, "VERSION", "9.9")
    with pytest.raises(InputError, match=r"^the Dask worker tcp://\S+ has ascend-sim \S+; it must be 9\.9, as here$"):
        Cluster(address).__enter__()
    monkeypatch.undo()
    monkeypatch.setattr(clusters, "ASK_VERSION", "__import__('ascend_sim_none')")
    monkeypatch.setattr(clusters, "NOT_THERE", "No module named 'ascend_sim_none")
    with pytest.raises(InputError, match=r"^the Dask worker tcp://\S+ has no ascend-sim; it must be \S+, as here$"):
        Cluster(address).__enter__()


def test_without_dask(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(clusters, "find_spec", lambda _name: None)
    text = "--executor dask://h:1 needs Dask, which is not installed: pip install 'ascend-sim[sweep]'"
    with pytest.raises(InputError, match=f"^{re.escape(text)}$"):
        Cluster("h:1")


def test_a_job_that_kills_its_workers(address: str):
    with Cluster(address) as cluster:
        end = time.monotonic() + 30
        while cluster.workers < 2 and time.monotonic() < end:  # one may still be starting after its death
            time.sleep(0.1)
        assert cluster.workers == 2
        found = dict(cluster.run(deadly, None, range(4)))
    assert found == {0: 0, 1: Lost("its workers died, each time that it was tried"), 2: -2, 3: -3}
