"""A real Chromium and a real server, for the browser tests and the pictures of the README."""

import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from selenium import webdriver
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.chrome.webdriver import WebDriver
from selenium.webdriver.common.by import By
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.ui import WebDriverWait

ROOT = Path(__file__).resolve().parents[2]
PAGES = (
    "reports",
    "cohorts",
    "annotate",
    "reference",
    "adjudicate",
    "run",
    "errors",
    "revise",
    "accept",
    "history",
    "leaderboard",
    "review",
    "people",
)
FLAGS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--hide-scrollbars",
    "--lang=en",
)


def programs() -> tuple[str, str] | None:
    """Return the paths of Chromium and its driver, None where one is missing."""
    browser = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    driver = shutil.which("chromedriver")
    return (browser, driver) if browser and driver else None


@contextmanager
def chromium(width: int = 1400, height: int = 900, *, dark: bool = False) -> Iterator[WebDriver]:
    """Give a Chromium with a profile of its own."""
    found = programs()
    assert found is not None, "no Chromium here"
    with tempfile.TemporaryDirectory(prefix="workbench-chromium-", ignore_cleanup_errors=True) as profile:
        options = Options()
        options.binary_location = found[0]
        for flag in (*FLAGS, f"--user-data-dir={profile}", f"--window-size={width},{height}"):
            options.add_argument(flag)
        # The driver's path keeps selenium's manager from looking for one to download.
        driver = webdriver.Chrome(options=options, service=Service(executable_path=found[1]))
        try:
            view(driver, width, height, dark=dark)
            yield driver
        finally:
            driver.quit()


def view(driver: WebDriver, width: int, height: int, *, dark: bool) -> None:
    """Set the size of what is seen, and whether the person prefers dark."""
    size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    scheme = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": scheme})


def free_port() -> int:
    """Return a port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def server(study: Path) -> Iterator[str]:
    """Serve a study and give its address."""
    with Server(study, free_port()) as started:
        yield started.address


class Server:
    """A server on a study that can be killed and started again on its port."""

    def __init__(self, study: Path, port: int, *, script: str = "workbench/ui/server.py") -> None:
        self.log = study.with_name(f"{study.name}-server.log")
        self.address = f"http://127.0.0.1:{port}"
        self._study = study
        self._command = [sys.executable, "-m", "streamlit", "run", script, f"--server.port={port}"]
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start it and wait until it answers."""
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                self._command,
                cwd=ROOT,
                env={**os.environ, "WORKBENCH_STUDY": str(self._study)},
                stdout=log,
                stderr=subprocess.STDOUT,
            )
        _wait_for(f"{self.address}/_stcore/health", self._process)

    def kill(self) -> None:
        """End it as ``kill -9`` does: it gets no chance to finish anything."""
        assert self._process is not None
        self._process.kill()
        self._process.wait()

    @contextmanager
    def stopped(self) -> Iterator[None]:
        """Let it answer nothing meanwhile, as one with too much to do; what is sent to it waits."""
        assert self._process is not None
        self._process.send_signal(signal.SIGSTOP)
        try:
            yield
        finally:
            self._process.send_signal(signal.SIGCONT)

    def __enter__(self) -> "Server":
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        assert self._process is not None
        self._process.terminate()
        self._process.wait(timeout=20)


def _wait_for(address: str, process: "subprocess.Popen[bytes]") -> None:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        assert process.poll() is None, "the server ended before it answered"
        try:
            with urllib.request.urlopen(address, timeout=2) as answer:
                if answer.status == 200:
                    return
        except (urllib.error.URLError, OSError):
            time.sleep(0.1)
    raise AssertionError("the server did not answer within a minute")


def settle(driver: WebDriver, seconds: float = 60) -> None:
    """Wait until the page has a heading and its script has come to rest."""

    def quiet(_: WebDriver) -> bool:
        return bool(
            driver.execute_script(
                "const app = document.querySelector('[data-testid=stApp]');"
                "return !!app && app.dataset.testScriptState === 'notRunning'"
                " && !!document.querySelector('[data-testid=stMain] h2, [data-testid=stMain] h1')"
                " && !document.querySelector('[data-testid=stSpinner], [data-testid=stSkeleton], [data-stale=true]');"
            )
        )

    wait = WebDriverWait(driver, seconds, poll_frequency=0.1)
    wait.until(quiet)
    time.sleep(0.3)  # a rerun that a widget asks for on its first drawing starts at once
    wait.until(quiet)


def text_of(driver: WebDriver) -> str:
    """Return what the main part of the page says."""
    return driver.find_element(By.CSS_SELECTOR, "[data-testid=stMain]").text


def exceptions(driver: WebDriver) -> list[str]:
    """Return the texts of exceptions that the page shows."""
    return [element.text for element in driver.find_elements(By.CSS_SELECTOR, "[data-testid=stException]")]


def click(driver: WebDriver, label: str) -> None:
    """Press the button of that name in the page and let the page settle."""
    wait = WebDriverWait(driver, 30)
    wait.until(lambda d: _enabled(d, label)).click()
    settle(driver)


def _enabled(driver: WebDriver, label: str) -> WebElement | None:
    path = f"//*[@data-testid='stMain']//button[not(@disabled) and contains(normalize-space(.), '{label}')]"
    return next(iter(driver.find_elements(By.XPATH, path)), None)


def field(driver: WebDriver, label: str) -> WebElement:
    """Return the text field of that label."""
    path = f"//*[@data-testid='stMain']//*[self::textarea or self::input][contains(@aria-label, '{label}')]"
    return WebDriverWait(driver, 30).until(lambda d: d.find_element(By.XPATH, path))


def page(driver: WebDriver, name: str) -> None:
    """Go to a page by the navigation, within the same session."""
    driver.find_element(By.CSS_SELECTOR, f"[data-testid=stSidebarNav] a[href$='/{name}']").click()
    settle(driver)


def tab(driver: WebDriver, label: str) -> None:
    """Open a tab of the page."""
    path = f"//*[@data-testid='stMain']//*[@role='tab'][contains(normalize-space(.), '{label}')]"
    WebDriverWait(driver, 30).until(lambda d: d.find_element(By.XPATH, path)).click()
    settle(driver)


def choose(driver: WebDriver, label: str, option: str) -> None:
    """Choose an option of the select box of that label, in the page or beside it."""
    path = f"//*[@data-testid='stSelectbox'][.//*[normalize-space(text())='{label}']]//input"
    WebDriverWait(driver, 30).until(lambda d: d.find_element(By.XPATH, path)).click()
    wanted = f"//*[@role='option'][contains(normalize-space(.), '{option}')]"
    WebDriverWait(driver, 30).until(lambda d: d.find_element(By.XPATH, wanted)).click()
    settle(driver)
