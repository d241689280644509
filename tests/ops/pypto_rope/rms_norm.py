"""RMSNorm alone, as a kernel; two to four dims, all but the last by themselves."""

# no `from __future__ import annotations`: PyPTO reads the annotations as objects

from ascend_sim.frontends import pypto


@pypto.frontend.jit
def rms_norm_kernel(x: pypto.Tensor(), gamma: pypto.Tensor(), out: pypto.Tensor()):
    """out = x / sqrt(mean(x * x) + 1e-6) * gamma, a row of the second-last dim per tile."""
    pypto.set_vec_tile_shapes(*[1] * (x.dim - 2), min(8, x.shape[-2]), x.shape[-1])
    out[:] = pypto.rms_norm(x, gamma, 1e-6)
