"""Arguments of the wrong Python type: every call of the language refuses them in its own words."""

from __future__ import annotations

import enum
import inspect
import random
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import ascend_sim
from ascend_sim import asc
from ascend_sim.asc import reg
from ascend_sim.errors import AscendSimError

ROUNDS = 40
PYTHONS_OWN = "argument"  # Python itself counts arguments: "add() missing 2 required positional arguments"
INTERNAL = {"attach", "adopt", "in_buffer", "lay_on", "number_buffers"}  # called by other classes, not by kernels
NOT_CALLED = {"destroy", "finish", "init", "reset", "sync_all", "tiles"}  # they end the pipe, wait, or take anything
NO_CALLS = {"ConstExpr", "Kernel"}  # for annotations
OPERATORS = ("add", "and", "call", "floordiv", "getitem", "lshift", "mod", "mul", "or", "rshift", "sub", "truediv")
WRONG = (
    None, "x", b"x", 1.5, float("nan"), float("inf"), -1, 2**70, 1 + 2j, [], [None], (1,), {}, {1}, object(), int,
    np.arange(3), np.array("a"), np.array([], np.float32), np.float32(2.5), np.datetime64("2020-01-01"), asc.float16,
    asc.PipeID.PIPE_V, asc.UnaryRepeatParams("a", None), asc.BinaryRepeatParams([], {}), asc.DataCopyParams(1, 1, [1]),
)  # fmt: skip


def functions(module: Any = asc) -> Iterator[tuple[str, Callable[..., Any]]]:
    for name, value in vars(module).items():
        is_enum = isinstance(value, type) and issubclass(value, enum.Enum)
        if (
            callable(value)
            and not name.startswith("_")
            and not is_enum
            and name not in {"ConstExpr", "Kernel", *NOT_CALLED}
        ):
            yield name, value


def methods(objects: dict[str, Any]) -> Iterator[tuple[str, Callable[..., Any]]]:
    for owner, value in objects.items():
        for name in dir(value):
            public = not name.startswith("_") or name in {f"__{operator}__" for operator in OPERATORS}
            pythons = public and name[0] != "_" and (hasattr(int, name) or hasattr(float, name))
            if public and not pythons and name not in INTERNAL | NOT_CALLED:
                method = getattr(value, name, None)
                if callable(method):
                    yield f"{owner}.{name}", method


def positional(function: Callable[..., Any]) -> tuple[int, int]:
    """How many arguments a call must have, and may have."""
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    found = [p for p in inspect.signature(function).parameters.values() if p.kind in kinds]
    return sum(p.default is p.empty for p in found), len(found)


def call(name: str, function: Callable[..., Any], right: list[Any], draw: random.Random, wrong: list[str]) -> None:
    """`function` with arguments of which some make sense; `wrong` collects what fails in foreign words."""
    least, most = positional(function)
    for _ in range(ROUNDS):
        arguments = [draw.choice(right if draw.random() < 0.6 else WRONG) for _ in range(draw.randint(least, most))]
        try:
            function(*arguments)
        except AscendSimError:
            pass
        except Exception as error:
            if PYTHONS_OWN not in str(error):
                wrong.append(f"{name}{tuple(arguments)}: {type(error).__name__}: {error}")


@asc.jit
def call_everything(x: asc.GlobalAddress, seed: asc.ConstExpr, wrong: asc.ConstExpr) -> None:
    draw = random.Random(seed)
    pipe = asc.TPipe()
    buffer, que = asc.TBuf(asc.TPosition.VECCALC), asc.TQue(asc.TPosition.VECIN, 1)
    pipe.init_buffer(buffer, 2048)
    pipe.init_buffer(que, 2, 1024)
    gm = asc.GlobalTensor()
    gm.set_global_buffer(x)
    tensors = [buffer.get(dtype) for dtype in (asc.float16, asc.float32, asc.uint8, asc.uint32)]
    objects = {
        "LocalTensor": tensors[0], "GlobalTensor": gm, "GlobalAddress": x, "TPipe": pipe, "TBuf": buffer, "TQue": que,
        "empty GlobalTensor": asc.GlobalTensor(), "empty LocalTensor": asc.LocalTensor(asc.float16),
        "integer": asc.number(3, asc.int32), "float": asc.number(3, asc.float32), "array": asc.array(asc.int32, 4),
        "ShapeInfo": asc.ShapeInfo([4, 4]), "TBufPool": asc.TBufPool(asc.TPosition.VECCALC),
        "LocalMemAllocator": asc.LocalMemAllocator(),
    }  # fmt: skip
    right = [*tensors, *objects.values(), 4, 64, 0]
    for name, function in [*functions(), *methods(objects)]:
        call(name, function, right, draw, wrong)
    raise EnoughError


class EnoughError(Exception):
    """What was recorded makes no sense to time."""


@asc.vf
def call_every_register_function(half: Any, single: Any, seed: int) -> None:
    draw = random.Random(seed)
    registers = [reg.RegTensor(dtype) for dtype in (asc.float16, asc.float32, asc.uint32)]
    right = [half, single, *registers, reg.create_mask(asc.float32), 4, 64, 0, asc.float32]
    for name, function in functions(reg):
        if getattr(function, "__module__", "").startswith("ascend_sim.asc.reg"):
            call(name, function, right, draw, REGISTER_FAILURES)
    raise EnoughError


REGISTER_FAILURES: list[str] = []


@asc.jit
def with_registers(seed: asc.ConstExpr) -> None:
    pipe, buffer = asc.TPipe(), asc.TBuf(asc.TPosition.VECCALC)
    pipe.init_buffer(buffer, 8192)
    call_every_register_function(buffer.get(asc.float16), buffer.get(asc.float32), seed)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("soc", ["Ascend910B3", "Ascend950PR_9589"])
@pytest.mark.parametrize("values", [True, False])
def test_every_call_refuses_wrong_types_in_its_own_words(soc: str, values: bool) -> None:
    wrong: list[str] = []
    with ascend_sim.device(soc, values=values, echo=False), pytest.raises(AscendSimError, match="EnoughError"):
        call_everything[1](np.zeros(4096, np.float16), 5, wrong)
    assert wrong == []


@pytest.mark.filterwarnings("ignore")
def test_so_does_every_register_call() -> None:
    REGISTER_FAILURES.clear()
    with ascend_sim.device("ascend950", echo=False), pytest.raises(AscendSimError, match="EnoughError"):
        with_registers[1](5)
    assert REGISTER_FAILURES == []


def test_a_list_is_no_pipe() -> None:
    @asc.jit
    def kernel() -> None:
        asc.pipe_barrier([1])

    with pytest.raises(AscendSimError, match=r"pipe_barrier takes a PipeID such as PipeID.PIPE_V, not \[1\]$"):
        kernel[1]()
