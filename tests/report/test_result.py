from __future__ import annotations

import json
from dataclasses import replace

import ml_dtypes
import numpy as np
import pytest

from ascend_sim.errors import InputError

from .test_text import ROPE, result

STABLE_KEYS = [
    "op", "soc", "variant", "tiling", "values", "duration_us", "launch_us", "aiv_time_us", "pipes", "bound",
    "instructions", "wall_s", "l2", "cold_start_us",
]  # fmt: skip


def test_json_has_the_stable_keys_and_an_attribute_for_each():
    made = result()
    found = made.to_json()
    assert list(found)[: len(STABLE_KEYS)] == STABLE_KEYS
    assert json.loads(json.dumps(found)) == found
    for key in found:
        assert hasattr(made, key), key
    assert (found["op"], found["soc"], found["variant"]) == (ROPE, "ascend910b", "Ascend910B3")
    assert list(found["tiling"]) == ["key", "block_dim", "workspace_bytes", "data"]
    assert found["tiling"]["data"]["path"] == "split_s"
    assert list(found["values"]) == ["checked", "ok", "exact", "max_abs_error", "max_rel_error", "tolerance"]
    assert found["duration_us"] == 1.45
    assert found["aiv_time_us"] == {"mean": 0.6, "min": 0.4, "max": 0.8}
    assert list(found["pipes"]) == ["scalar", "vec", "mte2", "mte3"]
    assert found["pipes"]["mte2"] == {"busy_us": 0.3, "ratio": 0.5}
    assert (found["bound"], found["instructions"], found["l2"]) == ("mte2", 24, "warm")


def test_a_plain_kernel_has_no_tiling():
    found = result(op="add_kernel", tiling=None)
    assert found.tiling is None
    assert found.to_json()["tiling"] is None
    assert repr(found) == "<Result add_kernel on Ascend910B3: 1.45 us, mte2 bound>"


def test_save_widens_bfloat16_and_keeps_the_rest(tmp_path):
    half = np.arange(4, dtype=np.float16)
    brain = np.arange(4).astype(ml_dtypes.bfloat16)
    made = result(inputs={"x": half, "cos": brain}, outputs={"x": half * 2}, golden={"x": half * 2})
    made.save(tmp_path / "out.npz")
    with np.load(tmp_path / "out.npz") as saved:
        assert sorted(saved.files) == ["golden_x", "in_cos", "in_x", "out_x", "tiling_words"]
        assert saved["in_cos"].dtype == np.float32
        assert saved["in_cos"].tolist() == [0, 1, 2, 3]
        assert saved["out_x"].dtype == np.float16
        assert saved["tiling_words"].tolist() == list(made.tiling.words)
    assert [path.name for path in tmp_path.iterdir()] == ["out.npz"]


def test_words_that_are_not_modelled_are_saved_as_unknown(tmp_path):
    made = result()
    made.tiling = replace(made.tiling, words=(None, 0, 7))
    made.save(tmp_path / "out.npz")
    with np.load(tmp_path / "out.npz") as saved:
        assert saved["tiling_words"].tolist() == [0, 0, 7]
        assert saved["tiling_words_known"].tolist() == [False, True, True]


def test_save_refuses_a_directory_that_is_not_there(tmp_path):
    with pytest.raises(InputError, match=r"cannot write the outputs to .*: there is no directory"):
        result().save(tmp_path / "no" / "out.npz")


def test_write_trace(tmp_path):
    result().write_trace(str(tmp_path / "t.json"))
    assert json.loads((tmp_path / "t.json").read_text())["traceEvents"]
