"""Text on the screen: nothing of a report is interpreted, nothing undefined is shown as a number."""

from pathlib import Path

import pytest

from workbench.domain.findings import Policies, Policy
from workbench.domain.reports import Report, Section
from workbench.evaluation.numbers import Figure, undefined
from workbench.formats.label_sets import read_label_set
from workbench.ui import widgets


@pytest.mark.parametrize(
    ("figure", "text"),
    [
        (Figure(0.8123, 21, 0.7, 0.9), "0.812 (0.700–0.900)"),
        (Figure(1.0, 21), "1.000"),
        (undefined("no positive in the reference"), "— (no positive in the reference)"),
        (None, "—"),
    ],
)
def test_a_figure_as_text(figure: Figure | None, text: str) -> None:
    assert widgets.figure_text(figure) == text


def test_html_in_a_report_is_escaped_also_inside_a_mark() -> None:
    assert widgets.marked("<b>x</b> & y", ["<b>x</b>"]) == "<mark>&lt;b&gt;x&lt;/b&gt;</mark> &amp; y"


def test_evidence_is_found_in_other_case_and_spacing() -> None:
    assert widgets.marked("No  acute\nFINDING.", ["no acute finding"]) == "<mark>No  acute\nFINDING</mark>."


def test_signs_in_evidence_are_plain_text() -> None:
    assert widgets.marked("a.b aXb (?)", ["a.b", "(?)"]) == "<mark>a.b</mark> aXb <mark>(?)</mark>"


def test_overlapping_evidence_keeps_every_letter_once() -> None:
    shown = widgets.marked("left lower lobe", ["left lower", "lower lobe"])
    assert shown.replace("<mark>", "").replace("</mark>", "") == "left lower lobe"


def test_evidence_that_is_not_in_the_text_marks_nothing() -> None:
    assert widgets.marked("Clear.", ["effusion", "", "  "]) == "Clear."


def report(text: str, *sections: Section) -> Report:
    return Report("r1", "p1", text, sections)


def test_every_word_of_a_report_is_on_the_screen() -> None:
    text = "FINDINGS: Clear.\nElectronically signed by nobody"
    shown = widgets.report_html(report(text, Section("findings", 9, 16)), ["findings"])
    for word in text.replace("FINDINGS:", "FINDINGS").split():
        assert word in shown


def test_sections_that_are_not_read_say_so_and_read_ones_do_not() -> None:
    text = "INDICATION: Cough. FINDINGS: Clear."
    parts = (Section("indication", 11, 18), Section("findings", 28, 35))
    shown = widgets.report_html(report(text, *parts), ["findings"])
    assert "INDICATION · not read by the labeler" in shown
    assert "FINDINGS ·" not in shown
    assert "INDICATION · context" in widgets.report_html(report(text, *parts), ["findings"], unread="context")


def test_a_language_cannot_break_out_of_its_attribute() -> None:
    shown = widgets.report_html(Report("r1", "p1", "x", (Section("unlabelled", 0, 1),), language='"><script>'), [])
    assert "<script>" not in shown


def test_markdown_is_shown_as_it_stands() -> None:
    assert widgets.plain("**a** [b](c) $x$ <i> :red[y]") == (r"\*\*a\*\* \[b\]\(c\) \$x\$ \<i\> \:red\[y\]")


def test_findings_are_called_by_their_names(root: Path) -> None:
    label_set = read_label_set(root / "data" / "cxr21.yaml")
    sentence = "Recall of pleural_effusion and lung_opacity, not of my_pleural_effusion_x."
    assert widgets.named(sentence, label_set) == (
        "Recall of Pleural effusion and Lung opacity, not of my_pleural_effusion_x."
    )


def test_a_policy_in_words_names_its_exceptions_only(root: Path) -> None:
    label_set = read_label_set(root / "data" / "cxr21.yaml")
    plain = Policies(Policy.ABSENT, {"fracture": Policy.ABSENT})
    assert widgets.policy_text(plain, label_set) == "absent"
    mixed = Policies(Policy.ABSENT, {"lung_opacity": Policy.PRESENT})
    assert widgets.policy_text(mixed, label_set) == "absent (but Lung opacity present)"
