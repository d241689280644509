"""What is kept of every operator run of a session, and the tables made of that."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from ascend_sim.host.execute import OperatorRun
from ascend_sim.host.tensors import Shape, infos_text
from ascend_sim.plurals import plural
from ascend_sim.report.style import PLAIN, Style, us


@dataclass(frozen=True, slots=True)
class OpRecord:
    """One operator run: times in us, `start_us` from the session's beginning, runs one after another.

    `caller` is the interface or the graph node that asked for it; `shapes` and `dtypes` are those of the inputs.
    """

    op: str
    caller: str
    soc: str
    shapes: tuple[Shape, ...]
    dtypes: tuple[str, ...]
    inputs: str
    tiling_key: int
    path: str
    block_dim: int
    start_us: float
    duration_us: float
    warnings: tuple[str, ...] = ()

    @classmethod
    def of(cls, run: OperatorRun, start_us: float) -> OpRecord:
        infos = run.infos.values()
        return cls(
            op=run.operator.type_name,
            caller=run.caller,
            soc=run.tiling.variant,
            shapes=tuple(info.shape for info in infos),
            dtypes=tuple(info.dtype for info in infos),
            inputs=infos_text(run.infos),
            tiling_key=run.tiling.key,
            path=run.tiling.path,
            block_dim=run.tiling.block_dim,
            start_us=start_us,
            duration_us=run.duration_us,
            warnings=tuple(run.warnings),
        )


@dataclass(slots=True)
class KeyAverage:
    """A row like those of torch.profiler's key_averages(): all runs of one operator, times in us."""

    key: str
    count: int = 0
    device_time_total: float = 0.0
    input_shapes: list[list[int]] = field(default_factory=list)

    @property
    def self_device_time_total(self) -> float:
        """An operator calls no other, so all its time is its own."""
        return self.device_time_total

    @property
    def device_time(self) -> float:
        """Mean of one call."""
        return self.device_time_total / self.count if self.count else 0.0


class KeyAverages(list[KeyAverage]):
    """Rows by falling total time."""

    @property
    def total_us(self) -> float:
        return sum(row.device_time_total for row in self)

    def table(self, row_limit: int = -1) -> str:
        """The columns that torch.profiler prints for device time."""
        total = self.total_us or 1.0
        head = ["Name", "Self NPU", "Self NPU %", "NPU total", "NPU time avg", "# of Calls"]
        rows = [
            [
                row.key,
                f"{row.self_device_time_total:.3f}us",
                f"{100 * row.self_device_time_total / total:.2f}%",
                f"{row.device_time_total:.3f}us",
                f"{row.device_time:.3f}us",
                str(row.count),
            ]
            for row in (self if row_limit < 0 else self[:row_limit])
        ]
        return columns(head, rows)


def key_averages(records: Iterable[OpRecord], *, group_by_input_shape: bool = False) -> KeyAverages:
    """One row per operator, or per operator and input shapes."""
    rows: dict[Any, KeyAverage] = {}
    for record in records:
        key = (record.op, record.shapes) if group_by_input_shape else record.op
        row = rows.setdefault(key, KeyAverage(record.op))
        row.count += 1
        row.device_time_total += record.duration_us
        if group_by_input_shape:
            row.input_shapes = [list(shape) for shape in record.shapes]
    return KeyAverages(sorted(rows.values(), key=lambda row: -row.device_time_total))


def summary(title: str, records: Sequence[OpRecord], style: Style = PLAIN) -> str:
    """Per operator: calls, total, mean, extremes and share of the simulated time."""
    lines = [style.rule(title)]
    if not records:
        return "\n".join([*lines, "no operator has run"])
    total = sum(record.duration_us for record in records)
    times: dict[str, list[float]] = {}
    for record in records:
        times.setdefault(record.op, []).append(record.duration_us)
    rows = [
        [op, str(len(t)), us(sum(t)), us(sum(t) / len(t)), us(min(t)), us(max(t)), f"{100 * sum(t) / total:.1f} %"]
        for op, t in sorted(times.items(), key=lambda item: -sum(item[1]))
    ]
    lines += [columns(["Operator", "Calls", "Total us", "Mean us", "Min us", "Max us", "Share"], rows)]
    lines += [f"{plural(len(records), 'call')}, {us(total)} us simulated"]
    lines += [f"Warning: {text}" for text in dict.fromkeys(text for record in records for text in record.warnings)]
    return "\n".join(lines)


def columns(head: Sequence[str], rows: Sequence[Sequence[str]], left: int = 1) -> str:
    """A table: the first `left` columns flush left, the others, numbers, flush right."""
    widths = [max(len(row[i]) for row in (head, *rows)) for i in range(len(head))]
    lines = []
    for row in (head, *rows):
        pairs = enumerate(zip(row, widths, strict=True))
        lines.append("  ".join(f"{c:<{w}}" if i < left else f"{c:>{w}}" for i, (c, w) in pairs).rstrip())
    return "\n".join(lines)
