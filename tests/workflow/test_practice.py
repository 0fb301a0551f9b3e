"""Practice tells a rater where they differ from the key, and reaches nothing that is counted."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from workbench.domain.actors import Actor, Role
from workbench.domain.findings import State
from workbench.errors import ConflictError, InputError, NotFoundError, RightsError
from workbench.storage import annotations as annotation_store
from workbench.storage import reports as report_store
from workbench.workflow import practice
from workbench.workflow.annotate import Entry
from workbench.workflow.ingest import import_reports
from workbench.workflow.practice import Kind
from workbench.workflow.study import Study

P1, P2 = Entry("p1"), Entry("p2")
FILE = """format: 1
label_set: cxr21
reports:
  - id: p1
    text: "FINDINGS: Possible edema. Small pneumothorax. No effusion. Heart size normal."
    findings:
      pulmonary_edema: {state: uncertain, why: Possible is uncertain.}
      pneumothorax: {state: present}
      pleural_effusion: {state: absent}
      pneumonia: {state: not_mentioned, why: Nobody speaks of it.}
  - id: p2
    text: "FINDINGS: Normal."
"""


@pytest.fixture
def practising(study: Study) -> Study:
    """The study with two practice reports of its own in the place of those that ship."""
    practice.practice_file(study).write_text(FILE, encoding="utf-8")
    return study


def four_states(study: Study) -> Study:
    return replace(study, settings=study.settings.model_copy(update={"rater_states": tuple(State)}))


def kinds(study: Study, rater: Actor, entry: Entry = P1) -> dict[str, Kind]:
    return {p.finding: p.kind for p in practice.feedback(study, rater, entry).differing}


def submit(study: Study, rater: Actor, entry: Entry, **states: State) -> None:
    practice.save(study, rater, entry, states, submitted=True, none_of_these=not states)


def test_a_new_study_has_the_ten_reports_that_ship(study: Study, rater: Actor) -> None:
    assert len(practice.check(study).reports) == 10
    assert len(practice.queue(study, rater).order) == 10


def test_feedback_names_each_difference_with_its_reason_missed_ones_first(practising: Study, rater: Actor) -> None:
    submit(practising, rater, P1, pulmonary_edema=State.PRESENT, pneumonia=State.PRESENT)
    found = practice.feedback(practising, rater, P1)
    assert [(p.finding, p.kind, p.why) for p in found.differing] == [
        ("pneumothorax", Kind.MISSED, ""),
        ("pneumonia", Kind.OVER_CALLED, "Nobody speaks of it."),
        ("pulmonary_edema", Kind.CERTAINTY, "Possible is uncertain."),
    ]
    assert len(found.points) == 21


def test_absent_is_held_against_the_key_only_where_it_is_asked_for(practising: Study, rater: Actor) -> None:
    right = {"pulmonary_edema": State.UNCERTAIN, "pneumothorax": State.PRESENT}
    submit(practising, rater, P1, **right)
    assert kinds(practising, rater) == {}
    assert kinds(four_states(practising), rater) == {"pleural_effusion": Kind.NEGATIVE}


def test_the_result_counts_what_was_found_by_hand(practising: Study, rater: Actor) -> None:
    submit(practising, rater, P1, pulmonary_edema=State.PRESENT, pneumonia=State.PRESENT)
    submit(practising, rater, P2, pneumonia=State.UNCERTAIN)
    found = practice.result(practising, rater)
    # 42 cells, of which pneumothorax, pneumonia and edema differ on p1 and pneumonia on p2; two positives, one missed.
    assert (found.total, found.submitted, found.cells, found.agreed) == (2, 2, 42, 38)
    assert (found.positives, found.found) == (2, 1)
    assert found.kinds[Kind.OVER_CALLED] == 2
    assert found.differed[0] == ("pneumonia", 2)


def test_a_rater_goes_on_where_they_were(practising: Study, rater: Actor) -> None:
    submit(practising, rater, P1, pneumothorax=State.PRESENT)
    practice.save(practising, rater, P2, {"fracture": State.UNCERTAIN}, submitted=False, seconds=4.0)
    there = practice.queue(practising, rater)
    assert (there.submitted, there.drafts, there.next) == ({P1}, {P2}, P2)
    own = practice.open_report(practising, rater, P2).own
    assert own is not None
    assert (own.states, own.submitted, own.seconds) == ({"fracture": State.UNCERTAIN}, False, 4.0)


def test_the_key_is_shown_after_the_answer_and_the_answer_then_stands(practising: Study, rater: Actor) -> None:
    with pytest.raises(ConflictError, match="shown once you have submitted"):
        practice.feedback(practising, rater, P1)
    submit(practising, rater, P1, pneumothorax=State.PRESENT)
    with pytest.raises(ConflictError, match="seen its key"):
        submit(practising, rater, P1, pneumonia=State.PRESENT)
    with pytest.raises(ConflictError, match="seen its key"):
        practice.save(practising, rater, P1, {}, submitted=False)


def test_an_untouched_report_needs_the_explicit_none(practising: Study, rater: Actor) -> None:
    with pytest.raises(InputError, match="say none of these"):
        practice.save(practising, rater, P2, {}, submitted=True)
    with pytest.raises(InputError, match="cannot be none of these"):
        practice.save(practising, rater, P2, {"fracture": State.PRESENT}, submitted=True, none_of_these=True)
    practice.save(practising, rater, P2, {}, submitted=True, none_of_these=True)
    assert practice.result(practising, rater).submitted == 1


@pytest.mark.parametrize(("finding", "state"), [("toe", State.PRESENT), ("fracture", State.ABSENT)])
def test_a_label_that_is_not_asked_for_is_refused(practising: Study, rater: Actor, finding: str, state: State) -> None:
    with pytest.raises(InputError, match="not a label that raters give"):
        practice.save(practising, rater, P1, {finding: state}, submitted=False)


def test_only_raters_practise_and_only_leads_see_how_it_went(practising: Study, lead: Actor, rater: Actor) -> None:
    submit(practising, rater, P1, pneumothorax=State.PRESENT)
    for act in (practice.queue, practice.result):
        with pytest.raises(RightsError):
            act(practising, lead)
    with pytest.raises(RightsError):
        practice.save(practising, lead, P1, {}, submitted=False)
    for acting in (practice.open_report, practice.feedback):
        with pytest.raises(RightsError):
            acting(practising, lead, P1)
    for other in (rater, Actor("Adam", frozenset({Role.ADJUDICATOR}))):
        with pytest.raises(RightsError):
            practice.progress(practising, other)
    assert {name: r.submitted for name, r in practice.progress(practising, lead).items()} == {rater.name: 1}


def test_raters_answers_stay_apart(practising: Study, rater: Actor) -> None:
    other = Actor("Dr. Other", frozenset({Role.RATER}))
    submit(practising, rater, P1, pneumothorax=State.PRESENT)
    assert practice.queue(practising, other).submitted == frozenset()
    assert practice.open_report(practising, other, P1).own is None
    with pytest.raises(ConflictError):
        practice.feedback(practising, other, P1)


def test_nothing_of_it_is_a_report_or_a_label(practising: Study, rater: Actor) -> None:
    submit(practising, rater, P1, pneumothorax=State.PRESENT)
    with practising.database.read() as conn:
        assert report_store.count(conn) == 0
        assert annotation_store.last_id(conn) == 0


@pytest.mark.parametrize(
    "row", ['p1,x,"FINDINGS: Something else."', 'r9,x,"FINDINGS: Normal."'], ids=["same id", "same text"]
)
def test_a_report_of_the_study_is_not_practised_on(
    practising: Study, lead: Actor, rater: Actor, csv_file: Callable[[str, str], Path], row: str
) -> None:
    import_reports(practising, lead, csv_file("reports.csv", f"id,patient_id,text\n{row}\n"))
    with pytest.raises(InputError, match="would give its labels away"):
        practice.queue(practising, rater)


def test_a_study_without_practice_reports_says_so(study: Study, rater: Actor, lead: Actor) -> None:
    practice.practice_file(study).unlink()
    assert practice.load(study) is None
    for act in (practice.queue, practice.result):
        with pytest.raises(NotFoundError, match="has no practice reports"):
            act(study, rater)
    with pytest.raises(NotFoundError, match=r"data/practice/cxr21\.yaml"):
        practice.progress(study, lead)


def test_a_changed_key_starts_practice_anew(practising: Study, rater: Actor) -> None:
    submit(practising, rater, P1, pneumothorax=State.PRESENT)
    practice.practice_file(practising).write_text(FILE.replace("pneumothorax: {state: present}", ""), encoding="utf-8")
    assert practice.queue(practising, rater).submitted == frozenset()
