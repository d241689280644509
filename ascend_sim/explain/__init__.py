"""Understanding a run: every gap of every pipe with its reason, the critical path, the bound, and what if.

account(program, timeline, soc).blocks[0].pipes["vec"].by_reason()
"""

from ascend_sim.explain.account import Account, BlockAccount, Gap, PipeAccount, account
from ascend_sim.explain.gaps import Gaps
from ascend_sim.explain.reasons import Reason
from ascend_sim.explain.sums import Sum

__all__ = ["Account", "BlockAccount", "Gap", "Gaps", "PipeAccount", "Reason", "Sum", "account"]
