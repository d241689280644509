"""A graph: which nodes there are, in which order they run, what is known of every tensor."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ascend_sim.errors import InputError, TilingError
from ascend_sim.frontends.graph.nodes import Data, Edge, Node, edge_of
from ascend_sim.frontends.graph.run import GraphRun, run_graph
from ascend_sim.host.device import Device
from ascend_sim.host.tensors import UNKNOWN_DIM, UNKNOWN_RANK, Shape, TensorInfo, tensor_info
from ascend_sim.plurals import counted
from ascend_sim.soc import Soc

Infos = dict[str, dict[str, TensorInfo]]


class Graph:
    """`inputs` are what the caller gives to `run`, in this order; `outputs` are what it gets.

    The nodes are those that the outputs need, found when the graph is made; they run in an order in which every node
    comes after its sources.
    """

    def __init__(self, name: str, inputs: Sequence[Data], outputs: Sequence[Node | Edge]) -> None:
        self.name = name
        self.inputs = tuple(inputs)
        self.outputs: tuple[Edge, ...] = tuple(edge_of(output) for output in outputs)
        if not self.outputs:
            raise InputError(f"graph {name}: it has no outputs, so there is nothing to run")
        self.nodes: tuple[Node, ...] = tuple(_ordered(self.outputs))
        self._check()

    def _check(self) -> None:
        names = Counter([data.name for data in self.inputs] + [node.name for node in self.nodes])
        for name, count in names.items():
            if count > 1:
                raise InputError(f"graph {self.name}: the name {name!r} is used twice")
        for node in self.nodes:
            _check_inputs(node)
            for name, edge in node.inputs.items():
                if isinstance(edge.source, Data) and edge.source not in self.inputs:
                    raise InputError(
                        f"graph {self.name}: input {name} of node {node.name} is {edge.source.name}, which is not "
                        "among the graph's inputs"
                    )

    def infer(self) -> Infos:
        """Shape and dtype of every output, by node and output; unknown dims (-1) and ranks (-2,) pass through."""
        found: Infos = {data.name: {"": data.info} for data in self.inputs}
        for node in self.nodes:
            found[node.name] = _infer_node(node, found)
        for edge in self.outputs:
            _info_of(edge, found)
        return {node.name: found[node.name] for node in self.nodes}

    def run(
        self, values: Sequence[Any] | Mapping[str, Any], *, soc: str | Soc | None = None, device: Device | None = None
    ) -> GraphRun:
        """Run every node on one stream of `device`, of a new device of `soc`, or of the current device.

        `values` holds an array for every input, in order or by name; on a device without values `(shape, dtype)` pairs
        are enough. The arrays are copied to the device first, so results in place leave them as they are.
        """
        if isinstance(values, Mapping):
            given = dict(values)
        else:
            if len(values) != len(self.inputs):
                raise InputError(
                    f"graph {self.name} has {counted(len(self.inputs), 'input')} and was given "
                    f"{counted(len(values), 'value')}"
                )
            given = {data.name: value for data, value in zip(self.inputs, values, strict=True)}
        names = [data.name for data in self.inputs]
        for name in given:
            if name not in names:
                raise InputError(f"graph {self.name} has no input {name!r}; its inputs are {', '.join(names)}")
        for data in self.inputs:
            if data.name not in given:
                raise InputError(f"graph {self.name}: no value for input {data.name}")
            _check_value(self.name, data, tensor_info(data.name, given[data.name]))
        self.infer()
        return run_graph(
            self.name, self.nodes, {Edge(d): given[d.name] for d in self.inputs}, self.outputs, soc, device
        )

    def __repr__(self) -> str:
        sizes = ((self.inputs, "input"), (self.nodes, "node"), (self.outputs, "output"))
        return f"<Graph {self.name}: {', '.join(counted(len(found), noun) for found, noun in sizes)}>"


def _ordered(outputs: Sequence[Edge]) -> list[Node]:
    """The nodes behind `outputs`, sources first. Chains may be longer than Python's calls may be deep."""
    ordered: dict[Node, None] = {}
    chain: dict[Node, Iterator[Edge]] = {}  # the node that is being followed is the last one's source

    def follow(edge: Edge) -> None:
        node = edge.source
        if isinstance(node, Data) or node in ordered:
            return
        if node in chain:
            raise InputError(f"node {node.name} is among its own sources; a graph has no cycles")
        chain[node] = iter(node.inputs.values())

    for output in outputs:
        follow(output)
        while chain:
            node, sources = next(reversed(chain.items()))
            edge = next(sources, None)
            if edge is not None:
                follow(edge)
            else:
                del chain[node]
                ordered[node] = None
    return list(ordered)


def _check_inputs(node: Node) -> None:
    """Every required input has a source."""
    try:
        node.operator.bind_inputs(node.inputs)
    except TilingError as error:
        raise TilingError(f"node {node.name}: {error}", error.status) from error


def _infer_node(node: Node, found: Infos) -> dict[str, TensorInfo]:
    infos = {name: _info_of(edge, found) for name, edge in node.inputs.items()}
    operator = node.operator
    shapes = operator.infer_shapes({name: info.shape for name, info in infos.items()}, operator.bind_attrs(node.attrs))
    return {
        output.name: TensorInfo(shape, infos[output.dtype_of].dtype)
        for output, shape in zip(operator.outputs, shapes, strict=True)
        if output.needs is None or output.needs in infos
    }


def _info_of(edge: Edge, found: Infos) -> TensorInfo:
    outputs = found.get(edge.source.name)
    if outputs is None:
        raise InputError(f"{edge.source.name} became a source after the graph was made; make the graph when all is set")
    if edge.output not in outputs:
        assert isinstance(edge.source, Node)
        needs = next(o.needs for o in edge.source.operator.outputs if o.name == edge.output)
        raise InputError(f"node {edge.source.name} has no output {edge.output} without its input {needs}")
    return outputs[edge.output]


def _check_value(graph: str, data: Data, given: TensorInfo) -> None:
    """A value of the declared dtype and shape, as far as they are known."""
    if given.dtype != data.info.dtype or not _fits(data.info.shape, given.shape):
        raise InputError(f"graph {graph}: input {data.name} was declared as {data.info}, and is given {given}")


def _fits(declared: Shape, given: Shape) -> bool:
    if declared == (UNKNOWN_RANK,):
        return True
    return len(declared) == len(given) and all(
        want in (UNKNOWN_DIM, dim) for want, dim in zip(declared, given, strict=True)
    )
