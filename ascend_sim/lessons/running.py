"""Running a step: its file as `python FILE` would, with the simulated device of the lessons around it."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence

from ascend_sim.api import device
from ascend_sim.errors import InputError, KernelError
from ascend_sim.lessons.catalog import Step
from ascend_sim.report.result import Result

SOC = "ascend910b"


def run_step(step: Step, changes: Mapping[str, str] | None = None) -> Result:
    """Run the step's file and answer the result of its launch; wrong values end in an error.

    `changes` gives constants at the top of the file other values (Python literals): `{"TILE": "256"}`.
    """
    source = changed(step, changes or {})
    dev = device(SOC)
    with dev:
        try:
            exec(compile(source, str(step.path), "exec"), {"__name__": "__main__", "__file__": str(step.path)})
        except AssertionError as error:
            raise KernelError(f"{step.lesson} step {step.number}{_with(changes)}: the values are wrong") from error
        return dev.runs[-1]


def changed(step: Step, changes: Mapping[str, str]) -> str:
    """The step's source with other constants. No line moves, so reports point into the file as it is."""
    source = step.path.read_text(encoding="utf-8")
    values = _constants(source)
    for name in changes:
        if name not in values:
            raise InputError(
                f"step {step.number} of {step.lesson} has no constant {name!r}; it has {', '.join(values)}"
            )
    lines = source.splitlines(keepends=True)
    for name in sorted(changes, key=lambda name: -values[name].col_offset):  # from the right: two may share a line
        node = values[name]
        line = lines[node.lineno - 1]
        lines[node.lineno - 1] = line[: node.col_offset] + _literal(name, changes[name]) + line[node.end_col_offset :]
    return "".join(lines)


def _constants(source: str) -> dict[str, ast.Constant]:
    """Names at the top of the file that stand for a number, `S, N = 160, 4` included, and where the number stands."""
    found = {}
    for statement in ast.parse(source).body:
        if isinstance(statement, ast.Assign):
            target, value = statement.targets[0], statement.value
            names = target.elts if isinstance(target, ast.Tuple) else [target]
            numbers = value.elts if isinstance(value, ast.Tuple) else [value]
            for name, number in zip(names, numbers, strict=False):
                if isinstance(name, ast.Name) and isinstance(number, ast.Constant):
                    found[name.id] = number
    return found


def parse_changes(given: Sequence[str]) -> dict[str, str]:
    """`["TILE=256"]` as a mapping."""
    found = {}
    for text in given:
        name, sign, value = text.partition("=")
        if not (name and sign and value):
            raise InputError(f"{text!r}: a constant is set as NAME=VALUE, for example TILE=256")
        found[name.strip()] = value.strip()
    return found


def _literal(name: str, value: str) -> str:
    try:
        return repr(ast.literal_eval(value))
    except (ValueError, SyntaxError) as error:
        raise InputError(f"{name}={value}: the value must be a number, for example {name}=256") from error


def _with(changes: Mapping[str, str] | None) -> str:
    return " with " + ", ".join(f"{name}={value}" for name, value in changes.items()) if changes else ""
