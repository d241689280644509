"""Stand-ins for `torch_npu`, `torchair` and `cann_ops_transformer`, so that the documents' scripts run unchanged.

They are put in place only on request, and nothing about them makes a tensor live elsewhere than on the CPU.
"""

from __future__ import annotations

import sys
from types import ModuleType

import torch

from ascend_sim.errors import UnsupportedError
from ascend_sim.frontends.torch import ops
from ascend_sim.frontends.torch.shims import npu, torchair
from ascend_sim.frontends.torch.shims.devices import NpuOnCpu, patch_methods, restore_methods

_MARK = "__ascend_sim_shim__"
_installed: list[NpuOnCpu] = []


def install_shims() -> None:
    """Make `import torch_npu`, `import torchair`, `from cann_ops_transformer.ops import ...`, `device="npu"` and
    `.npu()` work on this process's CPU tensors. A second call changes nothing.

    Refused where a real one of these packages is loaded already.
    """
    if _installed:
        return
    modules = _modules()
    for name in modules:
        loaded = sys.modules.get(name)
        if loaded is not None and not hasattr(loaded, _MARK):
            raise UnsupportedError(f"the shims cannot be installed: {name} is loaded already, from {loaded.__file__}")
    sys.modules.update(modules)
    torch.npu = modules["torch_npu.npu"]
    patch_methods()
    mode = NpuOnCpu()
    mode.__enter__()
    _installed.append(mode)


def uninstall_shims() -> None:
    """Take everything back that `install_shims` did."""
    if not _installed:
        return
    _installed.pop().__exit__(None, None, None)
    restore_methods()
    del torch.npu
    for name in _modules():
        sys.modules.pop(name, None)


def _modules() -> dict[str, ModuleType]:
    """Fresh modules by name; each is also an attribute of the package that it lies in."""
    npu_module = _module("torch_npu.npu", "torch_npu.npu", npu.FUNCTIONS)
    ops_module = _module("cann_ops_transformer.ops", "the operators", {n: getattr(ops, n) for n in ops.__all__})
    found = [
        _module("torch_npu", "torch_npu", {"npu": npu_module, "npu_rotary_mul": ops.npu_rotary_mul}),
        npu_module,
        _module("torchair", "torchair", torchair.FUNCTIONS),
        _module("cann_ops_transformer", "cann_ops_transformer", {"ops": ops_module} | vars_of(ops_module)),
        ops_module,
    ]
    return {module.__name__: module for module in found}


def vars_of(module: ModuleType) -> dict[str, object]:
    return {name: value for name, value in vars(module).items() if not name.startswith("__")}


def _module(name: str, what: str, content: dict[str, object]) -> ModuleType:
    module = ModuleType(name, f"Stand-in for {what}, by ascend_sim.frontends.torch.")
    module.__path__ = []  # a package, so that `import torch_npu.npu` finds what is in sys.modules
    setattr(module, _MARK, True)
    for key, value in content.items():
        setattr(module, key, value)
    return module
