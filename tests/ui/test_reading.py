"""A report for rating: every word of it, escaped, each sentence to be clicked."""

import html
import re

import pytest

from workbench.domain.reports import Report
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
