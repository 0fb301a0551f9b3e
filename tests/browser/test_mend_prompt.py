"""From a prompt of names only to one that passes the gate, by the pages alone; the way itself is in mending.py."""

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest
from selenium.webdriver.chrome.webdriver import WebDriver

from workbench.domain.prompts import RevisionStatus
from workbench.storage import suggestions
from workbench.workflow.browse import changes
from workbench.workflow.demo import LEAD, demo
from workbench.workflow.history import history
from workbench.workflow.opening import open_study
from workbench.workflow.prompts import find_revision
from workbench.workflow.reference import get_reference

pytestmark = pytest.mark.browser


@pytest.fixture
def mending(browsing: ModuleType) -> ModuleType:
    """The module ``mending``, which imports the module that ``browsing`` has loaded."""
    path = Path(__file__).with_name("mending.py")
    spec = importlib.util.spec_from_file_location("mending", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_a_prompt_of_names_only_is_mended_until_it_passes_the_gate(
    browsing: ModuleType, mending: ModuleType, driver: WebDriver, tmp_path: Path
) -> None:
    folder = tmp_path / "study"
    demo(folder, revisions=1)
    with browsing.server(folder) as address:
        mending.Mending(driver, lambda _: None).walk(address)
        assert browsing.exceptions(driver) == []
    study = open_study(folder)
    lead = study.actor(LEAD)
    rows = history(study, lead, get_reference(study, lead, "development-1"), accepted_only=False)
    assert [row.revision.status for row in rows] == [
        RevisionStatus.ACCEPTED,
        RevisionStatus.CANDIDATE,
        RevisionStatus.ACCEPTED,
    ]
    first, second, third = (row.score.evaluation.macro_f1.value or 0.0 for row in rows if row.score)
    assert first < 0.2
    assert second > first + 0.3
    assert third > second + 0.1

    decision = rows[-1].decision
    assert decision is not None
    assert decision.override == "", "the gate was open"
    assert decision.signed[:2] == ("assessable", "newly_missed")
    assert len(decision.signed) > 2, "each newly missed positive is signed by itself"
    assert all(each.endswith(f": {mending.MISSED_WHY}") for each in decision.signed[2:])
    assert (decision.actor, decision.reason) == (LEAD, mending.REASON)

    edits = [str(each) for each in changes(*(find_revision(study, number).prompt for number in (2, 3)))]
    assert any("kyphosis" in edit for edit in edits), "own phrases are in it"
    with study.database.read() as conn:
        decided = suggestions.list_all(conn)
    declined = {each.edit["phrase"] for each in decided if not each.accepted}
    assert declined
    assert declined <= set(mending.DECLINED)
    assert sum(each.accepted for each in decided) > 40
