"""What a Dask worker does."""

from __future__ import annotations

import pickle
import threading
from functools import lru_cache
from typing import Any

from ascend_sim.errors import InputError
from ascend_sim.tune.executors import attempt
from ascend_sim.version import VERSION

_ONE_AT_A_TIME = threading.Lock()
"""A process records one launch at a time, however many threads the worker has."""


def answer(version: str, payload: bytes, job: bytes) -> bytes:
    """The attempt at one job; `payload`: function and what it shares; `version`: of the asking program."""
    with _ONE_AT_A_TIME:
        return attempt(_call, (version, payload), job)


def _call(given: tuple[str, bytes], job: bytes) -> Any:
    version, payload = given
    if version != VERSION:
        raise InputError(f"a Dask worker that has come later has ascend-sim {VERSION}; it must be {version}")
    function, common = _loaded(payload)
    return function(common, pickle.loads(job))


@lru_cache(maxsize=2)
def _loaded(payload: bytes) -> Any:
    return pickle.loads(payload)
