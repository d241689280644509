#!/bin/sh
# Files in, an npz with inputs, outputs and golden and a Chrome trace out, into the folder given as $1 (default: here).
set -eu
out="${1:-.}"
python - "$out" <<'PY'
import sys
import numpy as np
rng = np.random.default_rng(0)
for name, shape in (("x", (4, 16, 2, 64)), ("cos", (4, 16, 1, 64)), ("sin", (4, 16, 1, 64))):
    np.save(f"{sys.argv[1]}/{name}.npy", rng.uniform(-1, 1, shape).astype(np.float32))
PY
ascend-sim run inplace_partial_rotary_mul --soc Ascend910B4 \
    -i "x=@$out/x.npy:bfloat16" -i "r1=@$out/cos.npy" -i "r2=@$out/sin.npy" --attr partial_slice=0,64 \
    --save "$out/out.npz" --trace "$out/trace.json"
