"""Understanding a run: every gap of every pipe with its reason, the critical path, the bound, and what if.

found = account(program, timeline, soc)
found.blocks[0].pipes["vec"].by_reason()   # cycles of one block's vector pipe
found.sums[0]                              # the longest wait of all, by reason and source lines
found.chain, found.bound, found.findings   # critical path, what limits, what to do
found.what_if("vec_2x").gain_us            # the program timed again on a changed machine
"""

from ascend_sim.explain.account import Account, BlockAccount, Gap, PipeAccount, account
from ascend_sim.explain.balance import Balance
from ascend_sim.explain.bound import BOUNDS, Bound, Roof, Roofline
from ascend_sim.explain.findings import Finding
from ascend_sim.explain.fold import Link, Stretch
from ascend_sim.explain.gaps import Gaps
from ascend_sim.explain.path import Part, Step
from ascend_sim.explain.reasons import Reason
from ascend_sim.explain.sums import Sum
from ascend_sim.explain.totals import PipeTotal
from ascend_sim.explain.whatif import SCENARIOS, Answer

__all__ = [
    "BOUNDS",
    "SCENARIOS",
    "Account",
    "Answer",
    "Balance",
    "BlockAccount",
    "Bound",
    "Finding",
    "Gap",
    "Gaps",
    "Link",
    "Part",
    "PipeAccount",
    "PipeTotal",
    "Reason",
    "Roof",
    "Roofline",
    "Step",
    "Stretch",
    "Sum",
    "account",
]
