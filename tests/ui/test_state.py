"""The token that tells when kept readings are stale, and small readers of what people type."""

from pathlib import Path

import pytest

from workbench.domain.actors import Actor, Role
from workbench.ui import prompt_fields, uploads
from workbench.ui.state import Here
from workbench.workflow.cohorts import Purpose, allocate
from workbench.workflow.ingest import import_reports
from workbench.workflow.opening import NewStudy, init_study
from workbench.workflow.study import Study


@pytest.fixture
def study(tmp_path: Path) -> Study:
    return init_study(tmp_path / "study", NewStudy("A study", {"Lea": [Role.LEAD]}, with_prompts=False))


@pytest.fixture
def here(study: Study) -> Here:
    return Here(study, study.actor("Lea"))


def take_in(study: Study, name: str) -> None:
    path = study.folder / f"{name}.csv"
    path.write_text(f"id,patient,text\n{name},p-{name},FINDINGS: Clear.\n", encoding="utf-8")
    import_reports(study, study.actor("Lea"), path, columns={"id": "id", "patient": "patient", "text": "text"})


def test_the_token_changes_with_every_commit(study: Study, here: Here) -> None:
    tokens = [here.token]
    take_in(study, "one")
    tokens.append(here.token)
    take_in(study, "two")
    tokens.append(here.token)
    allocate(study, here.actor, "dev", Purpose.DEVELOPMENT, size=2)
    tokens.append(here.token)
    assert len(set(tokens)) == 4


def test_the_token_stays_while_nobody_writes(study: Study, here: Here) -> None:
    take_in(study, "one")
    before = here.token
    with study.database.read() as conn:
        conn.execute("SELECT COUNT(*) FROM reports").fetchone()
    assert here.token == before


def test_rights_on_a_page_follow_the_roles() -> None:
    here = Here(None, Actor("Rita", frozenset({Role.RATER})))  # type: ignore[arg-type]
    assert here.may(Role.RATER, Role.LEAD)
    assert not here.may(Role.LEAD, Role.ADMIN)


def test_phrases_are_one_per_line_without_blanks() -> None:
    assert prompt_fields.lines("  heart ... enlarged \n\n\tcalcif*\n \n心影 增大") == (
        "heart ... enlarged",
        "calcif*",
        "心影 增大",
    )


def test_section_columns_are_read_from_one_line() -> None:
    assert uploads.section_columns("findings=FindingsText, Impression = IMP ,") == {
        "section:findings": "FindingsText",
        "section:impression": "IMP",
    }
    assert uploads.section_columns(" ") == {}
