"""The leaderboard on the page: what to begin with, systems in order, and the studies behind a number."""

from collections.abc import Callable
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from workbench.workflow.demo import LEAD, RATER
from workbench.workflow.rounds import reopen_round
from workbench.workflow.study import Study
from workbench.workflow.systems import System, add_data_set, add_systems

Open = Callable[..., AppTest]
REFERENCE = ["Pleural effusion.", "Pneumothorax.", "The heart is enlarged.", "Clear.", "Left pleural effusion."] * 8


@pytest.fixture
def scored(study: Study) -> Study:
    """The demo study with two systems: one says all that the reference says, one misses the pneumothoraces."""
    said = {
        "right": REFERENCE,
        "partly": ["Fracture of a rib." if t == "Pneumothorax." else t for t in REFERENCE],
    }
    lead, data_set = study.actor(LEAD), None
    for name, texts in said.items():
        path = study.folder / f"{name}.csv"
        rows = [f"s{i:02},{REFERENCE[i]},{text}" for i, text in enumerate(texts)]
        path.write_text("\n".join(["study_id,reference,generated", *rows]))
        data_set = data_set or add_data_set(study, lead, path, name="forty")
        add_systems(study, lead, data_set, [System(path)])
    return study


def said(app: AppTest) -> str:
    texts = [*app.main.markdown, *app.info, *app.caption, *app.error]
    html = [str(e.proto.body) for e in app.main.get("html")]
    return "\n".join([*(str(t.value) for t in texts), *html]).replace("\\", "")


def test_without_systems_it_says_how_to_begin(open_page: Open, demo_folder: Path) -> None:
    app = open_page(demo_folder, "leaderboard", LEAD)
    assert "workbench score --reference R.csv --generated G.csv" in said(app)
    assert [button.label for button in app.main.button] == ["Score them"]
    assert app.main.button[0].disabled


def test_systems_stand_in_order_with_what_each_number_rests_on(open_page: Open, scored: Study) -> None:
    app = open_page(scored.folder, "leaderboard", LEAD)
    assert not app.exception
    assert not app.error
    (table,) = (frame.value for frame in app.main.dataframe)
    assert list(table["System"]) == ["right", "partly"]
    assert table["Ran Score"][0].startswith("1.000")
    assert list(table["Studies"]) == ["40 scored", "40 scored"]
    told = said(app)
    for words in ("Data set** forty", "Prompt revision", "Labeler", "Uncertain counts as", "one patient per study"):
        assert words in told


def test_a_finding_of_a_system_is_read_study_by_study(open_page: Open, scored: Study) -> None:
    app = open_page(scored.folder, "leaderboard", LEAD)
    app.session_state["leaderboard.tabs"] = "Where each fails"
    app.run()
    app.main.selectbox(key="leaderboard.system").set_value("partly")
    app.main.selectbox(key="leaderboard.finding").set_value("pneumothorax").run()
    assert not app.exception
    study = app.main.selectbox(key="leaderboard.study.partly.pneumothorax")
    assert len(study.options) == 8
    assert study.options[0] == "s01 · missed · report F1 0.00"
    told = said(app)
    assert 'class="missed">Pneumothorax.</mark>' in told
    assert 'class="invented">Fracture of a rib.</mark>' in told
    assert "missed: Pneumothorax" in told
    assert "invented: Fracture" in told
    app.main.button(key="leaderboard.Next").click().run()
    assert app.main.selectbox(key="leaderboard.study.partly.pneumothorax").value == "s06"


def test_a_model_that_has_not_read_them_is_told_with_the_command(open_page: Open, scored: Study) -> None:
    app = open_page(scored.folder, "leaderboard", LEAD)
    app.main.selectbox(key="leaderboard.labeler").set_value("simulated-replies").run()
    assert not app.exception
    assert "has not labelled" in said(app)
    assert "--labeler simulated-replies" in said(app)


def test_who_must_stay_blind_sees_nothing_of_it(open_page: Open, scored: Study) -> None:
    reopen_round(scored, scored.actor(LEAD), "development", reason="labels were mixed up")
    app = open_page(scored.folder, "leaderboard", RATER)
    assert not app.main.dataframe
    assert not app.main.get("plotly_chart")
    assert "forty" not in said(app)


def test_scores_computed_elsewhere_are_taken_in_on_the_page(open_page: Open, scored: Study) -> None:
    app = open_page(scored.folder, "leaderboard", LEAD)
    app.session_state["leaderboard.tabs"] = "Add systems"
    app.run()
    rows = [f"s{i:02},{system},rating,{1 + i % 5}" for system in ("right", "partly") for i in range(40)]
    content = "\n".join(["study_id,system,metric,value", *rows]).encode()
    app.main.file_uploader(key="leaderboard.scores").set_value(("ratings.csv", content, "text/csv"))
    app.main.radio(key="leaderboard.better").set_value("higher is better").run()
    next(button for button in app.main.button if button.label == "Take the scores in").click().run()
    assert not app.exception
    assert "rating: 80 scores." in [str(one.value).replace("\\", "") for one in app.success]
    app.session_state["leaderboard.tabs"] = "Systems"
    app.run()
    (table,) = (frame.value for frame in app.main.dataframe)
    assert list(table["rating"]) == [3.0, 3.0]


def test_a_system_that_stands_alone_has_no_rank_and_no_pair_and_it_is_said(open_page: Open, scored: Study) -> None:
    app = open_page(scored.folder, "leaderboard", LEAD)
    app.main.multiselect[0].set_value(["partly"]).run()
    assert not app.exception
    (table,) = (frame.value for frame in app.main.dataframe)
    assert table["Rank"].isna().all()
    assert "No ranks: only “partly” has a score here." in said(app)
    assert "An orange line" not in said(app)
    app.session_state["leaderboard.tabs"] = "Pairs"
    app.run()
    assert not app.exception
    assert "There are no two systems with a Ran Score to compare." in said(app)
    assert "order of two systems" not in said(app)
