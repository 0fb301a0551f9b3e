"""The review page: a report beside its reference, every press saved, and nothing by which the system could be known."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from workbench.domain.actors import Role
from workbench.domain.reviews import Fault, Judgement
from workbench.storage.leaderboard import DataSetRecord
from workbench.ui import sign_in as door
from workbench.ui.review_desk import DESK
from workbench.workflow import metrics, people, review, reviewing
from workbench.workflow.cohorts import get_cohort
from workbench.workflow.demo import LEAD, RATER
from workbench.workflow.rounds import close_round, round_of
from workbench.workflow.sign_in import first_sign_in
from workbench.workflow.slow_down import Try
from workbench.workflow.study import Study
from workbench.workflow.systems import System, add_data_set, add_systems

Open = Callable[..., AppTest]
PAGES = sorted(path.stem for path in (Path(__file__).parents[2] / "pages").glob("*.py"))
OTHER = "Dr. Other"
HIDDEN = ("zebra-one", "zebra-two", "zebra-file", "zebra-set", "zebra_metric", "ZEBRA-COMMENT")


@pytest.fixture
def data_set(study: Study) -> DataSetRecord:
    """Three studies and two systems in the demo study, no round open, and scores of a metric."""
    lead = study.actor(LEAD)
    for cohort in ("development", "validation"):
        view = round_of(study, get_cohort(study, cohort))
        if view is not None and view.open:
            close_round(study, lead, cohort)
    people.add(study, lead, OTHER, [Role.RATER])
    file = study.folder.parent / "zebra-file.csv"
    file.write_text("study_id,reference\n1,Heart <i>large</i>.\n2,心影增大。\n3,Lungs clear.\n", encoding="utf-8")
    made = add_data_set(study, lead, file, name="zebra-set")
    for name in ("zebra-one", "zebra-two"):
        rows = "".join(f"{i},Generated {i} {'A' if name == 'zebra-one' else 'B'}.\n" for i in (1, 2, 3))
        file.write_text("study_id,generated\n" + rows)
        add_systems(study, lead, made, [System(file, name)])
    file.write_text("study_id,system,metric,value\n1,zebra-one,zebra_metric,0.5\n")
    metrics.import_scores(study, lead, made, file, higher_is_better={"zebra_metric": True})
    return made


@pytest.fixture
def opened(study: Study, data_set: DataSetRecord) -> DataSetRecord:
    """The same under review by two, the other of whom has said something of everything."""
    review.open_review(study, study.actor(LEAD), data_set, reviewers=[RATER, OTHER])
    for at in range(6):
        reviewing.rate(study, study.actor(OTHER), "review-1", at, Judgement(2, {}, "ZEBRA-COMMENT"))
    return data_set


class Presses:
    """What a browser would hand in."""

    def __init__(self) -> None:
        self._number = 0

    def told(self, app: AppTest) -> dict[str, Any] | None:
        """Return what the desk was told; None where none is drawn."""
        drawn = [e.proto.json for e in app.main.get("bidi_component") if e.proto.component_name == "review_desk"]
        return dict(json.loads(drawn[0])) if drawn else None

    def send(self, app: AppTest, *said: dict[str, object]) -> AppTest:
        """Hand in presses on the report that is on the screen, all at once."""
        told = self.told(app)
        assert told is not None
        presses = []
        for one in said:
            self._number += 1
            presses.append({"id": self._number, "on": told["on"], **one})
        app.session_state[DESK] = {"presses": {"tab": f"tab-{id(app)}", "list": presses}}
        return app.run()


@pytest.fixture
def presses() -> Presses:
    """A browser's presses."""
    return Presses()


def words(app: AppTest) -> str:
    texts = [*app.main.markdown, *app.info, *app.caption, *app.error, *app.success]
    bars = [bar.proto.text for bar in app.main.get("progress")]
    return "\n".join([*(str(element.value) for element in texts), *bars]).replace("\\", "")


def everything(app: AppTest) -> str:
    nodes = [node for block in (app.main, app.sidebar) for node in block]
    sent = [node.proto.SerializeToString().decode("utf-8", "replace") for node in nodes if node.proto is not None]
    return "\n".join([*sent, *(frame.value.to_string() for frame in app.main.dataframe)]).replace("\\", "")


def test_a_report_is_shown_beside_its_reference_with_the_scale_in_words(
    open_page: Open, study: Study, opened: DataSetRecord, presses: Presses
) -> None:
    app = open_page(study.folder, "review", RATER)
    assert not app.exception
    told = presses.told(app)
    assert told is not None
    first = reviewing.open_item(study, study.actor(RATER), "review-1", 0)
    assert [told["reference"], told["generated"]] == [
        [list(part) for part in first.reference],
        [list(part) for part in first.generated],
    ]
    assert [step for step, _ in told["scale"]] == [1, 2, 3, 4, 5]
    assert "decision about the patient" in told["scale"][0][1]
    assert told["scale"][4][1] == "As good as the reference"
    assert [row["id"] for row in told["findings"]] == [*study.label_set.ids, "other"]
    assert told["saved"] == {"rating": None, "marks": {}, "comment": ""}
    assert "0 of 6 rated" in words(app)


def test_every_press_is_saved_at_once_and_comes_back(
    open_page: Open, study: Study, opened: DataSetRecord, presses: Presses
) -> None:
    app = open_page(study.folder, "review", RATER)
    presses.send(app, {"what": "rating", "value": 4})
    presses.send(
        app,
        {"what": "mark", "finding": "edema_of_nobody", "fault": "missed", "value": True},
    )
    assert "Your last click was not saved" in words(app)
    presses.send(
        app,
        {"what": "mark", "finding": "fracture", "fault": "missed", "value": True},
        {"what": "mark", "finding": "fracture", "fault": "degree", "value": True},
        {"what": "mark", "finding": "fracture", "fault": "missed", "value": False},
        {"what": "comment", "value": "a rib"},
    )
    own = reviewing.open_item(study, study.actor(RATER), "review-1", 0).own
    assert (own.rating, own.marks, own.comment) == (4, {"fracture": frozenset({Fault.DEGREE})}, "a rib")
    assert own.seconds is not None
    again = open_page(study.folder, "review", RATER)
    again.session_state["review.at." + RATER + ".review-1"] = 0
    told = presses.told(again.run())
    assert told is not None
    assert told["saved"] == {"rating": 4, "marks": {"fracture": ["degree"]}, "comment": "a rib"}
    assert told["told"].startswith("Saved at")


def test_a_press_sent_twice_is_saved_once(
    open_page: Open, study: Study, opened: DataSetRecord, presses: Presses
) -> None:
    app = open_page(study.folder, "review", RATER)
    presses.send(app, {"what": "rating", "value": 4})
    told = presses.told(app)
    assert told is not None
    number = max(told["heard"].values())
    fresh = open_page(study.folder, "review", RATER)  # after a restart the browser sends again what was not answered
    on = json.dumps([RATER, "review-1", 0])
    press = {"id": number, "on": on, "what": "rating", "value": 4}
    fresh.session_state[DESK] = {"presses": {"tab": "same", "list": [press]}}
    fresh.run()
    with study.database.read() as conn:
        assert conn.execute("SELECT COUNT(*) FROM review_ratings WHERE reviewer = ?", (RATER,)).fetchone()[0] == 1


def test_what_is_pressed_belongs_to_the_report_it_was_pressed_on(
    open_page: Open, study: Study, opened: DataSetRecord, presses: Presses
) -> None:
    app = open_page(study.folder, "review", RATER)
    presses.send(app, {"what": "rating", "value": 1}, {"what": "next"}, {"what": "comment", "value": "late"})
    rater = study.actor(RATER)
    assert reviewing.open_item(study, rater, "review-1", 0).own.comment == "late"
    assert reviewing.open_item(study, rater, "review-1", 1).own == Judgement()
    assert "Report 2 of 6" in words(app)


def test_going_on_without_a_rating_brings_the_report_again_at_the_end(
    open_page: Open, study: Study, opened: DataSetRecord, presses: Presses
) -> None:
    app = open_page(study.folder, "review", RATER)
    presses.send(app, {"what": "next"})
    for _ in range(5):
        presses.send(app, {"what": "rating", "value": 3}, {"what": "next"})
    assert "Report 1 of 6" in words(app)
    assert "5 of 6 rated" in words(app)
    presses.send(app, {"what": "rating", "value": 3})
    assert "You have rated every report" in words(app)


def test_nothing_is_saved_in_another_persons_name(
    open_page: Open, study: Study, opened: DataSetRecord, presses: Presses
) -> None:
    app = open_page(study.folder, "review", RATER)
    on = json.dumps([OTHER, "review-1", 0])
    app.session_state[DESK] = {"presses": {"tab": "t", "list": [{"id": 1, "on": on, "what": "rating", "value": 5}]}}
    app.run()
    assert reviewing.open_item(study, study.actor(OTHER), "review-1", 0).own.rating == 2
    assert f"The last click of {OTHER} was not saved" in words(app)


def test_a_tab_from_before_is_told_that_the_review_was_closed(
    open_page: Open, study: Study, opened: DataSetRecord, presses: Presses
) -> None:
    app = open_page(study.folder, "review", RATER)
    review.close_review(study, study.actor(LEAD), opened)
    presses.send(app, {"what": "rating", "value": 5})
    assert not app.exception
    assert presses.told(app) is None
    assert "Your last click was not saved. review-1 is closed" in words(app)


@pytest.mark.parametrize("page", PAGES)
def test_a_reviewer_meets_no_system_score_or_others_word_on_any_page(
    open_page: Open, study: Study, opened: DataSetRecord, page: str
) -> None:
    app = open_page(study.folder, page, RATER)
    assert not app.exception
    shown = everything(app)
    for hidden in HIDDEN:
        assert hidden not in shown


def test_the_search_would_find_what_is_there(open_page: Open, study: Study, opened: DataSetRecord) -> None:
    shown = everything(open_page(study.folder, "leaderboard", LEAD))
    assert "zebra-one" in shown
    assert "zebra-set" in everything(open_page(study.folder, "review", LEAD))


def test_a_lead_sees_how_far_reviewers_are_then_closes_it_and_sees_what_they_said(
    open_page: Open, study: Study, opened: DataSetRecord
) -> None:
    app = open_page(study.folder, "review", LEAD)
    assert not app.exception
    told = words(app)
    assert f"{OTHER}: 6 of 6 rated" in told
    assert f"{RATER}: 0 of 6 rated" in told
    assert not app.main.dataframe
    next(b for b in app.main.button if b.label == "Close it").click().run()
    assert not app.exception
    assert not app.error
    shown = app.main.dataframe[0].value
    assert sorted(shown["system"]) == ["zebra-one", "zebra-two"]
    assert set(shown["2"]) == {3}
    assert review.progress(study, study.actor(LEAD)) == []


def test_a_lead_opens_a_review_on_the_page(open_page: Open, study: Study, data_set: DataSetRecord) -> None:
    app = open_page(study.folder, "review", LEAD)
    assert not app.exception
    assert "Each reviewer gets 6 generated reports (3 studies, 2 systems" in words(app)
    app.number_input(key=f"review.studies.{data_set.hash}.3").set_value(2).run()
    app.multiselect(key="review.reviewers").set_value([RATER, OTHER]).run()
    app.number_input(key="review.seed").set_value(7).run()
    assert "Each reviewer gets 4 generated reports (2 studies, 2 systems" in words(app)
    next(b for b in app.main.button if b.label == "Open the review").click().run()
    assert not app.exception
    assert f"{RATER}: 0 of 4 rated" in words(app)
    (held,) = review.progress(study, study.actor(LEAD))
    fixed = held.view.review
    assert (fixed.reviewers, fixed.seed, len(fixed.study_ids), len(fixed.submissions)) == ((RATER, OTHER), 7, 2, 2)
    assert "Every data set with generated reports has an open review." in words(app)


def test_without_a_reviewer_or_a_system_none_is_opened(open_page: Open, study: Study, data_set: DataSetRecord) -> None:
    app = open_page(study.folder, "review", LEAD)
    app.multiselect(key="review.reviewers").set_value([]).run()
    assert next(b for b in app.main.button if b.label == "Open the review").disabled
    app.multiselect(key=f"review.systems.{data_set.hash}").set_value([]).run()
    assert not app.exception
    assert not [b for b in app.main.button if b.label == "Open the review"]
    assert [str(w.value) for w in app.main.warning] == ["Name a system at least."]


def test_a_lead_is_told_where_reports_come_in_when_there_is_nothing_to_review(open_page: Open, study: Study) -> None:
    app = open_page(study.folder, "review", LEAD)
    assert not app.exception
    assert "First take in what report generators wrote." in words(app)


def test_a_lead_who_reviews_sees_how_far_all_are_beside_the_desk_and_closes_it(
    open_page: Open, study: Study, data_set: DataSetRecord, presses: Presses
) -> None:
    people.add(study, study.actor(LEAD), "Dr. Both", [Role.RATER, Role.LEAD])
    both = study.actor("Dr. Both")
    review.open_review(study, both, data_set, reviewers=["Dr. Both", OTHER])
    for at in range(4):
        reviewing.rate(study, study.actor(OTHER), "review-1", at, Judgement(2, {}, "ZEBRA-COMMENT"))
    app = open_page(study.folder, "review", "Dr. Both")
    presses.send(app, {"what": "rating", "value": 4})
    told = words(app)
    assert f"{OTHER}: 4 of 6 rated" in told
    assert "Dr. Both: 1 of 6 rated" in told
    shown = everything(app)
    for hidden in HIDDEN:
        assert hidden not in shown
    next(b for b in app.main.button if b.label == "Close it").click().run()
    assert not app.exception
    assert review.progress(study, both) == []


def test_a_reviewer_who_leads_nothing_is_not_told_how_far_others_are(
    open_page: Open, study: Study, opened: DataSetRecord
) -> None:
    assert OTHER not in words(open_page(study.folder, "review", RATER))


def test_the_agreement_on_faults_is_shown_with_its_coefficients_named(
    open_page: Open, study: Study, data_set: DataSetRecord
) -> None:
    review.open_review(study, study.actor(LEAD), data_set, reviewers=[RATER, OTHER])
    for who, finding in ((RATER, "fracture"), (OTHER, "fracture"), (OTHER, "pneumothorax")):
        marks = {finding: frozenset({Fault.MISSED})}
        reviewing.rate(study, study.actor(who), "review-1", 0, Judgement(2, marks))
    review.close_review(study, study.actor(LEAD), data_set)
    app = open_page(study.folder, "review", LEAD)
    assert not app.exception
    shown = app.main.dataframe[-1].value
    assert {"positive specific agreement", "Krippendorff's alpha (nominal)", "Gwet's AC1"} <= set(shown.columns)
    assert "Mean over the" in words(app)


def test_a_reviewer_sees_what_all_said_once_it_is_closed(open_page: Open, study: Study, opened: DataSetRecord) -> None:
    review.close_review(study, study.actor(LEAD), opened)
    app = open_page(study.folder, "review", RATER)
    assert not app.exception
    assert not app.error
    assert sorted(app.main.dataframe[0].value["system"]) == ["zebra-one", "zebra-two"]


def test_whoever_signs_in_to_review_comes_to_the_reports_at_once(
    root: Path, study: Study, opened: DataSetRecord, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = study.folder / "data" / "study.toml"
    settings.write_text(settings.read_text().replace('sign_in = "pick"', 'sign_in = "accounts"'))
    code = people.issue_code(study, study.actor(LEAD), OTHER).code
    session = first_sign_in(study, Try(OTHER, "here"), code, "quiet lungs")
    monkeypatch.setattr(door, "_cookies", lambda: {door.cookie_name(study.folder): session.token})
    monkeypatch.setenv("WORKBENCH_STUDY", str(study.folder))
    app = AppTest.from_file(str(root / "workbench" / "ui" / "app.py"), default_timeout=60).run()
    assert not app.exception
    assert [header.value for header in app.header] == ["Review"]
