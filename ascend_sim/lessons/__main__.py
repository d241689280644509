"""`python -m ascend_sim.lessons`: write the figures in the lessons' pages anew."""

from __future__ import annotations

from ascend_sim.lessons.pages import pages, refreshed

for _step, _page in pages():
    _text = _page.read_text(encoding="utf-8")
    _page.write_text(refreshed(_step, _text), encoding="utf-8")
