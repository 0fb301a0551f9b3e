"""What is written in a field that was not left is there again after a reload."""

from collections.abc import Callable, Iterator
from types import ModuleType

import pytest
from selenium.webdriver.chrome.webdriver import WebDriver
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.ui import WebDriverWait

from workbench.ui.shortcuts import WHY, keys_of
from workbench.ui.typed import PAUSE
from workbench.workflow.annotate import RatingTask, open_report, queue
from workbench.workflow.demo import LEAD, RATER
from workbench.workflow.drafts import unsaved
from workbench.workflow.study import Study

CUT_OFF = "return document.querySelector('[data-testid=stApp]')?.dataset.testConnectionState !== 'CONNECTED'"


@pytest.fixture
def address(browsing: ModuleType, study: Study) -> Iterator[str]:
    with browsing.server(study.folder) as address:
        yield address


def seen(driver: WebDriver, label: str) -> WebElement:
    return WebDriverWait(driver, 60).until(
        lambda d: d.find_element(By.CSS_SELECTOR, f"[aria-label='{label}']:is(input, textarea)")
    )


def test_a_comment_that_was_not_left(browsing: ModuleType, driver: WebDriver, study: Study, address: str) -> None:
    me = study.actor(RATER)
    first = queue(study, me, "validation").order[0]
    driver.get(f"{address}/annotate?as={RATER.replace(' ', '%20')}")
    browsing.settle(driver)
    field = seen(driver, "Comment")
    field.send_keys("old film")
    WebDriverWait(driver, 30 + PAUSE / 1000).until(lambda _: open_report(study, me, "validation", first).own)
    # Whoever writes on loses neither the cursor nor a letter by what was handed in.
    field.send_keys(", rotated")
    assert driver.switch_to.active_element.get_attribute("value") == "old film, rotated"

    def kept(_: WebDriver) -> bool:
        own = open_report(study, me, "validation", first).own
        return own is not None and own.comment == "old film, rotated"

    WebDriverWait(driver, 30).until(kept)
    driver.refresh()
    browsing.settle(driver)
    assert seen(driver, "Comment").get_attribute("value") == "old film, rotated"


def test_what_is_written_when_the_server_dies_is_there_and_goes_with_the_submission(
    browsing: ModuleType, driver: WebDriver, study: Study
) -> None:
    me = study.actor(RATER)
    first = queue(study, me, "validation").order[0]

    def alt(key: str) -> None:
        ActionChains(driver).key_down(Keys.ALT).send_keys(key).key_up(Keys.ALT).perform()

    def until(fits: Callable[[RatingTask], object]) -> RatingTask:
        WebDriverWait(driver, 60).until(lambda _: fits(open_report(study, me, "validation", first)))
        return open_report(study, me, "validation", first)

    with browsing.Server(study.folder, browsing.free_port()) as server:

        def dies() -> None:
            server.kill()
            WebDriverWait(driver, 60).until(lambda d: d.execute_script(CUT_OFF))
            server.start()
            WebDriverWait(driver, 60).until(lambda d: not d.execute_script(CUT_OFF))
            browsing.settle(driver)

        driver.get(f"{server.address}/annotate?as={RATER.replace(' ', '%20')}")
        browsing.settle(driver)
        seen(driver, "Comment").send_keys("old film")
        dies()
        until(lambda task: task.own and task.own.comment == "old film")
        assert seen(driver, "Comment").get_attribute("value") == "old film"
        alt("n")
        assert until(lambda task: task.submitted).submitted.comment == "old film"  # type: ignore[union-attr]

        browsing.click(driver, "Previous")
        seen(driver, "Comment")
        ActionChains(driver).send_keys(keys_of([f.name for f in study.label_set.findings])[0]).perform()
        seen(driver, WHY).send_keys("overlooked")
        dies()
        alt("s")
        assert until(lambda task: len(task.submitted.states) == 1).submitted.reason == "overlooked"  # type: ignore[union-attr]


def test_a_field_of_the_page_revise_that_was_not_left(
    browsing: ModuleType, driver: WebDriver, study: Study, address: str
) -> None:
    driver.get(f"{address}/revise?as={LEAD.replace(' ', '%20')}")
    browsing.settle(driver)
    field = seen(driver, "Synonyms")
    field.send_keys(Keys.CONTROL, Keys.END)
    field.send_keys(Keys.ENTER, "quite new words")
    WebDriverWait(driver, 60).until(lambda _: unsaved(study, study.actor(LEAD)))
    driver.refresh()
    browsing.settle(driver)
    assert (seen(driver, "Synonyms").get_attribute("value") or "").endswith("quite new words")
