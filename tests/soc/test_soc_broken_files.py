"""Chip files that cannot be: one clear line that names the file and the place."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from ascend_sim import resources
from ascend_sim.errors import ConfigError
from ascend_sim.soc import files, load


@pytest.fixture
def configs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the shipped configs that the loader reads from."""
    copy = tmp_path / "configs"
    shutil.copytree(resources.directory("configs"), copy)
    monkeypatch.setattr(files, "directory", lambda _name: copy)
    return copy


def _replace(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")


def _refusal(name: str = "ascend910b") -> str:
    with pytest.raises(ConfigError) as caught:
        load(name)
    return str(caught.value)


def test_missing_file(configs: Path) -> None:
    (configs / "ascend910b.yaml").unlink()
    assert _refusal() == (f"cannot read the chip description {configs / 'ascend910b.yaml'}: No such file or directory")


def test_no_yaml(configs: Path) -> None:
    (configs / "arch2201.yaml").write_text("ub: [", encoding="utf-8")
    assert _refusal().startswith("arch2201.yaml is no valid YAML: ")


def test_no_mapping(configs: Path) -> None:
    (configs / "arch2201.yaml").write_text("7\n", encoding="utf-8")
    assert _refusal() == "arch2201.yaml: must be a mapping of parameter groups"


def test_default_that_is_no_variant(configs: Path) -> None:
    _replace(configs / "ascend910b.yaml", "default: Ascend910B3\n", "default: Ascend910B9\n")
    assert _refusal() == (
        "ascend910b.yaml: default: no variant 'Ascend910B9'; allowed: "
        "Ascend910B1, Ascend910B2, Ascend910B2C, Ascend910B3, Ascend910B4, Ascend910B4-1"
    )


def test_value_without_source(configs: Path) -> None:
    _replace(configs / "arch2201.yaml", "host:\n", "host:\n  spare_bytes: 3\n")
    assert _refusal() == ("arch2201.yaml: Ascend910B3: host.spare_bytes has no source or no grade; give both beside it")


def test_value_left_out(configs: Path) -> None:
    text = (configs / "ascend910b.yaml").read_text(encoding="utf-8").replace("    l2: {bytes: 192 MiB}\n", "")
    (configs / "ascend910b.yaml").write_text(text, encoding="utf-8")
    assert _refusal() == "ascend910b.yaml: Ascend910B3: l2.bytes has no value"


def test_unknown_and_missing_fields_are_told_together(configs: Path) -> None:
    _replace(configs / "arch2201.yaml", "library_workspace_bytes:", "library_workspace_byte:")
    assert _refusal() == (
        "host.library_workspace_bytes of Ascend910B3 is missing; the chip's files must give "
        "a whole number (B), at least 1, or a size such as '256 KiB'; "
        "arch2201.yaml: Ascend910B3 has no parameter 'host.library_workspace_byte'"
    )


def test_wrong_value_names_its_file(configs: Path) -> None:
    _replace(configs / "ascend910b.yaml", "cores: {aic: 24, aiv: 48}", "cores: {aic: 24, aiv: none}")
    assert _refusal("Ascend910B1") == (
        "ascend910b.yaml: cores.aiv of Ascend910B1 cannot be 'none'; "
        "allowed: a whole number (cores), at least 1, at most 65535"
    )


def test_unknown_part_of_a_chip_file(configs: Path) -> None:
    _replace(configs / "ascend910b.yaml", "common:\n", "comon: {}\ncommon:\n")
    assert _refusal() == "ascend910b.yaml: comon: Extra inputs are not permitted"
