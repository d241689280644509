"""Data types and modes under PyPTO's names, and what they are to the simulated core."""

from __future__ import annotations

from enum import Enum, IntEnum

from ascend_sim import asc
from ascend_sim.frontends.pypto.errors import FeTypeError, PyptoTypeError


class DataType(Enum):
    """PyPTO's element types. `asc` is the core's type; those without one can be named, not computed with."""

    DT_INT4 = "int4"
    DT_INT8 = "int8"
    DT_INT16 = "int16"
    DT_INT32 = "int32"
    DT_INT64 = "int64"
    DT_FP8 = "fp8"
    DT_FP16 = "float16"
    DT_FP32 = "float32"
    DT_BF16 = "bfloat16"
    DT_HF4 = "hf4"
    DT_HF8 = "hf8"
    DT_FP4E2M1 = "fp4_e2m1"
    DT_FP8E4M3 = "fp8_e4m3"
    DT_FP8E5M2 = "fp8_e5m2"
    DT_FP8E8M0 = "fp8_e8m0"
    DT_FP4_E2M1X2 = "fp4_e2m1x2"
    DT_FP4_E1M2X2 = "fp4_e1m2x2"
    DT_UINT8 = "uint8"
    DT_UINT16 = "uint16"
    DT_UINT32 = "uint32"
    DT_UINT64 = "uint64"
    DT_BOOL = "bool"
    DT_DOUBLE = "float64"

    @property
    def asc(self) -> asc.DataType:
        """The core's data type; a type that 2201 has no instruction for is refused."""
        found = _ON_CORE.get(self)
        if found is None:
            names = ", ".join(dtype.name for dtype in _ON_CORE)
            raise PyptoTypeError(f"{self.name} has no vector instructions on the simulated chips; allowed are {names}")
        return found

    @property
    def itemsize(self) -> int:
        """Bytes of one element."""
        return self.asc.itemsize

    @property
    def is_float(self) -> bool:
        return self in (DataType.DT_FP16, DataType.DT_FP32, DataType.DT_BF16)

    def __repr__(self) -> str:
        return f"DataType.{self.name}"


_ON_CORE: dict[DataType, asc.DataType] = {
    dtype: getattr(asc, dtype.value)
    for dtype in DataType
    if dtype.value in {t.name for t in (asc.int8, asc.int16, asc.int32, asc.int64, asc.uint8, asc.uint16)}
    or dtype.value in {t.name for t in (asc.uint32, asc.uint64, asc.float16, asc.float32, asc.bfloat16)}
}


def dtype_named(name: str, what: str) -> DataType:
    """The PyPTO type of an array's dtype name ("float16")."""
    for dtype in _ON_CORE:
        if dtype.value == name:
            return dtype
    raise FeTypeError(f"{what} has dtype {name}; allowed are {', '.join(dtype.value for dtype in _ON_CORE)}")


def bytes_of(dtype: DataType) -> int:
    """Bytes of one element."""
    return dtype.itemsize


class TileOpFormat(IntEnum):
    """Layout of a tensor in GM; the vector operations take ND only."""

    TILEOP_ND = 0
    TILEOP_NZ = 1


class RunMode(IntEnum):
    """Where a kernel runs: both mean the simulator here."""

    NPU = 0
    SIM = 1


class CastMode(Enum):
    """Rounding of `cast`; the names and meanings of the core's round modes."""

    CAST_NONE = asc.RoundMode.CAST_NONE
    CAST_RINT = asc.RoundMode.CAST_RINT
    CAST_ROUND = asc.RoundMode.CAST_ROUND
    CAST_FLOOR = asc.RoundMode.CAST_FLOOR
    CAST_CEIL = asc.RoundMode.CAST_CEIL
    CAST_TRUNC = asc.RoundMode.CAST_TRUNC
    CAST_ODD = asc.RoundMode.CAST_ODD


class SaturationMode(Enum):
    """What a cast to integers does with what does not fit: keep the low bits, or clamp."""

    OFF = 0
    ON = 1


class PrecisionType(Enum):
    """HIGH_PRECISION only makes a difference on the 950; on A2 and A3 both are the chip's instruction."""

    INTRINSIC = 0
    HIGH_PRECISION = 1
