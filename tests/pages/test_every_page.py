"""Every page opens, for every person, on a full and on an empty study, and says what it is for."""

from collections.abc import Callable
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from workbench.workflow.demo import LEAD, RATER
from workbench.workflow.study import Study

Open = Callable[..., AppTest]
PAGES = [
    "reports",
    "cohorts",
    "annotate",
    "reference",
    "adjudicate",
    "run",
    "errors",
    "revise",
    "accept",
    "history",
    "leaderboard",
    "review",
    "people",
]


def words(app: AppTest) -> str:
    """Everything the page says, tables and charts aside."""
    texts = [*app.main.markdown, *app.info, *app.caption, *app.error, *app.warning, *app.success]
    return "\n".join(str(element.value) for element in texts)


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize("person", [LEAD, RATER])
def test_a_page_of_the_demo_study_opens(open_page: Open, demo_folder: Path, page: str, person: str) -> None:
    app = open_page(demo_folder, page, person)
    assert not app.exception
    assert [header.value for header in app.header] == [page.capitalize()]


@pytest.mark.parametrize("page", PAGES)
def test_a_page_of_the_demo_study_refuses_its_lead_nothing(open_page: Open, demo_folder: Path, page: str) -> None:
    assert not open_page(demo_folder, page, LEAD).error


@pytest.mark.parametrize(
    ("page", "person", "told"),
    [
        ("reports", "Lea", "There are no reports yet. Import a file of them"),
        ("reports", "Rita", "The study lead imports them."),
        ("cohorts", "Lea", "Allocate one for development"),
        ("cohorts", "Rita", "The study lead allocates them."),
        ("annotate", "Lea", "Lea is not a rater"),
        ("annotate", "Rita", "There is no cohort to label yet"),
        ("reference", "Lea", "There is no cohort yet"),
        ("adjudicate", "Lea", "Lea is not one; nobody is yet."),
        ("run", "Lea", "A run needs a cohort first."),
        ("errors", "Lea", "No reference is frozen yet"),
        ("revise", "Lea", "There is no prompt yet"),
        ("accept", "Lea", "No candidate is waiting"),
        ("history", "Lea", "There is no prompt yet"),
        ("review", "Lea", "No generated report has been reviewed yet."),
        ("review", "Rita", "No report waits for Rita."),
        ("leaderboard", "Lea", "none is accepted yet"),
    ],
)
def test_a_page_of_an_empty_study_says_what_is_missing(
    open_page: Open, empty: Study, page: str, person: str, told: str
) -> None:
    app = open_page(empty.folder, page, person)
    assert not app.exception
    assert not app.error
    assert told in words(app).replace("\\", "")


@pytest.mark.parametrize("page", PAGES)
def test_what_is_simulated_is_said_on_every_page(open_page: Open, demo_folder: Path, page: str) -> None:
    app = open_page(demo_folder, page, LEAD)
    banners = [element.proto.body for element in app.main.get("html") if "wb-banner" in element.proto.body]
    assert any("simulated" in banner for banner in banners)


def test_a_study_that_cannot_be_read_is_refused_in_a_sentence(open_page: Open, empty: Study) -> None:
    (empty.folder / "data" / "study.toml").write_text("title = \n", encoding="utf-8")
    app = open_page(empty.folder, "reports")
    assert not app.exception
    assert "not valid TOML" in app.error[0].value


def test_a_folder_that_is_no_study_is_refused_in_a_sentence(open_page: Open, tmp_path: Path) -> None:
    app = open_page(tmp_path, "run")
    assert not app.exception
    assert "is no study" in app.error[0].value.replace("\\", "")


def test_without_a_person_chosen_the_lead_acts(open_page: Open, empty: Study) -> None:
    app = open_page(empty.folder, "reports")
    assert app.sidebar.selectbox[0].value == "Lea"
