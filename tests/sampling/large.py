"""Large calls of every operator, about a million instructions each; run as a program it prints how their excerpts do.

python -m tests.sampling.large [NAME ...]
"""

from __future__ import annotations

import sys
import time

from ascend_sim.host.registry import operator_named
from ascend_sim.sampling import estimate as estimates
from ascend_sim.sampling.calls import TimedCall
from ascend_sim.soc import load
from tests.sampling.calls import BRAIN, HALF, both, call

IPRM, RPE, B3, A5 = "inplace_partial_rotary_mul", "rotary_position_embedding", "Ascend910B3", "ascend950"
PYPTO = "pypto_rope"
S128 = {"partial_slice": (0, 128)}
LARGE = {
    "split S": both(IPRM, B3, S128, (8, 4096, 32, 128), (8, 4096, 1, 128)),
    "split BSN": both(IPRM, B3, {"partial_slice": (0, 512)}, (1, 4000, 64, 512), (1, 4000, 1, 512)),
    "fast": both(IPRM, B3, {"partial_slice": (0, 64)}, (100000, 1, 16, 128), (100000, 1, 1, 64)),
    "A": both(IPRM, A5, S128, (16, 32768, 16, 128), (16, 32768, 16, 128)),
    "B": both(IPRM, A5, S128, (16, 32768, 32, 128), (1, 1, 1, 128)),
    "AB": both(IPRM, A5, S128, (16, 32768, 16, 128), (16, 32768, 1, 128)),
    "BAB": both(IPRM, A5, S128, (16, 12288, 16, 128), (1, 12288, 1, 128)),
    "ABA": both(RPE, A5, {"mode": 0}, (16, 16, 32768, 128), (16, 1, 32768, 128)),
    "BA": both(RPE, A5, {"mode": 0}, (16, 16, 32768, 128), (1, 1, 32768, 128)),
    "grad AB": both(f"{IPRM}_grad", A5, S128, (16, 16384, 32, 128), (16, 16384, 1, 128)),
    "half": both(RPE, B3, {"mode": 0}, (16, 32, 4096, 128), (1, 1, 4096, 128)),
    "interleave": both(RPE, B3, {"mode": 1}, (2, 16384, 32, 128), (1, 16384, 1, 128)),
    "half grad": call(
        f"{RPE}_grad",
        B3,
        {"mode": 0},
        dy=((16, 32, 1500, 128), HALF),
        cos=((1, 1, 1500, 128), HALF),
        sin=((1, 1, 1500, 128), HALF),
        x=((16, 32, 1500, 128), HALF),
    ),
    "interleave grad": both(f"{RPE}_grad", B3, {"mode": 1}, (2, 8192, 32, 128), (1, 8192, 1, 128)),
    "grad with x": call(
        f"{RPE}_grad",
        A5,
        {"mode": 0},
        dy=((16, 8192, 16, 128), HALF),
        cos=((1, 8192, 1, 128), HALF),
        sin=((1, 8192, 1, 128), HALF),
        x=((16, 8192, 16, 128), HALF),
    ),
    "pieces": call(
        "apply_rotary_pos_emb",
        B3,
        {"layout": 1},
        query=((16, 8192, 16, 128), BRAIN),
        key=((16, 8192, 2, 128), BRAIN),
        cos=((16, 8192, 1, 128), BRAIN),
        sin=((16, 8192, 1, 128), BRAIN),
    ),
    "list": call(
        "apply_rotary_pos_emb",
        A5,
        {"layout": 1},
        query=((16, 32768, 16, 128), BRAIN),
        key=((16, 32768, 2, 128), BRAIN),
        cos=((16, 32768, 1, 128), BRAIN),
        sin=((16, 32768, 1, 128), BRAIN),
    ),
    "list BAB": call(
        "apply_rotary_pos_emb",
        A5,
        {"layout": 1},
        query=((16, 32768, 16, 128), BRAIN),
        key=((16, 32768, 2, 128), BRAIN),
        cos=((1, 32768, 1, 128), BRAIN),
        sin=((1, 32768, 1, 128), BRAIN),
    ),
    "list grad": call(
        "apply_rotary_pos_emb_grad",
        A5,
        {"layout": 1},
        grad_query_embed=((16, 4096, 16, 128), BRAIN),
        grad_key_embed=((16, 4096, 2, 128), BRAIN),
        cos=((16, 4096, 1, 128), BRAIN),
        sin=((16, 4096, 1, 128), BRAIN),
        query=((16, 4096, 16, 128), BRAIN),
        key=((16, 4096, 2, 128), BRAIN),
    ),
    "list grad A": call(
        "apply_rotary_pos_emb_grad",
        A5,
        {"layout": 1},
        grad_query_embed=((16, 131072, 1, 128), BRAIN),
        grad_key_embed=((16, 131072, 1, 128), BRAIN),
        cos=((16, 131072, 1, 128), BRAIN),
        sin=((16, 131072, 1, 128), BRAIN),
        query=((16, 131072, 1, 128), BRAIN),
        key=((16, 131072, 1, 128), BRAIN),
    ),
    "atb": call(
        "atb_rope",
        B3,
        {"rotaryCoeff": 2, "cosFormat": 0},
        q=((60000, 1024), HALF),
        k=((60000, 128), HALF),
        cos=((60000, 128), HALF),
        sin=((60000, 128), HALF),
        seqlen=((1,), "int32"),
    ),
    "head per core": call(
        "rope_grad",
        B3,
        {"qSeqLen": (60000, 40000)},
        q_embedded_grad=((100000, 4096), HALF),
        k_embedded_grad=((100000, 4096), HALF),
        cos=((60000, 128), HALF),
        sin=((60000, 128), HALF),
    ),
    "skeleton": both(PYPTO, B3, {"kernel": 0}, (24576, 64, 128), (24576, 64, 128)),
    "vision": call(
        PYPTO,
        B3,
        {"kernel": 1},
        x=((2048, 16, 128), BRAIN),
        k=((2048, 4, 128), BRAIN),
        cos=((2048, 128), BRAIN),
        sin=((2048, 128), BRAIN),
    ),
    "mrope": both(PYPTO, B3, {"kernel": 2}, (2, 16, 4096, 128), (3, 2, 4096, 128), BRAIN),
    "rms norm": call(
        PYPTO,
        B3,
        {"kernel": 3},
        x=((8192, 8, 128), BRAIN),
        cos=((8192, 128), BRAIN),
        sin=((8192, 128), BRAIN),
        weight=((128,), BRAIN),
    ),
    "interleaved": both(PYPTO, B3, {"kernel": 4}, (2, 16, 8192, 128), (2, 1, 8192, 128), BRAIN),
}


def timed_both_ways(name: str) -> str:
    """A row of the table: instructions and seconds in full and of the excerpt, how far it is off and says to be."""
    op, soc, inputs, attrs = LARGE[name]
    one = TimedCall(operator_named(op), inputs, attrs, load(soc))
    begin = time.process_time()
    found = one.time()
    between = time.process_time()
    exact = one.time(exact=True)
    seconds, all_seconds = between - begin, time.process_time() - between
    off = found.duration_us / exact.duration_us - 1
    return (
        f"| {name} | {exact.simulated:,}, {all_seconds:.1f} s | {found.simulated:,}, {seconds:.2f} s | "
        f"{all_seconds / seconds:.0f} | {off:+.2%} | ±{found.error:.1%} |"
    )


if __name__ == "__main__":
    estimates.POOR_WHOLE_INSTRUCTIONS = 0  # excerpts are shown, however poor
    print("| call | in full | excerpt | times faster | off | said |\n|---|---|---|---|---|---|")
    for wanted in sys.argv[1:] or LARGE:
        print(timed_both_ways(wanted), flush=True)
