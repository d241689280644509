"""`asc.jit`: marks a function as a kernel (or as a helper that kernels call)."""

from __future__ import annotations

import functools
import inspect
import operator
from collections.abc import Callable, Mapping
from typing import Any, Generic, ParamSpec, TypeVar, overload

from ascend_sim.asc.constexpr import constexpr_parameters
from ascend_sim.asc.options import OPTION_NAMES, RESERVED_NAMES, check_options
from ascend_sim.asc.plain import shown
from ascend_sim.asc.recorder import RECORDER
from ascend_sim.errors import InputError, KernelError, OptionError
from ascend_sim.soc.models import MAX_BLOCKS

__all__ = ["Kernel", "jit"]

P = ParamSpec("P")
R = TypeVar("R")


class Kernel(Generic[P, R]):
    """A jitted function. `kernel[blocks](...)` launches it; inside a kernel it is called like any function."""

    def __init__(self, function: Callable[P, R], options: Mapping[str, Any]) -> None:
        self.function: Callable[P, R] = function
        if not inspect.isfunction(function):
            raise OptionError(f"asc.jit decorates a function, not {shown(function)}; options go by name")
        functools.update_wrapper(self, function)
        self.name = function.__name__
        self.options = check_options(options)
        self.signature = inspect.signature(function)
        self.constexprs = constexpr_parameters(function)
        for name, parameter in self.signature.parameters.items():
            if name in RESERVED_NAMES:
                raise OptionError(
                    f"kernel {self.name!r}: a parameter may not be called {name!r}, that is the name of an option"
                )
            if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
                raise OptionError(f"kernel {self.name!r}: *args and **kwargs are not allowed in a jitted function")

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        if RECORDER.launch is None:
            raise KernelError(f"kernel {self.name!r} must be launched: {self.name}[blocks](...)")
        return self.function(*args, **kwargs)

    def __getitem__(self, launch: Any) -> Launcher:
        """`kernel[core_num]` or `kernel[core_num, stream]`; the stream changes nothing, launches run in order."""
        core_num, *rest = launch if isinstance(launch, tuple) else (launch,)
        if len(rest) > 1:
            raise OptionError(f"kernel[core_num, stream] takes at most two values, not {len(rest) + 1}")
        try:
            blocks = 0 if isinstance(core_num, bool) else int(operator.index(core_num))
        except TypeError:
            raise InputError(
                f"kernel {self.name!r}: core_num must be an integer of at least 1, not {type(core_num).__name__}"
            ) from None
        if not 1 <= blocks <= MAX_BLOCKS:
            raise InputError(f"kernel {self.name!r}: core_num is {core_num}, allowed are 1..{MAX_BLOCKS} blocks")
        return Launcher(self, blocks)


class Launcher:
    """A kernel with its number of blocks, waiting for the arguments."""

    __slots__ = ("core_num", "kernel")

    def __init__(self, kernel: Kernel[..., Any], core_num: int) -> None:
        self.kernel = kernel
        self.core_num = core_num

    def __call__(self, *args: Any, **kwargs: Any) -> None:
        """Run the kernel on the current device; keywords that name an option of `asc.jit` are options."""
        from ascend_sim.asc.launch import launch  # noqa: PLC0415 (launch needs Kernel)

        given = {name: kwargs.pop(name) for name in tuple(kwargs) if name in OPTION_NAMES}
        launch(self.kernel, self.core_num, args, kwargs, {**self.kernel.options, **check_options(given)})


@overload
def jit(function: Callable[P, R], /) -> Kernel[P, R]: ...
@overload
def jit(function: None = None, /, **options: Any) -> Callable[[Callable[P, R]], Kernel[P, R]]: ...
def jit(function: Callable[P, R] | None = None, /, **options: Any) -> Any:
    """Decorator `@asc.jit` or `@asc.jit(option=...)`, with pyasc's options."""
    if function is not None:
        return Kernel(function, options)
    check_options(options)
    return lambda wrapped: Kernel(wrapped, options)
