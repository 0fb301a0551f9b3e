"""Six raters label at the same time; one loses the connection and the server is killed: nothing is lost, nothing twice.

Each rater has a plan of their own, pressed by keyboard alone. What the page has acknowledged is written down while it
happens and looked for in the database afterwards, and so is every single press: the history of a report must hold one
draft per press and one submission, in the order pressed.
"""

import csv
import random
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from selenium.common.exceptions import TimeoutException
from selenium.webdriver.chrome.webdriver import WebDriver
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait

from workbench.domain.actors import Role
from workbench.domain.annotations import Annotation, Mark
from workbench.domain.cohorts import Purpose
from workbench.domain.findings import State
from workbench.storage import annotations
from workbench.ui.shortcuts import DOUBLE, keys_of
from workbench.workflow import people
from workbench.workflow.annotate import queue
from workbench.workflow.cohorts import define
from workbench.workflow.ingest import import_reports
from workbench.workflow.opening import NewStudy, init_study
from workbench.workflow.rounds import open_round
from workbench.workflow.sign_in import first_sign_in
from workbench.workflow.slow_down import Try
from workbench.workflow.study import Study

pytestmark = pytest.mark.browser

RATERS = ("Ada", "Ben", "Chen", "Dora", "Emil", "Fay")
CUT_OFF = "Chen"  # loses the connection
KILLER = "Ada"  # whose key the server dies on
REPORTS = 20
PASSWORD = "quiet lungs today"
PATIENCE = 180  # seconds for a page to say what it must; a loaded machine takes its time
STOPPED = threading.Event()  # one of the raters has failed, so that the others need not go on

# What the page shows, read in one step: nothing of it can be gone between two questions.
PAGE = """
const main = document.querySelector('[data-testid=stMain]');
const words = (selector) => [...main.querySelectorAll(selector)].map((e) => e.textContent).join('\\n');
const on = words('[data-testid=stMarkdown] p').match(/Report (\\d+) of \\d+ ·/);
const labels = [...document.querySelectorAll('.wb-board .finding')].map((finding) => [
  finding.querySelector('kbd')?.textContent ?? '',
  finding.querySelector('[role=radio][aria-checked=true]')?.textContent ?? '',
]);
const app = document.querySelector('[data-testid=stApp]')?.dataset ?? {};
const faults = words('[data-testid=stException], [data-testid=stAlert]');
return {
  place: Number(on?.[1] ?? 0), labels: Object.fromEntries(labels),
  saved: words('.st-key-rate_saved').includes('Draft saved at') && !document.body.hasAttribute('data-wb-saving'),
  done: Number(words('[data-testid=stProgress]').match(/(\\d+) of \\d+ reports submitted/)?.[1] ?? -1),
  finished: faults.includes('You have submitted every report'), faults,
  ready: app.testScriptState === 'notRunning' && !!window.wbRating, connected: app.testConnectionState === 'CONNECTED',
  unsaved: !!document.getElementById('wb-unsaved'),
};
"""
SHOWN = {State.PRESENT: "present", State.UNCERTAIN: "uncertain"}
PRESSES = {State.PRESENT: 1, State.UNCERTAIN: 2}


@dataclass
class Rater:
    """One rater at a browser, with what they mean to say and what the page has acknowledged."""

    study: Study
    name: str
    driver: WebDriver
    keys: Mapping[str, str]  # finding to key
    plan: Mapping[str, Mapping[str, State]]  # by report
    left_at: float = 0.0
    submitted: list[str] = field(default_factory=list)
    drafts: list[tuple[str, dict[str, State]]] = field(default_factory=list)  # whose saved mark had appeared

    @cached_property
    def order(self) -> list[str]:
        """The reports in this rater's own order, of which the page tells the place only."""
        return [entry.report_id for entry in queue(self.study, self.study.actor(self.name), "development").order]

    def page(self) -> dict[str, object]:
        seen = dict(self.driver.execute_script(PAGE))
        return seen | {"report": self.order[seen["place"] - 1] if seen["place"] else ""}

    def until(self, fits: Callable[[dict[str, object]], bool], what: str) -> dict[str, object]:
        """Wait for the page to say something."""
        seen: dict[str, object] = {}

        def look(_: WebDriver) -> bool:
            assert not STOPPED.is_set(), "another rater failed"
            seen.update(self.page())
            return fits(seen)

        try:
            WebDriverWait(self.driver, PATIENCE, poll_frequency=0.15).until(look)
        except TimeoutException as error:
            kept = [dict(a.states) for a in self.history(str(seen.get("report")))]
            told = f"{self.name} waited for {what}; the page: {seen}; in the database: {kept}"
            raise AssertionError(told) from error
        return seen

    def sign_in(self, address: str) -> None:
        self.driver.get(f"{address}/annotate")
        WebDriverWait(self.driver, PATIENCE).until(lambda d: d.find_elements(By.NAME, "person"))
        active = "return document.activeElement?.name"
        WebDriverWait(self.driver, PATIENCE).until(lambda d: d.execute_script(active) == "person")
        self.driver.switch_to.active_element.send_keys(self.name, Keys.TAB, PASSWORD, Keys.ENTER)
        self.until(lambda page: bool(page["report"] and page["ready"]), "the first report")

    def press(self, finding: str, state: State) -> None:
        ActionChains(self.driver).send_keys(self.keys[finding] * PRESSES[state]).perform()

    def alt(self, key: str) -> None:
        ActionChains(self.driver).key_down(Keys.ALT).send_keys(key).key_up(Keys.ALT).perform()

    def shows(self, report: str, said: Mapping[str, State]) -> Callable[[dict[str, object]], bool]:
        """Return whether a page shows exactly these labels of this report."""
        labels = {key: SHOWN[said[f]] if f in said else "–" for f, key in self.keys.items()}
        return lambda page: page["report"] == report and page["labels"] == labels

    def mark(self, report: str, *, in_one_go: bool) -> None:
        """Press what is meant and wait until it is shown as saved: at the end, or after each finding."""
        said: dict[str, State] = {}
        for finding, state in self.plan[report].items():
            self.press(finding, state)
            said[finding] = state
            if not in_one_go:
                self.saved(report, said)
        if in_one_go and said:
            self.saved(report, said)

    def saved(self, report: str, said: Mapping[str, State]) -> None:
        shows = self.shows(report, said)
        self.until(lambda page: shows(page) and bool(page["saved"]), f"{dict(said)} on {report} as saved")
        self.drafts.append((report, dict(said)))

    def leave(self, report: str) -> None:
        time.sleep(max(0.0, self.left_at + 2 * DOUBLE / 1000 - time.monotonic()))  # no double press is meant
        self.left_at = time.monotonic()
        self.alt("s" if self.plan[report] else "n")

    def left(self, report: str) -> None:
        """Wait until the page says that the report is submitted, by going on to another."""
        done = len(self.submitted) + 1
        self.until(lambda page: page["done"] == done and page["report"] != report, f"{report} as submitted")
        self.submitted.append(report)

    def history(self, report: str) -> list[Annotation]:
        """Return what the database has of this rater on a report, oldest first."""
        with self.study.database.read() as conn:
            return annotations.history(conn, report, self.name)

    def open(self) -> str | None:
        """Return the report on the screen, None when all are done."""
        page = self.until(lambda page: bool(page["report"] or page["finished"]), "a report")
        return None if page["finished"] else str(page["report"])


class Wire:
    """The way from one browser to the server, which can be cut and mended."""

    def __init__(self, port: int, to: int) -> None:
        self._to = to
        self._cut = threading.Event()
        self._open: list[socket.socket] = []
        self._lock = threading.Lock()
        self._listening = socket.create_server(("127.0.0.1", port))
        self.address = f"http://127.0.0.1:{port}"
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        with suppress(OSError):
            while True:
                near, _ = self._listening.accept()
                threading.Thread(target=self._join, args=(near,), daemon=True).start()

    def _join(self, near: socket.socket) -> None:
        if self._cut.is_set():
            near.close()
            return
        try:
            far = socket.create_connection(("127.0.0.1", self._to))
        except OSError:
            near.close()
            return
        with self._lock:
            self._open += [near, far]
        for source, target in ((near, far), (far, near)):
            threading.Thread(target=self._pass_on, args=(source, target), daemon=True).start()

    def _pass_on(self, source: socket.socket, target: socket.socket) -> None:
        with suppress(OSError):
            while data := source.recv(65536):
                if not self._cut.is_set():  # what is under way when it is cut never arrives
                    target.sendall(data)
        for end in (source, target):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def cut(self, *, swallow: float) -> None:
        """Cut it: for some seconds what is sent vanishes without a word, then both ends are told."""
        self._cut.set()
        time.sleep(swallow)
        with self._lock:
            for end in self._open:
                with suppress(OSError):
                    end.shutdown(socket.SHUT_RDWR)
            self._open.clear()

    def mend(self) -> None:
        self._cut.clear()

    def close(self) -> None:
        self._listening.close()
        self.cut(swallow=0)


@pytest.fixture
def study(tmp_path: Path) -> Study:
    """A study with local accounts, invented reports and an open round of six."""
    made = init_study(tmp_path / "study", NewStudy("Six raters", {"Lea": [Role.LEAD, Role.ADMIN]}, with_prompts=False))
    lead = made.actor("Lea")
    reports = tmp_path / "reports.csv"
    with reports.open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["id", "patient_id", "text"])
        for n in range(REPORTS):
            rows.writerow(
                [f"r{n:02}", f"p{n:02}", f"FINDINGS: Invented report {n}. The heart is drawn.\n\nIMPRESSION: {n}."]
            )
    import_reports(made, lead, reports)
    define(made, lead, "development", Purpose.DEVELOPMENT, [f"r{n:02}" for n in range(REPORTS)])
    for name in RATERS:
        first_sign_in(made, Try(name, ""), people.add(made, lead, name, [Role.RATER]).code, PASSWORD)
    open_round(made, lead, "development", raters=RATERS, twice=0)
    return made


def keys_by_finding(study: Study) -> dict[str, str]:
    """Return the key of each finding."""
    ids = study.label_set.ids
    return dict(zip(ids, keys_of([finding.name for finding in study.label_set.findings]), strict=True))


def planned(study: Study, rater: str) -> dict[str, dict[str, State]]:
    """Return what a rater means to say: four reports in ten mention nothing, a third of the rest is uncertain."""
    draw = random.Random(f"plan of {rater}")
    plan = {}
    for n in range(REPORTS):
        findings = [] if draw.random() < 0.4 else draw.sample(study.label_set.ids, draw.randint(1, 4))
        plan[f"r{n:02}"] = {f: draw.choice((State.PRESENT, State.PRESENT, State.UNCERTAIN)) for f in findings}
    return plan


@contextmanager
def six(browsing: ModuleType, study: Study, addresses: Mapping[str, str]) -> Iterator[list[Rater]]:
    """Give six raters, each signed in at a Chromium of their own."""
    keys = keys_by_finding(study)
    with ThreadPoolExecutor(len(RATERS)) as pool:
        opened = [browsing.chromium() for _ in RATERS]
        drivers = list(pool.map(lambda one: one.__enter__(), opened))
        try:
            raters = [Rater(study, n, d, keys, planned(study, n)) for n, d in zip(RATERS, drivers, strict=True)]
            list(pool.map(lambda rater: rater.sign_in(addresses[rater.name]), raters))
            yield raters
        finally:
            list(pool.map(lambda one: one.__exit__(None, None, None), opened))


def together(each: Callable[[Rater], None], raters: list[Rater]) -> None:
    """Let all raters do it at the same time; the first failure ends it for all and is what is told."""
    with ThreadPoolExecutor(len(raters)) as pool:
        done = [pool.submit(each, rater) for rater in raters]
        for finished in as_completed(done):
            try:
                finished.result()
            except BaseException:
                STOPPED.set()
                raise


def work(rater: Rater, upset: Callable[[Rater, str], bool]) -> None:
    """Label all reports; ``upset`` may take one over, and says whether it did."""
    while (report := rater.open()) is not None:
        if not upset(rater, report):
            rater.mark(report, in_one_go=len(rater.submitted) % 2 == 0)
            rater.leave(report)
        rater.left(report)


def lose_the_connection(rater: Rater, report: str, wire: Wire) -> None:
    """Lose the connection in the middle of a report, go on pressing, and find the same report with all of it again."""
    plan = rater.plan[report]
    (first, one), (second, two), *others = plan.items()
    rater.press(first, one)
    rater.saved(report, {first: one})
    vanishing = threading.Thread(target=wire.cut, kwargs={"swallow": 1.0})
    vanishing.start()
    rater.press(second, two)  # is sent and never arrives
    vanishing.join()
    rater.until(lambda page: not page["connected"], "the connection as lost")
    for finding, state in others:
        rater.press(finding, state)
    rater.until(lambda page: bool(page["unsaved"]), "a word that keys are not saved yet")
    assert [dict(a.states) for a in rater.history(report)][-1] == {first: one}
    wire.mend()
    rater.saved(report, plan)
    rater.until(lambda page: not page["unsaved"], "nothing unsaved")
    # Submitted while it is cut off once more: done once, when the connection is back.
    wire.cut(swallow=0)
    rater.until(lambda page: not page["connected"], "the connection as lost")
    rater.leave(report)
    wire.mend()


def die(rater: Rater, report: str, server: Any) -> None:
    """Press a key, kill the server before it can have answered, go on pressing while it is away, start it again."""
    (first, one), *others = rater.plan[report].items()
    rater.press(first, one)
    server.kill()
    for finding, state in others:
        rater.press(finding, state)
    server.start()
    rater.saved(report, rater.plan[report])
    rater.leave(report)


def check(rater: Rater) -> None:
    """Look for every press and submission of a rater in the database: each once, in the order pressed."""
    assert sorted(rater.submitted) == sorted(rater.plan)
    for report, plan in rater.plan.items():
        saved = rater.history(report)
        drafts = [dict(a.states) for a in saved if not a.submitted]
        assert drafts == list(pressed(plan)), f"{rater.name} on {report}"
        assert [(a.submitted, dict(a.states)) for a in saved[len(drafts) :]] == [(True, plan)], (
            f"{rater.name}, {report}"
        )
        assert (Mark.NONE_OF_THESE in saved[-1].marks) == (not plan)
    for report, said in rater.drafts:
        assert said in [dict(a.states) for a in rater.history(report)]


def pressed(plan: Mapping[str, State]) -> Iterator[dict[str, State]]:
    """Yield what is marked after each press."""
    said: dict[str, State] = {}
    for finding, state in plan.items():
        for now in (State.PRESENT, State.UNCERTAIN)[: PRESSES[state]]:
            said = {**said, finding: now}
            yield said


def test_six_rate_at_once_and_nothing_is_lost_or_twice(browsing: ModuleType, study: Study) -> None:
    port, near = browsing.free_port(), browsing.free_port()
    server, wire = browsing.Server(study.folder, port), Wire(near, port)
    upsets: list[str] = []

    def upset(rater: Rater, report: str) -> bool:
        long = len(rater.plan[report]) >= 3
        if rater.name == CUT_OFF and "cut off" not in upsets and long and len(rater.submitted) >= 3:
            upsets.append("cut off")
            lose_the_connection(rater, report, wire)
            return True
        if rater.name == KILLER and "killed" not in upsets and long and len(rater.submitted) >= REPORTS // 2:
            upsets.append("killed")
            die(rater, report, server)
            return True
        return False

    addresses = {**dict.fromkeys(RATERS, server.address), CUT_OFF: wire.address}
    with server, six(browsing, study, addresses) as raters:
        try:
            together(lambda rater: work(rater, upset), raters)
            faults = {rater.name: rater.page()["faults"] for rater in raters}
        finally:
            wire.close()
    assert sorted(upsets) == ["cut off", "killed"]
    for rater in raters:
        check(rater)
    assert study.database.integrity() == []
    assert all(
        told.removeprefix("done_all").startswith("You have submitted every report") for told in faults.values()
    ), faults


@pytest.fixture
def ada(study: Study, driver: WebDriver) -> Rater:
    """One rater at one browser."""
    return Rater(study, "Ada", driver, keys_by_finding(study), planned(study, "Ada"))


def test_a_page_that_was_only_looked_at_takes_keys_after_a_restart(
    browsing: ModuleType, study: Study, ada: Rater
) -> None:
    with browsing.Server(study.folder, browsing.free_port()) as server:
        ada.sign_in(server.address)
        report, finding = str(ada.open()), study.label_set.ids[0]
        server.kill()
        ada.until(lambda page: not page["connected"], "the connection as lost")
        server.start()
        ada.until(lambda page: bool(page["connected"] and page["ready"]), "the connection as back")
        ada.press(finding, State.PRESENT)
        ada.saved(report, {finding: State.PRESENT})
        assert [dict(a.states) for a in ada.history(report)] == [{finding: State.PRESENT}]


def test_a_shortcut_pressed_twice_leaves_one_report(browsing: ModuleType, study: Study, ada: Rater) -> None:
    with browsing.Server(study.folder, browsing.free_port()) as server:
        ada.sign_in(server.address)
        report, finding = str(ada.open()), study.label_set.ids[0]
        chain = ActionChains(ada.driver).key_down(Keys.ALT).send_keys("nn").key_up(Keys.ALT)
        chain.send_keys(ada.keys[finding]).perform()  # and a finding's key before the next report is there
        ada.left(report)
        following = str(ada.open())
        ada.press(study.label_set.ids[1], State.PRESENT)
        ada.saved(following, {study.label_set.ids[1]: State.PRESENT})
        assert [(a.submitted, dict(a.states)) for a in ada.history(report)] == [(True, {})]
        assert [(a.submitted, dict(a.states)) for a in ada.history(following)] == [
            (False, {study.label_set.ids[1]: State.PRESENT})
        ]
