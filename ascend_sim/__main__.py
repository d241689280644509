"""`python -m ascend_sim` is `ascend-sim`."""

from __future__ import annotations

from ascend_sim.cli import main

if __name__ == "__main__":
    main()
