"""Operations and kernels by name, in the two libraries that ATB looks through."""

from __future__ import annotations

from typing import TypeVar

from ascend_sim.frontends.atb.mki.base import Kernel, Operation

O = TypeVar("O", bound="type[Operation]")  # noqa: E741
K = TypeVar("K", bound="type[Kernel]")

LIBRARIES: dict[str, dict[str, Operation]] = {"AsdOps": {}, "AtbOps": {}}
_KERNELS: dict[str, type[Kernel]] = {}


def register_operation(cls: O) -> O:
    """REG_OPERATION, as a class decorator: into AtbOps, where the operations of this front end are."""
    LIBRARIES["AtbOps"][cls.name] = cls()
    return cls


def register_kernel(cls: K) -> K:
    """REG_KERNEL_BASE, as a class decorator."""
    _KERNELS[cls.name] = cls
    return cls


def find_operation(name: str) -> Operation | None:
    """The operation called `name`, in AsdOps before AtbOps."""
    for library in LIBRARIES.values():
        if name in library:
            return library[name]
    return None


def kernel_named(name: str) -> Kernel | None:
    """A new kernel of that name."""
    found = _KERNELS.get(name)
    return None if found is None else found()
