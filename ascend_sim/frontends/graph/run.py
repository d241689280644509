"""Running a graph: its nodes as tasks of one stream, and what each of them took."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from ascend_sim.asc.launch import current_device
from ascend_sim.errors import AscendSimError, InputError, TilingError
from ascend_sim.frontends.graph.nodes import Edge, Node
from ascend_sim.host.device import Device
from ascend_sim.host.execute import OperatorRun, output_infos, run_operator
from ascend_sim.host.stream import Stream
from ascend_sim.plurals import plural
from ascend_sim.report.records import OpRecord, columns
from ascend_sim.report.style import PLAIN, Style, us
from ascend_sim.soc import Soc

Array = npt.NDArray[Any]


@dataclass(slots=True)
class GraphRun:
    """What a graph's run gave: `outputs` in the graph's order (without values their shapes and dtypes), `nodes` in the
    order in which they ran, `copied` the tensors that were copied first because others read them too.
    """

    name: str
    soc: str
    outputs: list[Any] = field(default_factory=list)
    nodes: list[OpRecord] = field(default_factory=list)
    copied: list[str] = field(default_factory=list)

    @property
    def elapsed_us(self) -> float:
        """Simulated time of all nodes, one after another."""
        return sum(record.duration_us for record in self.nodes)

    def summary(self, style: Style = PLAIN) -> str:
        """A table with one line per node."""
        total = self.elapsed_us or 1.0
        rows = [
            [
                record.caller,
                record.op,
                str(record.tiling_key),
                str(record.block_dim),
                us(record.start_us),
                us(record.duration_us),
                f"{100 * record.duration_us / total:.1f} %",
            ]
            for record in self.nodes
        ]
        lines = [style.rule(f"Graph {self.name} on {self.soc}")]
        lines += [columns(["Node", "Operator", "Key", "Blocks", "Start us", "Time us", "Share"], rows, left=2)]
        lines += [f"{plural(len(self.nodes), 'node')}, {us(self.elapsed_us)} us simulated"]
        lines += [f"Note: {edge} is copied first, others read it too; the copy is not timed" for edge in self.copied]
        lines += [f"Warning: {text}" for text in dict.fromkeys(text for r in self.nodes for text in r.warnings)]
        return "\n".join(lines)


def run_graph(
    name: str,
    nodes: Sequence[Node],
    values: Mapping[Edge, Any],
    outputs: Sequence[Edge],
    soc: str | Soc | None,
    device: Device | None,
) -> GraphRun:
    """Run `nodes` in order; `values` holds what the graph's inputs are given."""
    device = _device(soc, device)
    stream = Stream(device, f"stream of {name}")
    execution = _Execution(device, outputs, nodes)
    for edge, value in values.items():
        execution.tensors[edge] = _own(name, edge, value) if device.values else value
    for node in nodes:
        stream.submit(_NodeTask(node, execution))
    runs = stream.run()
    found = GraphRun(name, device.soc.variant, copied=execution.copied)
    found.outputs = [execution.tensors[edge] for edge in outputs]
    for run, time in zip(runs, stream.tasks, strict=True):
        assert run is not None
        found.nodes.append(OpRecord.of(run, time.start_us))
    return found


def _own(graph: str, edge: Edge, value: Any) -> Array:
    """The run's own copy of an array."""
    if not hasattr(value, "shape"):
        raise InputError(
            f"graph {graph}: input {edge} is given as shape and dtype, but {edge} needs values: give an array, or run "
            "on a device without values"
        )
    return np.array(value, order="C")


def _device(soc: str | Soc | None, device: Device | None) -> Device:
    if soc is not None and device is not None:
        raise InputError("a graph runs on a soc or on a device, not on both")
    if soc is not None:
        return Device(soc)
    found = current_device() if device is None else device
    if not isinstance(found, Device):
        raise InputError(f"the current device is a {type(found).__name__}; a graph needs an ascend_sim device")
    return found


class _Execution:
    """The tensors of a run by edge, and how many readers each still has."""

    def __init__(self, device: Device, outputs: Sequence[Edge], nodes: Sequence[Node]) -> None:
        self.device = device
        self.tensors: dict[Edge, Any] = {}
        self.copied: list[str] = []
        self.readers = Counter([*outputs, *(edge for node in nodes for edge in node.inputs.values())])

    def take(self, node: Node) -> dict[str, Any]:
        """The inputs of `node`; one in place is the node's own, or a copy where others are still to read it."""
        inplace = {output.inplace for output in node.operator.outputs}
        self.readers.subtract(node.inputs.values())
        found = {}
        for name, edge in node.inputs.items():
            shared = self.readers[edge] > 0 or list(node.inputs.values()).count(edge) > 1
            found[name] = self.tensors[edge]
            if name in inplace and shared:
                found[name] = found[name].copy() if self.device.values else found[name]
                self.copied.append(f"{edge} for {node.name}")
        return found

    def keep(self, node: Node, run: OperatorRun) -> None:
        for output, info in output_infos(run):
            value = run.outputs[output.name] if self.device.values else (info.shape, info.dtype)
            self.tensors[Edge(node, output.name)] = value


@dataclass(slots=True)
class _NodeTask:
    """One node on the stream."""

    node: Node
    execution: _Execution

    @property
    def name(self) -> str:
        return self.node.name

    def run(self, device: Device) -> OperatorRun:
        node = self.node
        inputs = self.execution.take(node)
        try:
            run = run_operator(node.operator, inputs, node.attrs, device, check=False, caller=node.name)
        except TilingError as error:
            raise TilingError(f"node {node.name}: {error}", error.status) from error
        except AscendSimError as error:
            raise type(error)(f"node {node.name}: {error}") from error
        self.execution.keep(node, run)
        return run
