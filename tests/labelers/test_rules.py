import asyncio
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.domain.findings import FAILED, Finding, LabelSet, Policies, Policy, State
from workbench.domain.prompts import Cues, CueSet, FindingGuidance, Guidance, Prompt
from workbench.domain.runs import ExtractionStatus, Mention
from workbench.errors import WorkbenchError
from workbench.labelers import rules
from workbench.labelers.rules import ENGINE_VERSION, RulesLabeler, check_engine

IDS = ("effusion", "big_heart", "node")
POLICIES = Policies(Policy.PRESENT)
LABEL_SET = LabelSet(
    "tiny", "1", "", tuple(Finding(id=i, name=i, name_zh="", group="", definition="") for i in IDS), POLICIES, POLICIES
)
GUIDANCE = Guidance(
    label_set="tiny",
    language="en",
    title="",
    instructions="",
    findings={
        "effusion": FindingGuidance(
            synonyms=("effusion", "pleural fluid", "积液"),
            exclusions=("pericardial effusion",),
            normal=("costophrenic angles ... sharp",),
        ),
        "big_heart": FindingGuidance(synonyms=("heart ... enlarged",), normal=("heart ... normal",)),
    },
    cues=Cues(
        negation=CueSet(
            before=("no", "not", "未见"), after=("is/are not seen", "has resolved", ": none"), terminators=("but",)
        ),
        pseudo_negation=("no change in",),
        uncertainty=CueSet(before=("possible",), after=("not ruled out",)),
        history=CueSet(before=("history of",)),
    ),
)
ENGLISH = replace(
    GUIDANCE, findings={**GUIDANCE.findings, "effusion": FindingGuidance(synonyms=("effusion",))}, cues=Cues()
)
LABELER = RulesLabeler(Prompt(GUIDANCE, ""), LABEL_SET)


def states(text: str) -> dict[str, str]:
    return {finding: mention.state.value for finding, mention in LABELER.label_text(text).items()}


@pytest.mark.parametrize(
    ("text", "effusion"),
    [
        ("Small effusion.", "present"),
        ("No effusion.", "absent"),
        ("Possible effusion.", "uncertain"),
        ("History of effusion.", None),
        ("Nothing of note.", None),
        ("Pericardial effusion.", None),
        ("Pericardial effusion and pleural fluid.", "present"),
        ("Costophrenic angles are sharp.", "absent"),
        ("No change in the effusion.", "present"),
        ("The effusion has resolved.", "absent"),
        ("EFFUSIONS: NONE", "absent"),
        ("右侧胸腔积液。", "present"),
        ("未见胸腔积液。", "absent"),
    ],
)
def test_one_sentence_is_read_by_the_prompts_phrases_and_cues(text: str, effusion: str | None) -> None:
    assert states(text).get("effusion") == effusion


@pytest.mark.parametrize(
    ("text", "heart"),
    [
        ("The heart is mildly enlarged.", "present"),
        ("The heart is not enlarged.", "absent"),
        ("Heart size is normal.", "absent"),
        ("The heart is not normal in size.", "present"),
        ("The heart is enlarged with normal lungs.", "present"),
    ],
)
def test_a_gap_may_hold_a_denial_and_a_normal_statement_may_be_denied(text: str, heart: str) -> None:
    assert states(text) == {"big_heart": heart}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Effusion: no effusion.", "absent"),
        ("Effusion: small.", "present"),
        ("Effusion: possible effusion.", "uncertain"),
        ("Effusion: none.", "absent"),
    ],
)
def test_a_heading_that_the_text_takes_up_again_says_nothing(text: str, expected: str) -> None:
    assert states(text) == {"effusion": expected}


def test_a_gap_does_not_reach_into_a_clause_with_a_subject_and_a_verb_of_its_own() -> None:
    assert states("The heart is stable and the aorta is enlarged.") == {}
    assert states("The heart is stable and enlarged.") == {"big_heart": "present"}


@pytest.mark.parametrize(
    ("text", "heart"),
    [
        ("Stable heart and enlarged aorta.", None),
        ("Heart and enlarged.", "present"),
        ("Heart and enlarged in size.", "present"),
        ("Heart enlarged and normal lungs.", "present"),
        ("Heart and normal lungs.", None),
        ("Heart and lungs are normal.", "absent"),
    ],
)
def test_of_two_things_each_keeps_its_own_description(text: str, heart: str | None) -> None:
    assert states(text).get("big_heart") == heart


@pytest.mark.parametrize(
    ("text", "effusion"),
    [
        ("No effusion. Small effusion.", "present"),
        ("Possible effusion. Small effusion. No effusion.", "present"),
        ("No effusion. Possible effusion.", "uncertain"),
        ("History of effusion. No effusion.", "absent"),
    ],
)
def test_over_the_sentences_of_a_report_the_strongest_statement_counts(text: str, effusion: str) -> None:
    assert states(text)["effusion"] == effusion


def test_the_evidence_is_the_first_sentence_that_decides_word_for_word() -> None:
    text = "Effusion: none.\nSmall  LEFT effusion,\nXXXX. Effusion again."
    assert LABELER.label_text(text) == {"effusion": Mention(State.PRESENT, "Small  LEFT effusion,\nXXXX.")}


def test_codes_are_the_states_in_label_set_order() -> None:
    assert LABELER.codes("No effusion. The heart is enlarged.") == [0, 1, -2]
    assert LABELER.codes("Possible effusion.") == [-1, -2, -2]
    assert LABELER.codes("") == [-2, -2, -2]


def test_a_prompt_may_be_silent_on_findings_and_speak_of_others() -> None:
    guidance = replace(GUIDANCE, findings={"unknown": FindingGuidance(synonyms=("effusion",))})
    assert RulesLabeler(Prompt(guidance, ""), LABEL_SET).codes("Effusion.") == [-2, -2, -2]


def test_spans_show_findings_and_cues_where_they_stand() -> None:
    text = "Heart size is normal. No effusion; possible pericardial effusion."
    spans = [(text[s.start : s.end], s.kind, s.finding, s.state) for s in LABELER.spans(text)]
    assert spans == [
        ("Heart size is normal", "normal", "big_heart", State.ABSENT),
        ("No", "negation", "", None),
        ("effusion", "finding", "effusion", State.ABSENT),
        ("possible", "uncertainty", "", None),
    ]


def test_a_blank_text_is_blank_and_not_a_report_without_findings() -> None:
    extraction = asyncio.run(LABELER.label(" \n"))
    assert extraction.status is ExtractionStatus.BLANK
    assert extraction.state("effusion") is None


def test_a_report_becomes_an_extraction() -> None:
    extraction = asyncio.run(LABELER.label("No effusion.", repeat=2))
    assert extraction.status is ExtractionStatus.OK
    assert extraction.mentions == {"effusion": Mention(State.ABSENT, "No effusion.")}
    assert extraction.state("node") is State.NOT_MENTIONED


def test_the_engines_version_is_part_of_what_identifies_the_labeler() -> None:
    assert LABELER.settings.identity["options"] == {"engine": ENGINE_VERSION}
    assert LABELER.settings.kind == "rules"


def test_an_engine_whose_negation_is_dead_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("workbench.labelers.sentence_reader.longest_cues", lambda found: [])
    with pytest.raises(WorkbenchError, match="no report is labeled"):
        check_engine()


def test_no_labeler_is_made_in_a_process_whose_engine_is_dead(monkeypatch: pytest.MonkeyPatch) -> None:
    rules._checked_once.cache_clear()
    monkeypatch.setattr("workbench.labelers.sentence_reader.longest_cues", lambda found: [])
    with pytest.raises(WorkbenchError, match="no report is labeled"):
        RulesLabeler(Prompt(GUIDANCE, ""), LABEL_SET)


def test_the_sentences_kept_in_memory_are_bounded() -> None:
    assert LABELER._read.cache_info().maxsize == rules._SENTENCES_KEPT


_PIECES = st.sampled_from(
    [
        "No",
        "effusion",
        "heart",
        "enlarged",
        "not",
        "possible",
        ".",
        ",",
        ";",
        ":",
        "\n",
        "but",
        "has resolved",
        "XXXX",
        "积液",
    ]
)


@given(st.one_of(st.text(max_size=200), st.lists(_PIECES, max_size=25).map(" ".join)))
def test_any_text_is_read_and_quoted_verbatim(text: str) -> None:
    mentions = LABELER.label_text(text)
    assert all(mention.evidence and mention.evidence in text for mention in mentions.values())
    codes = [mentions[i].state.code if i in mentions else State.NOT_MENTIONED.code for i in IDS]
    # Random letters may well be of a language that cannot be read: quoted verbatim is what is found all the same.
    assert LABELER.codes(text) == ([FAILED] * len(IDS) if LABELER.languages.unread(text) else codes)
    assert all(0 <= span.start < span.end <= len(text) for span in LABELER.spans(text))


@given(
    st.sampled_from(["effusion", "pleural fluid", "effusions", "EFFUSION"]), st.sampled_from(["", "small ", "left "])
)
def test_no_before_a_finding_turns_present_into_absent(name: str, kind: str) -> None:
    assert states(f"{kind}{name}.") == {"effusion": "present"}
    assert states(f"No {kind}{name}.") == {"effusion": "absent"}
    assert states(f"No {kind}{name}, but {name}.") == {"effusion": "present"}


def test_a_report_in_another_language_fails_and_is_never_not_mentioned() -> None:
    labeler = RulesLabeler(Prompt(ENGLISH, ""), LABEL_SET)
    chinese = "右侧胸腔少量积液。心影增大。"
    assert labeler.codes(chinese) == [FAILED, FAILED, FAILED]
    found = asyncio.run(labeler.label(chinese))
    assert (found.status, found.mentions) == (ExtractionStatus.OTHER_LANGUAGE, {})
    assert found.detail == (
        "The report is in Chinese; the prompt's phrases are in English, so the rules cannot read it."
    )
    assert found.state("effusion") is None
    assert labeler.codes("Small effusion. 王小明") == [1, -2, -2]
    assert labeler.codes("___") == [-2, -2, -2]  # nothing in it tells of a language


def test_a_bilingual_prompt_reads_both_languages() -> None:
    assert LABELER.codes("右侧胸腔少量积液。") == [1, -2, -2]
    assert LABELER.codes("未见积液。") == [0, -2, -2]
    assert LABELER.codes("Effusion.") == [1, -2, -2]
