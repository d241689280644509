"""The lessons run, say what changed, and their pages say what the simulator says today."""

from __future__ import annotations

import itertools
import re

import pytest

from ascend_sim.errors import InputError
from ascend_sim.lessons import catalog, pages
from ascend_sim.lessons.comparison import comparison, source_changes
from ascend_sim.lessons.running import changed, parse_changes, run_step

STEPS = [step for lesson in catalog.lessons() for step in lesson.steps]
FAST = {"LENGTH": "5120"}  # step 1 of add is slow by intention


def names(step: catalog.Step) -> str:
    return f"{step.lesson}-{step.number}"


def test_lessons_and_steps() -> None:
    assert [(lesson.name, [step.number for step in lesson.steps]) for lesson in catalog.lessons()] == [
        ("add", [1, 2, 3, 4, 5, 6]),
        ("rope", [1, 2, 3, 4]),
    ]


@pytest.mark.parametrize("step", STEPS, ids=names)
def test_a_step_is_short_and_keeps_to_pyasc(step: catalog.Step) -> None:
    text = step.path.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 60
    kernel = text[text.index("@asc.jit") : text.index("if __name__")]
    assert not re.search(r"\b(lambda|yield|try|import|print|while|break|continue)\b|\*\*|\[[^\]]* for ", kernel)
    assert set(re.findall(r"for \w+ in (\w+)", kernel)) == {"range"}


@pytest.mark.parametrize("step", STEPS, ids=names)
def test_a_step_checks_its_own_values(step: catalog.Step, monkeypatch: pytest.MonkeyPatch) -> None:
    source = step.path.read_text(encoding="utf-8")
    wrong = (
        source.replace("asc.add(", "asc.sub(")
        .replace(" + y_local.get", " - y_local.get")
        .replace("even * cos", "odd * cos")
    )
    assert wrong != source
    if (step.lesson, step.number) == ("add", 1):
        wrong = wrong.replace("LENGTH = 163_840", "LENGTH = 5_120")
    monkeypatch.setattr("ascend_sim.lessons.running.changed", lambda *_: wrong)
    with pytest.raises(Exception, match=f"{step.lesson} step {step.number}: the values are wrong"):
        run_step(step)


def test_each_step_of_add_is_as_fast_as_the_one_before() -> None:
    times = [
        run_step(step, FAST if step.number == 1 else None).duration_us for step in catalog.find_lesson("add").steps
    ]
    assert times[0] > times[1] / 163_840 * 5_120 * 10  # per element
    assert all(after <= before * 1.001 for before, after in itertools.pairwise(times[1:]))


def test_free_banks_take_a_third_off_the_vector_unit() -> None:
    before, after = (run_step(catalog.find_step("add", n)).pipes["vec"].busy_us for n in (5, 6))
    assert 0.6 < after / before < 0.8


def test_comparison_names_what_changed() -> None:
    before, after = catalog.find_step("add", 5), catalog.find_step("add", 6)
    assert source_changes(before, after).splitlines() == [
        "+GAP = 256  # bytes: half of the 512 after which the 16 bank groups repeat",
        "-    pipe = asc.TPipe()",
        "+    pipe, gap = asc.TPipe(), asc.TBuf(asc.TPosition.VECCALC)",
        "+    pipe.init_buffer(gap, GAP)",
    ]
    first, second = run_step(before), run_step(after)
    text = comparison(first, second, ("step 5", "step 6"))
    assert f"{first.duration_us:.2f} us" in text
    assert f"{second.duration_us:.2f} us" in text
    assert "step6_conflict_free.py:39" in text


def test_constants_change_where_they_stand() -> None:
    step = catalog.find_step("rope", 1)
    assert "S, N, D = 160, 8, 64  # positions" in changed(step, {"N": "8"})
    with pytest.raises(InputError, match=r"^step 1 of rope has no constant 'TILE'; it has CORES, S, N, D$"):
        changed(step, {"TILE": "8"})
    with pytest.raises(InputError, match=r"^N=x\(\): the value must be a number, for example N=256$"):
        changed(step, {"N": "x()"})
    with pytest.raises(InputError, match=r"^'N': a constant is set as NAME=VALUE, for example TILE=256$"):
        parse_changes(["N"])


def test_unknown_lesson_and_step() -> None:
    with pytest.raises(InputError, match=r"^there is no lesson 'sub'; the lessons are add, rope$"):
        catalog.find_step("sub", 1)
    with pytest.raises(InputError, match=r"^lesson rope has no step 5; its steps are 1 to 4$"):
        catalog.find_step("rope", 5)


@pytest.mark.slow
@pytest.mark.parametrize("lesson", catalog.lessons(), ids=lambda lesson: lesson.name)
def test_pages_say_what_the_simulator_says(lesson: catalog.Lesson) -> None:
    """Figures and answers of the exercises; `python -m ascend_sim.lessons` writes them anew after a change. One test
    for a lesson: each step is run once, for its own page and for the next one's."""
    for step in lesson.steps:
        _check_page(step)


def _check_page(step: catalog.Step) -> None:
    blocks = {}
    for language in catalog.LANGUAGES:
        found = list(pages.BLOCK.finditer(step.page(language).read_text(encoding="utf-8")))
        assert len(found) == 2, "the step's figures and the answer of its exercise"
        blocks[language] = [(block["changes"], block["text"]) for block in found]
    assert blocks["en"] == blocks["zh"]
    for changes, text in blocks["en"]:
        said, today = (dict(_times(block)) for block in (text, pages.figures(step, changes)))
        assert said.keys() == today.keys()
        for name, values in said.items():
            assert values == pytest.approx(today[name], rel=0.05, abs=0.02), (
                f"step {step.number}, {name}: run `python -m ascend_sim.lessons`"
            )


def _times(block: str) -> list[tuple[str, list[float]]]:
    """The figures of a block's table, in us or counted, by the row's name; rows of waits come and go."""
    rows = re.findall(r"^(\S.*?) {2,}(\d.*)$", block, re.MULTILINE)
    return [
        (n, [float(v.replace(",", "")) for v in re.findall(r"[\d,.]*\d", cells)[:2]])
        for n, cells in rows
        if "idle" not in n
    ]
