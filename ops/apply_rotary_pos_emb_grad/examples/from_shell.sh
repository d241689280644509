#!/bin/sh
# All four gradients from files, kept with a trace of the run. Usage: from_shell.sh DIRECTORY
set -e
cd "$1"
python -c "
import numpy as np
rng = np.random.default_rng(0)
query, key, cos = (2, 64, 8, 128), (2, 64, 2, 128), (1, 64, 1, 128)
for name, shape in (('gq', query), ('gk', key), ('cos', cos), ('sin', cos), ('query', query), ('key', key)):
    np.save(f'{name}.npy', rng.standard_normal(shape).astype(np.float16))"
ascend-sim run apply_rotary_pos_emb_grad -i gq=@gq.npy -i gk=@gk.npy -i cos=@cos.npy -i sin=@sin.npy \
    -i query=@query.npy -i key=@key.npy --save out.npz --trace trace.json
