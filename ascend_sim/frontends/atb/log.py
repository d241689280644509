"""ATB's log. A status is all that a call answers; what was wrong stands here (Python logger `ascend_sim.atb`)."""

from __future__ import annotations

import logging
from typing import NoReturn

from ascend_sim.errors import TilingError
from ascend_sim.host.atb import Status

LOGGER = logging.getLogger("ascend_sim.atb")


def fail(status: Status, text: str) -> NoReturn:
    """Leave the running call with `status`."""
    raise TilingError(f"{text} ({status.name}, {int(status)})", status)


def answer(where: str, error: TilingError) -> Status:
    """Log a failed check and turn it into the status that the call answers."""
    LOGGER.error("%s: %s", where, error)
    return Status(Status.ERROR_INVALID_PARAM if error.status is None else error.status)
