"""Errors of the PyPTO front end, under PyPTO's names and codes.

An operation that breaks one of its own rules raises a `PyptoError` with the code that PyPTO prints; what the front end
itself does not take (annotations, launches, Python constructs) raises `FeError`. Both are also the builtin exception
that fits, so that `except ValueError` works.
"""

from __future__ import annotations

from typing import Any

from ascend_sim.errors import AscendSimError

_LONGEST = 60  # characters of a value in an error


def shown(value: Any) -> str:
    """A value as errors show it: arrays by shape and type, long texts cut."""
    if hasattr(value, "shape") and hasattr(value, "dtype") and type(value).__module__.split(".")[0] != "ascend_sim":
        return f"an array {list(value.shape)} of {value.dtype}"
    text = repr(value)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."


class PyptoError(AscendSimError):
    """An operation was called against its rules; `code` is PyPTO's error code."""

    code = 0xF00000

    def __str__(self) -> str:
        return f"[{self.code:#x}] {super().__str__()}"


class PyptoTypeError(PyptoError, TypeError):
    code = 0xF00001


class PyptoValueError(PyptoError, ValueError):
    code = 0xF00002


class PyptoRuntimeError(PyptoError, RuntimeError):
    code = 0xF00003


class FeError(AscendSimError):
    """The front end cannot take this."""


class FeTypeError(FeError, TypeError):
    pass


class FeValueError(FeError, ValueError):
    pass


class FeAttributeError(FeError, AttributeError):
    pass


class FeRuntimeError(FeError, RuntimeError):
    pass


class LoweringError(AscendSimError, RuntimeError):
    """The kernel is valid PyPTO, but this lowering has no vector code for it; says what would have."""
