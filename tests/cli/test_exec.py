from __future__ import annotations

import json
import textwrap

import pytest

KERNEL = """
import sys
import numpy as np
import ascend_sim
from ascend_sim import asc

@asc.jit
def double(x: asc.GlobalAddress, n: int):
    gm = asc.GlobalTensor()
    gm.set_global_buffer(x)
    pipe = asc.TPipe()
    queue = asc.TQue(asc.TPosition.VECIN, 1)
    pipe.init_buffer(que=queue, num=1, len=n * 4)
    tile = queue.alloc_tensor(asc.float32)
    asc.data_copy(tile, gm, count=n)
    queue.enque(tile)
    tile = queue.deque(asc.float32)
    asc.muls(tile, tile, 2.0, count=n)
    asc.set_flag(asc.HardEvent.V_MTE3, 0)
    asc.wait_flag(asc.HardEvent.V_MTE3, 0)
    asc.data_copy(gm, tile, count=n)
    queue.free_tensor(tile)
    print("block", asc.get_block_idx())

x = np.arange(64, dtype=np.float32)
"""


@pytest.fixture
def script(tmp_path):
    def write(body: str) -> str:
        path = tmp_path / "script.py"
        path.write_text(KERNEL + textwrap.dedent(body))
        return str(path)

    return write


def test_a_summary_per_launch_between_the_scripts_own_lines(cli, script):
    body = """
    print("arguments", sys.argv[1:])
    double[1](x, 64)
    with ascend_sim.device("Ascend910B4"):
        double[1](x, 64)
    print("last", x[-1], __name__)
    """
    answer = cli("exec", script(body), "--soc", "a", "-b")
    assert (answer.code, answer.err) == (0, "")
    lines = answer.out.splitlines()
    assert lines[0] == "arguments ['--soc', 'a', '-b']"  # behind the file everything is the script's
    assert [line.split(" on ")[1].split()[0] for line in lines if line.startswith("double on")] == [
        "Ascend910B3",
        "Ascend910B4",
    ]
    assert lines[-1] == "last 252.0 __main__"
    assert answer.out.count("Task Duration") == 2


def test_options_before_the_file_shape_the_default_device(cli, script, tmp_path):
    trace = tmp_path / "t.json"
    options = ["--soc", "Ascend910B4", "--set", "clock_mhz=1000", "--core", "1", "--trace", str(trace)]
    answer = cli("exec", *options, script("double[2](x, 32)\ndouble[1](x, 32)"))
    assert answer.code == 0
    assert "at 1000 MHz" in answer.out
    assert "block 1\n" in answer.out
    assert "block 0\n" not in answer.out
    assert json.loads(trace.read_text())["traceEvents"]
    assert json.loads((tmp_path / "t.2.json").read_text())["traceEvents"]


def test_no_values_times_alone(cli, script):
    answer = cli("exec", "--no-values", script("double[1](x, 64)\nprint(x[1])"))
    assert answer.out.endswith("1.0\n")
    assert "Task Duration" in answer.out


def test_a_script_without_launches_says_so(cli, script):
    path = script("")
    answer = cli("exec", path)
    assert (answer.code, answer.out, answer.err) == (0, "", f"{path} launched no kernel\n")


def test_an_error_in_the_script_shows_only_the_scripts_lines(cli, script):
    path = script("def divide():\n    return 1 / 0\n\ndouble[1](x, 64)\ndivide()")
    answer = cli("exec", path)
    assert answer.code == 1
    assert "Task Duration" in answer.out
    lines = answer.err.splitlines()
    assert lines[0] == "Traceback (most recent call last):"
    assert lines[-1] == "ZeroDivisionError: division by zero"
    assert all(path in line for line in lines if line.startswith("  File"))
    assert "divide()" in answer.err


def test_a_file_that_is_not_python_is_bad_input(refused, tmp_path):
    files = {
        "broken.py": (b"x = 3\nx = = 3\n", "line 2 is not Python: invalid syntax"),
        "call.json": (b'{"x": tru', "line 1 is not Python: '{' was never closed"),
        "x.bin": (b"\0\1\2", "it is not a Python file (source code string cannot contain null bytes)"),
    }
    for name, (content, why) in files.items():
        path = tmp_path / name
        path.write_bytes(content)
        assert refused("exec", str(path)) == f"cannot run {str(path)!r}: {why}"


def test_a_broken_module_of_the_scripts_is_the_scripts_failure(cli, tmp_path):
    (tmp_path / "broken.py").write_text("x = = 3\n")
    (tmp_path / "whole.py").write_text("import broken\n")
    answer = cli("exec", str(tmp_path / "whole.py"))
    assert answer.code == 1
    assert answer.err.startswith(f'Traceback (most recent call last):\n  File "{tmp_path}/whole.py", line 1')
    assert answer.err.endswith("SyntaxError: invalid syntax\n")


def test_an_error_inside_a_kernel_names_block_and_line(refused, script):
    path = script("double[1](x, 100_000)")
    text = refused("exec", path)
    assert text.startswith("kernel 'double', block 0")
    assert f"{path}:13 in double" in text
    assert text.endswith("buffers (each rounded up to 32 B): TQue(VECIN): 1 x 400000 B = 400000 B")


def test_a_refusal_names_the_scripts_line(refused, script):
    path = script("ascend_sim.device('Ascend1')")
    assert refused("exec", path).startswith(f"{path}:26: unknown SoC 'Ascend1'; ")


@pytest.mark.parametrize(("leave", "code", "err"), [("7", 7, ""), ("", 0, ""), ("'no data'", 1, "no data\n")])
def test_the_scripts_exit_code_is_the_commands(cli, script, leave, code, err):
    answer = cli("exec", script(f"sys.exit({leave})"))
    assert (answer.code, answer.err) == (code, err)


def test_files_that_cannot_be_run(refused, tmp_path, script):
    text = "exec has no option --what (see `ascend-sim exec --help`); the script's own follow FILE.py"
    assert refused("exec", "--what", script("")) == text
    assert refused("exec", "no.py") == "cannot run 'no.py': there is no such file"
    assert refused("exec", str(tmp_path)) == f"cannot run {str(tmp_path)!r}: it is a directory, give a Python file"
    assert refused("exec", "--trace", "no/t.json", script("")).startswith("cannot write the trace to 'no/t.json'")
    assert refused("exec", "--soc", "Ascend1", script("")).startswith("unknown SoC 'Ascend1'")


def test_launches_are_explained(cli, script):
    answer = cli("exec", "--explain", script("double[1](x, 64)"))
    assert answer.code == 0
    assert "\nAccount " in answer.out
    assert "DataCopy script.py:" in answer.out
