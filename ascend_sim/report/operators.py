"""What `ascend-sim ops` shows: the operators that there are, and how to call one of them.

Each view is first a plain dictionary (the JSON answer) and then a text made from that dictionary alone.
"""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

from ascend_sim.host.attributes import Attribute
from ascend_sim.host.operator import Operator, Support
from ascend_sim.host.registry import operator_named, operator_names
from ascend_sim.report.style import PLAIN, Style


def operators() -> dict[str, Any]:
    """All operators in short."""
    return {"operators": [_short(operator_named(name)) for name in operator_names()]}


def _short(operator: Operator) -> dict[str, Any]:
    return {
        "name": operator.name,
        "type": operator.type_name,
        "summary": operator.summary,
        "inputs": [declared.name for declared in operator.inputs],
        "socs": {soc: _support(support) for soc, support in operator.supports.items()},
    }


def operator(op: Operator) -> dict[str, Any]:
    """Everything that a caller of one operator has to know, and a command to paste."""
    return {
        **_short(op),
        "inputs": [
            {
                "name": declared.name,
                "aliases": list(declared.aliases),
                "optional": declared.optional,
                "description": declared.description,
            }
            for declared in op.inputs
        ],
        "outputs": [{"name": out.name, "dtype_of": out.dtype_of, "inplace": out.inplace} for out in op.outputs],
        "attributes": [_attribute(declared) for declared in op.attributes],
        "references": {declared.name: declared.description for declared in op.references},
        "tolerance": {"absolute": op.tolerance.absolute, "relative": op.tolerance.relative},
        "command": example_command(op),
    }


def _support(support: Support) -> dict[str, Any]:
    return {
        "simulated": support.simulated,
        "tiling": support.tiling is not None,
        "dtypes": [list(combination) for combination in support.dtypes],
        "layouts": list(support.layouts),
    }


def _attribute(declared: Attribute) -> dict[str, Any]:
    default = declared.default
    return {
        "name": declared.name,
        "kind": declared.kind,
        "default": list(default) if isinstance(default, tuple) else default,
        "values": dict(declared.strings),
        "aliases": list(declared.aliases),
        "description": declared.description,
    }


def example_command(op: Operator) -> str:
    """The operator's example as a command line with everything spelled out; what cannot run can still be tiled."""
    verb = "run" if op.supports[op.default_soc].simulated else "tiling"
    inputs = [f"-i {name}={','.join(map(str, i.shape))}:{i.dtype}" for name, i in op.example.inputs.items()]
    attrs = [f"--attr {name}={_attr_text(value)}" for name, value in op.example.attrs.items()]
    return " ".join(["ascend-sim", verb, op.name, *inputs, *attrs])


def _attr_text(value: Any) -> str:
    return ",".join(map(str, value)) if isinstance(value, tuple | list) else str(value)


def operators_text(view: Mapping[str, Any], style: Style = PLAIN) -> str:
    """A paragraph per operator: name, what it does, SoCs with their dtypes."""
    lines: list[str] = []
    for row in view["operators"]:
        lines += [style.paint(row["name"], "bold") + f"  {row['type']}"]
        lines += textwrap.wrap(row["summary"], style.width - 2, initial_indent="  ", subsequent_indent="  ")
        lines += _socs_lines(row, style)
        lines += [""]
    lines += ["`ascend-sim ops OP` shows inputs, attributes and a command to paste"]
    return "\n".join(lines)


def _socs_lines(row: Mapping[str, Any], style: Style) -> list[str]:
    """SoCs in one line where they take the same dtypes."""
    groups: dict[str, list[str]] = {}
    for soc, support in row["socs"].items():
        groups.setdefault(_dtypes_text(support["dtypes"]), []).append(soc + _support_note(support))
    lines = []
    for dtypes, socs in groups.items():
        lines.append(f"  {', '.join(socs)}")
        lines += textwrap.wrap(dtypes, style.width - 4, initial_indent="    ", subsequent_indent="    ")
    return lines


def _support_note(support: Mapping[str, Any]) -> str:
    if support["simulated"]:
        return ""
    return " (tiling only)" if support["tiling"] else " (not simulated yet)"


def _dtypes_text(combinations: Sequence[Sequence[str]]) -> str:
    """`float16, bfloat16 + float32`: what differs from the first input's dtype stands behind a plus."""
    texts = []
    for first, *rest in combinations:
        others = list(dict.fromkeys(dtype for dtype in rest if dtype != first))
        texts.append(" + ".join([first, *others]))
    return ", ".join(texts)


def operator_text(view: Mapping[str, Any], style: Style = PLAIN) -> str:
    """The dictionary of `operator` as text."""
    lines = [style.rule(f"{view['name']} ({view['type']})")]
    lines += textwrap.wrap(view["summary"], style.width)
    lines += ["", style.paint("Inputs", "bold")]
    lines += _table([(_input_name(row), row["description"]) for row in view["inputs"]], style)
    lines += ["", style.paint("Outputs", "bold")]
    lines += _table([(row["name"], _output_text(row)) for row in view["outputs"]], style)
    if view["attributes"]:
        lines += ["", style.paint("Attributes", "bold")]
        lines += _table([(row["name"], _attribute_text(row)) for row in view["attributes"]], style)
    if view["references"]:
        lines += ["", style.paint("References (--compare)", "bold")]
        lines += _table(list(view["references"].items()), style)
    for socs, support in _alike(view["socs"]):
        lines += ["", style.paint(f"On {', '.join(socs)}", "bold") + _support_note(support)]
        lines += [f"  dtypes of ({', '.join(row['name'] for row in view['inputs'])}):"]
        lines += [f"    ({', '.join(combination)})" for combination in support["dtypes"]]
        if support["layouts"]:
            lines += ["  layouts:", *(f"    {layout}" for layout in support["layouts"])]
    return "\n".join([*lines, "", style.paint("Try", "bold"), f"  {view['command']}"])


def _alike(supports: Mapping[str, Any]) -> list[tuple[list[str], Any]]:
    """SoCs on which the operator is the same, together."""
    groups: list[tuple[list[str], Any]] = []
    for soc, support in supports.items():
        for socs, same in groups:
            if same == support:
                socs.append(soc)
                break
        else:
            groups.append(([soc], support))
    return groups


def _input_name(row: Mapping[str, Any]) -> str:
    also = f" (also {', '.join(row['aliases'])})" if row["aliases"] else ""
    return str(row["name"]) + also + (" [optional]" if row["optional"] else "")


def _output_text(row: Mapping[str, Any]) -> str:
    return f"in place: the memory of input {row['inplace']}" if row["inplace"] else f"dtype of {row['dtype_of']}"


def _attribute_text(row: Mapping[str, Any]) -> str:
    kinds = {"int": "integer", "ints": "list of integers", "float": "number", "str": "text"}
    default = row["default"]
    names = "".join(f", {text!r} means {number}" for text, number in row["values"].items())
    also = f", also called {', '.join(row['aliases'])}" if row["aliases"] else ""
    return f"{kinds[row['kind']]}, default {_attr_text(default) or 'none'}{names}{also}: {row['description']}"


def _table(rows: Sequence[tuple[str, str]], style: Style) -> list[str]:
    """Two columns, the second wrapped."""
    indent = min(max((len(name) for name, _ in rows), default=0) + 4, 30)
    lines: list[str] = []
    for name, text in rows:
        wrapped = textwrap.wrap(text, style.width - indent) or [""]
        lines.append(f"  {name:<{indent - 2}}{wrapped[0]}")
        lines += [" " * indent + line for line in wrapped[1:]]
    return lines
