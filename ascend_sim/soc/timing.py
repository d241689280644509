"""What instructions, transfers and launches cost on one architecture."""

from __future__ import annotations

from ascend_sim.soc.base import Section


class Timing(Section):
    """Timing constants of one architecture: the `timing` group of `configs/arch<arch>.yaml`.

    Fields end in their unit (`soc.base.unit_of` reads it off the name); every leaf of the file has a source and a
    grade, its own or its group's; a chip file or a variant may lay its own value over any of them.
    """
