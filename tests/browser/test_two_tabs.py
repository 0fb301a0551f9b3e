"""One rater with two tabs on the same report: no label of either is lost, and a key means what its own tab shows."""

from collections.abc import Iterator
from types import ModuleType

import pytest
from selenium.webdriver.chrome.webdriver import WebDriver
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait

from workbench.domain.annotations import Annotation
from workbench.domain.findings import State
from workbench.ui.shortcuts import keys_of
from workbench.workflow.annotate import open_report, queue
from workbench.workflow.demo import RATER
from workbench.workflow.study import Study


class Tabs:
    """Two tabs on the first report of the demo's rater."""

    def __init__(self, browsing: ModuleType, driver: WebDriver, study: Study, address: str) -> None:
        self._driver, self._study = driver, study
        self._me = study.actor(RATER)
        self._entry = queue(study, self._me, "validation").order[0]
        findings = study.label_set.findings
        self._keys = dict(zip((f.id for f in findings), keys_of([f.name for f in findings]), strict=True))
        self.findings = tuple(self._keys)
        driver.get(f"{address}/annotate?as={RATER.replace(' ', '%20')}")
        browsing.settle(driver)
        self._tabs = [driver.current_window_handle]
        driver.switch_to.new_window("tab")
        driver.get(f"{address}/annotate?as={RATER.replace(' ', '%20')}")
        browsing.settle(driver)
        self._tabs.append(driver.current_window_handle)

    def press(self, tab: int, *findings: str) -> None:
        self._driver.switch_to.window(self._tabs[tab])
        ActionChains(self._driver).send_keys(*(self._keys[finding] for finding in findings)).perform()

    def comment(self, tab: int, text: str) -> None:
        self._driver.switch_to.window(self._tabs[tab])
        field = self._driver.find_element(By.CSS_SELECTOR, "[data-testid=stMain] input[aria-label=Comment]")
        field.send_keys(text, Keys.TAB)

    def submit(self, tab: int) -> Annotation:
        self._driver.switch_to.window(self._tabs[tab])
        ActionChains(self._driver).key_down(Keys.ALT).send_keys("s").key_up(Keys.ALT).perform()
        self.saved()
        submitted = open_report(self._study, self._me, "validation", self._entry).submitted
        assert submitted is not None
        return submitted

    def saved(self) -> dict[str, State]:
        """Return the labels once nothing waits in either tab."""
        for tab in self._tabs:
            self._driver.switch_to.window(tab)
            WebDriverWait(self._driver, 60).until(
                lambda d: not d.execute_script("return document.body.hasAttribute('data-wb-saving')")
            )
        own = open_report(self._study, self._me, "validation", self._entry).own
        return dict(own.states) if own else {}


@pytest.fixture
def server(browsing: ModuleType, study: Study) -> Iterator[object]:
    with browsing.Server(study.folder, browsing.free_port()) as server:
        yield server


def test_keys_of_both_tabs_that_waited_for_the_server_are_all_there(
    browsing: ModuleType, driver: WebDriver, study: Study, server: object
) -> None:
    tabs = Tabs(browsing, driver, study, server.address)  # type: ignore[attr-defined]
    with server.stopped():  # type: ignore[attr-defined]
        tabs.press(0, *tabs.findings[:4])
        tabs.press(1, *tabs.findings[4:8])
    assert tabs.saved() == dict.fromkeys(tabs.findings[:8], State.PRESENT)


def test_keys_of_both_tabs_are_all_there_when_the_server_was_killed_meanwhile(
    browsing: ModuleType, driver: WebDriver, study: Study, server: object
) -> None:
    tabs = Tabs(browsing, driver, study, server.address)  # type: ignore[attr-defined]
    server.kill()  # type: ignore[attr-defined]
    tabs.press(0, *tabs.findings[:3])
    tabs.press(1, *tabs.findings[3:6])
    server.start()  # type: ignore[attr-defined]
    assert tabs.saved() == dict.fromkeys(tabs.findings[:6], State.PRESENT)


def test_a_key_in_a_tab_that_does_not_know_yet_means_what_that_tab_shows(
    browsing: ModuleType, driver: WebDriver, study: Study, server: object
) -> None:
    tabs = Tabs(browsing, driver, study, server.address)  # type: ignore[attr-defined]
    first = tabs.findings[0]
    tabs.press(0, first)
    assert tabs.saved() == {first: State.PRESENT}
    tabs.press(1, first)  # it shows nothing, so one press is "present" and not one step further
    assert tabs.saved() == {first: State.PRESENT}


def test_a_comment_of_one_tab_is_in_what_the_other_submits(
    browsing: ModuleType, driver: WebDriver, study: Study, server: object
) -> None:
    tabs = Tabs(browsing, driver, study, server.address)  # type: ignore[attr-defined]
    tabs.press(1, tabs.findings[0])
    tabs.saved()
    tabs.comment(0, "old film")  # the field of the other tab stays empty
    tabs.saved()
    assert tabs.submit(1).comment == "old film"
