"""What a chip is: cores, memories, clocks. One model per section of the files in `configs`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Self

from pydantic import Field, PrivateAttr, computed_field, model_validator

from ascend_sim.errors import UnsupportedError
from ascend_sim.soc.base import DESCRIBED_ONLY, Bytes, Count, Rate, ReservedBytes, Section, Size
from ascend_sim.soc.parameters import Origin, Parameter, parameters_of
from ascend_sim.soc.timing import Timing

MAX_BLOCKS = 65535
"""Of one launch (DK, numBlocks)."""

CoreCount = Annotated[int, Field(ge=1, le=MAX_BLOCKS)]
"""More cores than a launch has blocks could never work."""

DescribedBytes = Annotated[Bytes, DESCRIBED_ONLY]

UbBytes = Annotated[Size, Field(ge=32, le=2**20)]  # tensor keys have room for that many
"""Size of UB; the upper end is this simulator's, which keeps a whole UB in memory per launch."""


class Cores(Section):
    """AI Cores of one die: `aic` cube cores and `aiv` vector cores."""

    aic: CoreCount
    aiv: CoreCount


class Banks(Section):
    """How UB is cut into banks: `groups` of them side by side, rows of `row_bytes`, banks of `bank_bytes`."""

    groups: Count
    bank_bytes: Bytes
    row_bytes: Bytes


class UnifiedBuffer(Section):
    """The vector core's local memory.

    `bytes` is the memory itself. `system_reserved_bytes` never show in the chip's platform file,
    `framework_reserved_bytes` are kept back from what the host and TPipe may hand out.
    """

    bytes: UbBytes
    system_reserved_bytes: ReservedBytes
    framework_reserved_bytes: ReservedBytes
    alignment_bytes: DescribedBytes
    banks: Banks

    @model_validator(mode="after")
    def _check(self) -> Self:
        reserved = self.system_reserved_bytes + self.framework_reserved_bytes
        if self.bytes <= reserved:
            raise ValueError(f"bytes ({self.bytes}) must exceed the reserved bytes ({reserved})")
        if self.bytes % self.alignment_bytes:
            raise ValueError(f"bytes ({self.bytes}) must be a multiple of alignment_bytes ({self.alignment_bytes})")
        return self

    @computed_field  # type: ignore[prop-decorator]
    @property
    def platform_bytes(self) -> int:
        """UB size in the chip's platform file, and so in a compile info: bytes - system_reserved_bytes."""
        return self.bytes - self.system_reserved_bytes

    @computed_field  # type: ignore[prop-decorator]
    @property
    def usable_bytes(self) -> int:
        """What GetCoreMemSize answers and TPipe hands out: platform_bytes - framework_reserved_bytes."""
        return self.platform_bytes - self.framework_reserved_bytes


class L1Buffer(Section):
    """The cube core's L1 memory; `framework_reserved_bytes` as for UB."""

    bytes: DescribedBytes
    framework_reserved_bytes: Annotated[ReservedBytes, DESCRIBED_ONLY]

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.bytes <= self.framework_reserved_bytes:
            raise ValueError(
                f"bytes ({self.bytes}) must exceed framework_reserved_bytes ({self.framework_reserved_bytes})"
            )
        return self

    @computed_field  # type: ignore[prop-decorator]
    @property
    def usable_bytes(self) -> int:
        """What GetCoreMemSize answers: bytes - framework_reserved_bytes."""
        return self.bytes - self.framework_reserved_bytes


class Cube(Section):
    """Memories around the cube unit."""

    l0a_bytes: Bytes
    l0b_bytes: Bytes
    l0c_bytes: Bytes
    bias_table_bytes: Bytes
    fixpipe_bytes: Bytes


class CoreCache(Section):
    """Instruction or data cache of a core, by kind of core."""

    line_bytes: Bytes
    aic_bytes: DescribedBytes
    aiv_bytes: Bytes


class L2Cache(Section):
    """The L2 that all cores of a die share; rates are what the platform file grants each AI Core."""

    bytes: Bytes
    line_bytes: DescribedBytes
    read_bytes_per_cycle_per_aic: Rate
    write_bytes_per_cycle_per_aic: Rate

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.bytes % self.line_bytes:
            raise ValueError(f"bytes ({self.bytes}) must be a multiple of line_bytes ({self.line_bytes})")
        return self


class Hbm(Section):
    """Global memory of one die. None: nobody has published it."""

    bytes: Bytes | None
    peak_gbps: Rate | None
    read_bytes_per_cycle_per_aic: Rate
    write_bytes_per_cycle_per_aic: Annotated[Rate, DESCRIBED_ONLY]


class Host(Section):
    """What the host side grants: GetLibApiWorkSpaceSize."""

    library_workspace_bytes: Bytes


class Soc(Section):
    """One chip variant. `timing` is None where the simulator has no machine for the architecture."""

    name: str
    variant: str
    arch: str
    clock_mhz: Rate
    platform_clock_mhz: Rate
    cores: Cores
    ub: UnifiedBuffer
    l1: L1Buffer
    cube: Annotated[Cube, DESCRIBED_ONLY]
    icache: Annotated[CoreCache, DESCRIBED_ONLY]
    dcache: CoreCache
    l2: L2Cache
    hbm: Hbm
    host: Host
    timing: Timing | None = None

    _origins: Mapping[str, Origin] = PrivateAttr(default_factory=dict)

    def require_timing(self) -> Timing:
        """The timing constants; raises `UnsupportedError` when this architecture's machine is not simulated yet."""
        if self.timing is None:
            raise UnsupportedError(
                f"the vector core of {self.variant} (architecture {self.arch}) is not simulated yet; "
                "kernels run on architectures 2201 and 3510: ascend910b, ascend910_93 and ascend950"
            )
        return self.timing

    def parameters(self) -> tuple[Parameter, ...]:
        """Every parameter with its value, unit, source and grade, derived ones included, in the models' order."""
        return parameters_of(self, self._origins)
