"""Instructions on LocalTensors on the 950: the vector unit computes in registers only, so the library runs a small
vector function for each: per repeat a load of every source, the instruction, a store."""

from __future__ import annotations

from ascend_sim.program import BLOCK_BYTES, Access, VectorWork, VfAccess, VfInstr, VfLoop, VfUnit, VfWork


def as_function(cost: str, work: VectorWork) -> VfWork:
    """The vector function that does the work of one instruction."""
    if work.repeats <= 0 or work.elements <= 0 or not work.accesses:
        return VfWork((), 0)
    destination, *sources = work.accesses
    body: list[VfInstr] = []
    for number, source in enumerate(sources):
        access = _access(source)
        name = "LoadAlign" if access.blocks == 1 else "LoadAlignBlocks"
        body.append(VfInstr(name, name, VfUnit.LOAD, work.width, (), (number,), access))
    result = len(sources)
    body.append(VfInstr(cost, cost, VfUnit.EXECUTE, work.width, tuple(range(result)), (result,)))
    access = _access(destination)
    name = "StoreAlign" if access.blocks == 1 else "StoreAlignBlocks"
    body.append(VfInstr(name, name, VfUnit.STORE, work.width, (result,), (), access))
    return VfWork((VfLoop(work.repeats, tuple(body)),), work.repeats * len(body))


def _access(access: Access) -> VfAccess:
    strides = (access.repeat_stride,)
    if access.block_stride == BLOCK_BYTES or access.blocks <= 1:
        return VfAccess(access.start, strides, max(1, access.blocks) * BLOCK_BYTES)
    return VfAccess(access.start, strides, BLOCK_BYTES, access.blocks, access.block_stride)
