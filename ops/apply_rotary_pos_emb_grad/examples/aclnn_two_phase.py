"""The two-phase call in its seven steps: all four gradients of the smallest call."""

import numpy as np

import ascend_sim
from ascend_sim import aclnn
from ascend_sim.host.aclnn import AclTensor

# 1. device and stream
with ascend_sim.device("ascend950") as device:
    stream = device.create_stream()

    # 2. inputs and outputs: device memory, values into it, tensors on it
    rng = np.random.default_rng(0)
    shape = (1, 1, 1, 128)
    inputs = {
        name: rng.standard_normal(shape, np.float32)
        for name in ("grad_query_embed", "grad_key_embed", "cos", "sin", "query", "key")
    }
    names = [*inputs, "grad_query", "grad_key", "grad_cos", "grad_sin"]
    buffers = {name: device.memory.malloc(4 * 128, name) for name in names}
    for name, values in inputs.items():
        buffers[name].write(values)
    tensors = {name: AclTensor(shape, "float32", data=buffer) for name, buffer in buffers.items()}

    # 3. first phase: checks, tiling, size of the workspace
    rotary_mode, layout = "half", 1  # BSND
    gradients, forward = names[:4], names[4:6]
    status, workspace_size, executor = aclnn.aclnnApplyRotaryPosEmbGradGetWorkspaceSize(
        *(tensors[name] for name in (*gradients, *forward)), rotary_mode, layout, *(tensors[name] for name in names[6:])
    )
    assert status == 0, aclnn.get_recent_err_msg()

    # 4. workspace
    workspace = device.memory.malloc(workspace_size, "workspace") if workspace_size > 0 else None

    # 5. second phase: the work is queued
    assert aclnn.aclnnApplyRotaryPosEmbGrad(workspace, workspace_size, executor, stream) == 0

    # 6. wait, then fetch the results
    assert stream.synchronize() == 0
    grad_cos = buffers["grad_cos"].read(np.empty(shape, np.float32))
    by_hand = inputs["grad_query_embed"] * inputs["query"] + inputs["grad_key_embed"] * inputs["key"]
    print(f"largest deviation of grad_cos {np.abs(grad_cos - by_hand).max():.1e}; {stream.elapsed_us:.2f} us simulated")

    # 7. release
    for tensor in tensors.values():
        tensor.destroy()
    for buffer in device.memory.live:
        buffer.free()
    print(device.memory.report())
