"""Jobs on a Dask cluster. The extra `sweep` brings Dask; nothing of it is imported before it is asked for."""

from __future__ import annotations

import contextlib
import logging
import pickle
import queue
import socket
import sys
import time
import uuid
import warnings
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from importlib.util import find_spec
from types import TracebackType
from typing import Any
from urllib.parse import urlsplit

from ascend_sim.errors import InputError
from ascend_sim.tune.executors import Common, Job, Lost, Result, result_of
from ascend_sim.version import VERSION

CONNECT_S = 3.0
"""So long the scheduler has to answer."""
WORKERS_S = 10.0
"""So long a cluster without workers has to get some: they may just be starting."""
NO_WORKERS_S = 60.0
"""So long a cluster may be without workers in the middle of a run."""
LOOK_S = 1.0
MOST_GREETING_BYTES = 2**20
WINDOW = 1000
"""So many jobs are handed over at once; the scheduler gives each worker a few of them."""
ASK_VERSION = "__import__('ascend_sim.version').version.VERSION"
ANSWER = "__import__('ascend_sim.tune.worker').tune.worker.answer(*given)"
"""Texts to evaluate: a function of a module that a worker lacks would end the worker, not the job."""
NOT_THERE = "No module named 'ascend_sim"
LOGGERS = ("distributed", "distributed.client", "distributed.core", "distributed.comm", "tornado.application")


class Cluster:
    """The workers of the scheduler at `address` (HOST:PORT), which is asked when this is entered."""

    remote = True

    def __init__(self, address: str) -> None:
        self.address = _checked(address)
        if find_spec("distributed") is None:
            raise InputError(
                f"--executor dask://{address} needs Dask, which is not installed: pip install 'ascend-sim[sweep]'"
            )
        self._quiet = contextlib.ExitStack()
        self._client: Any = None

    def __enter__(self) -> Cluster:
        self._reach()
        self._quiet.enter_context(_quiet())
        try:
            self._client = self._connected()
            self._check_workers()
        except BaseException:
            self._close()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._close()

    def _close(self) -> None:
        if self._client is not None:
            with contextlib.suppress(Exception):
                self._client.close(timeout=CONNECT_S)
            self._client = None
        self._quiet.close()

    @property
    def workers(self) -> int:
        """Processes; none before it is entered."""
        return len(self._workers()) if self._client is not None else 0

    # --- to the cluster ---------------------------------------------------------------------------------------------

    def _reach(self) -> None:
        """A look at the port first: Dask itself waits for ever for what takes connections and says nothing.

        A scheduler greets whoever connects, in frames of which the first 8 bytes are the length (little-endian).
        """
        host, _, port = self.address.rpartition(":")
        try:
            with socket.create_connection((host.strip("[]"), int(port)), timeout=CONNECT_S) as connection:
                connection.settimeout(CONNECT_S)
                begin = connection.recv(8, socket.MSG_WAITALL)
        except OSError as error:
            reason = "no answer" if isinstance(error, TimeoutError) else error.strerror or error
            raise InputError(f"no Dask scheduler at {self.address}: {reason}") from None
        if not 0 < int.from_bytes(begin, "little") < MOST_GREETING_BYTES:
            raise InputError(f"no Dask scheduler at {self.address}: something else listens there")

    def _connected(self) -> Any:
        from distributed import Client  # noqa: PLC0415 - takes a second

        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of versions, which are looked at below
                return Client(f"tcp://{self.address}", timeout=CONNECT_S, set_as_default=False)
        except Exception as error:
            raise InputError(f"no Dask scheduler at {self.address}: {type(error).__name__}: {error}") from None

    def _workers(self) -> dict[str, Any]:
        return dict(self._client.scheduler_info(n_workers=-1)["workers"])

    def _check_workers(self) -> None:
        """There are some, and all of them have this ascend-sim."""
        end = time.monotonic() + WORKERS_S
        if not self._workers():
            text = f"the Dask scheduler at {self.address} has no workers yet; waiting {WORKERS_S:g} s for some"
            print(f"note: {text}", file=sys.stderr, flush=True)
        while not self._workers():
            if time.monotonic() > end:
                raise InputError(
                    f"the Dask scheduler at {self.address} has no workers; start some: dask worker {self.address}"
                )
            time.sleep(0.1)
        for name, found in self._client.run(eval, ASK_VERSION, on_error="return").items():
            if isinstance(found, OSError):
                continue  # it has just gone
            if found != VERSION:
                has = f"ascend-sim {found}" if isinstance(found, str) else _without(found)
                raise InputError(f"the Dask worker {name} has {has}; it must be {VERSION}, as here")

    # --- jobs -------------------------------------------------------------------------------------------------------

    def run(
        self, function: Callable[[Common, Job], Result], common: Common, jobs: Sequence[Job]
    ) -> Iterator[tuple[int, Result | Lost]]:
        """See `Executor.run`.

        Dask gives a job that was on a worker when that died to another one, and gives it up after a few such deaths
        (`distributed.scheduler.allowed-failures`), its neighbours on the same worker with it. So each of those is
        tried once more, alone, before it is called lost.
        """
        round_ = _Round(self, pickle.dumps((function, common)), jobs)
        try:
            suspects = []
            for number, found in round_.results(range(len(jobs)), WINDOW):
                if isinstance(found, Lost):
                    suspects.append(number)
                else:
                    yield number, found
            yield from round_.results(suspects, 1)
        finally:
            round_.cancel()


class _Round:
    """The jobs of one `run`."""

    def __init__(self, cluster: Cluster, payload: bytes, jobs: Sequence[Any]) -> None:
        self._cluster = cluster
        self._client = cluster._client
        self._payload = payload
        self._jobs = jobs
        self._name = uuid.uuid4().hex
        self._begun: dict[Any, int] = {}
        self._ended: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._alone_since: float | None = None

    def results(self, numbers: Sequence[int], window: int) -> Iterator[tuple[int, Any]]:
        """The results of these jobs, at most `window` of them with the scheduler at a time."""
        waiting = deque(numbers)
        while waiting or self._begun:
            while waiting and len(self._begun) < window:
                self._begin(waiting.popleft())
            try:
                future = self._ended.get(timeout=LOOK_S)
            except queue.Empty:
                self._look()
                continue
            yield self._begun.pop(future), self._result(future)

    def _begin(self, number: int) -> None:
        key = f"ascend-sim-{self._name}-{number}-{uuid.uuid4().hex[:6]}"
        arguments = (VERSION, self._payload, pickle.dumps(self._jobs[number]))
        future = self._client.submit(eval, ANSWER, {"given": arguments}, key=key, pure=False)
        self._begun[future] = number
        future.add_done_callback(self._ended.put)

    def _result(self, future: Any) -> Any:
        from distributed import CancelledError, KilledWorker  # noqa: PLC0415
        from distributed import TimeoutError as LateError  # noqa: PLC0415

        while True:
            try:
                return result_of(future.result(timeout=LOOK_S))
            except KilledWorker:
                return Lost("its workers died, each time that it was tried")
            except CancelledError:
                raise self._gone() from None
            except LateError:
                self._look()  # the worker has died with the result, which is worked out again
            except Exception as error:
                if NOT_THERE in str(error):
                    raise InputError(f"a Dask worker that has come later has no ascend-sim {VERSION}") from None
                raise

    def _look(self) -> None:
        """Whether anything is there that could still answer."""
        if self._client.status != "running":
            raise self._gone()
        if self._cluster._workers():
            self._alone_since = None
            return
        now = time.monotonic()
        self._alone_since = self._alone_since or now
        if now - self._alone_since > NO_WORKERS_S:
            raise InputError(f"the Dask scheduler at {self._cluster.address} has no workers any more")

    def _gone(self) -> InputError:
        return InputError(f"the Dask scheduler at {self._cluster.address} does not answer any more")

    def cancel(self) -> None:
        with contextlib.suppress(Exception):
            self._client.cancel(list(self._begun), force=True)


def _checked(address: str) -> str:
    """HOST:PORT as given."""
    try:
        parts = urlsplit(f"dask://{address}")
        good = bool(parts.hostname) and parts.port is not None and address == parts.netloc and "@" not in address
    except ValueError:
        good = False
    if not good:
        raise InputError(f"executor 'dask://{address}': the form is dask://HOST:PORT, for example dask://10.0.0.5:8786")
    return address


def _without(error: Exception) -> str:
    return "no ascend-sim" if NOT_THERE in str(error) else f"an ascend-sim that does not load ({error})"


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Whatever goes wrong is told in one line, so Dask's own loggers keep silent."""
    import distributed  # noqa: F401, PLC0415 - sets its loggers up

    before = {name: logging.getLogger(name).level for name in LOGGERS}
    for name in LOGGERS:
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        for name, level in before.items():
            logging.getLogger(name).setLevel(level)
