"""What a tiling function is given (`TilingContext`) and what it answers (`Tiling`)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

from ascend_sim.errors import TilingError
from ascend_sim.host.tensors import Shape, TensorInfo
from ascend_sim.keyed import Keyed

PARAM_INVALID = 161002  # ACLNN_ERR_PARAM_INVALID
DOES_NOT_FIT = 561002  # ACLNN_ERR_INNER_TILING_ERROR: what aclnn answers to a call that no tiling has room for


def ceil_div(a: int, b: int) -> int:
    """a / b rounded up, for non-negative integers."""
    return -(-a // b)


def align_up(a: int, multiple: int) -> int:
    """a rounded up to a multiple."""
    return -(-a // multiple) * multiple


@dataclass(frozen=True, slots=True)
class TilingContext:
    """Everything that a tiling function may look at, like `gert::TilingContext` and its platform info.

    `cores` is GetCoreNumAiv, `cube_cores` GetCoreNumAic, `ub_bytes` what the operator's tiling takes as the UB size
    (see `Operator.ub_reads`), `library_workspace_bytes` is GetLibApiWorkSpaceSize. `inputs` holds the inputs that are
    present, under the operator definition's names. `attrs` holds every attribute, converted, defaults filled in. `cann`
    names the CANN release whose host code is wanted where releases differ.
    """

    op: str
    soc: str
    variant: str
    arch: str
    cores: int
    cube_cores: int
    ub_bytes: int
    library_workspace_bytes: int
    inputs: Mapping[str, TensorInfo]
    attrs: Mapping[str, Any]
    cann: str = "master"

    def refuse(self, text: str, status: int | None = None) -> NoReturn:
        """The operator's host code does not accept this call; `status` is the code that it answers."""
        raise TilingError(f"{self.op}: {text}", status)

    def require(self, condition: bool, text: str, status: int | None = None) -> None:
        if not condition:
            self.refuse(text, status)

    def shape(self, name: str) -> Shape:
        return self.inputs[name].shape

    def dtype(self, name: str) -> str:
        return self.inputs[name].dtype


@dataclass(frozen=True, slots=True)
class Loop:
    """How one core walks one axis: `loops` steps of `per_loop`, of which the last takes `last` (of `unit`)."""

    unit: str
    per_loop: int
    loops: int
    last: int

    @classmethod
    def over(cls, unit: str, total: int, per_loop: int) -> Loop:
        """Cut `total` into steps of `per_loop`, the last one taking what is left."""
        if not total or not per_loop:
            return cls(unit, 0, 0, 0)
        loops = ceil_div(total, per_loop)
        return cls(unit, per_loop, loops, total - (loops - 1) * per_loop)

    @property
    def total(self) -> int:
        return (self.loops - 1) * self.per_loop + self.last if self.loops else 0

    @property
    def remainder(self) -> int:
        """Size of a shorter last step, 0 when the steps divide evenly: how many kernels read it."""
        return 0 if self.last == self.per_loop else self.last


@dataclass(frozen=True, slots=True)
class CoreShare:
    """What `cores` equal cores do: `rows` rows each (of `unit`), walked by nested `loops`, outermost first."""

    role: str
    cores: int
    rows: int
    unit: str
    loops: tuple[Loop, ...]


@dataclass(frozen=True, slots=True)
class UbBuffer:
    """`count` buffers of `nbytes` bytes in the unified buffer of each core."""

    name: str
    nbytes: int
    count: int = 1

    @property
    def total(self) -> int:
        return self.nbytes * self.count


@dataclass(frozen=True, slots=True)
class Tiling(Keyed):
    """The host's answer: how a call is cut over cores and unified buffer.

    `data` holds the fields of the operator's tiling struct in struct order, then derived entries such as "path".
    `words` are the raw integers as the host writes them, None where the simulator does not model them (then `notes`
    say what they are). `shares` and `buffers` restate the fields for people. `not_runnable` says why the simulator
    cannot run this kernel, or is empty. `changes_source`: the kernel takes it only after a change of its source, which
    `notes` name.
    """

    op: str
    soc: str
    variant: str
    key: int
    meaning: str
    block_dim: int
    workspace_bytes: int
    data: Mapping[str, int | str]
    words: tuple[int | None, ...]
    ub_bytes: int
    shares: tuple[CoreShare, ...] = ()
    buffers: tuple[UbBuffer, ...] = ()
    warnings: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    not_runnable: str = ""
    changes_source: bool = False

    @property
    def path(self) -> str:
        return str(self.data.get("path", ""))

    @property
    def is_noop(self) -> bool:
        """Whether there is nothing to compute: the kernel is launched and returns at once."""
        return self.path == "noop"

    @property
    def ub_used_bytes(self) -> int:
        """Bytes of unified buffer that the kernel allocates on each core."""
        return sum(buffer.total for buffer in self.buffers)

    def to_json(self) -> dict[str, Any]:
        """A dict ready for `json.dumps`."""
        return {
            "op": self.op,
            "soc": self.soc,
            "variant": self.variant,
            "key": self.key,
            "meaning": self.meaning,
            "block_dim": self.block_dim,
            "workspace_bytes": self.workspace_bytes,
            "data": dict(self.data),
            "words": list(self.words),
            "cores": [_share_json(share) for share in self.shares],
            "ub": {
                "capacity_bytes": self.ub_bytes,
                "used_bytes": self.ub_used_bytes,
                "buffers": [{"name": b.name, "bytes": b.nbytes, "count": b.count} for b in self.buffers],
            },
            "warnings": list(self.warnings),
            "notes": list(self.notes),
            "not_runnable": self.not_runnable,
            "changes_source": self.changes_source,
        }


def _share_json(share: CoreShare) -> dict[str, Any]:
    loops = [
        {"unit": loop.unit, "per_loop": loop.per_loop, "loops": loop.loops, "last": loop.last} for loop in share.loops
    ]
    return {"role": share.role, "cores": share.cores, "rows": share.rows, "unit": share.unit, "loops": loops}
