"""Cases of public bug reports that concern the reading of text, each with its neighbours of the same kind.

The numbers are those of the list of cases. Every sentence is read by the last shipped prompt.
"""

from pathlib import Path

import pytest

from workbench.errors import WorkbenchError
from workbench.formats.label_sets import read_label_set
from workbench.labelers.rules import RulesLabeler, check_engine
from workbench.prompting.files import read_prompt

E, PTX, PNA, CONS, EDEMA = "pleural_effusion", "pneumothorax", "pneumonia", "consolidation", "pulmonary_edema"
HEART, ATEL, FX, DEVICE, OPACITY = "cardiomegaly", "atelectasis", "fracture", "support_device", "lung_opacity"


@pytest.fixture(scope="module")
def labeler(root: Path) -> RulesLabeler:
    label_set = read_label_set(root / "data" / "cxr21.yaml")
    newest = max((root / "prompts" / "cxr21").glob("*.md"))
    return RulesLabeler(read_prompt(newest, label_set=label_set), label_set)


def states(labeler: RulesLabeler, text: str) -> dict[str, str]:
    return {finding: mention.state.value for finding, mention in labeler.label_text(text).items()}


def all_of(state: str, *findings: str) -> dict[str, str]:
    return dict.fromkeys(findings, state)


def test_1_the_engine_refuses_to_start_when_negation_is_dead(monkeypatch: pytest.MonkeyPatch) -> None:
    check_engine()
    monkeypatch.setattr("workbench.labelers.sentence_reader.longest_cues", lambda found: [])
    with pytest.raises(WorkbenchError, match="no report is labeled"):
        check_engine()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # 1: negation silently off
        ("There is no evidence of effusion or large pneumothorax.", all_of("absent", E, PTX)),
        ("No radiographic evidence of pneumonia or of a fracture.", all_of("absent", PNA, FX)),
        ("Negative for effusion.", all_of("absent", E)),
        ("Cardiac silhouette is big without large effusion.", {HEART: "present", E: "absent"}),
        ("There isn't any effusion.", all_of("absent", E)),
        ("Nil effusion, nil pneumothorax.", all_of("absent", E, PTX)),
        # 3: uncertainty is a state of its own
        ("Possible small left effusion.", all_of("uncertain", E)),
        ("Small left effusion, possible pneumonia.", {E: "present", PNA: "uncertain"}),
        ("Findings may represent pneumonia or atelectasis.", all_of("uncertain", PNA, ATEL)),
        ("Cannot exclude a small effusion.", all_of("uncertain", E)),
        ("A small pneumothorax cannot be entirely excluded.", all_of("uncertain", PTX)),
        ("Pneumothorax?", all_of("uncertain", PTX)),
        ("No pneumothorax, possible effusion.", {PTX: "absent", E: "uncertain"}),
        ("No definite pneumothorax.", all_of("absent", PTX)),
        ("Without evidence of possible pneumonia.", all_of("absent", PNA)),
        ("?pneumonia", all_of("uncertain", PNA)),
        ("Cannot completely exclude effusion or atelectasis.", all_of("uncertain", E, ATEL)),
        ("Unable to rule out pneumonia.", all_of("uncertain", PNA)),
        ("No fracture, pneumothorax, or effusion suspicious for pneumonia.", all_of("absent", FX, PTX, E, PNA)),
        # 4: the head noun and the full phrase are both denied
        ("There is no loculated pleural fluid.", all_of("absent", E)),
        ("No large layering right pleural effusion.", all_of("absent", E)),
        ("No displaced or nondisplaced rib fracture.", all_of("absent", FX)),
        # 5: "negative for", and terms joined by a slash
        ("The chest is negative for effusion/pneumothorax.", all_of("absent", E, PTX)),
        ("No effusion/pneumothorax/fracture.", all_of("absent", E, PTX, FX)),
        ("Possible effusion/atelectasis.", all_of("uncertain", E, ATEL)),
        # 6: the whole list is denied
        (
            "No effusion, pneumothorax, consolidation or edema.",
            all_of("absent", OPACITY, CONS, EDEMA, E, PTX),
        ),
        ("Neither effusion nor pneumothorax is seen.", all_of("absent", E, PTX)),
        ("Effusion, pneumothorax and fracture are not seen.", all_of("absent", E, PTX, FX)),
        ("Lungs are free of consolidation, edema, or atelectasis.", all_of("absent", OPACITY, CONS, EDEMA, ATEL)),
        ("no effusion , pneumothorax , or fracture .", all_of("absent", E, PTX, FX)),
        ("No effusion, but a small pneumothorax.", {E: "absent", PTX: "present"}),
        ("No effusion. Pneumothorax.", {E: "absent", PTX: "present"}),
        ("No effusion, the pneumothorax has grown.", {E: "absent", PTX: "present"}),
        ("No effusion and a small pneumothorax is present.", {E: "absent", PTX: "present"}),
        ("No effusion, small pneumothorax, or fracture.", all_of("absent", E, PTX, FX)),
        ("The following are absent: effusion, pneumothorax.", all_of("absent", E, PTX)),
        # 7: what looks like a denial and is none
        ("No interval change in the left pneumothorax.", all_of("present", PTX)),
        ("No significant change in the effusion or the atelectasis.", all_of("present", E, ATEL)),
        ("There is no increase in the effusion.", all_of("present", E)),
        ("Pneumonia not ruled out.", all_of("uncertain", PNA)),
        ("Pneumonia is not excluded.", all_of("uncertain", PNA)),
        ("The pneumothorax has not resolved.", all_of("present", PTX)),
        ("The pneumothorax has resolved.", all_of("absent", PTX)),
        ("The effusion is not significantly changed.", all_of("present", E)),
        ("No effusion and no change in the pneumothorax.", {E: "absent", PTX: "present"}),
        ("The atelectasis has partially cleared.", all_of("present", ATEL)),
        ("Near complete resolution of the pneumothorax.", all_of("present", PTX)),
        ("The pneumothorax hasn't changed.", all_of("present", PTX)),
        ("No difference in the effusion.", all_of("present", E)),
        ("The effusion was not present previously.", all_of("present", E)),
        ("No new effusion.", all_of("absent", E)),
        # 8: one phrase can stand for several findings
        ("Calcified granuloma, left apex.", all_of("present", "nodule_or_mass", "calcification")),
        # 12: blanks are words like any other and are never filled in
        ("XXXX effusion compared to ___.", all_of("present", E)),
        ("No XXXX effusion.", all_of("absent", E)),
        ("XXXX ___ XXXX.", {}),
        ("The XXXX is enlarged.", {}),
        # of the same kind as 5 and 6: a form filled in
        ("Pneumothorax: none. Effusion: no. Fracture: absent.", all_of("absent", PTX, E, FX)),
        ("Effusion - none", all_of("absent", E)),
        ("Pleura: No effusion or pneumothorax.", all_of("absent", E, PTX)),
        ("Bones - no fracture", all_of("absent", FX)),
        ("Pneumothorax: no, effusion: no", all_of("absent", PTX, E)),
        ("Effusion possible, pneumonia unlikely.", {E: "uncertain", PNA: "absent"}),
        ("Pleura: Small effusion. Lungs: No edema.", {E: "present", EDEMA: "absent"}),
        ("EFFUSIONS: NONE", all_of("absent", E)),
        ("Heart: Not enlarged. Pleura: Questionable effusion.", {HEART: "absent", E: "uncertain"}),
        ("Heart: Mildly enlarged.", all_of("present", HEART)),
        # of the same kind as 7: history, and what was removed
        ("History of pneumonia.", {}),
        ("History of pneumonia, now with effusion.", all_of("present", E)),
        ("The chest tube has been removed.", all_of("absent", DEVICE)),
        ("Cardiomegaly without overt edema.", {HEART: "present", EDEMA: "absent"}),
        ("The heart is not enlarged.", all_of("absent", HEART)),
        ("Cardiac silhouette is not enlarged.", all_of("absent", HEART)),
        ("Heart size is above normal.", all_of("present", HEART)),
        ("The chest tube has not been removed.", all_of("present", DEVICE)),
        ("Effusion has decreased and pneumonia has resolved.", {E: "present", PNA: "absent"}),
    ],
)
def test_a_sentence_is_read_as_a_radiologist_reads_it(
    labeler: RulesLabeler, text: str, expected: dict[str, str]
) -> None:
    assert states(labeler, text) == expected


@pytest.mark.parametrize("change", [str.upper, str.lower, lambda t: t.replace(" ", "\n"), lambda t: t.rstrip(".")])
def test_case_wrapping_and_a_missing_full_stop_change_nothing(labeler: RulesLabeler, change) -> None:
    text = "There is no evidence of effusion or large pneumothorax."
    assert states(labeler, change(text)) == all_of("absent", E, PTX)


def test_9_a_finding_in_the_last_sentence_of_a_long_report_is_found(labeler: RulesLabeler) -> None:
    filler = "The cardiac silhouette is stable in its appearance. No effusion is seen on either side today. " * 44
    text = filler + "Small right apical pneumothorax."
    assert len(text.split()) > 700
    mention = labeler.label_text(text)[PTX]
    assert mention.state.value == "present"
    assert mention.evidence == "Small right apical pneumothorax."


def test_10_and_11_empty_texts_mention_nothing_and_the_word_nan_is_no_finding(labeler: RulesLabeler) -> None:
    for text in ("", " ", "\n", "nan", "None"):
        assert states(labeler, text) == {}


@pytest.mark.parametrize("state", ["present", "absent", "uncertain"])
def test_2_every_state_has_its_own_code(labeler: RulesLabeler, state: str) -> None:
    sentence = {"present": "Effusion.", "absent": "No effusion.", "uncertain": "Possible effusion."}[state]
    code = {"present": 1, "absent": 0, "uncertain": -1}[state]
    codes = labeler.codes(sentence)
    assert sorted(set(codes)) == sorted({code, -2})
    assert codes.count(code) == 1
