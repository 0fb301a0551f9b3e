"""The history's comparison, and the validation that is offered once nothing waits for a decision."""

from collections.abc import Callable
from pathlib import Path

from streamlit.testing.v1 import AppTest

from workbench.storage import cohorts as cohort_store
from workbench.ui import comparison
from workbench.workflow.demo import LEAD
from workbench.workflow.study import Study

Open = Callable[..., AppTest]
COMPARE, HEAT = "Compare any two", "Finding by revision"


def text_of(app: AppTest) -> str:
    return "\n".join(str(element.value) for element in [*app.main.markdown, *app.main.caption, *app.main.warning])


def at_tab(open_page: Open, folder: Path, tab: str) -> AppTest:
    app = open_page(folder, "history", LEAD)
    app.session_state["history.tabs"] = tab
    return app.run()


def test_each_step_tells_what_it_bought_and_what_got_worse(open_page: Open, study: Study) -> None:
    app = open_page(study.folder, "history", LEAD)
    told = text_of(app)
    assert "Revision 3 → 4" in told
    assert "Worse" in told
    assert not app.exception


def test_a_step_opens_in_the_comparison(open_page: Open, study: Study) -> None:
    app = open_page(study.folder, "history", LEAD)
    button = [b for b in app.main.button if b.label == "Compare"][-1]  # the first step stands last
    button.click().run()
    assert not app.exception
    chosen = [app.selectbox(key=key).value for key in (comparison.BEFORE, comparison.AFTER)]
    assert len(set(chosen)) == 2
    (warning,) = app.main.warning
    assert "Pleural thickening" in warning.value.split(";")[0]
    assert app.selectbox(key=comparison.FINDING).value == "pleural_thickening"


def test_a_point_against_itself_is_no_change(open_page: Open, study: Study) -> None:
    app = at_tab(open_page, study.folder, COMPARE)
    app.selectbox(key=comparison.AFTER).select(app.selectbox(key=comparison.BEFORE).value).run()
    assert app.main.success[0].value.startswith("No change")


def test_validation_is_unlocked_for_the_accepted_revision_on_record(open_page: Open, study: Study) -> None:
    app = open_page(study.folder, "accept", LEAD)
    app.text_input(key="validate.why.validation").input("The prompt is final").run()
    app.button(key="validate.unlock.validation").click().run()
    assert not app.exception
    with study.database.read() as conn:
        (unlock,) = cohort_store.unlocks(conn, "validation")
    assert (unlock.details["revision"], unlock.details["labeler"]) == ("4", "rules")
    assert "is unlocked" in text_of(app)
