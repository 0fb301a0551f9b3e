"""Whoever goes to another page while writing on the page Revise finds everything there on coming back."""

from types import ModuleType

from selenium.webdriver.chrome.webdriver import WebDriver
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait

from workbench.workflow.demo import LEAD
from workbench.workflow.drafts import unsaved
from workbench.workflow.prompts import find_revision
from workbench.workflow.study import Study


def held(driver: WebDriver, label: str) -> str:
    found = WebDriverWait(driver, 60).until(
        lambda d: d.find_element(By.CSS_SELECTOR, f"textarea[aria-label='{label}']")
    )
    return found.get_attribute("value") or ""


def test_fields_hold_what_they_held_and_what_was_being_written(
    browsing: ModuleType, driver: WebDriver, study: Study
) -> None:
    before = find_revision(study).prompt.guidance.findings["lung_opacity"]
    with browsing.server(study.folder) as address:
        driver.get(f"{address}/revise?as={LEAD.replace(' ', '%20')}")
        browsing.settle(driver)
        held(driver, "Synonyms")
        browsing.field(driver, "Synonyms").send_keys(Keys.CONTROL, Keys.END)
        browsing.field(driver, "Synonyms").send_keys(Keys.ENTER, "quite new words")
        browsing.page(driver, "errors")
        browsing.page(driver, "revise")
        assert held(driver, "Definition") == before.definition
        assert held(driver, "Synonyms").splitlines() == [*before.synonyms, "quite new words"]
        # Writing on hands all fields in as they are shown.
        browsing.field(driver, "Synonyms").send_keys(Keys.CONTROL, Keys.END)
        browsing.field(driver, "Synonyms").send_keys(Keys.ENTER, "and more", Keys.CONTROL, Keys.ENTER)
        browsing.settle(driver)
    (kept,) = unsaved(study, study.actor(LEAD))
    now = kept.prompt.guidance.findings["lung_opacity"]
    assert now.definition == before.definition
    assert now.synonyms == (*before.synonyms, "quite new words", "and more")
