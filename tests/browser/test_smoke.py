"""The demo study in a real Chromium: every page opens, and the loop can be gone round by clicking."""

import shutil
from pathlib import Path
from types import ModuleType

import pytest
from selenium.webdriver.chrome.webdriver import WebDriver
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait

from workbench.domain.actors import Role
from workbench.domain.findings import State
from workbench.domain.prompts import RevisionStatus
from workbench.workflow.annotate import open_report, queue
from workbench.workflow.demo import RATER
from workbench.workflow.opening import NewStudy, init_study, open_study
from workbench.workflow.prompts import find_revision
from workbench.workflow.settings import SignIn

pytestmark = pytest.mark.browser


def test_every_page_of_the_demo_study_opens(browsing: ModuleType, driver: WebDriver, made_demo: Path) -> None:
    with browsing.server(made_demo) as address:
        for page in browsing.PAGES:
            driver.get(f"{address}/{page}")
            browsing.settle(driver)
            assert browsing.exceptions(driver) == [], page
            assert page.capitalize() in browsing.text_of(driver)
            assert "Page not found" not in driver.find_element(By.TAG_NAME, "body").text
        driver.get(address)
        browsing.settle(driver)
        assert driver.current_url.partition("?")[0] == f"{address}/reports"


def test_a_reload_keeps_who_one_is_in_the_demo(browsing: ModuleType, driver: WebDriver, made_demo: Path) -> None:
    with browsing.server(made_demo) as address:
        driver.get(f"{address}/annotate")
        browsing.settle(driver)
        browsing.choose(driver, "Acting person", RATER)
        assert "is not a rater" not in browsing.text_of(driver)
        driver.refresh()
        browsing.settle(driver)
        assert "is not a rater" not in browsing.text_of(driver)


def test_the_loop_is_clicked_from_a_synonym_to_the_history(
    browsing: ModuleType, driver: WebDriver, made_demo: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "study"
    shutil.copytree(made_demo, folder)
    newest = find_revision(open_study(folder)).revision.number

    def shows(text: str) -> None:
        WebDriverWait(driver, 60).until(lambda d: text in browsing.text_of(d), f"the page never shows {text!r}")
        browsing.settle(driver)

    with browsing.server(folder) as address:
        driver.get(f"{address}/revise")
        browsing.settle(driver)
        synonyms = browsing.field(driver, "Synonyms")
        synonyms.send_keys(Keys.CONTROL, Keys.END)
        synonyms.send_keys(Keys.ENTER, "entirely new phrase", Keys.CONTROL, Keys.ENTER)
        WebDriverWait(driver, 30).until(lambda d: "entirely new phrase' added" in browsing.text_of(d))
        browsing.settle(driver)
        browsing.tab(driver, "Try it")
        browsing.click(driver, "Try it")
        shows("Become right")
        browsing.field(driver, "What changed and why").send_keys("A phrase nobody writes", Keys.ENTER)
        browsing.settle(driver)
        browsing.click(driver, "Save as candidate")
        shows(f"Saved as revision {newest + 1}")

        browsing.click(driver, "Start the run")
        WebDriverWait(driver, 90).until(lambda d: "Macro-F1" in browsing.text_of(d))
        browsing.settle(driver)
        shows("300 of 300 reports")

        browsing.click(driver, "Accept or reject it")
        for box in driver.find_elements(By.CSS_SELECTOR, "[data-testid=stMain] [data-testid=stCheckbox] label"):
            box.click()
            browsing.settle(driver)
        for label in ("Override", "Reason for the decision"):
            if label in browsing.text_of(driver):
                browsing.field(driver, label).send_keys("Tried by clicking", Keys.ENTER)
                browsing.settle(driver)
        browsing.click(driver, "Accept revision")

        shows(f"Revision {newest + 1} is accepted")
        assert "History" in browsing.text_of(driver)
        browsing.tab(driver, "Revisions and decisions")
        shows("A phrase nobody writes")
        assert browsing.exceptions(driver) == []
    accepted = find_revision(open_study(folder)).revision
    assert (accepted.number, accepted.status) == (newest + 1, RevisionStatus.ACCEPTED)


def test_a_rater_marks_by_mouse_and_submits_by_keyboard(
    browsing: ModuleType, driver: WebDriver, made_demo: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "study"
    shutil.copytree(made_demo, folder)
    study = open_study(folder)
    first = queue(study, study.actor(RATER), "validation").next
    assert first is not None
    with browsing.server(folder) as address:
        driver.get(f"{address}/annotate")
        browsing.settle(driver)
        browsing.choose(driver, "Acting person", RATER)
        shown = " ".join(browsing.text_of(driver).split())
        assert "Report 1 of 132" in shown
        assert first.report_id not in shown, "a report that comes twice could be told by its id"
        text = open_report(study, study.actor(RATER), "validation", first).report.text
        assert " ".join(text.splitlines()[-1].split()) in shown
        controls = driver.find_elements(By.CSS_SELECTOR, ".wb-board [role=radiogroup]")
        assert len(controls) == len(study.label_set.findings)
        lowest = max(control.location["y"] + control.size["height"] for control in controls)
        assert lowest <= 900, "not every finding is seen without scrolling"
        controls[0].find_element(By.CSS_SELECTOR, "[data-state=present]").click()
        WebDriverWait(driver, 30).until(lambda d: "Draft saved" in browsing.text_of(d))
        browsing.settle(driver)
        driver.find_element(By.TAG_NAME, "body").send_keys(Keys.ALT, "s")
        WebDriverWait(driver, 30).until(lambda d: "1 of 132 reports submitted" in browsing.text_of(d))
    task = open_report(study, study.actor(RATER), "validation", first)
    assert task.own is not None
    assert task.own.submitted
    assert task.own.states == {study.label_set.ids[0]: State.PRESENT}


def test_errors_are_walked_by_arrow_keys(browsing: ModuleType, driver: WebDriver, made_demo: Path) -> None:
    with browsing.server(made_demo) as address:
        driver.get(f"{address}/errors")
        browsing.settle(driver)
        assert "Error 1 of" in browsing.text_of(driver)
        driver.find_element(By.TAG_NAME, "body").send_keys(Keys.ARROW_RIGHT)
        WebDriverWait(driver, 30).until(lambda d: "Error 2 of" in browsing.text_of(d))
        browsing.settle(driver)
        driver.find_element(By.TAG_NAME, "body").send_keys(Keys.ARROW_LEFT)
        WebDriverWait(driver, 30).until(lambda d: "Error 1 of" in browsing.text_of(d))


def test_own_reports_are_brought_in_with_columns_named(browsing: ModuleType, driver: WebDriver, tmp_path: Path) -> None:
    new = NewStudy("My study", {"Lea": [Role.LEAD]}, simulated="For a test.", with_prompts=False, sign_in=SignIn.PICK)
    study = init_study(tmp_path / "own", new)
    path = tmp_path / "export.csv"
    path.write_text(
        "StudyID,MRN,ReportText\n1,p1,FINDINGS: 心影不大 <b>clear</b>\n2,p2,FINDINGS: Clear.\n", encoding="utf-8"
    )
    with browsing.server(study.folder) as address:
        driver.get(f"{address}/reports")
        browsing.settle(driver)
        driver.find_element(By.CSS_SELECTOR, "[data-testid=stFileUploader] input[type=file]").send_keys(str(path))
        browsing.settle(driver)
        for label, column in (("id", "StudyID"), ("patient", "MRN"), ("text", "NoSuchColumn")):
            field = driver.find_element(By.XPATH, f"//input[@aria-label='{label}']")
            field.send_keys(column, Keys.ENTER)
            browsing.settle(driver)
        browsing.click(driver, "Import reports")
        assert "NoSuchColumn" in driver.find_element(By.CSS_SELECTOR, "[data-testid=stAlert]").text
        field = driver.find_element(By.XPATH, "//input[@aria-label='text']")
        field.send_keys(Keys.CONTROL, "a")
        field.send_keys("ReportText", Keys.ENTER)
        browsing.settle(driver)
        browsing.click(driver, "Import reports")
        assert "2 reports added" in browsing.text_of(driver)
        assert "心影不大 <b>clear</b>" in browsing.text_of(driver)
        assert browsing.exceptions(driver) == []
