from __future__ import annotations

import json
import re

import ml_dtypes
import numpy as np
import pytest

from ascend_sim.asc.launch import Session

OP = "inplace_partial_rotary_mul"
SMALL = ["-i", "x=2,8,2,32:float32", "-i", "r1=2,8,1,16:float32", "-i", "r2=2,8,1,16:float32"]
HUGE = [text.replace("=2,8,", "=9999999,9999999,") for text in SMALL]
SLICE = ["--attr", "partial_slice=8,24"]
STABLE_KEYS = {
    "op", "soc", "variant", "tiling", "values", "duration_us", "launch_us", "aiv_time_us", "pipes", "bound",
    "instructions", "wall_s", "l2", "cold_start_us",
}  # fmt: skip


def test_the_documents_example(cli):
    answer = cli("run", OP)
    assert (answer.code, answer.err) == (0, "")
    for text in (
        "inplace_partial_rotary_mul on Ascend910B3",
        "x (2, 32, 8, 128) float16",
        "key 2000: ",
        "block dim 40",
        "of 196,352 B",
        "exact, every bit equals the golden",
        "Task Duration ",
        "AIV time     mean ",
        "aiv_scalar",
        "aiv_mte3",
        "Limit      aiv_",
        "Timeline   block 0",
        "kernel_split_s.py:",
    ):
        assert text in answer.out, text
    assert "\x1b" not in answer.out


def test_json_has_the_stable_keys(cli):
    answer = cli("run", OP, *SMALL, *SLICE, "--soc", "Ascend910B4", "--json")
    assert answer.code == 0
    found = answer.json
    assert found.keys() >= STABLE_KEYS
    assert (found["op"], found["soc"], found["variant"]) == (OP, "ascend910b", "Ascend910B4")
    assert found["tiling"]["data"]["path"] == "split_s"
    assert found["values"]["ok"] is True
    assert found["bound"] in found["pipes"]
    assert found["duration_us"] == pytest.approx(found["launch_us"] + found["aiv_time_us"]["max"], rel=0.2)


def test_the_same_command_gives_the_same_figures(cli):
    def figures():
        found = cli("run", OP, *SMALL, *SLICE, "--json").json
        return {key: value for key, value in found.items() if key != "wall_s"}

    assert figures() == figures()


def test_no_values_times_alone(cli):
    timed = cli("run", OP, *SMALL, *SLICE, "--no-values", "--json")
    assert timed.code == 0
    assert timed.json["values"]["checked"] is False
    assert timed.json["duration_us"] == cli("run", OP, *SMALL, *SLICE, "--json").json["duration_us"]


def test_launches_after_the_first_find_l2_warm_and_start_at_once(cli):
    call = ("run", OP, *SMALL, *SLICE, "--no-values", "--l2", "cold", "--launch-kind", "few_launches", "--repeat", "3")
    found = cli(*call, "--json").json
    plain = cli("run", OP, *SMALL, *SLICE, "--no-values", "--json").json
    assert found["duration_us"] > plain["duration_us"] + found["cold_start_us"] / 2
    assert found["cold_start_us"] > plain["cold_start_us"] == 0
    assert found["later_us"] == [plain["duration_us"]] * 2
    out = cli(*call).out
    assert "a cold start takes " in out
    assert "the 2 launched after it take " in out


def test_a_cold_start_of_the_users_own(cli):
    usual, late = (
        cli("run", OP, *SMALL, *SLICE, "--no-values", "--cold-start", us, "--json").json["duration_us"]
        for us in ("0", "5")
    )
    assert late == pytest.approx(usual + 5, abs=0.01)


def test_the_expected_error_stands_beside_the_duration(cli):
    known = cli("run", OP, *SMALL, *SLICE, "--no-values")
    assert re.search(r"expected error ±\d+ % \(from \d+ measured rows of this kind and size\)", known.out)
    long = cli("run", OP, "--no-values", "--set", "clock_mhz=1", "--json").json["expected_error"]
    assert long["extrapolated"] is True
    text = r"±\d+ % \(extrapolated: nothing measured is near; from all \d+ measured rows of this chip family\)"
    assert re.fullmatch(text, long["text"])


def test_set_overrides_a_chip_parameter(cli):
    slow = cli("run", OP, *SMALL, *SLICE, "--set", "clock_mhz=900", "--json").json
    assert slow["aiv_time_us"]["max"] > 1.5 * cli("run", OP, *SMALL, *SLICE, "--json").json["aiv_time_us"]["max"]


def test_files_go_in_and_out(cli, tmp_path):
    random = np.random.default_rng(0)
    given = {
        name: random.standard_normal(shape).astype(np.float32)
        for name, shape in {"x": (1, 8, 2, 32), "r1": (1, 8, 1, 16), "r2": (1, 8, 1, 16)}.items()
    }
    inputs = []
    for name, values in given.items():
        np.save(tmp_path / f"{name}.npy", values)
        inputs += ["-i", f"{name}=@{tmp_path}/{name}.npy:bfloat16"]
    saved, trace = tmp_path / "out.npz", tmp_path / "trace.json"
    answer = cli("run", OP, *inputs, *SLICE, "--save", str(saved), "--trace", str(trace), "--json")
    assert answer.code == 0
    with np.load(saved) as found:
        assert set(found.files) == {"in_x", "in_cos", "in_sin", "out_x", "golden_x", "tiling_words"}
        assert all(found[name].dtype == np.float32 for name in found.files if name != "tiling_words")
        assert np.array_equal(found["in_x"], given["x"].astype(ml_dtypes.bfloat16).astype(np.float32))
        assert np.array_equal(found["out_x"], found["golden_x"])
        assert np.array_equal(found["out_x"][..., :8], found["in_x"][..., :8])
        assert not np.array_equal(found["out_x"][..., 8:24], found["in_x"][..., 8:24])
        assert found["tiling_words"].dtype == np.int64
    events = [event for event in json.loads(trace.read_text())["traceEvents"] if event["ph"] == "X"]
    assert len(events) == answer.json["instructions"]
    # what was saved can be run again
    again = ["-i", f"x=@{saved}:bfloat16", "-i", f"cos=@{saved}:bfloat16", "-i", f"sin=@{saved}:bfloat16"]
    assert cli("run", OP, *again, *SLICE, "--json").json["duration_us"] == answer.json["duration_us"]


def test_the_seed_decides_the_values(cli, tmp_path):
    def outputs(seed):
        assert cli("run", OP, *SMALL, *SLICE, "--seed", seed, "--save", str(tmp_path / "o.npz")).code == 0
        with np.load(tmp_path / "o.npz") as found:
            return found["out_x"]

    assert np.array_equal(outputs("3"), outputs("3"))
    assert not np.array_equal(outputs("3"), outputs("4"))


def test_wrong_values_end_with_exit_code_3(cli, monkeypatch):
    from ascend_sim.host.registry import operator_named  # noqa: PLC0415

    operator = operator_named(OP)
    honest = type(operator).golden

    def golden(self, *arguments):
        found = honest(self, *arguments)
        found["x"][0, 0, 0, 8] += 1
        return found

    monkeypatch.setattr(type(operator), "golden", golden)
    answer = cli("run", OP, *SMALL, *SLICE)
    assert answer.code == 3
    assert "WRONG: max abs error " in answer.out
    assert "1 element wrong, first x[0, 0, 0, 8] is " in answer.out
    assert cli("run", OP, *SMALL, *SLICE, "--json").json["values"]["ok"] is False


def test_what_kernels_print_does_not_spoil_the_json(cli, monkeypatch):
    record = Session.record

    def printing(self, order):
        print("from the kernel")
        return record(self, order)

    monkeypatch.setattr(Session, "record", printing)
    answer = cli("run", OP, *SMALL, *SLICE, "--json")
    assert answer.json["op"] == OP
    assert answer.err == "from the kernel\n"
    assert cli("run", OP, *SMALL, *SLICE).out.startswith("from the kernel\n")


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["nope"], "unknown operator 'nope'"),
        ([OP, "--soc", "Ascend910Z"], "unknown SoC 'Ascend910Z'"),
        ([f"{OP}_grad", "--soc", "ascend910b"], f"{OP}_grad is not supported by the operator library on ascend910b; "),
        ([OP, "--set", "ub.size=1"], "Ascend910B3 has no parameter 'ub.size'"),
        ([OP, "--attr", "partial_slice=0,63"], "InplacePartialRotaryMul: partial_slice is [0, 63)"),
        ([OP, "--attr", "partial_slice=0,130"], "InplacePartialRotaryMul: "),
        ([OP, "-i", "x=@no.npy"], "input x: cannot read 'no.npy': there is no such file"),
        ([OP, "-i", "x=1,2,3,4:int8", *SMALL[2:]], "InplacePartialRotaryMul: "),
        ([OP, "-i", "x=1,2:float32", *SMALL[2:]], "InplacePartialRotaryMul: "),
        ([OP, "-i", "x=9999999,9999999,2,32:float32", *SMALL[2:], *SLICE], "InplacePartialRotaryMul: x is (9999999, "),
        ([OP, *HUGE, *SLICE], "not enough memory: Unable to allocate "),
        ([OP, "--l2", "hot"], "--l2 'hot': allowed are "),
        ([OP, "--launch-kind", "warm"], "--launch-kind 'warm': allowed are back_to_back, few_launches and in_situ"),
        ([OP, "--cold-start", "-1"], "cold_start_us -1.0: must be a number of microseconds, 0 or more"),
        ([OP, "--repeat", "0"], "repeat 0: must be a number of launches, 1 or more"),
        ([OP, "--seed", "x"], "Invalid value for '--seed': "),
        ([OP, "--save", "no/o.npz"], "cannot write the outputs to 'no/o.npz': there is no directory 'no'"),
        ([OP, "--trace", "no/t.json"], "cannot write the trace to 'no/t.json': there is no directory 'no'"),
        ([OP, "--save", "same", "--trace", "./same"], "--save and --trace both name 'same': give two files"),
        ([OP, "--trace", "."], "cannot write the trace to '.': it is a directory, give a file name"),
        ([OP, "--no-values", "--save", "o.npz"], "--save writes values and --no-values computes none: give only"),
    ],
)
def test_bad_input_is_one_line(refused, arguments, text, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert refused("run", *arguments).startswith(text)
    assert list(tmp_path.iterdir()) == []


def test_explained(cli):
    """The account stands in place of the waits; its JSON has the same figures."""
    answer = cli("run", OP, *SMALL, *SLICE, "--explain")
    assert answer.code == 0
    for text in ("\nBound ", "\nAccount ", "\nPath ", "\nRoofline ", "\nWhat if "):
        assert text in answer.out, text
    assert "\nWaits " not in answer.out
    found = cli("run", OP, *SMALL, *SLICE, "--explain", "--json").json["explain"]
    assert found.keys() == {"bound", "balance", "findings", "pipes", "gaps", "path", "roofline", "what_if"}
    best = found["what_if"][0]
    assert best["gain_us"] > 0
    shown = re.search(r"What if .*\n +(\d+\.\d+) us +-\d+\.\d %  if ", answer.out)
    assert shown
    assert float(shown[1]) == pytest.approx(best["duration_us"], abs=0.006)
    assert "explain" not in cli("run", OP, *SMALL, *SLICE, "--json").json


def test_msprof_folder(cli, tmp_path):
    answer = cli("run", OP, *SMALL, *SLICE, "--msprof", str(tmp_path / "out"), "--cores", "0-1", "--window", ":1")
    assert answer.code == 0
    (made,) = (tmp_path / "out").iterdir()
    assert answer.err == f"wrote {made}\n"
    cores = sorted(path.name for path in (made / "simulator").iterdir() if path.is_dir())
    assert cores == ["core0.veccore0", "core0.veccore1"]


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (["--cores", "1"], "--cores limits a trace or report: give "),
        (["--window", "1:2"], "--window limits a trace or report: give "),
        (["--trace", "t.json", "--cores", "x"], "--cores 'x' must be numbers and ranges, like 0-3,8"),
        (["--msprof", "FILE"], "cannot write msprof's files to "),
    ],
)
def test_selections_that_make_no_sense(cli, tmp_path, options, text):
    (tmp_path / "file").write_text("")
    options = [str(tmp_path / "file" / "below") if option == "FILE" else option for option in options]
    answer = cli("run", OP, *SMALL, *SLICE, *options)
    assert answer.code == 2
    assert text in answer.err
