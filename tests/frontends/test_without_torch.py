"""PyTorch is an extra: without it the front end says so, and everything else works."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
WITHOUT = "import sys; sys.modules['torch'] = None\n"


def python(code: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", WITHOUT + code]
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT, timeout=60)


def test_the_import_error_says_what_to_install() -> None:
    done = python("import ascend_sim.frontends.torch")
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == (
        "ImportError: ascend_sim.frontends.torch needs PyTorch, which is not installed: pip install 'ascend-sim[torch]'"
    )


def test_everything_else_works() -> None:
    done = python(
        "import pkgutil, importlib, ascend_sim\n"
        "for found in pkgutil.walk_packages(ascend_sim.__path__, 'ascend_sim.'):\n"
        "    if 'frontends.torch' not in found.name and not found.name.endswith('__main__'):\n"
        "        importlib.import_module(found.name)\n"
        "with ascend_sim.session() as s:\n"
        "    import numpy as np\n"
        "    from ascend_sim import aclnn\n"
        "    x = np.ones((2, 8, 2, 32), np.float32); table = x[:, :, :1].copy()\n"
        "    status, size, executor = aclnn.aclnnInplacePartialRotaryMulGetWorkspaceSize(x, table, table, 1, [0, 32])\n"
        "    workspace = np.empty(size, np.uint8)\n"
        "    assert aclnn.aclnnInplacePartialRotaryMul(workspace, size, executor, None) == 0\n"
        "    assert s.device.default_stream.synchronize() == 0\n"
        "print(len(s.records), [name for name in sys.modules if name.startswith('torch.')])\n"
    )
    assert done.stdout == "1 []\n", done.stderr
