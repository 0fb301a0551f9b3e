"""Reviewing generated reports: blind to the system, in an order of one's own, every word kept."""

from collections.abc import Callable
from pathlib import Path

import pytest

from workbench.domain.actors import Actor, Role
from workbench.domain.prompts import Prompt
from workbench.domain.reviews import OTHER, Fault, Judgement
from workbench.errors import ConflictError, InputError, NotFoundError, RightsError
from workbench.storage import reviews as store
from workbench.storage.leaderboard import DataSetRecord
from workbench.workflow import blindness, people, review, review_texts, reviewing
from workbench.workflow.leaderboard import leaderboard
from workbench.workflow.prompts import save_candidate
from workbench.workflow.reviewing import Desk
from workbench.workflow.study import Study
from workbench.workflow.study_pairs import pair_of
from workbench.workflow.systems import System, add_data_set, add_systems, submissions

Write = Callable[[str, str], Path]
ADA, BEN = "Dr. Ada", "Dr. Ben"
REFERENCES = {str(i): f"Findings: Heart {i} normal.  Impression: Normal {i}." for i in range(1, 7)}


@pytest.fixture
def data_set(study: Study, lead: Actor, csv_file: Write) -> DataSetRecord:
    """Six studies and two systems: alike for studies 1 and 2 (but for spacing), beta without a report of study 6."""
    for name, role in ((ADA, Role.RATER), (BEN, Role.ADJUDICATOR)):
        people.add(study, lead, name, [role])
    rows = "".join(f"{i},{text}\n" for i, text in REFERENCES.items())
    made = add_data_set(study, lead, csv_file("ref.csv", "study_id,reference\n" + rows), name="secret-set")
    alpha = "".join(f"{i},Findings: Heart {i} large. Impression: Alpha {i}.\n" for i in REFERENCES)
    beta = "1,Findings: Heart 1  large.   Impression: Alpha 1.\n2,FINDINGS: Heart 2 large. IMPRESSION: Alpha 2.\n"
    beta += "3,History: beta's own. Findings: Beta 3.\n4,Beta 4.\n5,\n"
    for name, text in (("alpha-net", alpha), ("beta-net", beta)):
        path = csv_file(f"{name}.csv", "study_id,generated\n" + text)
        add_systems(study, lead, made, [System(path)])
    return made


@pytest.fixture
def ada(study: Study, data_set: DataSetRecord) -> Actor:
    """A reviewer."""
    return study.actor(ADA)


def opened(study: Study, data_set: DataSetRecord, **given: object) -> review.ReviewView:
    return review.open_review(study, study.actor("Dr. Lead"), data_set, reviewers=[ADA, BEN], **given)  # type: ignore[arg-type]


def read(study: Study, actor: Actor) -> list[reviewing.Task]:
    (desk,) = reviewing.desks(study, actor)
    return [reviewing.open_item(study, actor, desk.name, at) for at in range(len(desk.rated))]


def test_a_review_fixes_studies_that_every_system_has(study: Study, data_set: DataSetRecord) -> None:
    made = opened(study, data_set)
    assert made.open
    assert made.review.study_ids == ("1", "2", "3", "4", "5")
    assert [system for system, _ in made.review.submissions] == ["alpha-net", "beta-net"]
    assert made.review.name == "review-1"


def test_a_lead_is_offered_what_can_be_reviewed_and_how_many_studies_systems_share(
    study: Study, lead: Actor, data_set: DataSetRecord, csv_file: Write
) -> None:
    add_data_set(study, lead, csv_file("none.csv", "study_id,reference\n1,Clear.\n"))  # no system has written for it
    (offer,) = review.offers(study, lead)
    assert offer.data_set == data_set
    assert {name: sorted(studies) for name, studies in offer.studies.items()} == {
        "alpha-net": ["1", "2", "3", "4", "5", "6"], "beta-net": ["1", "2", "3", "4", "5"],
    }  # fmt: skip
    assert (offer.common(["alpha-net"]), offer.common(["alpha-net", "beta-net"]), offer.common([])) == (6, 5, 0)
    opened(study, data_set)
    assert review.offers(study, lead) == []
    review.close_review(study, lead, data_set)
    assert len(review.offers(study, lead)) == 1


def test_a_lead_who_reviews_sees_how_far_all_are_and_no_system(
    study: Study, lead: Actor, data_set: DataSetRecord, ada: Actor
) -> None:
    people.set_roles(study, lead, ADA, [Role.RATER, Role.LEAD])
    ada = study.actor(ADA)
    name = opened(study, data_set).review.name
    reviewing.rate(study, ada, name, 0, Judgement(3))
    assert review.progress(study, ada)[0].rated == {ADA: 1, BEN: 0}
    with pytest.raises(RightsError, match="before review-1 is closed"):
        review.offers(study, ada)


def test_studies_are_drawn_by_seed(study: Study, lead: Actor, data_set: DataSetRecord) -> None:
    drawn = []
    for seed in (1, 1, 2, 3):
        drawn.append(opened(study, data_set, studies=3, seed=seed).review.study_ids)
        review.close_review(study, lead, data_set)
    assert drawn[0] == drawn[1]
    assert len(set(drawn)) > 1
    assert {len(each) for each in drawn} == {3}


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"studies": 6}, "5 have a reference and a report of every system"),
        ({"studies": 0}, "0 studies cannot be drawn"),
        ({"systems": ["gamma"]}, "no system called gamma; it has alpha-net, beta-net"),
    ],
)
def test_what_cannot_be_reviewed_is_refused(
    study: Study, data_set: DataSetRecord, given: dict[str, object], told: str
) -> None:
    with pytest.raises(InputError, match=told):
        opened(study, data_set, **given)
    assert not review.progress(study, study.actor("Dr. Lead"))


@pytest.mark.parametrize(
    ("reviewers", "told"),
    [
        ([], "Name the reviewers"),
        ([ADA, "dr. ada"], "named twice"),
        (["Dr. Nobody"], "not one of the study's people"),
        (["Dr. Lead"], "neither rater nor adjudicator"),
    ],
)
def test_reviewers_are_raters_or_adjudicators(
    study: Study, lead: Actor, data_set: DataSetRecord, reviewers: list[str], told: str
) -> None:
    with pytest.raises(InputError, match=told):
        review.open_review(study, lead, data_set, reviewers=reviewers)


def test_one_review_of_a_data_set_is_open_at_a_time(study: Study, lead: Actor, data_set: DataSetRecord) -> None:
    opened(study, data_set)
    with pytest.raises(ConflictError, match="review-1 of secret-set is open"):
        opened(study, data_set)
    assert not review.close_review(study, lead, data_set, reason="all done").open
    with pytest.raises(NotFoundError, match="No review"):
        review.close_review(study, lead, data_set)
    assert opened(study, data_set).review.name == "review-2"


def test_the_same_text_of_two_systems_is_read_once(study: Study, data_set: DataSetRecord, ada: Actor) -> None:
    opened(study, data_set)
    tasks = read(study, ada)
    assert len(tasks) == 8  # five of each, less two that are the same but for spacing and the headers' case
    assert len({(task.reference, task.generated) for task in tasks}) == 8


def test_a_report_is_shown_by_the_tasks_sections_alone(study: Study, data_set: DataSetRecord, ada: Actor) -> None:
    opened(study, data_set)
    by_reference: dict[str, set[review_texts.Shown]] = {}
    for task in read(study, ada):
        assert [heading for heading, _ in task.reference] == ["findings", "impression"]
        by_reference.setdefault(task.reference[1][1], set()).add(task.generated)
    assert (("findings", "Beta 3."),) in by_reference["Normal 3."]  # without its history
    assert (("", "Beta 4."),) in by_reference["Normal 4."]
    assert () in by_reference["Normal 5."]  # a report that says nothing


def test_the_findings_task_has_no_headings() -> None:
    assert review_texts.shown("Findings: Clear. Impression: Normal.", "findings") == (("", "Clear."),)
    assert review_texts.shown("Findings: None", "findings") == ()


def test_each_reviewer_has_an_order_of_their_own_that_stays(study: Study, data_set: DataSetRecord, ada: Actor) -> None:
    opened(study, data_set)
    mine = [task.generated for task in read(study, ada)]
    theirs = [task.generated for task in read(study, study.actor(BEN))]
    assert mine != theirs
    assert set(mine) == set(theirs)
    assert mine == [task.generated for task in read(study, ada)]


def test_nothing_a_reviewer_is_handed_names_a_system_or_file(study: Study, data_set: DataSetRecord, ada: Actor) -> None:
    opened(study, data_set)
    told = repr(reviewing.desks(study, ada)) + repr(read(study, ada))
    for secret in ("alpha-net", "beta-net", "secret-set", "csv", data_set.hash):
        assert secret not in told


def test_every_word_is_kept_and_the_last_one_counts(study: Study, data_set: DataSetRecord, ada: Actor) -> None:
    made = opened(study, data_set)
    name = made.review.name
    reviewing.rate(study, ada, name, 2, Judgement(rating=4, seconds=3.5))
    marks = {"cardiomegaly": frozenset({Fault.MISSED, Fault.DEGREE}), OTHER: frozenset({Fault.INVENTED})}
    reviewing.rate(study, ada, name, 2, Judgement(2, marks, " wrong heart ", 9.0))
    reviewing.rate(study, ada, name, 2, Judgement(2, marks, "wrong heart", 12.0))  # says the same: adds nothing
    own = reviewing.open_item(study, ada, name, 2).own
    assert (own.rating, own.marks, own.comment, own.seconds) == (2, marks, "wrong heart", 9.0)
    assert own.at is not None
    with study.database.read() as conn:
        rows = conn.execute("SELECT reviewer, rating, at FROM review_ratings ORDER BY id").fetchall()
    assert [(row["reviewer"], row["rating"]) for row in rows] == [(ADA, 4), (ADA, 2)]
    assert reviewing.open_item(study, study.actor(BEN), name, 2).own == Judgement()
    assert reviewing.desks(study, ada)[0].done == 1


def test_marks_alone_do_not_make_a_report_rated(study: Study, data_set: DataSetRecord, ada: Actor) -> None:
    name = opened(study, data_set).review.name
    reviewing.rate(study, ada, name, 0, Judgement(marks={OTHER: frozenset({Fault.MISSED})}))
    assert reviewing.desks(study, ada)[0].done == 0


@pytest.mark.parametrize(
    ("said", "told"),
    [
        (Judgement(6), "1 to 5"),
        (Judgement(0), "1 to 5"),
        (Judgement(3, {"spleen": frozenset({Fault.MISSED})}), "spleen"),
        (Judgement(3, {}, "x" * 2001), "2,001 characters"),
    ],
)
def test_what_cannot_be_said_is_refused(
    study: Study, data_set: DataSetRecord, ada: Actor, said: Judgement, told: str
) -> None:
    name = opened(study, data_set).review.name
    with pytest.raises(InputError, match=told):
        reviewing.rate(study, ada, name, 0, said)


def test_a_closed_review_takes_no_more_ratings(study: Study, lead: Actor, data_set: DataSetRecord, ada: Actor) -> None:
    name = opened(study, data_set).review.name
    review.close_review(study, lead, data_set)
    assert reviewing.desks(study, ada) == []
    with pytest.raises(ConflictError, match="review-1 is closed"):
        reviewing.rate(study, ada, name, 0, Judgement(3))
    with pytest.raises(ConflictError, match="review-1 is closed"):
        reviewing.open_item(study, ada, name, 0)


def test_whoever_takes_no_part_reads_nothing(study: Study, rater: Actor, data_set: DataSetRecord, ada: Actor) -> None:
    name = opened(study, data_set).review.name
    assert reviewing.desks(study, rater) == []
    with pytest.raises(RightsError, match="takes no part"):
        reviewing.open_item(study, rater, name, 0)
    with pytest.raises(NotFoundError, match="none at place 9"):
        reviewing.open_item(study, ada, name, 8)
    with pytest.raises(NotFoundError, match="review-7"):
        reviewing.open_item(study, ada, "review-7", 0)


def test_progress_tells_how_far_and_nothing_else(
    study: Study, lead: Actor, data_set: DataSetRecord, ada: Actor
) -> None:
    name = opened(study, data_set).review.name
    reviewing.rate(study, ada, name, 0, Judgement(3))
    reviewing.rate(study, ada, name, 0, Judgement(4))
    reviewing.rate(study, ada, name, 5, Judgement(4))
    (found,) = review.progress(study, lead)
    assert (found.items, found.rated) == (8, {ADA: 2, BEN: 0})
    assert found.data_set == data_set


def test_a_later_submission_changes_nothing_in_an_open_review(
    study: Study, lead: Actor, data_set: DataSetRecord, ada: Actor, csv_file: Write
) -> None:
    opened(study, data_set)
    before = read(study, ada)
    add_systems(study, lead, data_set, [System(csv_file("alpha-net.csv", "study_id,generated\n1,Other.\n"))])
    assert read(study, ada) == before


def test_reviewers_are_blind_until_it_is_closed(study: Study, lead: Actor, data_set: DataSetRecord, ada: Actor) -> None:
    blindness.require_no_review(study, ada, "see the leaderboard")
    opened(study, data_set)
    with pytest.raises(RightsError, match="Dr. Ada may not see the leaderboard before review-1 is closed"):
        blindness.require_no_review(study, ada, "see the leaderboard")
    blindness.require_no_review(study, lead, "see the leaderboard")
    review.close_review(study, lead, data_set)
    blindness.require_no_review(study, ada, "see the leaderboard")


def test_going_on_leads_to_what_is_not_rated_and_comes_back_at_the_end() -> None:
    assert Desk("r", "t", (False, False, True, False)).after(1) == 3
    assert Desk("r", "t", (False, False, True, True)).after(1) == 0
    assert Desk("r", "t", (True, False, True, True)).after(1) == 1
    assert Desk("r", "t", (True, True)).after(1) == 1
    assert Desk("r", "t", (False, True)).after(-1) == 0


def test_history_cannot_be_changed(study: Study, data_set: DataSetRecord, ada: Actor) -> None:
    name = opened(study, data_set).review.name
    reviewing.rate(study, ada, name, 0, Judgement(3))
    for table in ("reviews", "review_events", "review_ratings"):
        with pytest.raises(Exception, match="is history"), study.database.write() as conn:
            conn.execute(f"DELETE FROM {table}")
    with study.database.read() as conn:
        assert len(store.latest(conn, [r.hash for r in store.open_reviews(conn)])) == 1


def test_the_leaderboard_is_refused_to_reviewers_whatever_else_they_are(
    study: Study, lead: Actor, data_set: DataSetRecord, make_prompt: Callable[..., Prompt]
) -> None:
    people.set_roles(study, lead, ADA, [Role.RATER, Role.LEAD])
    ada = study.actor(ADA)
    revision = save_candidate(study, lead, make_prompt(), message="m", parent=None).prompt_hash
    board = leaderboard(study, ada, data_set, revision=revision)
    review.open_review(study, ada, data_set, reviewers=[ADA])
    for call in (
        lambda who: leaderboard(study, who, data_set, revision=revision),
        lambda who: pair_of(study, who, board.scoring, "alpha-net", "1"),
        lambda who: submissions(study, who, data_set),
    ):
        call(lead)
        with pytest.raises(RightsError, match="before review-1 is closed"):
            call(ada)
