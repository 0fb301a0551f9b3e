"""A report for rating: every word of it, escaped, each sentence to be clicked."""

import html
import re

import pytest

from workbench.domain.reports import Report
from workbench.text.phrases import PhraseFinder
from workbench.text.sections import split_sections
from workbench.ui.reading import report_html, squeezed


def shown(text: str, **evidence: list[str]) -> str:
    report = Report("r", "p", text, split_sections(text))
    return report_html(report, ["findings"], evidence)


@pytest.mark.parametrize(
    "text",
    [
        "FINDINGS: <script>alert(1)</script> is **text**. =cmd()|x. Next.",
        "FINDINGS: 心影不大。 未见骨折。🙂 العربية.",
        "no sections at all. just text",
        "FINDINGS: " + "A rather long sentence without an end " * 500,
    ],
)
def test_every_word_is_there_and_none_of_it_is_markup(text: str) -> None:
    made = shown(text)
    assert "<script" not in made
    plain = html.unescape(re.sub(r"<[^>]*>", " ", made))
    body = text.removeprefix("FINDINGS: ")
    assert "".join(body.split()) in "".join(plain.split())


def test_each_sentence_is_one_that_can_be_clicked() -> None:
    assert shown("FINDINGS: Heart large. No rib is broken.").count('class="wb-sentence"') == 2


def test_a_sentence_that_is_evidence_names_its_findings_whatever_its_white_space() -> None:
    report = Report("r", "p", "FINDINGS: Heart\n large. Clear.", split_sections("FINDINGS: Heart\n large. Clear."))
    made = report_html(report, ["findings"], {squeezed("Heart\n large."): ["Cardiomegaly"]})
    assert made.count('class="wb-sentence evidence" data-for="Cardiomegaly"') == 1
    assert made.count('class="wb-sentence"') == 1


def highlighted(text: str, *phrases: str) -> str:
    report = Report("r", "p", text, split_sections(text))
    return report_html(report, ["findings"], {}, PhraseFinder((phrase, "f") for phrase in phrases))


@pytest.mark.parametrize(
    ("text", "phrases", "made"),
    [
        ("FINDINGS: A Pleural EFFUSION.", ["pleural effusion"], "A <mark>Pleural EFFUSION</mark>."),
        # Overlapping phrases are one stretch, neighbouring ones two.
        (
            "FINDINGS: Right pleural effusion.",
            ["right pleural", "pleural effusion"],
            "<mark>Right pleural effusion</mark>.",
        ),
        ("FINDINGS: Edema effusion.", ["edema", "effusion"], "<mark>Edema</mark> <mark>effusion</mark>."),
        ("FINDINGS: 左侧胸腔少量积液。", ["胸腔", "积液"], "左侧<mark>胸腔</mark>少量<mark>积液</mark>。"),
        ("FINDINGS: <b>edema</b> & more.", ["edema"], "&lt;b&gt;<mark>edema</mark>&lt;/b&gt; &amp; more."),
    ],
)
def test_phrases_are_marked_once_in_any_case_and_everything_is_escaped(
    text: str, phrases: list[str], made: str
) -> None:
    assert made in highlighted(text, *phrases)


def test_context_is_not_highlighted() -> None:
    made = highlighted("INDICATION: Edema.\n\nFINDINGS: Edema.", "edema")
    assert made.count("<mark>") == 1
    assert made.index("context") < made.index("<mark>")


def test_a_highlighted_sentence_reads_as_before_when_it_is_clicked() -> None:
    plain, marked = shown("FINDINGS: Edema. Clear."), highlighted("FINDINGS: Edema. Clear.", "edema")
    assert re.sub("</?mark>", "", marked) == plain
