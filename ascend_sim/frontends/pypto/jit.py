"""`pypto.frontend.jit`: from a Python function to launches on the simulated device."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any, overload

from ascend_sim.asc.launch import current_device
from ascend_sim.frontends.pypto.errors import FeRuntimeError, FeTypeError
from ascend_sim.frontends.pypto.graph import Node
from ascend_sim.frontends.pypto.lowering import Lowered, Target
from ascend_sim.frontends.pypto.options import check_for_chip, check_options, device_id, note_once, run_mode
from ascend_sim.frontends.pypto.places import Site, user_frame
from ascend_sim.frontends.pypto.signature import Arguments, Signature
from ascend_sim.frontends.pypto.symbols import Symbol, SymbolicScalar
from ascend_sim.frontends.pypto.tensor import Tensor
from ascend_sim.frontends.pypto.trace import Trace, Tracing, refuse_nesting


class JitKernel:
    """A jitted kernel: `kernel(x, cos, out)` runs it on the current device (the default one is an ascend910b).

    Results are written to the arrays of the output parameters. `traces` counts how often the function was traced: a
    DYNAMIC dim may change without a new trace.
    """

    def __init__(self, function: Callable[..., Any], groups: Mapping[str, Any]) -> None:
        functools.update_wrapper(self, function)
        self.function = function
        self.name = function.__name__
        check_options(f"kernel {self.name!r}", groups)
        self.options = dict(groups)
        self.signature = Signature(function, user_frame().f_locals)
        self._traces: dict[Any, Trace] = {}
        self._lowered: dict[Any, Lowered] = {}
        self._last: Lowered | None = None

    @property
    def traces(self) -> int:
        return len(self._traces)

    def __call__(self, *args: Any, **kwargs: Any) -> None:
        refuse_nesting(self.name)
        device_id()
        mode = run_mode(self.options)
        device = current_device()
        if device.echo:
            note_once(f"run_mode {mode.name}: NPU and SIM both run on the simulator (ascend-sim)")
        check_for_chip(f"kernel {self.name!r}", self.options, device.soc_name, device.arch)
        arguments = self.signature.bind(args, kwargs)
        self._lower(arguments, Target.of(device)).launch(
            {name: given.value for name, given in arguments.tensors.items()}
        )

    def lowered(self, *args: Any, **kwargs: Any) -> Lowered:
        """What the kernel becomes: printed, it lists tiles, buffers and instructions.

        Takes the arguments of a call; `(shape, dtype)` pairs stand for arrays. Without any it is the last call's.
        """
        if not args and not kwargs:
            if self._last is None:
                raise FeRuntimeError(
                    f"kernel {self.name!r} has not run yet: give lowered() the arguments of a call, or (shape, dtype) "
                    "pairs in place of arrays"
                )
            return self._last
        return self.lowered_for(Target.of(current_device()), *args, **kwargs)

    def lowered_for(self, target: Target, *args: Any, **kwargs: Any) -> Lowered:
        """`lowered` for a chip that need not be the current device's."""
        return self._lower(self.signature.bind(args, kwargs), target)

    def _lower(self, arguments: Arguments, target: Target) -> Lowered:
        """The lowered kernel for a call's shapes; equal calls share it."""
        shapes = tuple((name, given.shape) for name, given in arguments.tensors.items())
        trace_key = self._trace_key(arguments)
        key = (trace_key, shapes, target)
        found = self._lowered.get(key)
        if found is None:
            trace = self._traces.get(trace_key)
            if trace is None:
                trace = self._traces[trace_key] = self._trace(arguments)
            found = self._lowered[key] = Lowered(trace, dict(shapes), target)
        self._last = found
        return found

    def _trace_key(self, arguments: Arguments) -> tuple[Any, ...]:
        """What a trace is for: types, fixed dims, which tensors are the same memory, the other arguments."""
        seen: dict[Any, int] = {}
        parts: list[Any] = []
        for name, given in arguments.tensors.items():
            wanted = self.signature.tensors[name]
            dims = tuple("?" if wanted.dynamic(axis) else size for axis, size in enumerate(given.shape))
            parts.append((dims, given.dtype, seen.setdefault(given.identity, len(seen))))
        others = tuple((name, type(value), _hashable(value)) for name, value in arguments.others.items())
        return (*parts, others)

    def _trace(self, arguments: Arguments) -> Trace:
        """Run the function once on symbolic tensors."""
        code = self.function.__code__
        trace = Trace(self.name, Site(code.co_filename, code.co_firstlineno, self.name))
        tensors: dict[str, Any] = {}
        nodes: dict[Any, Node] = {}
        for name, given in arguments.tensors.items():
            wanted = self.signature.tensors[name]
            node = nodes.get(given.identity)  # the same array given twice is one tensor
            if node is None:
                dims = [
                    SymbolicScalar.of(Symbol(f"{name}.shape[{axis}]", 1)) if wanted.dynamic(axis) else size
                    for axis, size in enumerate(given.shape)
                ]
                node = nodes[given.identity] = trace.global_tensor(name, dims, given.dtype)
            tensors[name] = Tensor.of(node, wanted.format)
            tensors[name].name = name
        with Tracing(trace):
            result = self.function(**tensors, **arguments.others)
        if result is not None:
            raise FeTypeError(f"kernel {self.name!r} returns {result!r}; results go to output parameters in place")
        if not trace.has_stores:
            raise FeRuntimeError(
                f"kernel {self.name!r} writes nothing: assemble a result into an output parameter, or assign it to a "
                "slice of one"
            )
        return trace


def _hashable(value: Any) -> Any:
    try:
        hash(value)
    except TypeError:
        return repr(value)
    return value


@overload
def jit(function: Callable[..., Any], /) -> JitKernel: ...
@overload
def jit(
    function: None = None,
    /,
    *,
    host_options: Mapping[str, Any] | None = None,
    runtime_options: Mapping[str, Any] | None = None,
    codegen_options: Mapping[str, Any] | None = None,
    pass_options: Mapping[str, Any] | None = None,
    verify_options: Mapping[str, Any] | None = None,
    debug_options: Mapping[str, Any] | None = None,
) -> Callable[[Callable[..., Any]], JitKernel]: ...
def jit(function: Callable[..., Any] | None = None, /, **groups: Any) -> Any:
    """Decorator `@pypto.frontend.jit` or `@pypto.frontend.jit(runtime_options={...}, ...)`."""
    known = (
        *("host_options", "runtime_options", "codegen_options"),
        *("pass_options", "verify_options", "debug_options"),
    )
    for group in groups:
        if group not in known:
            raise FeTypeError(f"pypto.frontend.jit has no option {group!r}; there are {', '.join(known)}")
    if function is not None:
        return JitKernel(function, groups)
    check_options("pypto.frontend.jit", groups)
    return lambda wrapped: JitKernel(wrapped, groups)
