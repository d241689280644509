"""Graphs of operator nodes: construction, inference with unknown shapes, execution and its times."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import ascend_sim
from ascend_sim.errors import InputError, TilingError, UnsupportedError
from ascend_sim.frontends import graph
from ascend_sim.host.device import Device
from ascend_sim.host.tensors import TensorInfo

Array = npt.NDArray[Any]
X, TABLE = (2, 8, 2, 32), (2, 8, 1, 16)


def data(x: Any = X, table: Any = TABLE, dtype: str = "float32") -> list[graph.Data]:
    return [graph.Data(name, shape, dtype) for name, shape in (("x", x), ("cos", table), ("sin", table))]


def rope(name: str, x: Any, cos: Any, sin: Any, start: int = 0) -> graph.Node:
    node = graph.op.InplacePartialRotaryMul(name).set_input_x(x).set_input_cos(cos).set_input_sin(sin)
    return node.set_attr_rotary_mode(1).set_attr_partial_slice([start, start + 16])


def values(seed: int = 0) -> list[Array]:
    random = np.random.default_rng(seed)
    return [random.standard_normal(shape, np.float32) for shape in (X, TABLE, TABLE)]


def rotated(x: Array, cos: Array, sin: Array, start: int = 0) -> Array:
    out = x.copy()
    ascend_sim.run("inplace_partial_rotary_mul", out, cos, sin, partial_slice=[start, start + 16])
    return out


class TestConstruction:
    def test_names_and_aliases_and_texts(self) -> None:
        x, cos, sin = data()
        node = graph.Node("inplace_partial_rotary_mul", "rope").set_input("x", x).set_input("r1", cos)
        node.set_input_r2(sin).set_attr_rotary_mode("interleave").set_attr("partial_slice", "0,16")
        assert {name: str(edge) for name, edge in node.inputs.items()} == {"x": "x", "cos": "cos", "sin": "sin"}
        assert node.attrs == {"rotary_mode": 1, "partial_slice": (0, 16)}

    def test_nodes_run_after_their_sources_whatever_the_order_of_the_outputs(self) -> None:
        inputs = data()
        first = rope("first", *inputs)
        second = rope("second", first, *inputs[1:])
        third = rope("third", second, *inputs[1:])
        found = graph.Graph("g", inputs, [third, first])
        assert [node.name for node in found.nodes] == ["first", "second", "third"]
        assert repr(found) == "<Graph g: 3 inputs, 3 nodes, 2 outputs>"

    REFUSED: tuple[tuple[Callable[[], Any], type[Exception], str], ...] = (
        (
            lambda: graph.op.InplacePartialRotaryMul("n").set_input_y(data()[0]),
            InputError,
            "inplace_partial_rotary_mul has no input 'y'; its inputs are x, cos (also r1), sin (also r2)",
        ),
        (
            lambda: graph.op.InplacePartialRotaryMul("n").set_attr_mode(1),
            InputError,
            "inplace_partial_rotary_mul has no attribute 'mode'; its attributes are rotary_mode, partial_slice",
        ),
        (
            lambda: graph.op.InplacePartialRotaryMul("n").set_attr_rotary_mode("third"),
            TilingError,
            "InplacePartialRotaryMul: attribute rotary_mode is 'third'; allowed is an integer or interleave (1)",
        ),
        (lambda: graph.op.Rotary("n"), UnsupportedError, "unknown operator 'Rotary': "),
        (
            lambda: graph.op.RotaryPositionEmbedding("n").output("x"),
            InputError,
            "node n: rotary_position_embedding has no output 'x', it has y",
        ),
        (
            lambda: graph.op.RotaryPositionEmbedding("n").set_input_x(3),
            InputError,
            "a source is Data, a Node or an Edge, not int",
        ),
        (lambda: graph.Node("rotary_position_embedding", "n").inputs_of, AttributeError, "a node has no 'inputs_of'"),
        (lambda: graph.Graph("g", [], []), InputError, "graph g: it has no outputs, so there is nothing to run"),
        (
            lambda: graph.Graph("g", data(), [graph.op.InplacePartialRotaryMul("n").set_input_x(data()[0])]),
            TilingError,
            "node n: InplacePartialRotaryMul: required input cos is missing; given are x",
        ),
        (
            lambda: graph.Data("x", 5, "float16"),  # type: ignore[arg-type]
            InputError,
            "input x: shape 5 must be a sequence of integers",
        ),
        (
            lambda: graph.Graph("g", [], [rope("n", *data())]),
            InputError,
            "graph g: input x of node n is x, which is not among the graph's inputs",
        ),
    )

    @pytest.mark.parametrize(("call", "kind", "text"), REFUSED)
    def test_refusals(self, call: Callable[[], Any], kind: type[Exception], text: str) -> None:
        with pytest.raises(kind) as refused:
            call()
        assert str(refused.value).startswith(text)

    def test_a_name_twice(self) -> None:
        inputs = data()
        with pytest.raises(InputError, match="graph g: the name 'x' is used twice"):
            graph.Graph("g", inputs, [rope("x", *inputs)])

    def test_a_cycle(self) -> None:
        inputs = data()
        first = rope("first", *inputs)
        second = rope("second", first, *inputs[1:])
        first.set_input_x(second)
        with pytest.raises(InputError, match="node second is among its own sources; a graph has no cycles"):
            graph.Graph("g", inputs, [second])


class TestInference:
    @pytest.mark.parametrize("shape", [(2, 8, 2, 32), (-1, 8, -1, 32), (-2,)])
    def test_unknown_dims_and_ranks_pass_through(self, shape: tuple[int, ...]) -> None:
        inputs = data(shape, (-1, 8, 1, 16), "bfloat16")
        first = rope("first", *inputs)
        found = graph.Graph("g", inputs, [rope("second", first, *inputs[1:])]).infer()
        info = TensorInfo(shape, "bfloat16")
        assert found == {"first": {"x": info}, "second": {"x": info}}

    def test_outputs_that_hang_on_an_optional_input(self) -> None:
        dy, cos, sin = (graph.Data(name, (-1, 8, -1, 64), "float16") for name in ("dy", "cos", "sin"))
        x = graph.Data("x", (-2,), "float16")

        def node() -> graph.Node:
            found = graph.op.RotaryPositionEmbeddingGrad("grad").set_input_dy(dy).set_input_cos(cos)
            return found.set_input_sin(sin)

        assert list(graph.Graph("g", [dy, cos, sin], [node()]).infer()["grad"]) == ["dx"]
        full = node().set_input_x(x)
        found = graph.Graph("g", [dy, cos, sin, x], [full.output("dcos"), full]).infer()["grad"]
        assert {name: info.shape for name, info in found.items()} == dict.fromkeys(
            ("dx", "dcos", "dsin"), (-1, 8, -1, 64)
        )
        with pytest.raises(InputError, match="node grad has no output dcos without its input x"):
            graph.Graph("g", [dy, cos, sin], [node().output("dcos")]).infer()


class TestRun:
    def test_two_nodes_in_a_row(self) -> None:
        inputs, given = data(), values()
        before = [array.copy() for array in given]
        low = rope("low", *inputs)
        run = graph.Graph("layer", inputs, [rope("high", low, *inputs[1:], start=16)]).run(given)
        assert np.array_equal(run.outputs[0], rotated(rotated(*given), *given[1:], start=16))
        assert all(np.array_equal(one, other) for one, other in zip(given, before, strict=True))
        assert run.copied == []
        assert [(node.caller, node.op) for node in run.nodes] == [
            ("low", "InplacePartialRotaryMul"),
            ("high", "InplacePartialRotaryMul"),
        ]
        assert run.nodes[1].start_us == run.nodes[0].duration_us > 0
        assert run.elapsed_us == pytest.approx(sum(node.duration_us for node in run.nodes))

    def test_what_others_still_read_is_copied_before_it_changes(self) -> None:
        inputs, given = data(), values()
        first, second = rope("first", *inputs), rope("second", *inputs, start=16)
        last = rope("last", first, *inputs[1:])
        run = graph.Graph("g", inputs, [first, second, last]).run(given)
        expected = rotated(*given)
        assert np.array_equal(run.outputs[0], expected)
        assert np.array_equal(run.outputs[1], rotated(*given, start=16))
        assert np.array_equal(run.outputs[2], rotated(expected, *given[1:]))
        assert run.copied == ["x for first", "first.x for last"]

    def test_values_by_name_and_shapes_known_late(self) -> None:
        inputs, given = data((-1, 8, 2, 32), (-2,)), values()
        g = graph.Graph("g", inputs, [rope("n", *inputs)])
        run = g.run(dict(zip(("sin", "x", "cos"), (given[2], given[0], given[1]), strict=True)))
        assert np.array_equal(run.outputs[0], rotated(*given))

    def test_where_it_runs(self) -> None:
        inputs = data()
        g = graph.Graph("g", inputs, [rope("n", *inputs)])
        with ascend_sim.session("Ascend910B4") as session:
            assert g.run(values()).soc == "Ascend910B4"
        assert [record.caller for record in session.records] == ["n"]
        assert g.run(values(), soc="Ascend910_9391").soc == "Ascend910_9391"
        device = Device("ascend910b", values=False)
        run = g.run([(X, "float32"), (TABLE, "float32"), (TABLE, "float32")], device=device)
        assert (run.outputs, len(device.launches)) == ([(X, "float32")], 1)
        with pytest.raises(InputError, match="a graph runs on a soc or on a device, not on both"):
            g.run(values(), soc="ascend910b", device=device)

    def test_refusals(self) -> None:
        inputs, given = data(), values()
        g = graph.Graph("g", inputs, [rope("n", *inputs)])
        cases: list[tuple[Any, str]] = [
            (given[:2], "graph g has 3 inputs and was given 2 values"),
            ({"x": given[0], "cos": given[1]}, "graph g: no value for input sin"),
            (
                dict(zip(("x", "cos", "tan"), given, strict=True)),
                "graph g has no input 'tan'; its inputs are x, cos, sin",
            ),
            (
                [given[0], (TABLE, "float32"), given[2]],
                "graph g: input cos is given as shape and dtype, but cos needs values: give an array, or run on a "
                "device without values",
            ),
            (
                [given[0][:1], *given[1:]],
                "graph g: input x was declared as (2, 8, 2, 32) float32, and is given (1, 8, 2, 32) float32",
            ),
            (
                [given[0].astype(np.float16), *given[1:]],
                "graph g: input x was declared as (2, 8, 2, 32) float32, and is given (2, 8, 2, 32) float16",
            ),
        ]
        for case, text in cases:
            with pytest.raises(InputError) as refused:
                g.run(case)
            assert str(refused.value) == text

    def test_a_source_that_came_late(self) -> None:
        inputs = data()
        node = rope("n", *inputs)
        g = graph.Graph("g", inputs, [node])
        node.set_input_x(rope("late", *inputs))
        with pytest.raises(InputError) as refused:
            g.run(values())
        assert str(refused.value) == "late became a source after the graph was made; make the graph when all is set"

    def test_a_chain_longer_than_calls_may_be_deep(self) -> None:
        inputs = data()
        node: Any = inputs[0]
        for number in range(1100):
            node = rope(f"n{number}", node, *inputs[1:])
        g = graph.Graph("g", inputs, [node])
        assert [found.name for found in g.nodes] == [f"n{number}" for number in range(1100)]

    def test_a_refused_node_is_named(self) -> None:
        inputs, given = data(), values()
        bad = rope("bad", rope("good", *inputs), *inputs[1:], start=24)
        with pytest.raises(TilingError) as refused:
            graph.Graph("g", inputs, [bad]).run(given)
        assert str(refused.value) == (
            "node bad: InplacePartialRotaryMul: partial_slice is [24, 40); end must not exceed the last dim of x, 32"
        )

    def test_summary(self) -> None:
        inputs = data()
        first = rope("first", *inputs)
        run = graph.Graph("g", inputs, [rope("the_second", first, *inputs[1:]), first]).run(values())
        lines = run.summary().splitlines()
        assert lines[0].startswith("Graph g on Ascend910B3 ──")
        assert lines[1].split() == ["Node", "Operator", "Key", "Blocks", "Start", "us", "Time", "us", "Share"]
        assert lines[2].split()[:5] == ["first", "InplacePartialRotaryMul", "2020", "16", "0.0000"]
        assert lines[3].split()[:2] == ["the_second", "InplacePartialRotaryMul"]
        assert lines[4:] == [
            f"2 nodes, {run.elapsed_us:.2f} us simulated",
            "Note: first.x for the_second is copied first, others read it too; the copy is not timed",
        ]
