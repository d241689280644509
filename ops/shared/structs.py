"""Tiling structs: their words, and how an answer of the host side is put together from their fields."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from ascend_sim.errors import InputError
from ascend_sim.host.space import Word, words_as_fields
from ascend_sim.host.tiling import CoreShare, Tiling, TilingContext, UbBuffer

Names = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Struct:
    """Fields in the order of their declaration, in parts of which a call fills one and leaves the others 0.

    `before`: words in front of them that nothing here fills.
    """

    parts: tuple[Names, ...]
    filled: int = 0
    before: int = 0

    def data(self, fields: Mapping[str, int]) -> dict[str, int]:
        """The part that is filled: what `fields` say, and 0 where they say nothing."""
        return {name: fields.get(name, 0) for name in self.parts[self.filled]}

    def fields(self, words: Sequence[int]) -> dict[str, int]:
        """The part that raw `words` fill, what is in front left aside."""
        layout: list[Word] = [None] * self.before
        layout += [f"{index}.{name}" for index, part in enumerate(self.parts) for name in part]
        values = words_as_fields(words, layout)
        parts = [{name: values[f"{index}.{name}"] for name in part} for index, part in enumerate(self.parts)]
        filled = [part for part in parts if any(part.values())] or [parts[self.filled]]
        if len(filled) > 1:
            raise InputError(
                f"the tiling data fills {len(filled)} of the {len(parts)} parts of the tiling struct, a call fills one"
            )
        return filled[0]

    def words(self, data: Mapping[str, int]) -> tuple[int, ...]:
        """All of the struct."""
        found = [0] * self.before
        for index, part in enumerate(self.parts):
            found += data.values() if index == self.filled else [0] * len(part)
        return tuple(found)


def answer(
    context: TilingContext,
    struct: Struct,
    *,
    key: int,
    meaning: str,
    block_dim: int,
    fields: Mapping[str, int],
    path: str,
    shares: tuple[CoreShare, ...] = (),
    buffers: tuple[UbBuffer, ...] = (),
) -> Tiling:
    """A tiling whose struct holds `fields`; the library's workspace is all that it asks for."""
    data = struct.data(fields)
    return Tiling(
        op=context.op,
        soc=context.soc,
        variant=context.variant,
        key=key,
        meaning=meaning,
        block_dim=block_dim,
        workspace_bytes=context.library_workspace_bytes,
        data={**data, "path": path},
        words=struct.words(data),
        ub_bytes=context.ub_bytes,
        shares=shares,
        buffers=buffers,
    )


def with_buffers(tiling: Tiling, buffers: int, kernels_own: int) -> Tiling:
    """The same with `buffers` buffers in each queue, which is a constant of the kernel's source."""
    if buffers == kernels_own:
        return tiling
    note = f"BUFFER_NUM in the kernel's source has to be {buffers}: it is not in the tiling data"
    return replace(tiling, data={**tiling.data, "bufferNum": buffers}, notes=(*tiling.notes, note), changes_source=True)
