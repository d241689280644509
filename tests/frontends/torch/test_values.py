"""Forward values of the torch operators, and how they treat the tensors that they are given."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed: pip install 'ascend-sim[torch]'")


import ascend_sim  # noqa: E402
from ascend_sim.frontends.torch import (  # noqa: E402
    AclnnError,
    apply_rotary_pos_emb,
    inplace_partial_rotary_mul,
    npu_rotary_mul,
)
from ascend_sim.host.device import Device, default_device, set_default_device  # noqa: E402

from .formulas import partial_rope, rope, rotate_pairs  # noqa: E402

ROUNDING = {torch.float32: 1e-6, torch.float16: 4e-3, torch.bfloat16: 3e-2}


@pytest.mark.parametrize("dtype", ROUNDING, ids=str)
def test_inplace_partial_rotary_mul(dtype: torch.dtype) -> None:
    x, r1, r2 = torch.randn(2, 8, 2, 32), torch.randn(2, 8, 1, 16), torch.randn(2, 8, 1, 16)
    x, r1, r2 = x.to(dtype), r1.to(dtype), r2.to(dtype)
    expected = partial_rope(x.float(), r1.float(), r2.float(), 8, 24)
    assert inplace_partial_rotary_mul(x, r1, r2, partial_slice=[8, 24]) is None
    assert torch.allclose(x.float(), expected, rtol=ROUNDING[dtype], atol=ROUNDING[dtype])


def test_16_bit_x_with_float32_tables() -> None:
    x, r1, r2 = torch.randn(2, 8, 2, 32).half(), torch.randn(2, 8, 1, 16), torch.randn(2, 8, 1, 16)
    expected = partial_rope(x.float(), r1, r2, 0, 16).half()
    inplace_partial_rotary_mul(x, r1, r2, partial_slice=[0, 16])
    assert torch.allclose(x, expected, rtol=1e-3, atol=1e-3)


def test_no_slice_means_that_nothing_rotates() -> None:
    x, table = torch.randn(2, 8, 2, 32), torch.randn(2, 8, 1, 16)
    before = x.clone()
    with ascend_sim.session() as session:
        inplace_partial_rotary_mul(x, table, table)
    assert torch.equal(x, before)
    assert [record.path for record in session.records] == ["noop"]


def test_a_contiguous_view_is_changed_in_its_base() -> None:
    base, table = torch.randn(4, 8, 2, 32), torch.randn(2, 8, 1, 32)
    expected = partial_rope(base[1:3], table, table, 0, 32)
    inplace_partial_rotary_mul(base[1:3], table, table, partial_slice=[0, 32])
    assert torch.allclose(base[1:3], expected, atol=1e-6)


def test_changing_x_in_place_counts_as_a_new_version() -> None:
    x, table = torch.randn(2, 8, 2, 32), torch.randn(2, 8, 1, 32)
    version = x._version
    inplace_partial_rotary_mul(x, table, table, partial_slice=[0, 32])
    assert x._version > version
    weight = torch.randn(2, 8, 2, 32, requires_grad=True)
    product = (weight * x).sum()  # backward needs x as it is now
    inplace_partial_rotary_mul(x, table, table, partial_slice=[0, 32])
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        product.backward()


@pytest.mark.parametrize("mode", ["half", "interleave"])
def test_npu_rotary_mul(mode: str) -> None:
    x, r1, r2 = torch.randn(2, 8, 3, 32), torch.randn(1, 8, 1, 32), torch.randn(1, 8, 1, 32)
    expected = rope(x, r1, r2) if mode == "half" else rope(x, r1, r2, rotate_pairs)
    assert torch.allclose(npu_rotary_mul(x, r1, r2, mode), expected, atol=1e-6)


def test_npu_rotary_mul_takes_strided_inputs_and_casts_tables() -> None:
    x = torch.randn(2, 3, 8, 32).transpose(1, 2).bfloat16()
    r1, r2 = torch.randn(1, 8, 1, 32), torch.randn(1, 8, 1, 32)
    out = npu_rotary_mul(x, r1, r2)
    assert (out.dtype, out.is_contiguous()) == (torch.bfloat16, True)
    expected = rope(x.float(), r1.bfloat16().float(), r2.bfloat16().float())
    assert torch.allclose(out.float(), expected, rtol=1e-2, atol=1e-2)


@pytest.mark.parametrize("layout", ["BSND", "BSH", "TND"])
def test_apply_rotary_pos_emb(layout: str) -> None:
    query, key, cos, sin = torch.randn(2, 8, 3, 64), torch.randn(2, 8, 1, 64), torch.randn(2, 8, 1, 64), None
    sin = torch.randn(2, 8, 1, 64)
    tensors = [query, key, cos, sin]
    if layout == "TND":
        tensors = [tensor.flatten(0, 1) for tensor in tensors]
    before = [tensor.clone() for tensor in tensors]
    query_out, key_out = apply_rotary_pos_emb(*tensors, layout=layout)
    assert torch.allclose(query_out, rope(tensors[0], *tensors[2:]), atol=1e-6)
    assert torch.allclose(key_out, rope(tensors[1], *tensors[2:]), atol=1e-6)
    assert all(torch.equal(tensor, kept) for tensor, kept in zip(tensors, before, strict=True))


@pytest.mark.parametrize("mode", ["half", "interleave", "quarter"])
def test_apply_rotary_pos_emb_on_the_950(mode: str) -> None:
    query, key = torch.randn(2, 3, 8, 64), torch.randn(2, 1, 8, 64)
    cos, sin = torch.randn(1, 1, 8, 64), torch.randn(1, 1, 8, 64)
    with ascend_sim.session("ascend950"):
        query_out, key_out = apply_rotary_pos_emb(query, key, cos, sin, layout="BNSD", rotary_mode=mode)

    def expected(x: torch.Tensor) -> torch.Tensor:
        if mode == "quarter":
            halves = zip(x.chunk(2, -1), cos.chunk(2, -1), sin.chunk(2, -1), strict=True)
            return torch.cat([rope(*half) for half in halves], dim=-1)
        return rope(x, cos, sin) if mode == "half" else rope(x, cos, sin, rotate_pairs)

    assert torch.allclose(query_out, expected(query), atol=1e-6)
    assert torch.allclose(key_out, expected(key), atol=1e-6)


class TestDevices:
    def call(self) -> None:
        table = torch.ones(2, 8, 1, 32)
        inplace_partial_rotary_mul(torch.ones(2, 8, 2, 32), table, table, partial_slice=[0, 32])

    def test_without_a_session_the_default_device_runs_and_keeps_nothing(self) -> None:
        before = set_default_device(None)
        try:
            self.call()
            assert default_device().soc.name == "ascend910b"
            assert default_device().launches == []
        finally:
            set_default_device(before)

    def test_an_open_device_keeps_its_launches(self) -> None:
        with Device("ascend910_93") as device:
            self.call()
        assert [launch.soc.name for launch in device.launches] == ["ascend910_93"]

    def test_the_innermost_session_counts(self) -> None:
        with ascend_sim.session() as outer:
            self.call()
            with ascend_sim.session("ascend910_93") as inner:
                self.call()
                self.call()
            self.call()
        assert (len(outer.records), len(inner.records)) == (2, 2)
        assert {record.caller for record in inner.records} == {"aclnnInplacePartialRotaryMul"}
        assert inner.elapsed_us == pytest.approx(sum(record.duration_us for record in inner.records))

    def test_a_session_without_values_times_alone(self) -> None:
        x, table = torch.ones(2, 8, 2, 32), torch.ones(2, 8, 1, 32)
        with ascend_sim.session(values=False) as session:
            inplace_partial_rotary_mul(x, table, table, partial_slice=[0, 32])
        assert torch.equal(x, torch.ones(2, 8, 2, 32))
        assert session.elapsed_us > 0

    def test_tensors_live_on_the_cpu(self) -> None:
        meta = torch.empty(2, 8, 2, 32, device="meta")
        inplace_partial_rotary_mul(meta, meta[:, :, :1], meta[:, :, :1], partial_slice=[0, 32])  # shapes only
        with pytest.raises(AclnnError) as refused:
            inplace_partial_rotary_mul(torch.ones(2, 8, 2, 32).double(), *[torch.ones(2, 8, 1, 32)] * 2)
        assert "(float64, float32, float32)" in str(refused.value)
