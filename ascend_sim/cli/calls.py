"""From the texts of a command line to an operator's call."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ascend_sim.cli.inputs import read_inputs
from ascend_sim.cli.options import key_values
from ascend_sim.errors import InputError
from ascend_sim.host.operator import Operator
from ascend_sim.soc import Soc, load

if TYPE_CHECKING:  # `tiling` needs neither
    from ascend_sim.host.device import L2State
    from ascend_sim.machine import LaunchKind


def read_chip(soc: str, sets: list[str] | None) -> Soc:
    """`--soc` and `--set`."""
    return load(soc, key_values(sets, "--set", "path.to.field=value"))


def read_l2(text: str) -> L2State:
    """`--l2`."""
    match text:
        case "warm" | "cold":
            return text
        case _:
            raise InputError(f"--l2 {text!r}: allowed are warm and cold")


def read_launch_kind(text: str) -> LaunchKind:
    """`--launch-kind`."""
    match text:
        case "back_to_back" | "few_launches" | "in_situ":
            return text
        case _:
            raise InputError(f"--launch-kind {text!r}: allowed are back_to_back, few_launches and in_situ")


def read_call(
    operator: Operator, inputs: list[str] | None, attrs: list[str] | None
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Inputs (arrays or `TensorInfo`) and attributes of a call; without any input, the operator's example."""
    given = read_inputs(key_values(inputs, "--input", "NAME=SHAPE:DTYPE or NAME=@FILE"))
    named: dict[str, Any] = dict(key_values(attrs, "--attr", "NAME=VALUE"))
    if given:
        return given, named
    replaced = {operator.attribute_named(name).name for name in named}
    kept = {name: value for name, value in operator.example.attrs.items() if name not in replaced}
    return dict(operator.example.inputs), kept | named
