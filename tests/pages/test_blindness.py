"""What whoever rates must not meet of an open round, looked for on every page (method 6)."""

from collections.abc import Callable
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from workbench.workflow.cohorts import get_cohort
from workbench.workflow.demo import LEAD, RATER
from workbench.workflow.rounds import reopen_round, round_of
from workbench.workflow.study import Study

Open = Callable[..., AppTest]
PAGES = ["reports", "cohorts", "annotate", "reference", "adjudicate", "run", "errors", "revise", "accept", "history"]


def everything(app: AppTest) -> str:
    """All that the page and the sidebar hold, tables and charts included, as text."""
    frames = [frame.value.to_string() for frame in app.main.dataframe]
    nodes = [node for block in (app.main, app.sidebar) for node in block]
    return "\n".join([*(str(node.proto) for node in nodes if node.proto is not None), *frames])


def test_the_search_would_find_what_is_there(open_page: Open, demo_folder: Path) -> None:
    shown = everything(open_page(demo_folder, "reference", LEAD))
    assert "development-1" in shown
    assert "rater3" in shown


@pytest.mark.parametrize("page", PAGES)
def test_a_rater_meets_no_reference_and_no_other_rater_while_rounds_are_open(
    open_page: Open, study: Study, page: str
) -> None:
    reopen_round(study, study.actor(LEAD), "development", reason="labels were mixed up")
    app = open_page(study.folder, page, RATER)
    assert not app.exception
    shown = everything(app)
    assert "development-1" not in shown
    for cohort in ("development", "validation"):
        view = round_of(study, get_cohort(study, cohort))
        assert view is not None
        assert view.open
        for other in set(view.round.raters) - {RATER}:
            assert other not in shown
