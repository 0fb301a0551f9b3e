"""What a closed review found: means, faults, agreement of reviewers and of metrics with them, by hand."""

import csv
from collections.abc import Callable
from pathlib import Path

import pytest

from workbench.domain.actors import Actor, Role
from workbench.domain.prompts import Prompt
from workbench.domain.reviews import OTHER, Fault, Judgement
from workbench.errors import ConflictError, InputError, NotFoundError, RightsError
from workbench.storage.leaderboard import DataSetRecord
from workbench.workflow import people, review, review_files, review_results, reviewing
from workbench.workflow.prompts import save_candidate
from workbench.workflow.study import Study
from workbench.workflow.systems import System, add_data_set, add_systems

Write = Callable[[str, str], Path]
ADA, BEN = "Dr. Ada", "Dr. Ben"
SYSTEMS = {
    # Study 1: both wrote the same. Study 2: alpha right, beta wrong. Study 3: alpha wrong.
    "alpha": {"1": "Pleural effusion.", "2": "Pneumothorax.", "3": "Pneumothorax."},
    "beta": {"1": "Pleural  effusion.", "2": "Clear.", "3": "All clear."},
}
REFERENCES = {"1": "Pleural effusion.", "2": "Pneumothorax.", "3": "Clear."}
RATED = {  # (study, text): what Ada and Ben say
    ("1", "Pleural effusion."): (5, 5),
    ("2", "Pneumothorax."): (5, 4),
    ("2", "Clear."): (1, 2),
    ("3", "Pneumothorax."): (2, 2),
    ("3", "All clear."): (4, None),
}


@pytest.fixture
def data_set(study: Study, lead: Actor, csv_file: Write) -> DataSetRecord:
    """Three studies of two patients, and two systems."""
    for name in (ADA, BEN):
        people.add(study, lead, name, [Role.RATER])
    rows = "".join(f"{i},p{(int(i) + 1) // 2},{text}\n" for i, text in REFERENCES.items())
    made = add_data_set(study, lead, csv_file("ref.csv", "study_id,patient_id,reference\n" + rows), name="set")
    for name, texts in SYSTEMS.items():
        lines = "".join(f"{i},{text}\n" for i, text in texts.items())
        path = csv_file(f"{name}.csv", "study_id,generated\n" + lines)
        add_systems(study, lead, made, [System(path)])
    return made


def marks_of(text: str, rating: int | None) -> dict[str, frozenset[Fault]]:
    if text == "Clear." and rating == 1:
        return {"pneumothorax": frozenset({Fault.MISSED}), OTHER: frozenset({Fault.DEGREE, Fault.PLACE})}
    return {"pneumothorax": frozenset({Fault.MISSED})} if text == "Clear." else {}


REFERENCES_BY_TEXT = {text: i for i, text in REFERENCES.items()}


def said_of(task: reviewing.Task) -> tuple[int, int | None]:
    return RATED[REFERENCES_BY_TEXT[task.reference[0][1]], " ".join(task.generated[0][1].split())]


@pytest.fixture
def rated(study: Study, lead: Actor, data_set: DataSetRecord) -> DataSetRecord:
    """The data set with a review in which all was said; it is still open."""
    made = review.open_review(study, lead, data_set, reviewers=[ADA, BEN])
    for who, reviewer in enumerate((ADA, BEN)):
        actor = study.actor(reviewer)
        (desk,) = reviewing.desks(study, actor)
        for at in range(len(desk.rated)):
            task = reviewing.open_item(study, actor, made.review.name, at)
            rating = said_of(task)[who]
            marks = marks_of(task.generated[0][1], rating)
            reviewing.rate(study, actor, made.review.name, at, Judgement(rating, marks, "", 2.0))
    return data_set


def test_nobody_sees_ratings_before_it_is_closed(
    study: Study, lead: Actor, rated: DataSetRecord, tmp_path: Path
) -> None:
    for call in (
        lambda who: review_results.results(study, who, rated),
        lambda who: review_files.export_ratings(study, who, rated, tmp_path / "out.csv"),
    ):
        with pytest.raises(ConflictError, match="review-1 of set is open"):
            call(lead)
        with pytest.raises(RightsError):
            call(study.actor(ADA))
    assert not (tmp_path / "out.csv").exists()


def test_means_and_faults_by_hand(study: Study, lead: Actor, rated: DataSetRecord) -> None:
    review.close_review(study, lead, rated)
    found = review_results.results(study, lead, rated)
    alpha, beta = found.systems
    # alpha: 5, 4.5 and 2; beta: the shared 5, 1.5, and 4 of Ada alone (Ben's marks without a rating count nowhere).
    assert (alpha.system, beta.system) == ("alpha", "beta")
    assert alpha.rating.value == pytest.approx((5 + 4.5 + 2) / 3)
    assert beta.rating.value == pytest.approx((5 + 1.5 + 4) / 3)
    assert (alpha.rating.n, beta.rating.n) == (3, 3)
    assert alpha.rating.low is not None
    assert (alpha.given, beta.given) == ((0, 2, 0, 1, 3), (1, 1, 0, 1, 2))
    assert (alpha.ratings, beta.ratings) == (6, 5)
    assert alpha.faults == {}
    assert beta.faults == {
        ("pneumothorax", Fault.MISSED): 2, (OTHER, Fault.DEGREE): 1, (OTHER, Fault.PLACE): 1,
    }  # fmt: skip
    # Of study 2 Ada marks three faults and Ben one: (0 + 2 + 0) / 3.
    assert beta.per_report.value == pytest.approx(2 / 3)
    assert found.reviewers == {ADA: 6, BEN: 5}
    assert (found.imported, found.outdated, found.patients_known) == (0, 0, True)


def test_the_agreement_counts_a_text_of_two_systems_once(study: Study, lead: Actor, rated: DataSetRecord) -> None:
    review.close_review(study, lead, rated)
    agreement = review_results.results(study, lead, rated).agreement
    # Four texts have two ratings: 5-5, 5-4, 1-2, 2-2; two of four are equal and all within a step.
    assert (agreement.items, agreement.ratings) == (4, 9)
    assert agreement.percent.value == 0.5
    assert agreement.within_one.value == 1
    # n1 = 1, n2 = 3, n4 = 1, n5 = 3, n = 8. d(1,2) = (4 - 2)^2 = 4, d(4,5) = (4 - 2)^2 = 4;
    # observed 2 x 4 + 2 x 4 = 16. d(1,4) = (5 - 1)^2, d(1,5) = (8 - 2)^2, d(2,4) = (4 - 2)^2, d(2,5) = (7 - 3)^2;
    # expected 2 (3x4 + 1x16 + 3x36 + 3x4 + 9x16 + 3x4) = 608.
    assert agreement.alpha.value == pytest.approx(1 - 7 * 16 / 608)


def test_the_agreement_on_faults_by_hand(study: Study, lead: Actor, rated: DataSetRecord) -> None:
    review.close_review(study, lead, rated)
    found = review_results.results(study, lead, rated).marks
    rows = {(row.finding_id, row.fault): row for row in found.rows}
    assert set(rows) == {
        ("pneumothorax", None), ("pneumothorax", Fault.MISSED),
        (OTHER, None), (OTHER, Fault.PLACE), (OTHER, Fault.DEGREE),
    }  # fmt: skip
    # Of four texts with two ratings both mark "Clear." as missed; the fifth text has one rating, without a mark (Ben's
    # marks there are no rating and count nowhere).
    missed = rows["pneumothorax", Fault.MISSED]
    assert (missed.texts, missed.marked, missed.ratings) == (4, 2, 9)
    assert (missed.positive.value, missed.percent.value, missed.alpha.value) == (1, 1, 1)
    # Something else was marked by Ada alone.
    assert (rows[OTHER, None].positive.value, rows[OTHER, None].percent.value) == (0, 0.75)
    assert (found.marked, found.findings) == (1, len(study.label_set.ids))


def test_without_a_prompt_the_ratings_stand_and_it_is_said_why(study: Study, lead: Actor, rated: DataSetRecord) -> None:
    review.close_review(study, lead, rated)
    found = review_results.results(study, lead, rated)
    assert found.metrics == ()
    assert found.no_metrics


def test_metrics_agree_with_the_ratings_by_hand(
    study: Study, lead: Actor, rated: DataSetRecord, make_prompt: Callable[..., Prompt]
) -> None:
    revised = save_candidate(study, lead, make_prompt(), message="m", parent=None).prompt_hash
    review.close_review(study, lead, rated)
    found = review_results.results(study, lead, rated, revision=revised)
    by_id = {each.metric.id: each.correlation for each in found.metrics}
    # F1 of the five texts: 1, 1, 0, 0, 1 (both sides without a finding); their mean ratings: 5, 4.5, 1.5, 2, 4. Of the
    # ten pairs six are untied in F1 and all of them concordant; none is tied in the ratings: 6 / sqrt(6 x 10).
    ran = by_id["ran_score"]
    assert ran.kendall.value == pytest.approx(6 / 60**0.5)
    assert ran.kendall.n == 5
    assert found.no_metrics == ""
    assert "bleu2_rexrank" in by_id


def test_a_rating_goes_with_its_text(study: Study, lead: Actor, rated: DataSetRecord, csv_file: Write) -> None:
    review.close_review(study, lead, rated)
    add_systems(
        study, lead, rated, [System(csv_file("alpha.csv", "study_id,generated\n1,pleural.\n2,Pneumothorax.\n3,No.\n"))]
    )
    found = review_results.results(study, lead, rated)
    assert found.outdated == 4  # studies 1 and 3 of alpha, by two reviewers
    by_name = {one.system: one for one in found.systems}
    assert by_name["alpha"].rating.value == 4.5
    assert by_name["beta"].rating.value == pytest.approx((5 + 1.5 + 4) / 3)


def rows_of(path: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(path.open(encoding="utf-8", newline="")))


def test_ratings_go_out_as_one_row_per_study_system_and_reviewer(
    study: Study, lead: Actor, rated: DataSetRecord, tmp_path: Path
) -> None:
    review.close_review(study, lead, rated)
    assert review_files.export_ratings(study, lead, rated, tmp_path / "out.csv") == 11
    rows = rows_of(tmp_path / "out.csv")
    assert {row["source"] for row in rows} == {"review-1"}
    row = next(r for r in rows if (r["study_id"], r["system"], r["reviewer"]) == ("2", "beta", ADA))
    assert (row["rating"], row["pneumothorax"], row["other"], row["patient_id"], row["seconds"], row["current"]) == (
        "1", "missed", "place;degree", "p1", "2.0", "1",
    )  # fmt: skip


def test_ratings_made_elsewhere_come_in_and_are_marked(
    study: Study, lead: Actor, data_set: DataSetRecord, csv_file: Write, tmp_path: Path
) -> None:
    text = "study_id,system,reviewer,rating,pneumothorax,comment\n1,alpha,Carl,5,,\n2,beta,Carl,1,missed; degree,bad\n"
    brought = review_files.import_ratings(study, lead, data_set, csv_file("carl.csv", text))
    assert (brought.ratings, brought.systems, brought.reviewers) == (2, ("alpha", "beta"), ("Carl",))
    found = review_results.results(study, lead, data_set)
    assert (found.imported, found.reviewers) == (2, {"Carl": 2})
    assert found.systems[1].faults == {("pneumothorax", Fault.MISSED): 1, ("pneumothorax", Fault.DEGREE): 1}
    # An imported rating is of the system it names: beta's equal text was not rated by Carl.
    assert [(one.system, one.rating.n) for one in found.systems] == [("alpha", 1), ("beta", 1)]
    review_files.export_ratings(study, lead, data_set, tmp_path / "out.csv")
    assert {row["source"] for row in rows_of(tmp_path / "out.csv")} == {"imported"}
    review_files.import_ratings(study, lead, data_set, tmp_path / "out.csv")  # what was exported can come back
    assert review_results.results(study, lead, data_set).imported == 2


def test_what_was_rated_here_stands_before_what_is_imported(
    study: Study, lead: Actor, rated: DataSetRecord, csv_file: Write
) -> None:
    text = f"study_id,system,reviewer,rating\n2,alpha,{ADA},1\n3,beta,{BEN},3\n"
    review_files.import_ratings(study, lead, rated, csv_file("more.csv", text))
    review.close_review(study, lead, rated)
    found = review_results.results(study, lead, rated)
    assert found.imported == 1
    assert next(one for one in found.systems if one.system == "alpha").rating.value == pytest.approx(11.5 / 3)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("study_id,system,reviewer\n", "no column rating"),
        ("study_id,system,reviewer,rating\n", "holds no rating"),
        ("study_id,system,reviewer,rating\n1,alpha,C,6\n", r"row 2: the rating is 6"),
        ("study_id,system,reviewer,rating\n1,alpha,,5\n", "row 2: reviewer is blank"),
        ("study_id,system,reviewer,rating\n1,gamma,C,5\n", "no system called gamma"),
        ("study_id,system,reviewer,rating\n9,alpha,C,5\n", "alpha has no report of study 9"),
        ("study_id,system,reviewer,rating,spleen\n1,alpha,C,5,\n", "column spleen, which is no finding"),
        ("study_id,system,reviewer,rating,fracture\n1,alpha,C,5,lost\n", "row 2, fracture: lost is no fault"),
        ("study_id,system,reviewer,rating\n1,alpha,C,5\n1,alpha,C,4\n", "C rated study 1 of alpha in row 2 already"),
    ],
)
def test_a_file_of_ratings_that_cannot_be_taken_in_is_refused_whole(
    study: Study, data_set: DataSetRecord, csv_file: Write, text: str, told: str
) -> None:
    lead = study.actor("Dr. Lead")
    with pytest.raises(InputError, match=told):
        review_files.import_ratings(study, lead, data_set, csv_file("bad.csv", text))
    with pytest.raises(NotFoundError, match=r"No generated report of set was rated yet"):
        review_results.results(study, lead, data_set)
