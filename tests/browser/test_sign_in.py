"""Signing in as people do it: a code, a password of one's own, a reload, a server that comes back, and out again."""

import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest
from selenium.webdriver.chrome.webdriver import WebDriver
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait

from workbench.domain.actors import Role
from workbench.workflow import people
from workbench.workflow.opening import NewStudy, init_study
from workbench.workflow.study import Study

pytestmark = pytest.mark.browser
PASSWORD = "quiet lungs today"


@pytest.fixture
def study(tmp_path: Path) -> Study:
    return init_study(tmp_path / "study", NewStudy("Chest 2026", {"Lea": [Role.LEAD, Role.ADMIN]}, with_prompts=False))


@contextlib.contextmanager
def serving(study: Study, port: int) -> Iterator["subprocess.Popen[bytes]"]:
    """Serve a study as the command does."""
    command = [sys.executable, "-m", "workbench", "serve", "--study", str(study.folder), "--port", str(port)]
    process = subprocess.Popen(
        command,
        env={name: value for name, value in os.environ.items() if name not in {"DISPLAY", "WAYLAND_DISPLAY"}},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        deadline = time.monotonic() + 60
        while not _answers(port):
            assert process.poll() is None, "the server ended before it answered"
            assert time.monotonic() < deadline, "the server did not answer within a minute"
            time.sleep(0.1)
        yield process
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(timeout=30)


def _answers(port: int) -> bool:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/_stcore/health", timeout=2) as answer:
            return bool(answer.status == 200)
    except (urllib.error.URLError, OSError):
        return False


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


# Asked in one step: an element that is found first may be gone when its text is asked for, as the page is loading.
def sidebar(driver: WebDriver) -> str:
    return str(driver.execute_script("return document.querySelector('[data-testid=stSidebar]')?.innerText ?? ''"))


def everything(driver: WebDriver) -> str:
    return str(driver.execute_script("return document.body?.innerText ?? ''"))


def wait_for(driver: WebDriver, text: str) -> None:
    WebDriverWait(driver, 30).until(lambda d: text in everything(d))


def type_into(driver: WebDriver, field: str, *keys: str) -> None:
    """Type where the page has put the cursor, once that is in the field of that name."""
    active = "return document.activeElement?.name"
    WebDriverWait(driver, 30).until(lambda d: d.execute_script(active) == field)
    driver.switch_to.active_element.send_keys(*keys)


def test_a_rater_signs_in_stays_signed_in_and_leaves(browsing: ModuleType, driver: WebDriver, study: Study) -> None:
    lead = study.actor("Lea")
    code = people.add(study, lead, "Rita", [Role.RATER]).code
    port = free_port()
    address = f"http://127.0.0.1:{port}"
    with serving(study, port):
        driver.get(f"{address}/cohorts")
        browsing.settle(driver)
        assert "Sign in" in browsing.text_of(driver)
        assert sidebar(driver) == ""

        # The first time: the code, mistyped once, and a password of one's own; nothing but the keyboard.
        type_into(driver, "person", Keys.TAB * 3, Keys.ENTER)
        wait_for(driver, "Back to name and password")
        type_into(driver, "person", "Rita", Keys.TAB, "AAAA-BBBB-CCCC", Keys.TAB, PASSWORD, Keys.ENTER)
        wait_for(driver, "The name or the code is wrong")
        browsing.settle(driver)
        type_into(driver, "code", code.lower(), Keys.TAB, PASSWORD, Keys.ENTER)
        wait_for(driver, "Signed in as Rita")
        browsing.settle(driver)
        assert driver.current_url == f"{address}/cohorts"
        assert "Acting person" not in sidebar(driver)

        # No script on the page can read the session.
        assert "workbench_" not in driver.execute_script("return document.cookie")
        driver.refresh()
        wait_for(driver, "Signed in as Rita")
    with serving(study, port):
        driver.refresh()
        wait_for(driver, "Signed in as Rita")
        browsing.settle(driver)

        driver.find_element(By.XPATH, "//button[normalize-space(.)='Sign out']").click()
        wait_for(driver, "First time here?")
        browsing.settle(driver)
        assert "Sign in" in browsing.text_of(driver)
        driver.get(f"{address}/annotate")
        browsing.settle(driver)
        assert "Sign in" in browsing.text_of(driver)
        assert sidebar(driver) == ""

        # From now on: name and password, Enter submits, and a wrong one keeps the name.
        type_into(driver, "person", "Rita", Keys.TAB, "wrong password", Keys.ENTER)
        wait_for(driver, "The name or the password is wrong.")
        browsing.settle(driver)
        type_into(driver, "password", PASSWORD, Keys.ENTER)
        wait_for(driver, "Signed in as Rita")
        assert driver.current_url == f"{address}/annotate"


def test_a_tab_left_open_shows_the_door_once_its_person_is_gone(
    browsing: ModuleType, driver: WebDriver, study: Study
) -> None:
    code = people.add(study, study.actor("Lea"), "Rita", [Role.RATER]).code
    people.add(study, study.actor("Lea"), "Lea")
    port = free_port()
    with serving(study, port):
        driver.get(f"http://127.0.0.1:{port}/cohorts")
        browsing.settle(driver)
        type_into(driver, "person", Keys.TAB * 3, Keys.ENTER)
        wait_for(driver, "Back to name and password")
        type_into(driver, "person", "Rita", Keys.TAB, code, Keys.TAB, PASSWORD, Keys.ENTER)
        wait_for(driver, "Signed in as Rita")
        browsing.settle(driver)
        people.deactivate(study, study.actor("Lea"), "Rita")
        driver.find_element(By.CSS_SELECTOR, "[data-testid=stSidebarNav] a[href$='/annotate']").click()
        wait_for(driver, "First time here?")
        browsing.settle(driver)
        assert "Signed in as" not in everything(driver)
