"""A radiologist's first minutes: from the README's commands to ten reports labelled by keyboard.

How long each step takes is printed (``pytest -s``) and not asserted.
"""

import csv
import json
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import ModuleType

import pytest
from selenium.webdriver.chrome.webdriver import WebDriver
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait

from workbench.domain.annotations import Annotation, Mark
from workbench.domain.findings import State
from workbench.storage import annotations
from workbench.ui import rating_work
from workbench.ui.shortcuts import DOUBLE, WHY, keys_of
from workbench.workflow import practice
from workbench.workflow.annotate import Entry, queue
from workbench.workflow.opening import open_study
from workbench.workflow.study import Study

pytestmark = pytest.mark.browser
RATERS = tuple(f"Dr. {letter}" for letter in "ABCDEF")
ME = RATERS[0]
PASSWORD = "quiet lungs today"
PRESSES = {State.PRESENT: 1, State.UNCERTAIN: 2}
NORMAL = "FINDINGS: The lungs are clear. Heart size is normal.\n\nIMPRESSION: No acute disease."
ABNORMAL = "FINDINGS: The heart is enlarged. Possible small left pleural effusion.\n\nIMPRESSION: Cardiomegaly."
ABNORMAL_SAID = {"cardiomegaly": State.PRESENT, "pleural_effusion": State.UNCERTAIN}
UNSAVED = "wb-unsaved"


def workbench(folder: Path, *words: str) -> str:
    """Run a command as the README has it and return what it prints."""
    where = () if words[0] == "init" else ("--study", str(folder / "my-study"))
    command = [sys.executable, "-m", "workbench", *words, *where]
    ran = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


def made(folder: Path, texts: Mapping[str, str]) -> tuple[Study, str]:
    """Make a study of these reports with an open round, by the README's commands; return it and the rater's code."""
    with (folder / "reports.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([("StudyID", "PatientID", "Report"), *((i, f"p{i}", t) for i, t in texts.items())])
    workbench(folder, "init", "my-study", "--as", "Dr. Chan")
    columns = ("--column", "id=StudyID", "--column", "patient=PatientID", "--column", "text=Report")
    workbench(folder, "import", "reports", "reports.csv", *columns)
    workbench(folder, "cohort", "allocate", "development", "--size", str(len(texts)), "--seed", "7")
    codes = [json.loads(workbench(folder, "user", "add", name, "--role", "rater", "--json"))["code"] for name in RATERS]
    workbench(folder, "round", "open", "development", *(word for name in RATERS for word in ("--rater", name)))
    return open_study(folder / "my-study"), codes[0]


class Walk:
    """A radiologist at a browser, with a watch."""

    def __init__(self, browsing: ModuleType, driver: WebDriver, study: Study) -> None:
        self.browsing, self.driver, self.study = browsing, driver, study
        names = [finding.name for finding in study.label_set.findings]
        self.keys = dict(zip(study.label_set.ids, keys_of(names), strict=True))
        self._since = time.monotonic()

    def step(self, name: str) -> None:
        """Print how long it took until here."""
        now = time.monotonic()
        sys.stdout.write(f"{now - self._since:6.1f} s  {name}\n")
        self._since = now

    def sees(self, text: str, *, gone: bool = False) -> None:
        """Wait until the page says this, or no longer does."""
        WebDriverWait(self.driver, 60, poll_frequency=0.05).until(
            lambda d: (text in d.execute_script("return document.body?.innerText ?? ''")) != gone,
            f"{'still' if gone else 'never'} on the page: {text}",
        )

    def types(self, field: str, *keys: str) -> None:
        """Type where the cursor stands, once the page has put it into that field."""
        active = "return document.activeElement?.name"
        WebDriverWait(self.driver, 60).until(lambda d: d.execute_script(active) == field)
        self.driver.switch_to.active_element.send_keys(*keys)

    def alt(self, key: str) -> None:
        time.sleep(DOUBLE / 1000)  # two within that are one press made twice; nobody reads a report that fast
        ActionChains(self.driver).key_down(Keys.ALT).send_keys(key).key_up(Keys.ALT).perform()

    def marks(self, states: Mapping[str, State]) -> None:
        presses = "".join(self.keys[finding] * PRESSES.get(state, 0) for finding, state in states.items())
        ActionChains(self.driver).send_keys(presses).perform()

    def answers(self, states: Mapping[str, State]) -> None:
        """Mark a report and submit it, all by keyboard."""
        positive = {finding: state for finding, state in states.items() if state in PRESSES}
        if positive:
            self.marks(positive)
        self.alt("s" if positive else "n")

    def signs_in(self, address: str, code: str) -> None:
        self.driver.get(address)
        self.sees("First time here? Use your one-time code")
        self.step("the door")
        self.types("person", Keys.TAB * 3, Keys.ENTER)
        self.sees("Back to name and password")
        self.types("person", ME, Keys.TAB, code, Keys.TAB, PASSWORD, Keys.ENTER)
        self.sees(f"Signed in as {ME}")
        # The page one came for, without looking for it, and no others that would only refuse.
        self.sees("Practice first")
        assert self.driver.current_url.endswith("/annotate")
        nav = self.driver.find_elements(By.CSS_SELECTOR, "[data-testid=stSidebarNav] a")
        assert [link.text.splitlines()[-1] for link in nav if link.is_displayed()] == ["Reports", "Cohorts", "Annotate"]
        self.step("signed in, at the first report")

    def practises(self) -> None:
        self.browsing.click(self.driver, "Practice first")
        given = practice.load(self.study)
        assert given is not None
        for place, report in enumerate(given.reports, start=1):
            self.sees(f"Report {place} of 10 · new")
            self.reads(report.report.id)
            wrong = place == 1  # the first is answered wrongly, to be told so
            self.answers({"cardiomegaly": State.PRESENT} if wrong else report.key)
            self.sees("over-called".upper() if wrong else "All 21 findings as in the answer key.")
            self.step(f"practice report {place} answered, feedback read")
            self.browsing.settle(self.driver)
            self.alt("s")
        self.sees("Practice is done")
        self.sees("209 of 210")
        self.alt("s")
        self.sees("Report 1 of ")
        self.step("the real round begins")

    def labels_ten(self, order: Sequence[Entry], texts: Mapping[str, str]) -> str:
        """Label ten reports, the first abnormal one with evidence; put the next abnormal one aside and return it."""
        evident = aside = ""
        for place, entry in enumerate(order[:10], start=1):
            self.sees(f"Report {place} of {len(order)} · ")
            self.reads(entry.report_id)
            abnormal = texts[entry.report_id] == ABNORMAL
            if abnormal and not evident:
                evident = entry.report_id
                self.marks({"cardiomegaly": State.PRESENT})
                self.sees("Draft saved at")
                self.driver.find_elements(By.CSS_SELECTOR, ".wb-sentence")[0].click()
                self.waits(lambda d: bool(d.find_elements(By.CSS_SELECTOR, ".wb-sentence.evidence")))
                self.answers({"pleural_effusion": State.UNCERTAIN})
            elif abnormal and not aside:
                aside = entry.report_id
                self.marks({"cardiomegaly": State.PRESENT})
                self.alt("u")
            else:
                self.answers(ABNORMAL_SAID if abnormal else {})
            self.sees(f"Report {place + 1} of {len(order)} · ")
            self.step(f"report {place}: {'abnormal' if abnormal else 'normal'}")
        assert self.latest(evident).evidence == {"cardiomegaly": "The heart is enlarged."}
        assert self.latest(evident).states == ABNORMAL_SAID
        assert Mark.COME_BACK in self.latest(aside).marks
        return aside

    def amends_the_one_before(self) -> None:
        """Change a submitted report: the page asks why, and puts the cursor where that is written."""
        self.browsing.click(self.driver, "Previous")
        amended = self.on()
        self.marks({"fracture": State.PRESENT})
        self.sees("Draft saved at")
        self.alt("s")
        self.sees("say why they change")
        self.waits(lambda d: d.switch_to.active_element.get_attribute("aria-label") == WHY)
        self.driver.switch_to.active_element.send_keys("Overlooked a rib")
        self.alt("s")
        self.sees("say why they change", gone=True)
        self.step("a submitted report amended")
        assert (self.latest(amended).submitted, self.latest(amended).reason) == (True, "Overlooked a rib")

    def waits(self, until: Callable[[WebDriver], bool]) -> None:
        WebDriverWait(self.driver, 60, poll_frequency=0.05).until(until)

    def reads(self, report: str) -> None:
        """Wait until the text of this report is on the screen and the page has come to rest, as a reader does."""
        self.browsing.settle(self.driver)
        self.waits(lambda _: self.on() == report)

    def on(self) -> str:
        """Return the id of the report on the screen, of which the page tells the place only."""
        on = self.driver.find_element(By.CSS_SELECTOR, ".wb-on").get_attribute("data-on")
        _, cohort, _, place = json.loads(on or "")
        order = rating_work.queue(self.study, self.study.actor(ME), cohort).order
        return order[place - 1].report_id

    def latest(self, report: str) -> Annotation:
        with self.study.database.read() as conn:
            return annotations.history(conn, report, ME)[-1]


def test_from_the_readme_to_ten_reports_labelled(browsing: ModuleType, driver: WebDriver, tmp_path: Path) -> None:
    texts = {f"r{n:02}": NORMAL if n % 2 else ABNORMAL for n in range(1, 13)}
    study, code = made(tmp_path, texts)
    me = study.actor(ME)
    order = queue(study, me, "development").order
    with browsing.server(study.folder) as address:
        walk = Walk(browsing, driver, study)
        walk.signs_in(address, code)
        walk.practises()

        aside = walk.labels_ten(order, texts)
        walk.amends_the_one_before()

        # The rest, the one put aside last; and nothing is said to wait once all is saved.
        done = len(queue(study, me, "development").submitted)
        while done < len(order):
            walk.sees(f"{done} of {len(order)} reports submitted")
            walk.answers(ABNORMAL_SAID if walk.on() == aside else {})
            done += 1
        walk.sees("You have submitted every report")
        walk.step("the round is through")
        time.sleep(2)  # the notice would come after 1.5
        assert driver.find_elements(By.ID, UNSAVED) == []
        assert browsing.exceptions(driver) == []
    assert len(queue(study, me, "development").submitted) == len(order)


def test_chinese_reports_are_read_and_labelled(
    browsing: ModuleType, driver: WebDriver, tmp_path: Path, shared: Path
) -> None:
    with (shared / "languages" / "openi_zh.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))[:3]
    texts = {row["uid"]: row["caption_zh"] for row in rows}
    study, code = made(tmp_path, texts)
    order = queue(study, study.actor(ME), "development").order
    with browsing.server(study.folder) as address:
        walk = Walk(browsing, driver, study)
        walk.signs_in(address, code)
        browsing.click(driver, "Skip, label now")
        walk.reads(order[0].report_id)
        walk.marks({"cardiomegaly": State.UNCERTAIN})
        walk.sees("Draft saved at")
        sentence = driver.find_elements(By.CSS_SELECTOR, ".wb-sentence")[0]
        words = sentence.text
        assert words in "".join(texts[order[0].report_id].split("\n"))
        assert words.endswith("。")
        sentence.click()
        walk.waits(lambda d: bool(d.find_elements(By.CSS_SELECTOR, ".wb-sentence.evidence")))
        walk.answers({"fracture": State.PRESENT})
        walk.reads(order[1].report_id)
        assert browsing.exceptions(driver) == []
    assert walk.latest(order[0].report_id).evidence == {"cardiomegaly": words}
