#!/bin/sh
# Rotate query and key from files on the 950, keep the results and a trace of the run. Usage: from_shell.sh DIRECTORY
set -e
cd "$1"
python -c "
import numpy as np
rng = np.random.default_rng(0)
for name, shape in (('query', (128, 16, 64)), ('key', (128, 2, 64)), ('cos', (128, 1, 64)), ('sin', (128, 1, 64))):
    np.save(f'{name}.npy', rng.standard_normal(shape).astype(np.float16))"
ascend-sim run apply_rotary_pos_emb --soc ascend950 -i query=@query.npy -i key=@key.npy -i cos=@cos.npy -i sin=@sin.npy \
    --attr layout=TND --attr rotary_mode=interleave --save out.npz --trace trace.json
