"""The two-phase call in its seven steps, as the C samples make it."""

import numpy as np

import ascend_sim
from ascend_sim import aclnn
from ascend_sim.host.aclnn import AclTensor

# 1. device and stream
with ascend_sim.device("ascend910b") as device:
    stream = device.create_stream()

    # 2. inputs: device memory, values into it, tensors on it
    rng = np.random.default_rng(0)
    host = {
        "x": rng.standard_normal((96, 1, 1, 512), np.float32),
        "cos": rng.standard_normal((96, 1, 1, 64), np.float32),
        "sin": rng.standard_normal((96, 1, 1, 64), np.float32),
    }
    buffers = {name: device.memory.malloc(array.nbytes, name) for name, array in host.items()}
    for name, array in host.items():
        buffers[name].write(array)
    x, cos, sin = (AclTensor(host[name].shape, "float32", data=buffers[name]) for name in host)

    # 3. first phase: checks, tiling, size of the workspace
    rotary_mode, partial_slice = 1, [448, 512]
    status, workspace_size, executor = aclnn.aclnnInplacePartialRotaryMulGetWorkspaceSize(
        x, cos, sin, rotary_mode, partial_slice
    )
    assert status == 0, aclnn.get_recent_err_msg()
    print(f"workspace {workspace_size} B")

    # 4. workspace
    workspace = device.memory.malloc(workspace_size, "workspace") if workspace_size > 0 else None

    # 5. second phase: the work is queued
    status = aclnn.aclnnInplacePartialRotaryMul(workspace, workspace_size, executor, stream)
    assert status == 0, aclnn.get_recent_err_msg()

    # 6. wait, then fetch the result
    assert stream.synchronize() == 0
    result = buffers["x"].read(np.empty_like(host["x"]))
    first = host["x"][0, 0, 0, 448] * host["cos"][0, 0, 0, 0] - host["x"][0, 0, 0, 449] * host["sin"][0, 0, 0, 0]
    print(
        f"first rotated element {result[0, 0, 0, 448]:.5f}, by hand {first:.5f}; {stream.elapsed_us:.2f} us simulated"
    )

    # 7. release; what is forgotten shows
    for tensor in (x, cos, sin):
        tensor.destroy()
    for buffer in buffers.values():
        buffer.free()
    print(device.memory.report())
    if workspace is not None:
        workspace.free()
    print(device.memory.report())
