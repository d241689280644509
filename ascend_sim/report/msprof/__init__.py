"""Files as `msprof op simulator` and `msprof op` write them, so that their readers open a simulated run too."""

from ascend_sim.report.msprof.folder import write_msprof

__all__ = ["write_msprof"]
