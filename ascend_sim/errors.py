"""Errors that users see. Each says what was given, what is allowed, and why."""

from __future__ import annotations


class AscendSimError(Exception):
    """Base of every error that this package raises on purpose."""


class InputError(AscendSimError, ValueError):
    """A bad argument: file, shape, dtype, option. The command line answers with exit code 2."""


class ConfigError(InputError):
    """A chip description or an override that cannot be: names the field's path and what is allowed."""


class TilingError(InputError):
    """The operator's own host checks refuse the call; `status` is the code that its library answers, if it has one."""

    def __init__(self, text: str, status: int | None = None) -> None:
        super().__init__(text)
        self.status = status


class UnsupportedError(AscendSimError, LookupError):
    """An operator, a chip or a feature that the simulator (or the operator) does not have."""

    def __str__(self) -> str:  # LookupError subclasses must not quote their text the way KeyError does
        return str(self.args[0]) if self.args else ""


class KernelError(AscendSimError):
    """A kernel broke a rule of the machine, or raised; names kernel, block, tile and source line."""


class DeadlockError(KernelError):
    """The machine went dry with instructions left; lists each waiter with its flag and source line."""


class ArgumentError(AscendSimError, TypeError):
    """A kernel launch got an argument of a kind, or in a place, that kernels do not take."""


class OptionError(AscendSimError, RuntimeError):
    """`asc.jit` or a launch got an option that does not exist, or a value that the option does not take."""
