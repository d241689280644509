"""What a block of a 950 kernel does with which tensor, as a string that a test can pin."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import accumulate

from ascend_sim.asc.memory import GM_ALIGNMENT_BYTES
from ascend_sim.program import CopyWork, Program, SyncWork, VectorWork, VfWork


def letters(program: Program, nbytes: Mapping[str, int], block: int = 0) -> str:
    """The copies of a block by tensor, in capitals where they write; V for a vector function, v for an instruction of
    the memory form, | for SyncAll.

    `nbytes`: bytes of the tensors by letter, in the order in which the kernel takes them.
    """
    sizes = [-(-size // GM_ALIGNMENT_BYTES) * GM_ALIGNMENT_BYTES for size in nbytes.values()]
    start = min(address for one in program.blocks for address in one.gm_addresses)
    start -= start % GM_ALIGNMENT_BYTES
    ends = [start + size for size in accumulate(sizes)]
    addresses = iter(program.blocks[block].gm_addresses)
    found = []
    for item in program.blocks[block].instrs:
        if isinstance(item.work, CopyWork):
            address = next(addresses)
            letter = next(name for name, end in zip(nbytes, ends, strict=True) if address < end)
            found.append(letter if item.work.to_ub else letter.upper())
        elif isinstance(item.work, VfWork | VectorWork | SyncWork):
            found.append("V" if isinstance(item.work, VfWork) else "|" if isinstance(item.work, SyncWork) else "v")
    return "".join(found)
