"""Suggestions on reports made by hand, and what an edit changes against labelling everything anew."""

from collections.abc import Sequence

import numpy as np
import pytest

from workbench.domain.findings import MISSING, Finding, LabelSet, Policies, Policy
from workbench.domain.prompts import Cues, CueSet, FindingGuidance, Guidance, Prompt
from workbench.evaluation.comparisons import flips
from workbench.labelers.candidates import Candidates
from workbench.labelers.rereading import Rereading
from workbench.labelers.rules import RulesLabeler
from workbench.labelers.suggestions import folds, suggest
from workbench.prompting.edits import Edit, Part, edited

IDS = ("effusion", "big_heart", "air")
POLICIES = Policies(Policy.ABSENT)
LABEL_SET = LabelSet(
    "tiny", "1", "", tuple(Finding(id=i, name=i, name_zh="", group="", definition="") for i in IDS), POLICIES, POLICIES
)
PROMPT = Prompt(
    Guidance(
        "tiny",
        "en",
        "",
        "",
        findings={
            "effusion": FindingGuidance(synonyms=("effusion",)),
            "big_heart": FindingGuidance(synonyms=("cardiomegaly",)),
            "air": FindingGuidance(synonyms=("pneumothorax",)),
        },
    ),
    "",
)


def reading(
    *rows: tuple[str, str], prompt: Prompt = PROMPT, policy: Policy = Policy.ABSENT
) -> tuple[Rereading, list[str]]:
    """Rows are a report's text and the findings it has, by their first letters: "e b a"; "?" leaves all open."""
    texts = [text for text, _ in rows]
    truth = np.array(
        [[MISSING if "?" in has else int(i[0] in has.split()) for i in IDS] for _, has in rows], dtype=np.int8
    )
    return Rereading(prompt, LABEL_SET, texts, truth, [policy] * 3), [f"p{i}" for i in range(len(rows))]


def said(found: Sequence[object]) -> list[str]:
    return [str(each.edit) for each in found]  # type: ignore[attr-defined]


def test_a_phrase_of_missed_reports_that_stands_nowhere_else_is_suggested_as_synonym() -> None:
    rows = [("The heart is enlarged.", "b")] * 10 + [("The heart is small.", "")] * 10
    found = suggest(*reading(*rows))
    first = found[0]
    # ten of ten missed ones, none elsewhere: F1 of one of one supported finding goes from 0 to 1
    assert (first.edit.finding_id, first.edit.part) == ("big_heart", Part.SYNONYMS)
    assert "enlarged" in first.edit.phrase
    assert (len(first.fixed), first.held_out_fixed, first.broken, first.gain) == (10, 10, (), 1.0)
    assert len(found) == 1  # the other phrases answer the same errors


def test_a_phrase_that_stands_as_often_in_reports_without_the_finding_is_not_suggested() -> None:
    rows = [("The heart is seen.", "b"), ("The heart is seen.", "")] * 10
    assert suggest(*reading(*rows)) == []


def test_a_word_before_what_was_invented_everywhere_is_suggested_as_negation() -> None:
    rows = [("No effusion.", ""), ("No pneumothorax.", ""), ("No cardiomegaly.", ""), ("An effusion.", "e")] * 6
    found = suggest(*reading(*rows))
    assert said(found[:1]) == ['cues: add "no" (negation before a finding)']
    assert (found[0].held_out_fixed, found[0].held_out_broken) == (18, 0)


def test_a_longer_phrase_around_a_synonym_is_suggested_as_exclusion() -> None:
    rows = [("Pericardial effusion.", "")] * 8 + [("Left effusion.", "e")] * 8
    assert said(suggest(*reading(*rows))) == ['effusion: add "pericardial effusion" (exclusion)']


def test_a_word_that_ends_a_negation_is_suggested_where_what_follows_was_missed() -> None:
    cues = Cues(negation=CueSet(before=("no",)))
    prompt = Prompt(Guidance("tiny", "en", "", "", PROMPT.guidance.findings, cues), "")
    rows = [("No effusion but cardiomegaly.", "b"), ("No effusion but pneumothorax.", "a")] * 8
    found = suggest(*reading(*rows, prompt=prompt))
    assert said(found) == ['cues: add "but" (what ends a negation)']
    assert found[0].held_out_fixed == 16


def test_a_synonym_that_is_never_right_is_suggested_to_be_taken_out() -> None:
    findings = {**PROMPT.guidance.findings, "air": FindingGuidance(synonyms=("pneumothorax", "apex"))}
    prompt = Prompt(Guidance("tiny", "en", "", "", findings), "")
    rows = [("Pneumothorax.", "a")] * 6 + [("Apex.", "")] * 6
    assert said(suggest(*reading(*rows, prompt=prompt))) == ['air: take out "apex" (synonym)']


def test_what_helps_in_the_reports_of_one_patient_alone_scores_nothing_out_of_fold() -> None:
    rows = [("The heart is enlarged.", "b")] * 4 + [("The heart is small.", "")] * 10
    read, patients = reading(*rows)
    assert suggest(read, patients)
    assert suggest(read, ["the same"] * 4 + patients[4:]) == []


def test_only_a_named_finding_is_mended_and_cues_are_left_alone() -> None:
    rows = [("The heart is enlarged.", "b"), ("Fluid.", "e"), ("No pneumothorax.", "")] * 6
    found = suggest(*reading(*rows), only=["effusion"])
    assert {each.edit.finding_id for each in found} == {"effusion"}


def test_cells_that_the_reference_leaves_open_count_for_nothing() -> None:
    rows = [("The heart is enlarged.", "?")] * 10
    assert suggest(*reading(*rows)) == []


def test_patients_are_dealt_into_the_same_five_folds_in_any_order() -> None:
    patients = [f"p{i}" for i in range(200)]
    dealt = dict(zip(patients, folds(patients), strict=True))
    assert set(dealt.values()) == {0, 1, 2, 3, 4}
    assert folds(patients[::-1]) == [dealt[p] for p in patients[::-1]]


TEXTS = (
    "The heart is enlarged. No effusion.",
    "No effusion, pneumothorax is seen. Heart size normal.",
    "Pericardial effusion. Possible pneumothorax.",
    "Air in the pleural space, no change in effusion but cardiomegaly.",
    "Effusion: no effusion. The heart and the aorta are enlarged.",
    "没有积液. Effusions are not seen.",
    "",
)
EDITS = [
    Edit("", Part.NEGATION_BEFORE, "no"),
    Edit("", Part.NEGATION_AFTER, "is/are not seen"),
    Edit("", Part.UNCERTAINTY_BEFORE, "possible"),
    Edit("", Part.HISTORY_BEFORE, "pericardial"),
    Edit("", Part.PSEUDO_NEGATION, "no change in"),
    Edit("", Part.NEGATION_TERMINATORS, "but"),
    Edit("", Part.NEGATION_BEFORE, "no", add=False),
    Edit("big_heart", Part.SYNONYMS, "heart ... enlarged"),
    Edit("big_heart", Part.NORMAL, "heart size normal"),
    Edit("big_heart", Part.SYNONYMS, "enlarg*"),
    Edit("effusion", Part.EXCLUSIONS, "pericardial effusion"),
    Edit("effusion", Part.SYNONYMS, "effusion", add=False),
    Edit("effusion", Part.SYNONYMS, "积液"),
    Edit("air", Part.SYNONYMS, "air ... pleural space"),
]


@pytest.mark.parametrize("policy", list(Policy))
@pytest.mark.parametrize("edit", EDITS, ids=str)
@pytest.mark.parametrize("negated", [True, False])
def test_what_an_edit_changes_is_what_labelling_everything_anew_would_change(
    edit: Edit, policy: Policy, *, negated: bool
) -> None:
    prompt = edited(PROMPT, [Edit("", Part.NEGATION_BEFORE, "no")] if negated else [])
    rows = [(text, has) for text in TEXTS for has in ("e b a", "", "?")]
    effect = reading(*rows, prompt=prompt, policy=policy)[0].effect(edit)
    assert (effect.fixed, effect.broken) == _anew(prompt, edit, rows, policy)


def _anew(prompt: Prompt, edit: Edit, rows: Sequence[tuple[str, str]], policy: Policy) -> tuple[object, object]:
    truth = np.array([[MISSING if "?" in has else int(i[0] in has.split()) for i in IDS] for _, has in rows])
    before, after = (
        np.array([RulesLabeler(p, LABEL_SET).codes(text) for text, _ in rows], dtype=np.int8)
        for p in (prompt, edited(prompt, [edit]))
    )
    found = flips(truth.astype(np.int8), before, after, [policy] * 3)
    return (
        {(report, finding) for finding, flip in enumerate(found) for report in flip.fixed},
        {(report, finding) for finding, flip in enumerate(found) for report in flip.broken},
    )


def test_the_edits_tried_above_change_something_so_that_agreeing_on_them_means_something() -> None:
    rows = [(text, has) for text in TEXTS for has in ("e b a", "")]
    read = reading(*rows)[0]
    changing = [edit for edit in EDITS if read.effect(edit).fixed]
    assert len(changing) >= 9


def test_candidates_hold_no_signs_numbers_or_blanks() -> None:
    rows = [("Heart, 3 cm XXXX enlarged ___ today.", "b")] * 5
    phrases = [edit.phrase for edit in Candidates(reading(*rows)[0]).edits()]
    assert phrases
    assert not any(sign in phrase for phrase in phrases for sign in (",", "3", "xxxx", "___"))
