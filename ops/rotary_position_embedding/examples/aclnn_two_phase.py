"""The two-phase call, on numpy arrays: queue two calls on one stream, then wait for both."""

import numpy as np

import ascend_sim
from ascend_sim import aclnn
from ascend_sim.host.memory import DeviceBuffer

rng = np.random.default_rng(0)
x = rng.standard_normal((2, 64, 8, 128)).astype(np.float16)
cos, sin = rng.standard_normal((2, 1, 64, 1, 128)).astype(np.float16)
once, twice = np.empty_like(x), np.empty_like(x)

with ascend_sim.device("ascend910b") as device:
    stream = device.create_stream()
    workspaces: list[DeviceBuffer] = []
    for source, target in ((x, once), (once, twice)):
        status, size, executor = aclnn.aclnnRotaryPositionEmbeddingGetWorkspaceSize(source, cos, sin, 0, target)
        assert status == 0, aclnn.get_recent_err_msg()
        workspaces.append(device.memory.malloc(size, f"workspace {len(workspaces)}"))
        assert aclnn.aclnnRotaryPositionEmbedding(workspaces[-1], size, executor, stream) == 0
    print(f"queued: {stream}")
    assert stream.synchronize() == 0
    for workspace in workspaces:
        workspace.free()

print(f"largest of x {np.abs(x).max():.2f}, turned once {np.abs(once).max():.2f}, twice {np.abs(twice).max():.2f}")
for task in stream.tasks:
    print(f"{task.name} at {task.start_us:5.2f} us, {task.duration_us:.2f} us")
