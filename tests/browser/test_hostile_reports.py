"""Reports, names and comments that try to be something else than text: read, labelled by keyboard, and taken out whole.

What comes in is what is kept, what is kept is what is seen, and what goes out comes back the same, byte for byte.
"""

import csv
import json
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pyarrow.parquet as pq
import pytest
from selenium.webdriver.chrome.webdriver import WebDriver
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait

from workbench.domain.actors import Role
from workbench.domain.cohorts import Purpose
from workbench.domain.references import VoteRule
from workbench.storage import annotations, reports
from workbench.workflow import annotate
from workbench.workflow.cohorts import define
from workbench.workflow.export import Shape, export_votes
from workbench.workflow.ingest import import_labels, import_reports
from workbench.workflow.opening import NewStudy, init_study, open_study
from workbench.workflow.reference import freeze
from workbench.workflow.rounds import open_round
from workbench.workflow.settings import SignIn
from workbench.workflow.study import Study

pytestmark = pytest.mark.browser

LEAD = "Lea"
RATER = "=cmd()|' /C calc'!A0 <b>Dr. Bold</b>"
RUN = "window.pwned=1;document.title='pwned'"
SCRIPT = f'<script>{RUN}</script><img src=x onerror="{RUN}"><svg onload="{RUN}"></svg>'
COMMENT = f"=cmd()|' /C calc'!A0 <script>{RUN}</script> **bold** $x$ :red[y], \"quoted\"; 心影"
# Whose names a label set may hold as well as another's: the first two of the study's findings are called so.
NAMES = ("=1+1 <i>opacity</i>", "**Bold** $x$ [link](javascript:window.pwned=1)")

MARKUP = (
    "FINDINGS: **bold** _it_ `code` [x](javascript:window.pwned=1) $\\frac{a}{b}$ &lt;b&gt; &amp; &#60; :red[no]\n"
    " ~~gone~~ | a | b |. # Head\n\n- one\n- two"
)
# By id: a report's text, and pieces of it that must be seen as they stand.
REPORTS = {
    "long": ("FINDINGS: " + "The lungs are clear. " * 960 + "Tail end of it.", ["Tail end of it."]),
    "no-sections": ("Heart normal. Lungs clear; no effusion", ["Heart normal.", "no effusion"]),
    "arabic": ("FINDINGS: الرئتان صافيتان. لا يوجد استرواح.", ["الرئتان صافيتان", "لا يوجد استرواح"]),
    "hebrew": ("FINDINGS: הריאות נקיות. \u202eturned\u202c round.", ["הריאות נקיות", "turned"]),
    "emoji": ("FINDINGS: Lungs 🫁 clear 👩🏽‍⚕️. No effusion 🚫💧.", ["🫁", "👩🏽‍⚕️", "🚫💧"]),
    "<i>script</i>": (f"FINDINGS: {SCRIPT} Lungs clear.", [SCRIPT]),
    "=1+1": ("=cmd()|' /C calc'!A0\n+1+1 @SUM(A1)\n-2+3", ["=cmd()|' /C calc'!A0", "@SUM(A1)", "-2+3"]),
    "markup": (
        MARKUP,
        ["**bold** _it_ `code` [x](javascript:window.pwned=1)", "$\\frac{a}{b}$ &lt;b&gt; &amp; &#60; :red[no]"],
    ),
    "chinese": (
        "影像所见：双肺纹理增多，未见明显实变影。\n诊断意见：心影「增大」。",
        ["未见明显实变影", "心影「增大」"],
    ),
}  # fmt: skip


def made(folder: Path, file: Path) -> Study:
    """A study with a hostile label set and the reports of a file in one cohort."""
    known = {LEAD: [Role.LEAD, Role.ADMIN], RATER: [Role.RATER]}
    new = NewStudy("Hostile", known, simulated="For tests.", with_prompts=False, sign_in=SignIn.PICK)
    init_study(folder, new).database.close()
    label_set = folder / "data" / "cxr21.yaml"
    text = label_set.read_text(encoding="utf-8")
    for name, hostile in zip(("Lung opacity", "Consolidation"), NAMES, strict=True):
        assert text.count(f"name: {name}\n") == 1
        text = text.replace(f"name: {name}\n", f"name: {json.dumps(hostile)}\n")
    label_set.write_text(text, encoding="utf-8")
    study = open_study(folder)
    lead = study.actor(LEAD)
    import_reports(study, lead, file)
    define(study, lead, "development", Purpose.DEVELOPMENT, list(REPORTS))
    return study


@pytest.fixture
def study(tmp_path: Path) -> Study:
    file = tmp_path / "reports.jsonl"
    rows = [
        {"id": report, "patient_id": f"p-{i}", "text": text} for i, (report, (text, _)) in enumerate(REPORTS.items())
    ]
    file.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    study = made(tmp_path / "study", file)
    open_round(study, study.actor(LEAD), "development", raters=[RATER], twice=0)
    return study


@pytest.fixture
def desk(browsing: ModuleType, driver: WebDriver, study: Study, monkeypatch: pytest.MonkeyPatch) -> Iterator[WebDriver]:
    """The annotate page, opened by the rater."""
    monkeypatch.setenv("WORKBENCH_AS", RATER)
    with browsing.server(study.folder) as address:
        driver.get(f"{address}/annotate")
        browsing.settle(driver)
        yield driver


def wait(driver: WebDriver, script: str) -> None:
    WebDriverWait(driver, 40, poll_frequency=0.1).until(lambda d: d.execute_script(f"return !!({script})"))


def alt(driver: WebDriver, key: str) -> None:
    ActionChains(driver).key_down(Keys.ALT).send_keys(key).key_up(Keys.ALT).perform()


def ran_nothing(driver: WebDriver) -> None:
    assert driver.execute_script("return window.pwned === undefined && document.title !== 'pwned'")
    elements = "script, img, svg[onload], b, i, strong, a[href^=javascript], .katex"
    for within in (f".wb-on :is({elements})", f".wb-board :is({elements.replace(', b,', ',')})"):
        assert driver.execute_script("return document.querySelectorAll(arguments[0]).length", within) == 0


def is_explained_as_text(driver: WebDriver) -> None:
    """Ask by keyboard what a finding with a hostile name means."""
    for name, mark in zip(NAMES, driver.find_elements(By.CSS_SELECTOR, ".wb-board .help"), strict=False):
        driver.execute_script("arguments[0].focus()", mark)
        wait(driver, "document.querySelector('#wb-tip').checkVisibility()")
        told = driver.find_element(By.ID, "wb-tip").text
        assert name in told
        assert "Include:" in told
        ran_nothing(driver)
        ActionChains(driver).send_keys(Keys.ESCAPE).perform()
        wait(driver, "!document.querySelector('#wb-tip').checkVisibility()")


def label(driver: WebDriver, study: Study, place: int, report: str) -> None:
    """Read a report, mark its first finding by key, click its last sentence as evidence, write a comment, submit."""
    wait(driver, f"document.body.innerText.includes('Report {place} of {len(REPORTS)}')")
    wait(driver, "document.querySelector('.wb-sentence')")
    seen = " ".join(driver.execute_script("return document.querySelector('.wb-on').innerText").split())
    for piece in REPORTS[report][1]:
        assert piece in seen
    ran_nothing(driver)
    controls = driver.find_element(By.CSS_SELECTOR, ".st-key-rating").text
    for name in NAMES:
        assert name in controls.replace("\n", " ")
    if place == 1:
        is_explained_as_text(driver)
    key = driver.find_element(By.CSS_SELECTOR, ".wb-board kbd").text.lower()
    ActionChains(driver).send_keys(key).perform()
    wait(driver, "document.querySelector('.wb-board [role=radio][aria-checked=true]:not(:first-child)')")
    sentence = driver.find_elements(By.CSS_SELECTOR, ".wb-sentence")[-1]
    driver.execute_script("arguments[0].scrollIntoView({block: 'center'})", sentence)
    sentence.click()
    wait(driver, "document.querySelector('.wb-sentence.evidence')")
    driver.find_element(By.CSS_SELECTOR, "[data-testid=stMain] input[aria-label=Comment]").send_keys(COMMENT)
    if place == 1:
        wait(driver, f"[...document.querySelectorAll('input')].some(i => i.value === {json.dumps(RATER)})")
    alt(driver, "s")
    last = place == len(REPORTS)
    done = "You have submitted every report" if last else f"Report {place + 1} of {len(REPORTS)}"
    wait(driver, f"document.body.innerText.includes('{done}')")
    ran_nothing(driver)


def test_hostile_reports_are_labelled_by_keyboard_and_go_out_and_come_back_intact(
    browsing: ModuleType, desk: WebDriver, study: Study, tmp_path: Path
) -> None:
    rater, lead = study.actor(RATER), study.actor(LEAD)
    order = annotate.queue(study, rater, "development").order
    assert len(REPORTS["long"][0]) > 20_000
    for place, entry in enumerate(order, 1):
        label(desk, study, place, entry.report_id)
    assert browsing.exceptions(desk) == []

    with study.database.read() as conn:
        kept = {report.id: report.text for report in reports.list_all(conn)}
        given = annotations.latest(conn, list(REPORTS), study.label_set.hash)
    assert kept == {report: text for report, (text, _) in REPORTS.items()}
    assert len(given) == len(REPORTS)
    for annotation in given:
        assert (annotation.rater, annotation.comment) == (RATER, COMMENT)
        (words,) = annotation.evidence.values()
        assert words in " ".join(kept[annotation.report_id].split())
    freeze(study, lead, "development", rule=VoteRule(1, 1))
    goes_out_and_comes_back(study, tmp_path)


def goes_out_and_comes_back(study: Study, tmp_path: Path) -> None:
    """Export the votes, import them into a study of the same reports, and export them there again."""
    lead = study.actor(LEAD)
    file = tmp_path / "reports.csv"
    with file.open("w", encoding="utf-8", newline="") as out:
        rows = [(report, f"p-{i}", text) for i, (report, (text, _)) in enumerate(REPORTS.items())]
        csv.writer(out).writerows([("id", "patient_id", "text"), *rows])
    for shape in Shape:
        first = tmp_path / f"{shape}.csv"
        export_votes(study, lead, "development", first, shape=shape)
        with first.open(encoding="utf-8", newline="") as back:
            cells = [cell for row in csv.reader(back) for cell in row]
        assert f"'{RATER}" in cells
        assert "'=1+1" in cells
        assert not [cell for cell in cells if cell.startswith(("=", "+", "@"))]
        table = tmp_path / f"{shape}.parquet"
        export_votes(study, lead, "development", table, shape=shape)
        column = pq.read_table(table).to_pydict()
        assert set(column["rater"]) == {RATER}
        assert set(column["report_id"]) == set(REPORTS)

        other = made(tmp_path / f"other-{shape}", file)
        with other.database.read() as conn:
            assert {r.id: r.text for r in reports.list_all(conn)} == {r: text for r, (text, _) in REPORTS.items()}
        import_labels(other, lead, first)
        freeze(other, lead, "development", rule=VoteRule(1, 1))
        for again in (first, table):
            second = again.with_name(f"again-{again.name}")
            export_votes(other, lead, "development", second, shape=shape)
            if again.suffix == ".csv":
                assert second.read_bytes() == again.read_bytes()
            else:
                assert pq.read_table(second).equals(pq.read_table(again))
