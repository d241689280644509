"""Jobs on processes of this machine. A process that dies (for lack of memory, say) costs the one job it was at."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import pickle
import signal
import warnings
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from multiprocessing.connection import Connection, wait
from types import TracebackType
from typing import Any

from ascend_sim.errors import InputError
from ascend_sim.tune.executors import ATTEMPTS, Common, Job, Lost, Result, attempt, result_of

READY = b"ready"


class Processes:
    """`workers` processes (without it, as many as processors); a single worker is this process itself."""

    remote = False

    def __init__(self, workers: int | None = None) -> None:
        self.workers = workers or os.cpu_count() or 1
        self._seats: list[_Seat] = []

    def run(
        self, function: Callable[[Common, Job], Result], common: Common, jobs: Sequence[Job]
    ) -> Iterator[tuple[int, Result | Lost]]:
        """See `Executor.run`."""
        if self.workers == 1:
            yield from ((number, function(common, job)) for number, job in enumerate(jobs))
            return
        waiting = deque(range(len(jobs)))
        deaths = [0] * len(jobs)
        payload = pickle.dumps((function, common))
        try:
            while waiting or self._seats:
                idle = sum(seat.number is None for seat in self._seats)
                for _ in range(min(len(waiting) - idle, self.workers - len(self._seats))):
                    self._seats.append(_Seat(payload))
                for seat in self._ready():
                    found = seat.receive()
                    if found is None:
                        self._seats.remove(seat)
                        number, text = seat.buried()
                        deaths[number] += 1
                        if deaths[number] < ATTEMPTS:
                            waiting.append(number)
                        else:
                            yield number, Lost(f"its process {text}, {ATTEMPTS} times")
                        continue
                    ended = seat.number
                    if waiting:
                        seat.begin(waiting.popleft(), jobs)
                    else:
                        self._seats.remove(seat)
                        seat.end()
                    if ended is not None:
                        yield ended, result_of(found)
        finally:
            self._end()

    def _ready(self) -> list[_Seat]:
        """The seats that have something to say, or whose process has ended."""
        found = wait([seat.connection for seat in self._seats])
        return [seat for seat in self._seats if seat.connection in found]

    def _end(self) -> None:
        while self._seats:
            self._seats.pop().end()

    def __enter__(self) -> Processes:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._end()


class _Seat:
    """One process, and the job it is at."""

    def __init__(self, payload: bytes) -> None:
        self.connection, theirs = multiprocessing.Pipe()
        self._process = multiprocessing.Process(target=_work, args=(theirs, payload), daemon=True)
        with warnings.catch_warnings():  # of forking beside a thread: the progress bar's holds nothing that jobs use
            warnings.simplefilter("ignore", DeprecationWarning)
            self._process.start()
        theirs.close()  # so that the process's end is the connection's
        self.number: int | None = None

    def begin(self, number: int, jobs: Sequence[Any]) -> None:
        self.number = number
        with contextlib.suppress(OSError):  # it is dead, as the next look at the connection shows
            self.connection.send_bytes(pickle.dumps(jobs[number]))

    def receive(self) -> bytes | None:
        """What the process says; None: it is dead."""
        try:
            return self.connection.recv_bytes()
        except (EOFError, OSError):
            return None

    def buried(self) -> tuple[int, str]:
        """The job that a dead process was at, and how it ended. One that has not even begun would never do."""
        self._process.join()
        code = self._process.exitcode or 0
        text = f"was killed by {_signal_name(-code)}" if code < 0 else f"ended with exit code {code}"
        self.end()
        if self.number is None:
            raise InputError(f"a worker process {text} before it had begun; --workers 1 does without them")
        return self.number, text

    def end(self) -> None:
        self._process.kill()
        self._process.join()
        self._process.close()
        self.connection.close()


def _signal_name(number: int) -> str:
    name = signal.Signals(number).name if number in signal.valid_signals() else f"signal {number}"
    return f"{name} (out of memory?)" if name == "SIGKILL" else name


def _work(connection: Connection[Any, Any], payload: bytes) -> None:
    """What a process does: one job after the other, until nobody asks for more.

    A forked process has a copy of the other end of its own connection, which therefore never ends: that nobody is
    there any more it learns from its parent's sentinel.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the process that started it
    parent = multiprocessing.parent_process()
    assert parent is not None
    function, common = pickle.loads(payload)
    with contextlib.suppress(EOFError, OSError):  # the other end is gone
        connection.send_bytes(READY)
        while connection in wait([connection, parent.sentinel]):
            job = pickle.loads(connection.recv_bytes())
            connection.send_bytes(attempt(function, common, job))
