"""Device memory that callers ask for: what is counted, what is refused."""

from __future__ import annotations

import numpy as np
import pytest

from ascend_sim.errors import InputError
from ascend_sim.host.device import Device
from ascend_sim.host.memory import DeviceMemory


def test_a_buffer_takes_and_gives_values() -> None:
    buffer = DeviceMemory().malloc(16, "b")
    buffer.write(np.arange(4, dtype=np.float32))
    buffer.write(np.array([7], np.float32), offset_bytes=8)
    assert buffer.read(np.empty(4, np.float32)).tolist() == [0, 1, 7, 3]
    assert buffer.read(np.empty(2, np.float32), offset_bytes=8).tolist() == [7, 3]


def test_what_nobody_wrote_is_nan() -> None:
    assert np.isnan(DeviceMemory().malloc(8).read(np.empty(2, np.float32))).all()


def test_a_leak_shows() -> None:
    memory = Device().memory
    first, second = memory.malloc(100, "x"), memory.malloc(28, "workspace")
    assert (memory.live, memory.live_bytes, memory.peak_bytes) == ((first, second), 128, 128)
    first.free()
    assert (memory.live, memory.live_bytes, memory.peak_bytes, memory.allocations) == ((second,), 28, 128, 2)
    assert memory.report().splitlines() == [
        "2 allocated, 1 freed, 1 live (28 B), peak 128 B",
        f"  workspace: 28 B at {second.address:#x}",
    ]
    memory.free(second)
    assert memory.live == ()


def test_addresses_are_aligned_and_apart() -> None:
    memory = DeviceMemory()
    addresses = [memory.malloc(size).address for size in (1, 513, 512)]
    assert all(address % 512 == 0 for address in addresses)
    assert addresses[1] - addresses[0] == 512
    assert addresses[2] - addresses[1] == 1024


def test_without_values_there_are_sizes_only() -> None:
    buffer = Device(values=False).memory.malloc(8, "b")
    assert (buffer.data, buffer.nbytes) == (None, 8)
    with pytest.raises(InputError, match="buffer 'b' of 8 B holds no data, its device runs without values"):
        buffer.read(np.empty(2, np.float32))


def test_refusals() -> None:
    memory = DeviceMemory(1024)
    buffer = memory.malloc(1000, "b")
    cases = [
        (lambda: memory.malloc(0), "malloc: the size is 0; it must be a positive number of bytes"),
        (lambda: memory.malloc(True), "malloc: the size is True; it must be a positive number of bytes"),
        (
            lambda: memory.malloc(25),
            "malloc: out of device memory: 25 B asked for, 1000 of 1024 B are in use",
        ),
        (
            lambda: buffer.write(np.zeros(1001, np.uint8)),
            "write: 1001 B from byte 0 do not lie in buffer 'b' of 1000 B",
        ),
        (
            lambda: buffer.read(np.empty(4, np.uint8), -1),
            "read: 4 B from byte -1 do not lie in buffer 'b' of 1000 B",
        ),
        (
            lambda: buffer.read(np.empty((4, 4), np.uint8)[:, ::2]),
            "read: the host array must be contiguous; its strides are (4, 2) B",
        ),
        (lambda: DeviceMemory().free(buffer), "free: buffer 'b' of 1000 B belongs to another device"),
    ]
    for call, text in cases:
        with pytest.raises(InputError) as refused:
            call()
        assert str(refused.value) == text
    buffer.free()
    with pytest.raises(InputError, match="free: buffer 'b' of 1000 B has been freed already"):
        buffer.free()
    with pytest.raises(InputError, match="write: buffer 'b' of 1000 B has been freed"):
        buffer.write(np.zeros(1, np.uint8))
