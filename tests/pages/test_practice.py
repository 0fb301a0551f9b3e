"""Practice on the page Annotate: offered first, with feedback, apart from the round."""

from collections.abc import Callable
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from workbench.domain.findings import State
from workbench.workflow import practice
from workbench.workflow.annotate import Entry, open_report, queue
from workbench.workflow.demo import LEAD, RATER
from workbench.workflow.study import Study

Open = Callable[..., AppTest]
FILE = """format: 1
label_set: cxr21
reports:
  - id: p1
    text: "FINDINGS: Rib fracture. Possible edema."
    findings:
      fracture: {state: present}
      pulmonary_edema: {state: uncertain, why: Possible is <b>uncertain</b>.}
  - id: p2
    text: "FINDINGS: Normal."
"""


@pytest.fixture
def practising(study: Study) -> Study:
    """The demo study with two practice reports."""
    practice.practice_file(study).write_text(FILE, encoding="utf-8")
    return study


def press(app: AppTest, key: str) -> AppTest:
    return app.button(key=f"rate.{key}").click().run()


def pressed(app: AppTest) -> set[str]:
    return {str(button.key) for button in app.main.button}


def text(app: AppTest) -> str:
    parts = [*app.main.markdown, *app.main.caption, *app.main.subheader]
    return "\n".join([*(str(e.value) for e in parts), *(str(e.proto.body) for e in app.main.get("html"))])


def test_it_is_offered_before_the_first_report_and_no_more_after_a_skip(open_page: Open, study: Study) -> None:
    app = open_page(study.folder, "annotate", RATER)
    assert "10 reports with feedback, about 5 minutes" in text(app)
    press(app, "practice-skip")
    assert "rate.practice-begin" not in pressed(app)
    assert "rate.practice" in pressed(app)


def test_it_is_not_offered_once_the_round_is_begun_but_stays_in_reach(
    open_page: Open, board: Any, study: Study
) -> None:
    app = open_page(study.folder, "annotate", RATER)
    board.click(app, "fracture", State.PRESENT)
    assert "rate.practice-begin" not in pressed(app)
    press(app, "practice")
    assert "Practice: these labels count for nothing." in text(app)


def test_a_submitted_practice_report_shows_what_differs_and_why(open_page: Open, board: Any, practising: Study) -> None:
    app = open_page(practising.folder, "annotate", RATER)
    press(app, "practice-begin")
    board.click(app, "fracture", State.PRESENT)
    board.click(app, "pulmonary_edema", State.PRESENT)
    press(app, "submit")
    assert board.read(app) is None
    told = text(app)
    assert "20 of 21 findings as in the answer key" in told
    assert "You: present. Answer key: <b>uncertain</b>." in told
    assert "Possible is &lt;b&gt;uncertain&lt;/b&gt;." in told
    assert "<b>Fracture</b>: present." in told
    press(app, "submit")
    assert "**Report 2 of 2**" in text(app)
    assert board.read(app) is not None


def test_the_end_sums_up_and_leads_to_the_round_which_knows_nothing_of_it(
    open_page: Open, board: Any, practising: Study
) -> None:
    rater = practising.actor(RATER)
    before = queue(practising, rater, "validation")
    app = open_page(practising.folder, "annotate", RATER)
    press(app, "practice-begin")
    board.click(app, "fracture", State.PRESENT)
    press(app, "submit")
    press(app, "submit")
    press(app, "none")
    press(app, "submit")
    told = text(app)
    # Of 2 x 21 findings one differs: the edema of the first report.
    assert [metric.value for metric in app.main.metric] == ["41 of 42", "1 of 2", "0", "0"]
    assert "What differed most: Pulmonary edema (1)" in told
    press(app, "previous")
    assert "All 21 findings as in the answer key" in text(app)
    press(app, "practice-end")
    assert "these labels count for nothing" not in text(app)
    assert "rate.practice-begin" not in pressed(app)
    after = queue(practising, rater, "validation")
    assert (after.submitted, after.drafts) == (before.submitted, before.drafts)


def test_another_session_goes_on_where_practice_was_left(open_page: Open, practising: Study) -> None:
    app = open_page(practising.folder, "annotate", RATER)
    press(app, "practice-begin")
    press(app, "none")
    again = open_page(practising.folder, "annotate", RATER)
    assert "1 more report with feedback, about 2 minutes" in text(again)
    press(again, "practice-begin")
    assert "**Report 2 of 2**" in text(again)


def test_an_untouched_practice_report_needs_the_explicit_none(open_page: Open, practising: Study) -> None:
    app = open_page(practising.folder, "annotate", RATER)
    press(app, "practice-begin")
    press(app, "submit")
    assert "say none of these" in app.error[0].value.replace("\\", "")
    assert practice.result(practising, practising.actor(RATER)).submitted == 0


def test_a_study_without_practice_reports_says_so_and_rates_as_ever(open_page: Open, board: Any, study: Study) -> None:
    practice.practice_file(study).unlink()
    app = open_page(study.folder, "annotate", RATER)
    way = app.button(key="rate.practice")
    assert way.disabled
    assert "has no practice reports" in way.help.replace("\\", "")
    assert board.read(app) is not None


def test_a_practice_file_that_cannot_be_read_stops_nobody(open_page: Open, board: Any, study: Study) -> None:
    practice.practice_file(study).write_text(FILE.replace("fracture", "toe"), encoding="utf-8")
    app = open_page(study.folder, "annotate", RATER)
    assert not app.exception
    assert "report p1: toe is no finding" in app.button(key="rate.practice").help.replace("\\", "")
    assert board.read(app) is not None


def test_the_lead_sees_how_far_it_is_and_how_it_went(open_page: Open, practising: Study) -> None:
    practice.save(
        practising, practising.actor(RATER), Entry("p1"), {"fracture": State.PRESENT}, submitted=True, seconds=20.0
    )
    app = open_page(practising.folder, "reference", LEAD)
    app.selectbox(key="reference.cohort").select("validation").run()
    told = "\n".join(c.value for c in app.main.caption).replace("\\", "")
    assert "Demo rater: 1 of 2, 1 of 2 findings found, 0 over-called" in told


def test_the_practice_key_is_not_on_the_page_before_the_answer(open_page: Open, board: Any, practising: Study) -> None:
    app = open_page(practising.folder, "annotate", RATER)
    press(app, "practice-begin")
    board.click(app, "fracture", State.PRESENT)
    assert "Possible is" not in text(app)
    assert "Key:" not in text(app)


def test_a_rater_opens_no_practice_report_as_one_of_the_round(practising: Study) -> None:
    with pytest.raises(Exception, match="not in your queue"):
        open_report(practising, practising.actor(RATER), "validation", Entry("p1"))


def test_practice_that_breaks_meanwhile_says_why_and_lets_one_back(
    open_page: Open, board: Any, practising: Study
) -> None:
    app = open_page(practising.folder, "annotate", RATER)
    press(app, "practice-begin")
    practice.practice_file(practising).unlink()
    app.run()
    assert not app.exception
    assert "has no practice reports" in app.error[0].value.replace("\\", "")
    press(app, "practice-end")
    assert board.read(app) is not None
