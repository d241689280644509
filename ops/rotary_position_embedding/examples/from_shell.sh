#!/bin/sh
# Rotate a tensor from a file on the 950, keep the result and a trace of the run. Usage: from_shell.sh DIRECTORY
set -e
cd "$1"
python -c "
import numpy as np
rng = np.random.default_rng(0)
np.save('x.npy', rng.standard_normal((2, 64, 8, 128)).astype(np.float16))
np.save('cos.npy', rng.standard_normal((1, 64, 1, 128)).astype(np.float16))
np.save('sin.npy', rng.standard_normal((1, 64, 1, 128)).astype(np.float16))"
ascend-sim run rotary_position_embedding --soc ascend950 -i x=@x.npy -i r1=@cos.npy -i r2=@sin.npy \
    --attr rotary_mode=quarter --save out.npz --trace trace.json
