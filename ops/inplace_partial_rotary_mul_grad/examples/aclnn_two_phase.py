"""The two-phase call, on numpy arrays: what dy becomes in place."""

import numpy as np

import ascend_sim
from ascend_sim import aclnn

rng = np.random.default_rng(0)
dy = rng.standard_normal((1, 1, 1, 128), np.float32)
cos, sin = rng.standard_normal((2, 1, 1, 1, 128), np.float32)
before = dy.copy()

with ascend_sim.device("ascend950") as device:  # A2 and A3 do not have this operator
    status, size, executor = aclnn.aclnnInplacePartialRotaryMulGradGetWorkspaceSize(dy, cos, sin, 1, [0, 128])
    assert status == 0, aclnn.get_recent_err_msg()
    workspace = device.memory.malloc(size, "workspace")
    stream = device.create_stream()
    assert aclnn.aclnnInplacePartialRotaryMulGrad(workspace, size, executor, stream) == 0
    assert stream.synchronize() == 0
    workspace.free()

first = before[..., 0] * cos[..., 0] + before[..., 1] * sin[..., 1]
print(f"first element {dy.flat[0]:.5f}, by hand {first.item():.5f}; {stream.elapsed_us:.2f} us simulated")
