"""Where configs and ops are found: in a clone, in an installed wheel, and what happens when they are nowhere."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest

from ascend_sim.errors import ConfigError
from ascend_sim.resources import directory, locate


def _made(path: Path) -> Path:
    path.mkdir(parents=True)
    return path


def test_a_clone_has_them_beside_the_package(tmp_path: Path) -> None:
    package, ops = _made(tmp_path / "ascend_sim"), _made(tmp_path / "ops")
    (tmp_path / "pyproject.toml").touch()
    assert locate("ops", package) == ops


def test_a_wheel_has_them_inside_the_package_whatever_lies_beside_it(tmp_path: Path) -> None:
    package = _made(tmp_path / "ascend_sim")
    _made(tmp_path / "ops")
    installed = _made(package / "_data" / "ops")
    assert locate("ops", package) == installed


def test_a_stranger_in_site_packages_is_not_taken_for_ours(tmp_path: Path) -> None:
    package = _made(tmp_path / "ascend_sim")
    _made(tmp_path / "ops")
    with pytest.raises(ConfigError) as caught:
        locate("ops", package)
    assert str(caught.value) == (
        f"cannot find the 'ops' directory of ascend-sim: looked for {package / '_data' / 'ops'} (installed wheel) "
        f"and {tmp_path / 'ops'} (clone, beside pyproject.toml); reinstall the package or run from a complete clone"
    )


def test_operators_are_importable_by_one_name() -> None:
    oplib = importlib.import_module("ascend_sim.oplib")
    assert list(oplib.__path__) == [str(directory("ops"))]
