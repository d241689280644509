"""`python -m ascend_sim.frontends.pypto FILE [ARGS]`: run a file that says `import pypto`, on the simulator."""

from __future__ import annotations

import runpy
import sys

from ascend_sim.frontends.pypto.shim import install_shim


def main() -> None:
    if len(sys.argv) < 2:
        sys.exit("usage: python -m ascend_sim.frontends.pypto FILE.py [ARGS]")
    install_shim()
    del sys.argv[0]
    sys.path[0] = sys.argv[0].rpartition("/")[0] or "."
    runpy.run_path(sys.argv[0], run_name="__main__")


if __name__ == "__main__":
    main()
