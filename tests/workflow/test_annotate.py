"""Rating: one's own labels, every save kept, only while a round is open."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from workbench.domain.actors import Actor, Role
from workbench.domain.annotations import Mark
from workbench.domain.cohorts import Purpose
from workbench.domain.findings import State
from workbench.domain.reports import Report, Section
from workbench.errors import ConflictError, InputError, NotFoundError, RightsError
from workbench.storage import annotations, imports, reports
from workbench.workflow import annotate
from workbench.workflow.annotate import Entry
from workbench.workflow.cohorts import define
from workbench.workflow.ingest import import_labels
from workbench.workflow.reference import freeze
from workbench.workflow.rounds import close_round, open_round, reopen_round
from workbench.workflow.study import Study

NONE = frozenset({Mark.NONE_OF_THESE})
R1 = Entry("r1")


@pytest.fixture
def open_study(rated: Study, lead: Actor, rater: Actor) -> Study:
    """The rated study with a round open on development, in which Dr. Rater and rater1 take part; two come twice."""
    open_round(rated, lead, "development", raters=[rater.name, "rater1"], twice=2)
    return rated


def submit(study: Study, rater: Actor, entry: Entry, states: dict[str, State], reason: str = "") -> None:
    marks = frozenset() if states else NONE
    annotate.save(study, rater, "development", entry, states, submitted=True, marks=marks, reason=reason)


def test_a_draft_comes_back_and_goes_first_in_the_queue(open_study: Study, rater: Actor) -> None:
    last = annotate.queue(open_study, rater, "development").order[-1]
    annotate.save(open_study, rater, "development", last, {"fracture": State.UNCERTAIN}, submitted=False)
    queue = annotate.queue(open_study, rater, "development")
    own = annotate.open_report(open_study, rater, "development", last).own
    assert queue.next == last
    assert own is not None
    assert own.states == {"fracture": State.UNCERTAIN}


def test_submitted_reports_leave_the_queue_until_it_is_empty(open_study: Study, rater: Actor) -> None:
    for _ in range(8):
        entry = annotate.queue(open_study, rater, "development").next
        assert entry is not None
        submit(open_study, rater, entry, {})
    assert annotate.queue(open_study, rater, "development").next is None


def test_what_is_to_come_back_waits_until_all_others_are_done(open_study: Study, rater: Actor) -> None:
    first = annotate.queue(open_study, rater, "development").order[0]
    flagged = frozenset({Mark.COME_BACK})
    annotate.save(open_study, rater, "development", first, {}, submitted=False, marks=flagged)
    seen = []
    while (entry := annotate.queue(open_study, rater, "development").next) is not None:
        seen.append(entry)
        submit(open_study, rater, entry, {})
    assert seen[-1] == first
    assert len(seen) == 8


def test_each_rater_has_an_own_order_that_stays_and_repeats_come_later(open_study: Study, rater: Actor) -> None:
    first, again = (annotate.queue(open_study, rater, "development").order for _ in range(2))
    other = annotate.queue(open_study, Actor("rater1", rater.roles), "development").order
    assert first == again
    assert other != first
    assert sorted(e.report_id for e in first if e.reading == 1) == ["r1", "r2", "r3", "r4", "r5", "r6"]
    repeats = [e for e in first if e.reading == 2]
    assert len(repeats) == 2
    for repeat in repeats:
        assert first.index(Entry(repeat.report_id)) < 3 <= first.index(repeat)


def test_a_second_reading_starts_empty_and_never_votes(open_study: Study, lead: Actor, rater: Actor) -> None:
    repeat = next(e for e in annotate.queue(open_study, rater, "development").order if e.reading == 2)
    submit(open_study, rater, Entry(repeat.report_id), {"fracture": State.PRESENT})
    assert annotate.open_report(open_study, rater, "development", repeat).own is None
    submit(open_study, rater, repeat, {})
    with open_study.database.read() as conn:
        (voted,) = annotations.latest(conn, [repeat.report_id], open_study.label_set.hash, rater=rater.name)
    assert voted.states == {"fracture": State.PRESENT}


def test_a_rater_sees_nobody_elses_labels(open_study: Study, rater: Actor) -> None:
    assert annotate.open_report(open_study, rater, "development", R1).own is None
    assert annotate.queue(open_study, rater, "development").submitted == frozenset()


def test_nothing_marked_is_only_submitted_as_none_of_these(open_study: Study, rater: Actor) -> None:
    with pytest.raises(InputError, match="nothing is marked; say none of these"):
        annotate.save(open_study, rater, "development", R1, {}, submitted=True)
    with pytest.raises(InputError, match="cannot be none of these"):
        annotate.save(open_study, rater, "development", R1, {"fracture": State.UNCERTAIN}, submitted=True, marks=NONE)
    submit(open_study, rater, R1, {})
    assert annotate.queue(open_study, rater, "development").submitted == {R1}


def test_amending_needs_a_reason_and_keeps_what_was_said_before(open_study: Study, rater: Actor) -> None:
    submit(open_study, rater, R1, {"fracture": State.PRESENT})
    with pytest.raises(InputError, match="say why they change"):
        submit(open_study, rater, R1, {})
    submit(open_study, rater, R1, {"fracture": State.PRESENT})  # the same again needs none and adds nothing
    submit(open_study, rater, R1, {}, reason="read the wrong line")
    with open_study.database.read() as conn:
        history = annotations.history(conn, "r1", rater.name)
    assert [(dict(a.states), a.reason) for a in history] == [
        ({"fracture": State.PRESENT}, ""),
        ({}, "read the wrong line"),
    ]


def test_a_change_of_labels_that_another_tab_changed_meanwhile_is_not_saved(open_study: Study, rater: Actor) -> None:
    read = annotate.open_report(open_study, rater, "development", R1)
    annotate.save(open_study, rater, "development", R1, {"fracture": State.PRESENT}, submitted=False, read=read)
    with pytest.raises(annotate.ChangedMeanwhileError, match="r1 was changed in another tab"):
        annotate.save(
            open_study,
            rater,
            "development",
            R1,
            {"cardiomegaly": State.PRESENT},
            submitted=False,
            act=annotate.Act("b", 1),
            read=read,
        )
    assert annotate.heard(open_study, rater, "b") == 0  # so that it is done once more, on what stands now
    own = annotate.open_report(open_study, rater, "development", R1).own
    assert own is not None
    assert own.states == {"fracture": State.PRESENT}


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"seconds": float("inf")}, "inf seconds are no length of time"),
        ({"seconds": float("nan")}, "nan seconds are no length of time"),
        ({"seconds": -5.0}, "-5.0 seconds are no length of time"),
        ({"comment": "a\0b"}, "a text holds a character that cannot be kept"),
        ({"evidence": {"fracture": "\ud800"}}, "a text holds a character that cannot be kept"),
    ],
)
def test_what_no_export_could_hold_is_refused(
    open_study: Study, rater: Actor, given: dict[str, object], said: str
) -> None:
    labels = {"fracture": State.PRESENT}
    with pytest.raises(InputError, match=said):
        annotate.save(open_study, rater, "development", R1, labels, submitted=True, **given)  # type: ignore[arg-type]


def test_an_import_takes_the_place_of_nothing_that_a_rater_submitted_in_an_open_round(
    open_study: Study, lead: Actor, rater: Actor, tmp_path: Path
) -> None:
    submit(open_study, rater, R1, {"fracture": State.PRESENT})
    path = tmp_path / "theirs.csv"
    findings = open_study.label_set.ids
    path.write_text(f"report_id,reviewed,{','.join(findings)}\nr1,1{',0' * len(findings)}\n", encoding="utf-8")
    with pytest.raises(ConflictError, match="has submitted report r1 in the open round development-round-1"):
        import_labels(open_study, lead, path, rater=rater.name)
    import_labels(open_study, lead, path, rater="somebody else")


def test_a_report_stays_submitted_while_its_labels_are_being_changed(open_study: Study, rater: Actor) -> None:
    submit(open_study, rater, R1, {"fracture": State.PRESENT})
    annotate.save(open_study, rater, "development", R1, {}, submitted=False)
    under_way = annotate.queue(open_study, rater, "development")
    assert R1 in under_way.submitted
    assert under_way.changing == {R1}
    assert under_way.next == R1
    submit(open_study, rater, R1, {}, reason="read the wrong line")
    assert annotate.queue(open_study, rater, "development").changing == frozenset()


@pytest.mark.parametrize(("seconds", "fast"), [(0.1, True), (0.29, True), (0.31, False), (None, False)])
def test_faster_than_anybody_reads_is_marked(
    open_study: Study, rater: Actor, seconds: float | None, fast: bool
) -> None:
    # "Small pleural effusion." has three words, which take 0.3 s at 600 words a minute.
    annotate.save(open_study, rater, "development", R1, {}, submitted=True, marks=NONE, seconds=seconds)
    own = annotate.open_report(open_study, rater, "development", R1).own
    assert own is not None
    assert (Mark.TOO_FAST in own.marks) is fast


def test_without_a_round_nothing_is_rated(rated: Study, rater: Actor) -> None:
    assert "No round is open on the cohort development" in annotate.queue(rated, rater, "development").closed
    with pytest.raises(ConflictError, match="No round is open"):
        annotate.save(rated, rater, "development", R1, {}, submitted=False)


def test_a_seventh_rater_is_not_let_in(open_study: Study) -> None:
    stranger = Actor("Dr. Seven", frozenset({Role.RATER}))
    assert annotate.queue(open_study, stranger, "development").order == ()
    with pytest.raises(ConflictError, match="Dr. Seven takes no part in the round development-round-1"):
        annotate.save(open_study, stranger, "development", R1, {}, submitted=False)
    with pytest.raises(RightsError, match="takes no part"):
        annotate.open_report(open_study, stranger, "development", R1)


def test_freezing_closes_the_round_and_reopening_is_on_record(open_study: Study, lead: Actor, rater: Actor) -> None:
    submit(open_study, rater, R1, {})
    close_round(open_study, lead, "development")
    with pytest.raises(ConflictError, match="The round development-round-1 is closed"):
        submit(open_study, rater, R1, {"fracture": State.PRESENT}, reason="late")
    reopen_round(open_study, lead, "development", reason="Dr. Rater asked to correct r1")
    submit(open_study, rater, R1, {"fracture": State.PRESENT}, reason="late")
    assert annotate.queue(open_study, rater, "development").closed == ""


def test_a_frozen_reference_closes_the_round_too(rated: Study, lead: Actor) -> None:
    six = [f"rater{i}" for i in range(1, 7)]
    view = open_round(rated, lead, "development", raters=six)
    assert view.open
    freeze(rated, lead, "development", incomplete=True)
    one = Actor("rater1", frozenset({Role.RATER}))
    assert "is closed" in annotate.queue(rated, one, "development").closed


def test_wrong_findings_states_and_reports_are_refused(open_study: Study, rater: Actor) -> None:
    with pytest.raises(InputError, match="Report r1: flu = present"):
        submit(open_study, rater, R1, {"flu": State.PRESENT})
    with pytest.raises(InputError, match="Report r1: fracture = absent"):
        submit(open_study, rater, R1, {"fracture": State.ABSENT})
    with pytest.raises(NotFoundError, match="r99 is not in your queue"):
        submit(open_study, rater, Entry("r99"), {})
    with pytest.raises(NotFoundError, match="is not in your queue"):
        submit(open_study, rater, Entry("r1", 3), {})


def test_a_lead_who_is_no_rater_does_not_rate(rated: Study, lead: Actor) -> None:
    with pytest.raises(RightsError, match="may not rate reports"):
        annotate.queue(rated, lead, "development")


def test_whoever_edits_prompts_cannot_read_a_locked_report_by_rating_it(
    rated: Study, lead: Actor, rater: Actor
) -> None:
    with rated.database.write() as conn:
        imported = imports.add(conn, "reports", "v.csv", file_hash="", actor="x", at=datetime.now(UTC), rows=1)
        text = "FINDINGS: Normal."
        reports.add(conn, [Report("v1", "p9", text, (Section("findings", 10, len(text)),))], imported)
    both = Actor("Dr. Both", frozenset({Role.LEAD, Role.RATER}))
    define(rated, both, "validation", Purpose.VALIDATION, ["v1"])
    open_round(rated, lead, "validation", raters=[rater.name, both.name])
    with pytest.raises(RightsError, match="locked validation cohort and Dr. Both edits prompts too"):
        annotate.open_report(rated, both, "validation", Entry("v1"))
    assert annotate.open_report(rated, rater, "validation", Entry("v1")).report.text == text


def test_an_act_that_is_sent_again_is_not_done_again(open_study: Study, rater: Actor) -> None:
    def act(number: int, *findings: str, tab: str = "a") -> None:
        states = dict.fromkeys(findings, State.PRESENT)
        annotate.save(open_study, rater, "development", R1, states, submitted=False, act=annotate.Act(tab, number))

    act(1, "fracture")
    act(2, "fracture", "pneumonia")
    act(1, "fracture")
    act(2)
    assert annotate.heard(open_study, rater, "a") == 2
    assert annotate.heard(open_study, rater, "b") == 0
    act(1, "pneumonia", tab="b")
    with open_study.database.read() as conn:
        history = annotations.history(conn, "r1", rater.name)
    assert [set(a.states) for a in history] == [{"fracture"}, {"fracture", "pneumonia"}, {"pneumonia"}]


def test_a_refused_act_can_be_sent_again(open_study: Study, rater: Actor) -> None:
    with pytest.raises(InputError, match="nothing is marked"):
        annotate.save(open_study, rater, "development", R1, {}, submitted=True, act=annotate.Act("a", 1))
    assert annotate.heard(open_study, rater, "a") == 0


def test_a_draft_that_says_what_was_submitted_leaves_it_submitted(open_study: Study, rater: Actor) -> None:
    submit(open_study, rater, R1, {"fracture": State.PRESENT})
    annotate.save(open_study, rater, "development", R1, {"fracture": State.PRESENT}, submitted=False)
    assert annotate.queue(open_study, rater, "development").submitted == {R1}
    annotate.save(open_study, rater, "development", R1, {"fracture": State.UNCERTAIN}, submitted=False)
    after = annotate.queue(open_study, rater, "development")
    assert (after.changing, after.last) == ({R1}, R1)
