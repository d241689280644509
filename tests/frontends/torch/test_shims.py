"""What the documents' scripts import and ask of device "npu"."""

from __future__ import annotations

import importlib
import runpy
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed: pip install 'ascend-sim[torch]'")

import ascend_sim  # noqa: E402
import ascend_sim.frontends.torch as front  # noqa: E402
from ascend_sim.errors import InputError, UnsupportedError  # noqa: E402

TRAINING = """
import torch
import torch_npu
from cann_ops_transformer.ops import inplace_partial_rotary_mul

torch_npu.npu.set_device(0)
leaf = torch.randn(2, 32, 8, 128, device="npu", dtype=torch.float16, requires_grad=True)
cosines = torch.randn(2, 32, 1, 64, device="npu", dtype=torch.float16)
sines = torch.randn(2, 32, 1, 64, device="npu", dtype=torch.float16)
inner = leaf * 1.0
inner.retain_grad()
inplace_partial_rotary_mul(inner, cosines, sines, rotary_mode="interleave", partial_slice=[0, 64])
inner.sum().backward()
print(tuple(inner.grad.shape), tuple(leaf.grad.shape), cosines.grad)
"""

MODULES = ("torch_npu", "torch_npu.npu", "torchair", "cann_ops_transformer", "cann_ops_transformer.ops")


@pytest.fixture
def shims() -> Iterator[None]:
    front.install_shims()
    yield
    front.uninstall_shims()


@pytest.mark.usefixtures("shims")
class TestInstalled:
    def test_imports(self) -> None:
        for name in MODULES:
            assert importlib.import_module(name).__name__ == name
        ops = importlib.import_module("cann_ops_transformer.ops")
        assert ops.inplace_partial_rotary_mul is front.inplace_partial_rotary_mul
        assert importlib.import_module("cann_ops_transformer").apply_rotary_pos_emb is front.apply_rotary_pos_emb
        assert importlib.import_module("torch_npu").npu_rotary_mul is front.npu_rotary_mul

    def test_npu_tensors_live_on_the_cpu(self) -> None:
        made = [
            torch.randn(2, 3, device="npu"),
            torch.zeros(2, device="npu:0"),
            torch.tensor([1.0], device=torch.device("npu")),
            torch.ones(2).to("npu"),
            torch.ones(2).to(device="npu", dtype=torch.float16),
            torch.ones(2).npu(),
            torch.nn.Linear(2, 2, device="npu").weight,
            torch.nn.Linear(2, 2).to("npu").weight,
            torch.nn.Linear(2, 2).npu().weight,
        ]
        assert {tensor.device.type for tensor in made} == {"cpu"}
        assert made[4].dtype is torch.float16

    def test_other_devices_and_texts_mean_what_they_meant(self) -> None:
        assert torch.empty(2, device="meta").device.type == "meta"
        assert torch.einsum("ij->ji", torch.ones(2, 3)).shape == (3, 2)

    def test_the_device_module(self) -> None:
        npu = importlib.import_module("torch_npu").npu
        assert npu is torch.npu
        npu.set_device(0)
        npu.set_device("npu:0")
        npu.set_device(torch.device("npu:0"))
        npu.synchronize()
        assert (npu.current_device(), npu.device_count(), npu.is_available()) == (0, 1, True)
        with ascend_sim.session("Ascend910B4"):
            assert npu.get_device_name() == "Ascend910B4"
        with pytest.raises(InputError, match="npu device 1: there is one, 0"):
            npu.set_device(1)

    def test_a_seed_gives_the_same_numbers(self) -> None:
        torch.manual_seed(5)
        first = torch.randn(3, device="npu")
        torch.manual_seed(5)
        assert torch.equal(first, torch.randn(3))

    def test_installing_twice_changes_nothing(self) -> None:
        before = sys.modules["torch_npu"]
        front.install_shims()
        assert sys.modules["torch_npu"] is before


@pytest.mark.usefixtures("shims")
def test_a_training_script_runs_unchanged_under_a_session(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    script = tmp_path / "training.py"
    script.write_text(TRAINING)
    with ascend_sim.session("ascend950") as session:
        runpy.run_path(str(script), run_name="__main__")
    assert capsys.readouterr().out == "(2, 32, 8, 128) (2, 32, 8, 128) None\n"
    assert [record.op for record in session.records] == ["InplacePartialRotaryMul", "InplacePartialRotaryMulGrad"]


class TestAround:
    def test_nothing_is_there_before_and_after(self) -> None:
        for _ in range(2):
            assert not any(name in sys.modules for name in MODULES)
            assert not hasattr(torch.Tensor, "npu")
            assert not hasattr(torch, "npu")
            with pytest.raises(RuntimeError, match="npu"):
                torch.randn(2, device="npu")
            front.install_shims()
            front.uninstall_shims()
        front.uninstall_shims()  # a second time changes nothing

    def test_a_real_package_is_left_alone(self, monkeypatch: pytest.MonkeyPatch) -> None:
        real = ModuleType("torch_npu")
        real.__file__ = "/site-packages/torch_npu/__init__.py"
        monkeypatch.setitem(sys.modules, "torch_npu", real)
        with pytest.raises(UnsupportedError) as refused:
            front.install_shims()
        assert str(refused.value) == (
            "the shims cannot be installed: torch_npu is loaded already, from /site-packages/torch_npu/__init__.py"
        )
        assert sys.modules["torch_npu"] is real
        assert "torchair" not in sys.modules
