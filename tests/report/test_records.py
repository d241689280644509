"""Tables of operator runs, made from records written by hand."""

from __future__ import annotations

from ascend_sim.report.records import KeyAverages, OpRecord, columns, key_averages, summary


def record(op: str, duration_us: float, shape: tuple[int, ...] = (2, 4), warnings: tuple[str, ...] = ()) -> OpRecord:
    return OpRecord(op, "", "Ascend910B3", (shape,), ("float16",), "", 1, "", 8, 0.0, duration_us, warnings)


RECORDS = [
    record("Short", 1.5),
    record("Long", 20.0, warnings=("odd",)),
    record("Short", 2.5, (4, 4)),
    record("Long", 40.0, warnings=("odd",)),
]


def test_summary() -> None:
    assert summary("Two operators", RECORDS).splitlines()[1:] == [
        "Operator  Calls  Total us  Mean us  Min us  Max us   Share",
        "Long          2     60.00    30.00   20.00   40.00  93.8 %",
        "Short         2      4.00     2.00    1.50    2.50   6.2 %",
        "4 calls, 64.00 us simulated",
        "Warning: odd",
    ]


def test_rows_like_those_of_the_profiler() -> None:
    assert key_averages(RECORDS).table().splitlines() == [
        "Name   Self NPU  Self NPU %  NPU total  NPU time avg  # of Calls",
        "Long   60.000us      93.75%   60.000us      30.000us           2",
        "Short   4.000us       6.25%    4.000us       2.000us           2",
    ]
    assert key_averages(RECORDS).table(row_limit=1).splitlines()[1:] == [
        "Long  60.000us      93.75%   60.000us      30.000us           2"
    ]
    grouped = key_averages(RECORDS, group_by_input_shape=True)
    assert [(row.key, row.count, row.input_shapes) for row in grouped] == [
        ("Long", 2, [[2, 4]]),
        ("Short", 1, [[4, 4]]),
        ("Short", 1, [[2, 4]]),
    ]


def test_nothing() -> None:
    assert KeyAverages().table() == "Name  Self NPU  Self NPU %  NPU total  NPU time avg  # of Calls"
    assert columns(["A", "B"], [["a", "10"], ["bb", "1"]], left=2) == "A   B\na   10\nbb  1"
