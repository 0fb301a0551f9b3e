"""Changes between prompts, in words."""

from dataclasses import replace

from workbench.domain.findings import State
from workbench.domain.prompts import Cues, CueSet, Example, FindingGuidance, Guidance, Prompt, ReplyForm
from workbench.prompting.diff import diff_guidance, diff_text

OLD = Guidance(
    "demo",
    "en",
    "First",
    "",
    {"pneumothorax": FindingGuidance("Air", ("pneumothorax", "ptx")), "effusion": FindingGuidance("", ("fluid",))},
    Cues(negation=CueSet(before=("no", "without"))),
    (Example("No ptx.", {"pneumothorax": State.ABSENT}),),
)


def words(new: Guidance) -> list[str]:
    return [str(change) for change in diff_guidance(OLD, new)]


def test_equal_guidance_has_no_change() -> None:
    assert diff_guidance(OLD, OLD) == []
    assert diff_text(Prompt(OLD, "x"), Prompt(OLD, "x")) == ""


def test_names_each_phrase_under_its_finding() -> None:
    findings = {
        "pneumothorax": FindingGuidance("Air in the pleural space", ("pneumothoraces", "pneumothorax")),
        "edema": FindingGuidance("", ("edema",), ("pedal edema",), ("no congestion",)),
    }
    assert words(replace(OLD, findings=findings)) == [
        "pneumothorax: definition changed from 'Air' to 'Air in the pleural space'",
        "pneumothorax: synonym 'pneumothoraces' added",
        "pneumothorax: synonym 'ptx' removed",
        "edema: finding added",
        "edema: synonym 'edema' added",
        "edema: exclusion 'pedal edema' added",
        "edema: normal phrase 'no congestion' added",
        "effusion: finding removed",
    ]


def test_names_cues_examples_and_the_whole() -> None:
    new = replace(
        OLD,
        title="Second",
        instructions="Read " * 30,
        reply=ReplyForm.EVERY,
        cues=Cues(negation=CueSet(before=("without", "no"), after=("is not seen",)), pseudo_negation=("no change",)),
        examples=(
            Example("No ptx.", {"pneumothorax": State.PRESENT}),
            Example("Fluid.", {"effusion": State.PRESENT}, "7"),
        ),
    )
    shown = ("Read " * 30)[:60]
    assert words(new) == [
        "prompt: title changed from 'First' to 'Second'",
        "prompt: reply form changed from 'mentioned' to 'every'",
        f"prompt: instructions '{shown}...' added",
        "cues: negation cue before: order changed",
        "cues: negation cue after 'is not seen' added",
        "cues: pseudo-negation 'no change' added",
        "examples: labels of an example changed from 'pneumothorax absent' to 'pneumothorax present'",
        "examples: example 'Fluid.' added",
    ]


def test_a_long_text_is_shown_from_where_it_differs() -> None:
    first, second = (
        replace(OLD, instructions="Read the whole report, " * 5 + end) for end in ("twice.", "once and well.")
    )
    assert [str(change) for change in diff_guidance(first, second)] == [
        "prompt: instructions changed from '... whole report, twice.' to '... whole report, once and well.'"
    ]
    assert str(diff_guidance(first, replace(first, instructions=first.instructions + " Again."))[0]).endswith(
        "from '... report, twice.' to '... report, twice. Again.'"
    )


def test_unified_diff_shows_the_line_that_changed() -> None:
    text = diff_text(Prompt(OLD, "x\n"), Prompt(replace(OLD, title="Second"), "y\n"), old_name="0001", new_name="0002")
    lines = text.split("\n")
    assert lines[:2] == ["--- 0001", "+++ 0002"]
    assert [line for line in lines[2:] if line[0] in "+-"] == ["-title: First", "+title: Second", "-x", "+y"]
