"""A new rater practises by keyboard and goes on to the real round, in a real Chromium on a real server."""

import time
from types import ModuleType

from selenium.webdriver.chrome.webdriver import WebDriver
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait

from workbench.domain.findings import State
from workbench.ui.shortcuts import DOUBLE, keys_of
from workbench.workflow import practice
from workbench.workflow.annotate import queue
from workbench.workflow.demo import RATER
from workbench.workflow.study import Study

FITS = "return arguments[0].scrollWidth <= arguments[0].clientWidth"


def await_text(driver: WebDriver, text: str) -> None:
    WebDriverWait(driver, 20, poll_frequency=0.05).until(
        lambda d: text in d.find_element(By.CSS_SELECTOR, "[data-testid=stMain]").text
    )


def alt(driver: WebDriver, key: str) -> None:
    time.sleep(DOUBLE / 1000)  # two within that are one press made twice; nobody reads that fast
    ActionChains(driver).key_down(Keys.ALT).send_keys(key).key_up(Keys.ALT).perform()


def test_ten_reports_by_keyboard_then_the_real_round(browsing: ModuleType, driver: WebDriver, study: Study) -> None:
    made = practice.load(study)
    assert made is not None
    key = dict(zip(study.label_set.ids, keys_of([f.name for f in study.label_set.findings]), strict=True))
    with browsing.server(study.folder) as address:
        driver.get(f"{address}/annotate?as={RATER.replace(' ', '%20')}")
        browsing.settle(driver)
        browsing.click(driver, "Practice first")
        for place, report in enumerate(made.reports, start=1):
            await_text(driver, f"Report {place} of 10 · new")
            await_text(driver, "Practice: these labels count for nothing.")
            presses = [key[f] * {State.PRESENT: 1, State.UNCERTAIN: 2}.get(s, 0) for f, s in report.key.items()]
            if any(presses):
                ActionChains(driver).send_keys(*"".join(presses)).perform()
                alt(driver, "s")
            else:
                alt(driver, "n")
            await_text(driver, "All 21 findings as in the answer key.")
            alt(driver, "s")
        await_text(driver, "Practice is done")
        await_text(driver, "210 of 210")
        alt(driver, "s")
        await_text(driver, "Report 1 of 132")
        assert browsing.exceptions(driver) == []
    assert practice.result(study, study.actor(RATER)).submitted == 10
    there = queue(study, study.actor(RATER), "validation")
    assert (there.submitted, there.drafts) == (frozenset(), frozenset())


def test_four_answers_and_the_buttons_below_fit_a_small_screen(
    browsing: ModuleType, driver: WebDriver, study: Study
) -> None:
    settings = study.folder / "data" / "study.toml"
    four = 'rater_states = ["present", "uncertain", "absent", "not_mentioned"]\n'
    settings.write_text(four + settings.read_text(encoding="utf-8"), encoding="utf-8")
    with browsing.server(study.folder) as address:
        driver.get(f"{address}/annotate?as={RATER.replace(' ', '%20')}")
        browsing.settle(driver)
        browsing.click(driver, "Practice first")
        await_text(driver, "Practice: these labels count for nothing.")
        groups = driver.find_elements(By.CSS_SELECTOR, ".wb-board [role=radiogroup]")
        assert len(groups) == 21
        for group in groups:
            buttons = group.find_elements(By.CSS_SELECTOR, "button[role=radio]")
            assert [button.text for button in buttons] == ["–", "absent", "uncertain", "present"]
            last, right = buttons[-1].rect, group.rect["x"] + group.rect["width"]
            assert last["x"] + last["width"] <= right + 1
            assert all(driver.execute_script(FITS, button) for button in buttons)
        foot = driver.find_element(By.CSS_SELECTOR, ".st-key-rate_bar").rect
        assert foot["y"] + foot["height"] <= 800
