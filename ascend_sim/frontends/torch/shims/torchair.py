"""What scripts ask of `torchair`: a torch.compile backend whose graphs call the simulator's operators one by one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torch._dynamo.backends.common import aot_autograd
from torch._functorch.aot_autograd import make_boxed_func


class CompilerConfig:
    """Options of the real compiler: taken, and without effect here."""

    def __init__(self, **options: Any) -> None:
        self.__dict__.update(options)


def get_npu_backend(*, compiler_config: CompilerConfig | None = None, **options: Any) -> Callable[..., Any]:
    """A backend for torch.compile: traces and functionalises as torchair does, then runs the graph as it is."""
    backend: Callable[..., Any] = aot_autograd(fw_compiler=_run_as_it_is)
    return backend


def _run_as_it_is(graph: Any, example_inputs: Any) -> Any:
    return make_boxed_func(graph.forward)


FUNCTIONS: dict[str, object] = {"get_npu_backend": get_npu_backend, "CompilerConfig": CompilerConfig}
