"""What whoever rates must not meet of an open round, looked for in all that every page sends (method 6)."""

import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from workbench.domain.cohorts import Purpose
from workbench.workflow.cohorts import define, get_cohort
from workbench.workflow.demo import LEAD, RATER
from workbench.workflow.ingest import import_reports
from workbench.workflow.opening import open_study
from workbench.workflow.rounds import close_round, open_round, reopen_round, round_of
from workbench.workflow.study import Study

Open = Callable[..., AppTest]
PAGES = sorted(path.stem for path in (Path(__file__).parents[2] / "pages").glob("*.py"))
RESULTS = ("errors", "history", "reference", "accept", "run")  # pages that show results to who may see them
# Planted where a page could pick it up: what another rater wrote and marked, what the labeler said and quoted, why a
# reference was frozen, and why an item was adjudicated. The names of rater and reference stand for the rest.
MARKERS = ("ZEBRA-COMMENT", "ZEBRA-EVIDENCE", "ZEBRA-QUOTE", "ZEBRA-RAW", "ZEBRA-REASON", "ZEBRA-JUDGED")
FROM_A_LEAD = (*MARKERS, "development-1")  # who may see how far each rater is (method 6)
HIDDEN = (*FROM_A_LEAD, "rater3")


@pytest.fixture
def planted(study: Study) -> Study:
    """The demo study with markers in all that others and the labeler said."""
    with sqlite3.connect(study.database.path) as conn:
        for (name,) in conn.execute(
            "SELECT name FROM sqlite_master WHERE name LIKE '%\\_no\\_%' ESCAPE '\\'"
        ).fetchall():
            conn.execute(f"DROP TRIGGER {name}")
        conn.execute("UPDATE annotations SET comment = 'ZEBRA-COMMENT', evidence = ?", ('{"edema":"ZEBRA-EVIDENCE"}',))
        conn.execute("""UPDATE extractions SET raw = 'ZEBRA-RAW', detail = 'ZEBRA-RAW',
            mentions = replace(mentions, '["present","', '["present","ZEBRA-QUOTE ')""")
        conn.execute("UPDATE reference_standards SET reason = 'ZEBRA-REASON'")
        conn.execute("""INSERT INTO adjudications (reference_hash, report_id, finding_id, present, actor, at, reason)
            SELECT hash, (SELECT id FROM reports), 'edema', 1, 'rater3', created_at, 'ZEBRA-JUDGED'
            FROM reference_standards""")
    conn.close()
    return study


def everything(app: AppTest) -> str:
    """All that the page and the sidebar hold, tables and charts included, as text."""
    nodes = [node for block in (app.main, app.sidebar) for node in block]
    sent = [node.proto.SerializeToString().decode("utf-8", "replace") for node in nodes if node.proto is not None]
    frames = [frame.value.to_string() for frame in app.main.dataframe]
    return "\n".join([*sent, *frames])


def test_the_search_would_find_what_is_there(open_page: Open, planted: Study) -> None:
    frozen = open_page(planted.folder, "reference", LEAD)
    frozen.session_state["reference.tabs"] = "Versions"
    shown = everything(open_page(planted.folder, "errors", LEAD)) + everything(frozen.run())
    for marker in ("development-1", "rater3", "ZEBRA-QUOTE", "ZEBRA-REASON"):
        assert marker in shown


@pytest.mark.parametrize("page", PAGES)
def test_a_rater_meets_nothing_of_others_or_a_labeler_while_rounds_are_open(
    open_page: Open, planted: Study, page: str
) -> None:
    reopen_round(planted, planted.actor(LEAD), "development", reason="labels were mixed up")
    app = open_page(planted.folder, page, RATER)
    assert not app.exception
    assert not app.main.get("plotly_chart")
    shown = everything(app)
    for hidden in HIDDEN:
        assert hidden not in shown
    for cohort in ("development", "validation"):
        view = round_of(planted, get_cohort(planted, cohort))
        assert view is not None
        assert view.open
        for other in set(view.round.raters) - {RATER}:
            assert other not in shown


@pytest.fixture
def lead_rates(planted: Study) -> Callable[[], None]:
    """Open a round in which the lead takes part, on a cohort of its own."""

    def opened() -> None:
        toml = planted.folder / "data" / "study.toml"
        text = toml.read_text(encoding="utf-8")
        assert text.count('"adjudicator"]') == 1
        toml.write_text(text.replace('"adjudicator"]', '"adjudicator", "rater"]'), encoding="utf-8")
        lead = open_study(planted.folder).actor(LEAD)
        file = planted.folder / "more.csv"
        file.write_text("id,text\nx1,FINDINGS: Normal chest.\n")
        import_reports(planted, lead, file)
        define(planted, lead, "extra", Purpose.TAXONOMY, ["x1"])
        open_round(open_study(planted.folder), lead, "extra", raters=[LEAD])

    return opened


@pytest.mark.parametrize("page", PAGES)
def test_a_lead_who_rates_is_as_blind_as_any_rater(
    open_page: Open, planted: Study, lead_rates: Callable[[], None], page: str
) -> None:
    lead_rates()
    app = open_page(planted.folder, page, LEAD)
    assert not app.exception
    assert not app.main.get("plotly_chart")
    shown = everything(app)
    for hidden in FROM_A_LEAD:
        assert hidden not in shown


@pytest.mark.parametrize("page", RESULTS)
def test_a_tab_from_before_shows_nothing_more_once_the_round_is_open(
    open_page: Open, planted: Study, lead_rates: Callable[[], None], page: str
) -> None:
    app = open_page(planted.folder, page, LEAD)
    before = everything(app)
    lead_rates()
    app.run()
    assert not app.exception
    shown = everything(app)
    for hidden in FROM_A_LEAD:
        assert hidden not in shown
    assert "development-1" in before


def test_a_trial_from_before_is_not_shown_again(
    open_page: Open, planted: Study, lead_rates: Callable[[], None]
) -> None:
    app = open_page(planted.folder, "revise", LEAD)
    synonyms = next(area for area in app.main.text_area if "ynonym" in area.label or "phrase" in area.label.lower())
    synonyms.set_value("wording of nobody")
    app.session_state["revise.outcome"] = "Try it"
    app.run()
    next(button for button in app.main.button if button.label == "Try it").click().run()
    assert not app.exception
    assert "Not shown to you" not in everything(app)
    lead_rates()
    app.run()
    assert "Not shown to you before the round" in everything(app)
    assert not [button for button in app.main.button if button.label == "Try it"]


def test_a_tab_of_a_rater_is_blind_from_the_moment_a_round_takes_labels(open_page: Open, planted: Study) -> None:
    lead = planted.actor(LEAD)
    close_round(planted, lead, "validation")
    app = open_page(planted.folder, "history", RATER)
    assert app.main.get("plotly_chart")
    assert "development-1" in everything(app)
    reopen_round(planted, lead, "validation", reason="one rater was ill")
    app.run()
    assert not app.exception
    assert not app.main.get("plotly_chart")
    assert "development-1" not in everything(app)


def test_raters_are_not_told_the_positives_to_expect(open_page: Open, study: Study, demo_folder: Path) -> None:
    close_round(study, study.actor(LEAD), "validation")
    app = open_page(study.folder, "cohorts", RATER)
    assert not app.main.get("plotly_chart")
    assert open_page(demo_folder, "cohorts", LEAD).main.get("plotly_chart")
