"""Gradients against autograd of the plain formulas, and training loops that follow plain PyTorch's."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed: pip install 'ascend-sim[torch]'")

import ascend_sim  # noqa: E402
from ascend_sim.errors import InputError  # noqa: E402
from ascend_sim.frontends.torch import (  # noqa: E402
    AclnnError,
    apply_rotary_pos_emb,
    apply_rotary_pos_emb_grad,
    inplace_partial_rotary_mul,
    npu_rotary_mul,
)

from .formulas import partial_rope, rope, rotate_halves, rotate_pairs  # noqa: E402

Tensors = list[Any]


def leaves(*shapes: tuple[int, ...]) -> Tensors:
    return [torch.randn(shape, requires_grad=True) for shape in shapes]


def same_gradients(actual: Callable[..., Any], expected: Callable[..., Any], inputs: Tensors) -> None:
    """Both functions of `inputs`, weighted at random and summed, have the same gradients (float32 sums apart)."""
    found = []
    for function in (actual, expected):
        outputs = function(*inputs)
        outputs = outputs if isinstance(outputs, tuple) else (outputs,)
        generator = torch.Generator().manual_seed(7)
        loss = sum((out * torch.randn(out.shape, generator=generator)).sum() for out in outputs)
        needed = [tensor for tensor in inputs if tensor.requires_grad]
        found.append(torch.autograd.grad(loss, needed))
    for one, other in zip(*found, strict=True):
        assert one.shape == other.shape
        assert torch.allclose(one, other, rtol=1e-5, atol=1e-5)


class TestNpuRotaryMul:
    @pytest.mark.parametrize(("mode", "rotate"), [("half", rotate_halves), ("interleave", rotate_pairs)])
    def test_all_gradients(self, mode: str, rotate: Any) -> None:
        inputs = leaves((2, 8, 3, 64), (1, 8, 1, 64), (1, 8, 1, 64))
        same_gradients(lambda x, c, s: npu_rotary_mul(x, c, s, mode), lambda x, c, s: rope(x, c, s, rotate), inputs)

    def test_only_x(self) -> None:
        x, r1, r2 = leaves((2, 8, 3, 64), (1, 8, 1, 64), (1, 8, 1, 64))
        inputs = [x, r1.detach(), r2.detach()]
        with ascend_sim.session() as session:
            same_gradients(npu_rotary_mul, rope, inputs)
        keys = [record.tiling_key for record in session.records if record.op == "RotaryPositionEmbeddingGrad"]
        assert keys == [1001]  # dx alone: without the forward's input

    def test_cast_tables_get_gradients_of_their_own_dtype(self) -> None:
        x, (r1, r2) = torch.randn(2, 8, 3, 64).half(), leaves((1, 8, 1, 64), (1, 8, 1, 64))
        npu_rotary_mul(x, r1, r2).float().sum().backward()
        assert r1.grad.dtype is torch.float32
        assert torch.allclose(r1.grad, x.float().sum((0, 2), keepdim=True), rtol=2e-3, atol=2e-2)

    @pytest.mark.parametrize("mode", ["half", "interleave", "quarter", "interleave-half"])
    def test_the_950_has_all_modes(self, mode: str) -> None:
        def formula(x: Any, cos: Any, sin: Any) -> Any:
            if mode == "quarter":
                halves = zip(x.chunk(2, -1), cos.chunk(2, -1), sin.chunk(2, -1), strict=True)
                return torch.cat([rope(*half) for half in halves], dim=-1)
            if mode == "interleave-half":
                x = torch.cat((x[..., ::2], x[..., 1::2]), dim=-1)
            return rope(x, cos, sin, rotate_pairs if mode == "interleave" else rotate_halves)

        inputs = leaves((2, 8, 3, 64), (1, 8, 1, 64), (1, 8, 1, 64))
        with ascend_sim.session("ascend950"):
            same_gradients(lambda x, c, s: npu_rotary_mul(x, c, s, mode), formula, inputs)


class TestInplacePartialRotaryMul:
    @staticmethod
    def turned(x: Any, r1: Any, r2: Any) -> Any:
        y = x * 1.0
        inplace_partial_rotary_mul(y, r1, r2, partial_slice=[8, 24])
        return y

    @pytest.mark.parametrize("table", [(2, 8, 1, 16), (1, 1, 1, 16), (2, 1, 3, 16), (2, 8, 3, 16), (1, 8, 1, 16)])
    def test_x(self, table: tuple[int, ...]) -> None:
        (x,), r1, r2 = leaves((2, 8, 3, 32)), torch.randn(table), torch.randn(table)
        with ascend_sim.session("ascend950"):
            same_gradients(self.turned, lambda x, c, s: partial_rope(x, c, s, 8, 24), [x, r1, r2])

    def test_tables_are_constants(self) -> None:
        x, r1, r2 = leaves((2, 8, 3, 32), (2, 8, 1, 16), (2, 8, 1, 16))
        with ascend_sim.session("ascend950"):
            self.turned(x, r1, r2).sum().backward()
        assert x.grad is not None
        assert (r1.grad, r2.grad) == (None, None)

    def test_gradients_that_others_hold_stay_as_they_are(self) -> None:
        (x,), table = leaves((2, 8, 3, 32)), torch.randn(2, 8, 1, 16)
        weight = torch.randn(2, 8, 3, 32)
        with ascend_sim.session("ascend950"):
            y = x * 1.0
            y.retain_grad()
            inplace_partial_rotary_mul(y, table, table, partial_slice=[8, 24])
            (y * weight).sum().backward()
        assert torch.equal(y.grad, weight)
        assert not torch.equal(x.grad, weight)

    def test_no_slice_and_an_expanded_gradient(self) -> None:
        (x,), table = leaves((2, 8, 3, 32)), torch.randn(2, 8, 1, 16)
        with ascend_sim.session("ascend950"):
            y = x * 2.0
            inplace_partial_rotary_mul(y, table, table)
            y.sum().backward()
        assert torch.equal(x.grad, torch.full_like(x, 2.0))

    def test_a_leaf_under_no_grad_is_changed(self) -> None:
        (x,), table = leaves((2, 8, 3, 32)), torch.randn(2, 8, 1, 16)
        before = x.detach().clone()
        with ascend_sim.session("ascend950"), torch.no_grad():
            inplace_partial_rotary_mul(x, table, table, partial_slice=[8, 24])
        assert not torch.equal(x, before)
        assert x.grad_fn is None

    def test_a_leaf_is_refused_as_pytorch_refuses_it(self) -> None:
        (x,), table = leaves((2, 8, 3, 32)), torch.randn(2, 8, 1, 16)
        before = x.detach().clone()
        with pytest.raises(RuntimeError) as by_torch:
            x.mul_(2)
        with pytest.raises(RuntimeError) as by_us:
            inplace_partial_rotary_mul(x, table, table, partial_slice=[8, 24])
        assert str(by_us.value) == str(by_torch.value)
        assert torch.equal(x, before)

    def test_a_view_of_a_leaf_as_well(self) -> None:
        (base,), table = leaves((3, 8, 3, 32)), torch.randn(2, 8, 1, 16)
        with pytest.raises(RuntimeError) as by_torch:
            base[1:].mul_(2)
        with pytest.raises(RuntimeError) as by_us:
            inplace_partial_rotary_mul(base[1:], table, table, partial_slice=[8, 24])
        assert str(by_us.value) == str(by_torch.value)

    def test_backward_on_a2_names_the_chip_that_has_it(self) -> None:
        (x,), table = leaves((2, 8, 3, 32)), torch.randn(2, 8, 1, 16)
        with ascend_sim.session("ascend910b"):
            y = self.turned(x, table, table)  # forward runs
            with pytest.raises(AclnnError) as refused:
                y.sum().backward()
        assert refused.value.status == 561003
        assert str(refused.value) == (
            "aclnnInplacePartialRotaryMulGradGetWorkspaceSize: inplace_partial_rotary_mul_grad is not supported by the "
            "operator library on ascend910b; it exists on ascend950 (ACLNN_ERR_INNER_FIND_KERNEL_ERROR, 561003)"
        )


class TestApplyRotaryPosEmb:
    @staticmethod
    def formula(query: Any, key: Any, cos: Any, sin: Any) -> Any:
        return rope(query, cos, sin), rope(key, cos, sin)

    @pytest.mark.parametrize("table", [(2, 8, 1, 64), (1, 8, 1, 64)])
    def test_all_gradients(self, table: tuple[int, ...]) -> None:
        inputs = leaves((2, 8, 3, 64), (2, 8, 1, 64), table, table)
        with ascend_sim.session("ascend950"):
            same_gradients(apply_rotary_pos_emb, self.formula, inputs)

    def test_tnd(self) -> None:
        inputs = leaves((16, 3, 64), (16, 1, 64), (16, 1, 64), (16, 1, 64))
        with ascend_sim.session("ascend950"):
            same_gradients(lambda *tensors: apply_rotary_pos_emb(*tensors, layout="TND"), self.formula, inputs)

    def test_one_output_is_enough(self) -> None:
        inputs = leaves((2, 8, 3, 64), (2, 8, 1, 64), (2, 8, 1, 64), (2, 8, 1, 64))
        with ascend_sim.session("ascend950"):
            query_out, _ = apply_rotary_pos_emb(*inputs)
            query_out.sum().backward()
        query, key, cos, _ = inputs
        assert torch.allclose(cos.grad, query.sum(2, keepdim=True), atol=1e-5)
        assert torch.equal(key.grad, torch.zeros_like(key))

    def test_only_what_is_needed_is_computed(self) -> None:
        query, key, cos, sin = leaves((2, 8, 3, 64), (2, 8, 1, 64), (2, 8, 1, 64), (2, 8, 1, 64))
        with ascend_sim.session("ascend950") as session:
            out, _ = apply_rotary_pos_emb(query, key.detach(), cos.detach(), sin.detach())
            out.sum().backward()
        assert len(session.records[-1].shapes) == 4  # no query and key: no gradients of cos and sin
        assert (query.grad is not None, key.grad, cos.grad) == (True, None, None)

    def test_the_operator_itself_returns_four_values(self) -> None:
        query, key, cos, sin = (tensor.detach() for tensor in leaves(*[(2, 8, 1, 64)] * 4))
        with ascend_sim.session("ascend950"):
            full = apply_rotary_pos_emb_grad(query, key, cos, sin, query=query, key=key)
            short = apply_rotary_pos_emb_grad(query, key, cos, sin)
        assert [grad.shape for grad in full] == [(2, 8, 1, 64)] * 4
        assert [grad is None for grad in short] == [False, False, True, True]
        assert torch.equal(full[0], short[0])

    def test_other_modes_have_no_gradient(self) -> None:
        inputs = leaves((2, 8, 3, 64), (2, 8, 1, 64), (2, 8, 1, 64), (2, 8, 1, 64))
        with ascend_sim.session("ascend950"), pytest.raises(ValueError) as refused:  # noqa: PT011 - full text below
            apply_rotary_pos_emb(*inputs, rotary_mode="quarter")
        assert str(refused.value) == (
            "apply_rotary_pos_emb: gradients are computed for rotary_mode 'half' only, not for 'quarter'"
        )

    def test_other_modes_called_past_the_function_have_no_gradient(self) -> None:
        inputs = leaves((2, 8, 3, 64), (2, 8, 1, 64), (2, 8, 1, 64), (2, 8, 1, 64))
        operator = torch.ops.cann_ops_transformer.apply_rotary_pos_emb
        with ascend_sim.session("ascend950"), pytest.raises(InputError, match="for rotary_mode 'half' only, not for"):
            operator(*inputs, "BSND", "quarter")[0].sum().backward()

    def test_backward_on_a2_names_the_chip_that_has_it(self) -> None:
        inputs = leaves((2, 8, 3, 64), (2, 8, 1, 64), (2, 8, 1, 64), (2, 8, 1, 64))
        query_out, _ = apply_rotary_pos_emb(*inputs)
        with pytest.raises(AclnnError, match=r"apply_rotary_pos_emb_grad is not supported .* it exists on ascend950"):
            query_out.sum().backward()


def train(forward: Callable[[Any, Any, Any], Any], steps: int = 20) -> list[float]:
    """Losses of a small model whose middle is `forward`, trained by gradient descent from the same start."""
    generator = torch.Generator().manual_seed(3)
    data = torch.randn(2, 8, 3, 32, generator=generator)
    angle = torch.rand(2, 8, 1, 16, generator=generator).repeat_interleave(2, -1)
    target = torch.randn(2, 8, 3, 32, generator=generator)
    weight = torch.zeros(32, 32, requires_grad=True)
    losses = []
    for _ in range(steps):
        loss = ((forward(data @ weight, angle.cos(), angle.sin()) - target) ** 2).mean()
        (grad,) = torch.autograd.grad(loss, [weight])
        with torch.no_grad():
            weight -= 5.0 * grad
        losses.append(loss.item())
    return losses


def follows(losses: list[float], plain: list[float]) -> None:
    assert len(losses) == 20
    assert all(later < earlier for earlier, later in itertools.pairwise(losses))
    assert losses == pytest.approx(plain, rel=1e-5)


def test_training_with_npu_rotary_mul_on_a2() -> None:
    with ascend_sim.session("ascend910b") as session:
        losses = train(lambda x, c, s: npu_rotary_mul(x, c[:1], s[:1], "interleave"))
    follows(losses, train(lambda x, c, s: rope(x, c[:1], s[:1], rotate_pairs)))
    assert [(row.key, row.count) for row in sorted(session.key_averages(), key=lambda row: row.key)] == [
        ("RotaryPositionEmbedding", 20),
        ("RotaryPositionEmbeddingGrad", 20),
    ]


def test_training_with_inplace_partial_rotary_mul_on_the_950() -> None:
    def forward(x: Any, cos: Any, sin: Any) -> Any:
        tables = (table[..., :16].contiguous() for table in (cos, sin))
        inplace_partial_rotary_mul(x, *tables, partial_slice=[8, 24])
        return x

    with ascend_sim.session("ascend950"):
        losses = train(forward)
    follows(losses, train(lambda x, c, s: partial_rope(x, c[..., :16], s[..., :16], 8, 24)))


def test_training_with_apply_rotary_pos_emb_on_the_950() -> None:
    with ascend_sim.session("ascend950"):
        losses = train(lambda x, c, s: apply_rotary_pos_emb(x, x, c, s)[0])
    follows(losses, train(rope))
