"""Sections are found by their headers, and words of a sentence are not taken for one."""

import json
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from workbench.domain.reports import READ_BY_DEFAULT, Report
from workbench.text.sections import split_sections


def found(text: str) -> list[tuple[str, str]]:
    return [(section.name, text[section.start : section.end]) for section in split_sections(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("FINDINGS: Clear.\nIMPRESSION: Normal.", [("findings", "Clear."), ("impression", "Normal.")]),
        ("FINDINGS:\r\nClear.\r\n\r\nIMPRESSION:\r\nNormal.\r\n", [("findings", "Clear."), ("impression", "Normal.")]),
        ("Findings: Clear. Impression: Normal.", [("findings", "Clear."), ("impression", "Normal.")]),
        ("findings: clear. impression: normal", [("findings", "clear."), ("impression", "normal")]),
        ("Impression : Normal.", [("impression", "Normal.")]),
        ("FINDINGS\nClear.\nIMPRESSION\nNormal.", [("findings", "Clear."), ("impression", "Normal.")]),
        ("IMPRESSION - Normal.", [("impression", "Normal.")]),
        ("**Findings:** Clear.\n\n## Impression\nNormal.", [("findings", "Clear."), ("impression", "Normal.")]),
        ("**Findings**: Clear.\n__Impression__\n*Normal.*", [("findings", "Clear."), ("impression", "*Normal.*")]),
        ("FINDINGS: **Clear.**", [("findings", "**Clear.**")]),
        ("FINDINGS AND IMPRESSION: Clear.", [("findings", "Clear.")]),
        ("FINDINGS: Clear.\nCONCLUSION: Normal.", [("findings", "Clear."), ("impression", "Normal.")]),
        (
            "EXAM: CHEST PA\nCLINICAL HISTORY: Cough.\nREASON FOR EXAM: ?pneumonia\nTECHNIQUE: AP.\nCOMPARISON: None.",
            [
                ("examination", "CHEST PA"),
                ("history", "Cough."),
                ("indication", "?pneumonia"),
                ("technique", "AP."),
                ("comparison", "None."),
            ],
        ),
        (
            " FINAL REPORT\n INDICATION:  Cough.\n\n FINDINGS:  \n \n Clear.\n\n IMPRESSION:  \n \n 1. Normal.\n",
            [
                ("preamble", "FINAL REPORT"),
                ("indication", "Cough."),
                ("findings", "Clear."),
                ("impression", "1. Normal."),
            ],
        ),
        ("检查所见：双肺清晰。印象：正常。", [("findings", "双肺清晰。"), ("impression", "正常。")]),
        ("影像表现：清晰。\n诊断意见：正常。", [("findings", "清晰。"), ("impression", "正常。")]),
        ("影像表现:清晰。 结论:正常。", [("findings", "清晰。"), ("impression", "正常。")]),
        ("【检查所见】双肺清晰。\n【诊断意见】正常。", [("findings", "双肺清晰。"), ("impression", "正常。")]),
        ("【检查所见】：双肺清晰。", [("findings", "双肺清晰。")]),
        ("HALLAZGOS: Sin derrame.\nIMPRESIÓN: Normal.", [("findings", "Sin derrame."), ("impression", "Normal.")]),
    ],
)
def test_headers_of_the_field(text: str, expected: list[tuple[str, str]]) -> None:
    assert found(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "There are no findings: the lungs are clear.",
        "No findings: the lungs are clear.",
        "No FINDINGS: the lungs are clear.",
        "NO ACUTE FINDINGS: THE LUNGS ARE CLEAR.",
        "Clear lungs, no acute\nfindings: none at all.",
        "Lungs: Clear.\nPLEURA: No effusion.",
        "Findings are as follows.",
        "The impression is of a normal chest.",
        "总体印象是正常",
        "根据印象，右肺：清晰",
        "Time 10:30, ratio 1:2.",
        "impression\nof a mass",
        "Impression - this is prose.",
        "Heart [findings] large",
    ],
)
def test_words_of_a_sentence_are_no_header(text: str) -> None:
    assert found(text) == [("unlabelled", text)]


def test_sub_headers_of_a_structured_report_stay_in_the_findings() -> None:
    body = "Lungs: Clear. No nodule.\nPLEURA: Small effusion.\nLines and tubes: None.\nOther findings: Rib fracture."
    assert found(f"FINDINGS:\n{body}\nIMPRESSION: Effusion.") == [("findings", body), ("impression", "Effusion.")]


@pytest.mark.parametrize(
    "text",
    [
        "INDICATION: Chest pain FINDINGS: No effusion.",
        "INDICATION: CHEST PAIN FINDINGS: NO EFFUSION.",
        "Indication: Chest pain Findings: No effusion.",
        "Indication: Chest pain **Findings:** No effusion.",
        "INDICATION: Chest pain - FINDINGS: No effusion.",
        "INDICATION: CHEST PAIN  FINDINGS: NO EFFUSION.",
    ],
)
def test_findings_that_follow_without_a_full_stop_are_not_lost_in_the_indication(text: str) -> None:
    assert [name for name, _ in found(text)] == ["indication", "findings"]


@pytest.mark.parametrize(
    "text",
    [
        "CLINICAL IMPRESSION: Pneumonia.\nFINDINGS: Clear.",
        "临床诊断：肺炎\n检查所见：双肺清晰。",
        "Reason for this examination: pneumonia. Findings: Clear.",
    ],
)
def test_what_the_clinician_thinks_is_never_read_as_a_finding(text: str) -> None:
    report = Report("r", "p", text, split_sections(text))
    assert "neumonia" not in report.select()
    assert "肺炎" not in report.select()
    assert report.select()


def test_what_stands_before_a_lone_impression_is_what_was_found() -> None:
    text = "Small left effusion. Large heart.\nIMPRESSION: Stable."
    assert found(text) == [("unlabelled", "Small left effusion. Large heart."), ("impression", "Stable.")]
    assert Report("r", "p", text, split_sections(text)).select() == "Small left effusion. Large heart.\n\nStable."


def test_an_addendum_is_read_with_the_impression() -> None:
    text = "FINDINGS: Clear.\nADDENDUM: Small pneumothorax on second look."
    assert found(text)[-1] == ("impression", "Small pneumothorax on second look.")


@pytest.mark.parametrize("text", ["", "  \n ", "FINDINGS:", "FINDINGS:\n\nIMPRESSION: "])
def test_where_nothing_is_said_there_is_no_section(text: str) -> None:
    assert split_sections(text) == ()


def test_a_section_that_comes_twice_is_kept_twice() -> None:
    assert found("FINDINGS: One.\nIMPRESSION: Two.\nFINDINGS: Three.") == [
        ("findings", "One."),
        ("impression", "Two."),
        ("findings", "Three."),
    ]


PIECES = st.lists(
    st.one_of(
        st.sampled_from(
            [
                "FINDINGS",
                "Impression",
                "印象",
                "**",
                "##",
                "【",
                "】",
                "[",
                "]",
                ":",
                "：",
                "-",
                ". ",
                "。",
                "\n",
                "\r\n",
                " ",
            ]
        ),
        st.text(max_size=8),
    ),
    max_size=30,
).map("".join)


@given(PIECES)
@example("【印象】：x")
@example("**Findings:** a [FINDINGS] b")
@example("FINDINGS\n: a")
def test_sections_are_spans_in_order_that_do_not_overlap(text: str) -> None:
    at = 0
    for section in split_sections(text):
        assert at <= section.start < section.end <= len(text)
        kept = text[section.start : section.end]
        assert kept == kept.strip()
        at = section.end


@given(st.lists(st.sampled_from(["Clear lungs.", "No effusion", "Lungs: clear.", "1. Normal\n2. Stable"]), min_size=4))
def test_each_word_of_a_plain_report_is_in_the_section_it_was_put_in(bodies: list[str]) -> None:
    names = ["indication", "comparison", "findings", "impression"]
    parts = dict(zip(names, bodies, strict=False))
    text = "\n\n".join(f"{name.upper()}: {body}" for name, body in parts.items())
    assert found(text) == list(parts.items())
    assert Report("r", "p", text, split_sections(text)).select(READ_BY_DEFAULT) == "\n\n".join(bodies[2:4])


def test_reports_of_a_generator_challenge_divide_as_their_makers_divided_them(shared: Path) -> None:
    studies = json.loads((shared / "submissions" / "rexrank_iu_xray_valid.json").read_text())
    assert len(studies) > 200
    for study in studies.values():
        expected = [("findings", study["section_findings"]), ("impression", study["section_impression"])]
        assert found(study["report"]) == [(name, text.strip()) for name, text in expected]
