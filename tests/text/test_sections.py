"""Sections are found by their headers, and words of a sentence are not taken for one."""

import csv
import json
import re
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


RULE = "_" * 78


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (  # as MIMIC-CXR lays a report out, lines of one space between the paragraphs
            (
                " FINAL REPORT\n INDICATION:  Cough.\n \n COMPARISON:  None.\n \n PA and lateral views.  Clear lung.\n "
                "Small effusion.\n \n Heart is large.\n \n IMPRESSION:  Effusion.\n"
            ),
            [
                ("preamble", "FINAL REPORT"),
                ("indication", "Cough."),
                ("comparison", "None."),
                ("findings", "PA and lateral views.  Clear lung.\n Small effusion.\n \n Heart is large."),
                ("impression", "Effusion."),
            ],
        ),
        (
            "COMPARISON: None.\r\n\r\nLungs clear.\r\n\r\nIMPRESSION: Normal.",
            [("comparison", "None."), ("findings", "Lungs clear."), ("impression", "Normal.")],
        ),
        (
            "REASON FOR EXAMINATION: Tube.\n\nPortable AP view was reviewed.\n\nThe tube is low.",
            [("indication", "Tube."), ("findings", "Portable AP view was reviewed.\n\nThe tube is low.")],
        ),
        (
            "REASON FOR EXAM: Tube.\n\nThe tube is low.\n\nNOTIFICATION: Called.",
            [("indication", "Tube."), ("findings", "The tube is low."), ("notification", "Called.")],
        ),
        (
            "HISTORY: Cough.\n\nThe patient is rotated. Effusion.\n\nIMPRESSION: Effusion.",
            [("history", "Cough."), ("findings", "The patient is rotated. Effusion."), ("impression", "Effusion.")],
        ),
        ("TECHNIQUE: AP.\n\nClear lungs.", [("technique", "AP."), ("findings", "Clear lungs.")]),
        (
            "EXAMINATION: CHEST (PORTABLE AP)\n\nClear lungs.",
            [("examination", "CHEST (PORTABLE AP)"), ("findings", "Clear lungs.")],
        ),
        (  # more context follows, but of what is under a comparison that goes on nothing else comes to mind
            "COMPARISON: None.\n\nLarge effusion.\n\nINDICATION: Cough.\n\nIMPRESSION: Effusion.",
            [
                ("comparison", "None."),
                ("findings", "Large effusion."),
                ("indication", "Cough."),
                ("impression", "Effusion."),
            ],
        ),
        (
            "INDICATION: Cough.\n\nLarge effusion.\n\nCOMPARISON: None.",
            [("indication", "Cough."), ("findings", "Large effusion."), ("comparison", "None.")],
        ),
        (
            "COMPARISON: None.\n\nClear lungs.\n\nFINDINGS:\n\nIMPRESSION: Normal.",
            [("comparison", "None."), ("findings", "Clear lungs."), ("impression", "Normal.")],
        ),
        (
            "对比：无。\n\n左侧少量积液。\n\n印象：积液。",
            [("comparison", "无。"), ("findings", "左侧少量积液。"), ("impression", "积液。")],
        ),
        (
            "INDICACIÓN: Tos.\n\nDerrame izquierdo.\n\nIMPRESIÓN: Derrame.",
            [("indication", "Tos."), ("findings", "Derrame izquierdo."), ("impression", "Derrame.")],
        ),
    ],
)
def test_findings_without_a_header_are_the_later_paragraphs_of_the_context(
    text: str, expected: list[tuple[str, str]]
) -> None:
    assert found(text) == expected


@pytest.mark.parametrize(
    ("header", "kept"),
    [
        ("CHEST, PA AND LATERAL:", ""),
        ("AP CHEST, 9:15 AM:", ""),
        ("AP CHEST, 9:15 A.M. ON ___:", ""),
        ("SINGLE SEMI-UPRIGHT PORTABLE CHEST X-RAY, 2 VIEWS:", ""),
        ("CHEST, TWO VIEWS:", ""),
        ("FRONTAL AND LATERAL VIEWS OF THE CHEST:", ""),
        ("PORTABLE CHEST EXAM:", ""),
        ("LUNGS:", "LUNGS: "),
        ("Lungs and pleura:", "Lungs and pleura: "),
    ],
)
@pytest.mark.parametrize("gap", [" ", "\n\n"])
def test_findings_follow_the_name_of_a_view_or_of_a_part_of_the_chest(header: str, kept: str, gap: str) -> None:
    said = f"{kept.strip()}{gap if kept else ''}Small effusion."
    assert found(f"FINAL REPORT\n {header}{gap}Small effusion.\nCOMPARISON: None.") == [
        ("preamble", "FINAL REPORT"),
        ("findings", said),
        ("comparison", "None."),
    ]
    assert found(f"HISTORY: Cough.\n{header}{gap}Small effusion.\nIMPRESSION: Effusion.") == [
        ("history", "Cough."),
        ("findings", said),
        ("impression", "Effusion."),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "INDICATION: Pneumonia.\n\nIMPRESSION: Clear.",
        "INDICATION:\n\nPneumonia.\n\nIMPRESSION: Clear.",
        "INDICATION: Cough.\n\n___-year-old man with pneumonia.\n\nIMPRESSION: Clear.",
        "INDICATION: Cough.\n\nA 65-year-old woman, pneumonia last week.\n\nIMPRESSION: Clear.",
        "INDICATION: Cough.\n\n___F, pneumonia.\n\nIMPRESSION: Clear.",
        "HISTORY: Cough.\n\nHistory of pneumonia.\n\nIMPRESSION: Clear.",
        "HISTORY: Cough.\n\nEvaluate for pneumonia.\n\nIMPRESSION: Clear.",
        "REASON FOR EXAM: Cough.\n\n?pneumonia\n\nIMPRESSION: Clear.",
        "INDICATION: Cough\n\nand pneumonia\n\nIMPRESSION: Clear.",  # double-spaced
        "INDICATION: Cough.\n\nPneumonia last year.\n\nCOMPARISON: None.\n\nIMPRESSION: Clear.",
        "INDICATION: Cough.\n\nPneumonia last year.\n\nCOMPARISON: None.\n\nClear.",
        "CHEST, TWO VIEWS:\n\n___-year-old with pneumonia.\n\nCOMPARISON: None.\n\nClear.",
        "COMPARISON:\nCHEST RADIOGRAPH: Pneumonia a year ago.\n\nIMPRESSION: Clear.",
        "COMPARISON: Chest CT and\nchest radiograph: pneumonia.\n\nIMPRESSION: Clear.",
        "COMPARISON: None.\n\nPneumonia last year.\n\nFINDINGS: Clear.",
        "CHEST, PA AND LATERAL: Pneumonia?\n\nFINDINGS: Clear.",
    ],
)
def test_what_is_asked_or_was_known_is_not_read_as_a_finding(text: str) -> None:
    selected = Report("r", "p", text, split_sections(text)).select()
    assert "neumonia" not in selected
    assert "Clear." in selected


def test_nothing_is_read_of_a_report_that_only_says_what_is_asked() -> None:
    text = " FINAL REPORT\n AP CHEST\n\n INDICATION: Pneumonia?\n\n COMPARISON: ___.\n\n ___."
    assert Report("r", "p", text, split_sections(text)).select() == ""


def test_a_preliminary_read_ends_at_the_final_report_and_is_not_read_beside_it() -> None:
    wet = f" WET READ: ___ ___ 9:45 PM\n  No pneumothorax.\n {RULE}\n       FINAL REPORT\n"
    head = ("wet read", f"___ ___ 9:45 PM\n  No pneumothorax.\n {RULE}")
    assert found(f"{wet} AP CHEST\n\n HISTORY: Cough.\n\n Small pneumothorax.\n") == [
        head,
        ("preamble", "FINAL REPORT\n AP CHEST"),
        ("history", "Cough."),
        ("findings", "Small pneumothorax."),
    ]
    assert found(f"{wet} Small pneumothorax.\n\n IMPRESSION: Drain in place.\n") == [
        head,
        ("unlabelled", "FINAL REPORT\n Small pneumothorax."),
        ("impression", "Drain in place."),
    ]
    assert found(f"{wet} Small pneumothorax.\n") == [head, ("unlabelled", "FINAL REPORT\n Small pneumothorax.")]
    assert found(wet.replace("WET READ", "PROVISIONAL FINDINGS IMPRESSION (PFI)") + " IMPRESSION: Drain.")[0] == head


def test_a_preliminary_read_is_read_where_there_is_nothing_else() -> None:
    text = " WET READ: ___ 9:45 PM\n  Small pneumothorax.\n"
    assert found(text) == [("findings", "___ 9:45 PM\n  Small pneumothorax.")]
    assert found(f"INDICATION: Cough.\n{text}") == [
        ("indication", "Cough."),
        ("findings", "___ 9:45 PM\n  Small pneumothorax."),
    ]


def test_what_stands_before_the_first_header_is_read_where_there_is_nothing_else() -> None:
    text = "Small effusion.\n\nRECOMMENDATION(S): CT for a nodule."
    assert found(text) == [("unlabelled", "Small effusion."), ("recommendation", "CT for a nodule.")]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("TECHNIQUE AND FINDINGS: Clear.", [("findings", "Clear.")]),
        ("COMPARISON/FINDINGS: Clear.", [("findings", "Clear.")]),
        ("FINDINGS/ IMPRESSION: Clear.", [("findings", "Clear.")]),
        ("IMPRESSION & RECOMMENDATION(S): Clear.", [("impression", "Clear.")]),
        ("INDICATION AND HISTORY: Cough.\nFINDINGS: Clear.", [("indication", "Cough."), ("findings", "Clear.")]),
        ("FINDNGS: Clear.\nIMPRESSOIN: Normal.", [("findings", "Clear."), ("impression", "Normal.")]),
        ("COMPARRISON: None.\nFIMDINGS: Clear.", [("comparison", "None."), ("findings", "Clear.")]),
        ("IMPRESSION: Clear.\nRECOMMENDATION(S): CT.", [("impression", "Clear."), ("recommendation", "CT.")]),
    ],
)
def test_headers_that_join_two_names_or_are_misspelt(text: str, expected: list[tuple[str, str]]) -> None:
    assert found(text) == expected


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
                "COMPARISON",
                "WET READ",
                "FINAL REPORT",
                "AP CHEST",
                "LUNGS",
                "\n\n",
                "______________",
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
@example("COMPARISON:a\n\nAP CHEST:\n\n\n______________\nFINAL REPORT\nLUNGS:")
def test_sections_are_spans_in_order_that_do_not_overlap(text: str) -> None:
    at = 0
    for section in split_sections(text):
        assert at <= section.start < section.end <= len(text)
        kept = text[section.start : section.end]
        assert kept == kept.strip()
        at = section.end


CONTEXT = ["INDICATION", "HISTORY", "COMPARISON", "TECHNIQUE", "EXAMINATION", "REASON FOR EXAM"]
PARAGRAPHS = st.lists(
    st.sampled_from(["No effusion.", "LUNGS: Clear.", "Heart", "1. Large heart.", "___."]), max_size=3
)


@given(
    st.lists(st.tuples(st.sampled_from(CONTEXT), PARAGRAPHS), min_size=1, max_size=4),
    st.sampled_from(["\n\n", "\n \n ", "\r\n\r\n"]),
    st.sampled_from(["", "IMPRESSION: Stable.", "RECOMMENDATION: Scan.", "FINDINGS: Stable."]),
)
def test_no_word_is_lost_and_the_first_paragraph_of_the_context_never_read(
    contexts: list[tuple[str, list[str]]], gap: str, end: str
) -> None:
    paragraphs = [
        said for name, later in contexts for said in (f"{name}: Known pneumonia.", *later)
    ]  # the first of each under its header
    text = gap.join([*paragraphs, end])
    report = Report("r", "p", text, split_sections(text))
    assert "pneumonia" not in report.select()
    last = contexts[-1][1]
    if end != "FINDINGS: Stable." and any(said != "___." for said in last):
        assert gap.join(last) in report.select(("findings",))
    kept = " ".join(said for _, said in found(text))
    for name in [*CONTEXT, "IMPRESSION", "RECOMMENDATION", "FINDINGS"]:
        text = text.replace(f"{name}:", "")
    assert kept.split() == text.split()


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


def test_findings_whose_header_is_taken_away_are_still_read_and_the_context_is_not() -> None:
    with (Path(__file__).parents[2] / "data" / "demo" / "reports.csv").open(encoding="utf-8", newline="") as file:
        texts = [row["text"] for row in csv.DictReader(file)]
    tried = 0
    for text in texts:
        said = {name: stretch for name, stretch in found(text) if name not in {"preamble", "unlabelled"}}
        bare = re.sub(r"(?im)^[ \t]*findings[ \t]*:\s*", "", text)
        if bare == text or said.keys().isdisjoint({"indication", "history", "comparison", "technique"}):
            continue  # nothing stands before the findings that they could be lost in
        tried += 1
        now = dict(found(bare))
        assert now.pop("findings") == said.pop("findings")
        assert now == said
    assert tried > 300
