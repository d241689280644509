"""torch.compile(fullgraph=True) and torch.library.opcheck for every operator."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed: pip install 'ascend-sim[torch]'")

import ascend_sim  # noqa: E402
import ascend_sim.frontends.torch as front  # noqa: E402
from ascend_sim.frontends.torch.shims.torchair import CompilerConfig, get_npu_backend  # noqa: E402

OPS = torch.ops.cann_ops_transformer
PART: dict[str, Any] = {"partial_slice": [8, 24]}


def inplace() -> tuple[Any, ...]:
    return torch.randn(2, 8, 3, 32), torch.randn(2, 8, 1, 16), torch.randn(2, 8, 1, 16)


def rotary(grad: bool = True) -> tuple[Any, ...]:
    x = torch.randn(2, 8, 3, 64, requires_grad=grad)
    return x, torch.randn(1, 8, 1, 64, requires_grad=grad), torch.randn(1, 8, 1, 64)


def query_key(grad: bool = True) -> tuple[Any, ...]:
    shapes = ((2, 8, 3, 64), (2, 8, 1, 64), (2, 8, 1, 64), (2, 8, 1, 64))
    return tuple(torch.randn(shape, requires_grad=grad) for shape in shapes)


CHECKED = [
    pytest.param("inplace_partial_rotary_mul", "ascend910b", inplace, PART),
    pytest.param("inplace_partial_rotary_mul", "ascend950", inplace, PART),
    pytest.param("inplace_partial_rotary_mul_backward", "ascend950", inplace, PART),
    pytest.param("npu_rotary_mul", "ascend910b", rotary, {}),
    pytest.param("npu_rotary_mul", "ascend910b", lambda: (*rotary(False), "interleave"), {}),
    pytest.param("npu_rotary_mul_backward", "ascend910b", lambda: (rotary(False)[0], None, *rotary(False)[1:]), {}),
    pytest.param("npu_rotary_mul_backward", "ascend910b", lambda: (rotary(False)[0], *rotary(False)), {}),
    pytest.param(
        "apply_rotary_pos_emb",
        "ascend910b",
        lambda: (*query_key(False), "BSND", "half"),
        {},
    ),
    pytest.param(
        "apply_rotary_pos_emb",
        "ascend950",
        lambda: (*query_key(), "BSND", "half"),
        {},
    ),
    pytest.param(
        "apply_rotary_pos_emb_grad",
        "ascend950",
        lambda: query_key(False),
        {},
    ),
    pytest.param(
        "apply_rotary_pos_emb_grad",
        "ascend950",
        lambda: query_key(False),
        {"query": torch.randn(2, 8, 3, 64), "key": torch.randn(2, 8, 1, 64)},
    ),
]


@pytest.mark.parametrize(("name", "soc", "arguments", "named"), CHECKED)
def test_opcheck(name: str, soc: str, arguments: Callable[[], Any], named: dict[str, Any]) -> None:
    with ascend_sim.session(soc):
        found = torch.library.opcheck(getattr(OPS, name).default, arguments(), named)
    assert set(found.values()) == {"SUCCESS"}
    assert len(found) == 4


def in_place(function: Callable[..., None], **attrs: Any) -> Callable[..., Any]:
    """A pure-looking model around an operator that changes its first argument."""

    def model(x: Any, r1: Any, r2: Any) -> Any:
        y = x * 2
        function(y, r1, r2, **attrs)
        return y + 1

    return model


COMPILED = [
    pytest.param(in_place(front.inplace_partial_rotary_mul, **PART), "ascend910b", inplace, id="inplace A2"),
    pytest.param(in_place(front.inplace_partial_rotary_mul, **PART), "ascend950", inplace, id="inplace 950"),
    pytest.param(
        in_place(front.inplace_partial_rotary_mul_backward, **PART), "ascend950", inplace, id="inplace backward"
    ),
    pytest.param(front.npu_rotary_mul, "ascend910b", rotary, id="npu_rotary_mul"),
    pytest.param(
        front.apply_rotary_pos_emb,
        "ascend910b",
        lambda: query_key(False),
        id="apply A2",
    ),
    pytest.param(
        front.apply_rotary_pos_emb,
        "ascend950",
        query_key,
        id="apply 950",
    ),
    pytest.param(
        front.apply_rotary_pos_emb_grad,
        "ascend950",
        lambda: query_key(False),
        id="apply grad",
    ),
]


@pytest.mark.parametrize(("function", "soc", "arguments"), COMPILED)
@pytest.mark.parametrize("backend", ["aot_eager", "npu"])
def test_fullgraph(backend: str, function: Callable[..., Any], soc: str, arguments: Callable[[], Any]) -> None:
    """Compiled and eager agree bit for bit, in values and, where inputs want them, in gradients."""
    inputs = arguments()
    compiler = get_npu_backend(compiler_config=CompilerConfig()) if backend == "npu" else backend
    results = []
    with ascend_sim.session(soc) as session:
        for call in (function, torch.compile(function, fullgraph=True, backend=compiler)):
            out = call(*inputs)
            outs = [o for o in (out if isinstance(out, tuple) else (out,)) if o is not None]
            needed = [tensor for tensor in inputs if tensor.requires_grad]
            grads = torch.autograd.grad(sum((o**2).sum() for o in outs), needed) if needed else []
            results.append([*outs, *grads])
    assert all(torch.equal(one, other) for one, other in zip(*results, strict=True))
    ops = [record.op for record in session.records]
    assert ops[: len(ops) // 2] == ops[len(ops) // 2 :]


def test_an_argument_is_changed_in_place_by_a_compiled_graph() -> None:
    x, r1, r2 = inplace()
    expected = x.clone()
    front.inplace_partial_rotary_mul(expected, r1, r2, **PART)

    @torch.compile(fullgraph=True, backend="aot_eager")
    def model(x: Any) -> Any:
        front.inplace_partial_rotary_mul(x, r1, r2, **PART)
        return x

    out = model(x)
    assert torch.equal(x, expected)
    assert torch.equal(out, expected)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # inductor's own imports
def test_the_default_backend() -> None:
    x, r1, r2 = inplace()
    expected = x.clone()
    front.inplace_partial_rotary_mul(expected, r1, r2, **PART)

    def model(x: Any) -> Any:  # nothing for inductor to generate code for, so no C++ compiler is needed
        front.inplace_partial_rotary_mul(x, r1, r2, **PART)
        return x

    assert torch.equal(torch.compile(model, fullgraph=True)(x), expected)


@pytest.mark.filterwarnings("ignore:.*should not be instantiated:DeprecationWarning")  # dynamo's own
def test_compiled_training_of_the_operator_in_place() -> None:
    x, r1, r2 = inplace()
    x.requires_grad_()
    model = in_place(front.inplace_partial_rotary_mul, **PART)
    grads = []
    with ascend_sim.session("ascend950"):
        for call in (model, torch.compile(model, fullgraph=True, backend="aot_eager")):
            grads += torch.autograd.grad((call(x, r1, r2) ** 2).sum(), [x])
    assert torch.equal(*grads)


def test_a_refused_call_ends_the_compilation() -> None:
    @torch.compile(fullgraph=True, backend="aot_eager")
    def model(x: Any, r1: Any, r2: Any) -> None:
        front.inplace_partial_rotary_mul(x, r1, r2, rotary_mode="half")

    text = "inplace_partial_rotary_mul: rotary_mode is 'half'; allowed are 'interleave'"
    with pytest.raises(RuntimeError, match=text):
        model(*inplace())


def test_unknown_shapes() -> None:
    """One graph for all batch sizes."""
    frames = []

    def count(graph: Any, example_inputs: Any) -> Any:
        frames.append(graph)
        return graph.forward

    @torch.compile(fullgraph=True, backend=count, dynamic=True)
    def model(x: Any, r1: Any, r2: Any) -> Any:
        return front.npu_rotary_mul(x, r1, r2) * 2

    for batch in (2, 3, 5):
        x, r1, r2 = torch.randn(batch, 8, 3, 64), torch.randn(1, 8, 1, 64), torch.randn(1, 8, 1, 64)
        assert torch.equal(model(x, r1, r2), front.npu_rotary_mul(x, r1, r2) * 2)
    assert len(frames) == 1
