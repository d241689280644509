"""What a graph is made of: `Data` that the caller gives, and `Node`s, each one operator of the library."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from ascend_sim.errors import InputError
from ascend_sim.host.operator import Operator
from ascend_sim.host.registry import operator_named
from ascend_sim.host.tensors import TensorInfo, tensor_info


class Data:
    """An input of the graph. `shape` may hold -1 for dims that are not known yet, or be (-2,): not even the rank is."""

    def __init__(self, name: str, shape: Sequence[int], dtype: Any) -> None:
        self.name = name
        self.info: TensorInfo = tensor_info(name, (_dims(name, shape), dtype), unknown_dims=True)

    def __repr__(self) -> str:
        return f"<Data {self.name} {self.info}>"


def _dims(name: str, shape: Any) -> tuple[Any, ...]:
    try:
        return tuple(shape)
    except TypeError:
        raise InputError(f"input {name}: shape {shape!r} must be a sequence of integers") from None


class Node:
    """One operator. Inputs and attributes go by the operator's names: `set_input_x(source)`, `set_attr_mode(1)`.

    A source is a `Data`, an `Edge` (`node.output("dx")`), or a node, which stands for its first output.
    """

    def __init__(self, operator: str | Operator, name: str) -> None:
        self.operator = operator_named(operator) if isinstance(operator, str) else operator
        self.name = name
        self.inputs: dict[str, Edge] = {}
        self.attrs: dict[str, Any] = {}

    def set_input(self, name: str, source: Data | Node | Edge) -> Node:
        """Connect the input `name` (or an alias of it)."""
        self.inputs[self.operator.input_named(name).name] = edge_of(source)
        return self

    def set_attr(self, name: str, value: Any) -> Node:
        """Set the attribute `name`; the documented texts are taken too."""
        attribute = self.operator.attribute_named(name)
        self.attrs[attribute.name] = attribute.convert(self.operator.type_name, value)
        return self

    def output(self, name: str) -> Edge:
        """The output `name` as a source of other nodes."""
        names = [output.name for output in self.operator.outputs]
        if name not in names:
            raise InputError(
                f"node {self.name}: {self.operator.name} has no output {name!r}, it has {', '.join(names)}"
            )
        return Edge(self, name)

    def __getattr__(self, name: str) -> Callable[[Any], Node]:
        for prefix, setter in (("set_input_", "set_input"), ("set_attr_", "set_attr")):
            if name.startswith(prefix):
                return partial(getattr(self, setter), name.removeprefix(prefix))
        raise AttributeError(f"a node has no {name!r}")

    def __repr__(self) -> str:
        return f"<Node {self.name}: {self.operator.type_name}>"


@dataclass(frozen=True, slots=True)
class Edge:
    """A tensor of the graph: an output of a node, or ("" as its name) what a `Data` gives."""

    source: Data | Node
    output: str = ""

    def __str__(self) -> str:
        return f"{self.source.name}.{self.output}" if self.output else self.source.name


def edge_of(source: Any) -> Edge:
    """The tensor that `source` means where a tensor is wanted."""
    if isinstance(source, Edge):
        return source
    if isinstance(source, Data):
        return Edge(source)
    if isinstance(source, Node):
        return Edge(source, source.operator.outputs[0].name)
    raise InputError(f"a source is Data, a Node or an Edge, not {type(source).__name__}")


class _Operators:
    """`op.InplacePartialRotaryMul("rope")`: a node of that operator."""

    def __getattr__(self, name: str) -> Callable[[str], Node]:
        return partial(Node, operator_named(name))


op = _Operators()
