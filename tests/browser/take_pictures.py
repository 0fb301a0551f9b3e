"""Take the pictures of the README from the running app: ``uv run python tests/browser/take_pictures.py``.

Without ``--study`` a fresh demo study is made, so that the same command gives the same pictures.
"""

import argparse
import csv
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from chromium import PAGES, ROOT, choose, chromium, click, page, server, settle
from selenium.webdriver.chrome.webdriver import WebDriver
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait

from workbench.domain.actors import Role
from workbench.domain.cohorts import Purpose
from workbench.domain.reports import Report
from workbench.domain.reviews import Judgement
from workbench.formats.reports import read_reports
from workbench.workflow import people
from workbench.workflow.cohorts import define
from workbench.workflow.demo import LEAD, RATER, demo
from workbench.workflow.ingest import import_reports
from workbench.workflow.opening import NewStudy, init_study, open_study
from workbench.workflow.prompts import find_revision, save_candidate
from workbench.workflow.reference import freeze, get_reference
from workbench.workflow.review import open_review
from workbench.workflow.reviewing import open_item, rate
from workbench.workflow.revise import with_finding
from workbench.workflow.rounds import open_round
from workbench.workflow.run import execute, prepare
from workbench.workflow.score import score_run
from workbench.workflow.settings import SignIn
from workbench.workflow.sign_in import first_sign_in
from workbench.workflow.slow_down import Try
from workbench.workflow.study import Study
from workbench.workflow.systems import System, add_data_set, add_systems

LARGEST = 300_000  # bytes
PASSWORD = "quiet lungs today"
JUDGE = "Dr. Judge"
TOLD = "Invented reports, for this picture only."
LEADS, RATERS = "Dr. Chan", tuple(f"Dr. {letter}" for letter in "ABCDEF")


def candidate(study: Study) -> None:
    """Leave a scored candidate waiting, so that the page Accept has something to decide."""
    lead, parent = study.actor(LEAD), find_revision(study)
    guidance = parent.prompt.guidance.findings["fracture"]
    mended = type(guidance)(
        guidance.definition, (*guidance.synonyms, "rib that is broken"), guidance.exclusions, guidance.normal
    )
    prompt = with_finding(parent.prompt, "fracture", mended)
    made = save_candidate(
        study, lead, prompt, message="A rib that is broken is a fracture", parent=parent.revision.prompt_hash
    )
    prepared = prepare(study, lead, cohort="development", revision=made.prompt_hash)
    execute(study, prepared)
    score_run(study, lead, prepared.run.hash, get_reference(study, lead, "development-1"))


def generators(study: Study) -> None:
    """Score invented report generators on the study's own reports, so that the page Leaderboard has something to rank.

    Three stop before the end of the report, one gives the report of another patient.
    """
    lead = study.actor(LEAD)
    reports = [r for r in read_reports(ROOT / "data" / "demo" / "reports.csv") if r.language == "en"][:80]
    written = {
        "stops late": [r.text[: len(r.text) * 3 // 4] for r in reports],
        "stops a little later": [r.text[: len(r.text) * 4 // 5] for r in reports],
        "stops half-way": [r.text[: len(r.text) // 2] for r in reports],
        "wrong patient": [r.text for r in (*reports[1:], reports[0])],
    }
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "demo.csv"
        write_texts(file, "reference", reports, [r.text for r in reports])
        data_set = add_data_set(study, lead, file)
        for name, texts in written.items():
            write_texts(file, "generated", reports, texts)
            add_systems(study, lead, data_set, [System(file, name)])


def write_texts(path: Path, column: str, reports: Sequence[Report], texts: Sequence[str]) -> None:
    """Write a file of one text for each report."""
    with path.open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["study_id", column])
        rows.writerows(zip((r.id for r in reports), texts, strict=True))


def mark(driver: WebDriver, marks: Sequence[tuple[int, str]] = ((0, "present"), (3, "uncertain"))) -> None:
    """Mark findings by their places, as a rater would."""
    for place, state in marks:
        controls = driver.find_elements(By.CSS_SELECTOR, ".wb-board [role=radiogroup]")
        controls[place].find_element(By.CSS_SELECTOR, f"[data-state={state}]").click()
        settle(driver)


def take(address: str, out: Path, *, width: int, height: int, dark: bool) -> None:
    """Take one picture of each page."""
    out.mkdir(parents=True, exist_ok=True)
    with chromium(width, height, dark=dark) as driver:
        driver.get(address)
        settle(driver)
        for name in PAGES:
            if name == "annotate":
                choose(driver, "Acting person", RATER)
            page(driver, name)
            if name == "annotate":
                mark(driver)
            time.sleep(1)  # charts fade in
            save(driver, out / f"{name}.png")
            if name == "annotate":
                choose(driver, "Acting person", LEAD)


def take_own_study(folder: Path, out: Path, *, width: int, height: int, dark: bool) -> None:
    """Take what a study with accounts shows: the door, a new rater's practice, and people to whoever leads."""
    study, codes = with_accounts(folder)
    with server(study.folder) as address:
        with chromium(width, height, dark=dark) as driver:
            open_door(driver, address)
            save(driver, out / "sign-in.png")
            sign_in(driver, RATERS[0], codes[RATERS[0]])
            click(driver, "Practice first")
            for _ in range(3):
                click(driver, "Next")
            mark(driver, ((0, "present"), (2, "present"), (3, "uncertain")))
            click(driver, "Submit, see feedback")
            WebDriverWait(driver, 60).until(lambda d: d.find_elements(By.CSS_SELECTOR, ".wb-points"))
            settle(driver)
            save(driver, out / "practice.png")
        with chromium(width, height, dark=dark) as driver:
            open_door(driver, address)
            sign_in(driver, LEADS, codes[LEADS])
            page(driver, "people")
            time.sleep(1)
            save(driver, out / "people.png")


def take_adjudication(folder: Path, out: Path, *, width: int, height: int, dark: bool) -> None:
    """Take what an adjudicator sees of a vote at which nobody has looked."""
    demo(folder)
    settings = folder / "data" / "study.toml"
    listed = settings.read_text(encoding="utf-8")
    settings.write_text(listed.replace("[people]\n", f'[people]\n"{JUDGE}" = ["adjudicator"]\n'), encoding="utf-8")
    study = open_study(folder)
    freeze(study, study.actor(LEAD), "validation", incomplete=True)
    with server(folder) as address, chromium(width, height, dark=dark) as driver:
        driver.get(address)
        settle(driver)
        choose(driver, "Acting person", JUDGE)
        page(driver, "adjudicate")
        time.sleep(1)
        save(driver, out / "adjudicate.png")


REFERENCE = (
    "Findings: The heart is mildly enlarged. There is a small left pleural effusion with adjacent atelectasis. No "
    "pneumothorax. Degenerative changes of the thoracic spine. Impression: Small left effusion. Mild cardiomegaly."
)
GENERATED = (
    "Findings: Heart size is normal. There is a small right pleural effusion. Impression: Small right effusion.",
    "Findings: Lungs are clear. No pleural effusion. Impression: No acute disease.",
)


def take_review(folder: Path, out: Path, *, width: int, height: int, dark: bool) -> None:
    """Take what a radiologist sees of a generated report under review."""
    new = NewStudy("Chest 2026", {LEADS: [Role.LEAD], RATERS[0]: [Role.RATER]}, simulated=TOLD, sign_in=SignIn.PICK)
    study = init_study(folder, new)
    lead = study.actor(LEADS)
    file = folder / "reports.csv"
    file.write_text("study_id,reference\n" + "".join(f'{i},"{REFERENCE}"\n' for i in range(10)), encoding="utf-8")
    data_set = add_data_set(study, lead, file)
    for i, text in enumerate(GENERATED):
        file.write_text("study_id,generated\n" + "".join(f'{n},"{text}"\n' for n in range(10)), encoding="utf-8")
        add_systems(study, lead, data_set, [System(file, f"system {i + 1}")])
    open_review(study, lead, data_set, reviewers=[RATERS[0]])
    reviewer = study.actor(RATERS[0])
    for at in range(20):
        if open_item(study, reviewer, "review-1", at).generated[1][1].startswith("No acute"):
            rate(study, reviewer, "review-1", at, Judgement(1, seconds=40.0))
    with server(folder) as address, chromium(width, height, dark=dark) as driver:
        driver.get(f"{address}/review?as={RATERS[0].replace(' ', '+')}")
        settle(driver)
        WebDriverWait(driver, 60).until(lambda d: d.find_elements(By.CSS_SELECTOR, ".wb-review [role=radio]"))
        for finding, fault in (("pleural_effusion", "place"), ("cardiomegaly", "missed"), ("atelectasis", "missed")):
            driver.find_element(By.CSS_SELECTOR, f"[data-finding={finding}][data-fault={fault}]").click()
        driver.find_element(By.CSS_SELECTOR, ".wb-review [data-value='2']").click()
        settle(driver)
        time.sleep(1)
        save(driver, out / "review.png")


def with_accounts(folder: Path) -> tuple[Study, dict[str, str]]:
    """Make a small study in which people sign in, with an open round; return it and each person's one-time code."""
    study = init_study(folder, NewStudy("Chest 2026", {LEADS: [Role.LEAD, Role.ADMIN]}, with_prompts=False))
    lead = study.actor(LEADS)
    reports = ROOT / "data" / "demo" / "reports.csv"
    import_reports(study, lead, reports)
    codes = {LEADS: people.add(study, lead, LEADS, [Role.LEAD, Role.ADMIN]).code}
    codes |= {name: people.add(study, study.actor(LEADS), name, [Role.RATER]).code for name in RATERS}
    define(study, lead, "development", Purpose.DEVELOPMENT, [report.id for report in read_reports(reports)[:30]])
    open_round(study, lead, "development", raters=RATERS)
    for name in RATERS[2:]:
        first_sign_in(study, Try(name, ""), codes[name], PASSWORD)
    return study, codes


def open_door(driver: WebDriver, address: str) -> None:
    """Open the page on which one signs in."""
    driver.get(address)
    WebDriverWait(driver, 60).until(lambda d: d.find_elements(By.NAME, "person"))
    settle(driver)
    time.sleep(1)


def sign_in(driver: WebDriver, name: str, code: str) -> None:
    """Sign in with a one-time code and choose a password."""
    driver.find_element(By.CSS_SELECTOR, ".wb-door summary").click()
    form = driver.find_element(By.CSS_SELECTOR, ".wb-door details form")
    for field, text in (("person", name), ("code", code), ("password", PASSWORD)):
        form.find_element(By.NAME, field).send_keys(text)
    form.submit()
    WebDriverWait(driver, 60).until(lambda d: d.find_elements(By.CSS_SELECTOR, "[data-testid=stSidebarNav] a"))
    settle(driver)


def save(driver: WebDriver, path: Path) -> None:
    """Save what is on the screen, as a file of no more than LARGEST bytes."""
    driver.save_screenshot(str(path))
    if path.stat().st_size > LARGEST:
        raise SystemExit(f"{path} has {path.stat().st_size} bytes, more than {LARGEST}")


def main() -> None:
    """Make or open the study, serve it, and take the pictures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--study", type=Path)
    parser.add_argument("--out", type=Path, default=ROOT / "docs")
    parser.add_argument("--size", default="1400x900")
    parser.add_argument("--dark", action="store_true")
    given = parser.parse_args()
    width, height = map(int, given.size.split("x"))
    with tempfile.TemporaryDirectory() as folder:
        study = given.study or Path(folder) / "demo"
        if given.study is None:
            demo(study)
            candidate(open_study(study))
            generators(open_study(study))
        with server(study) as address:
            take(address, given.out, width=width, height=height, dark=given.dark)
        if given.study is None:
            take_own_study(Path(folder) / "own", given.out, width=width, height=height, dark=given.dark)
            take_review(Path(folder) / "review", given.out, width=width, height=height, dark=given.dark)
            take_adjudication(Path(folder) / "vote", given.out, width=width, height=height, dark=given.dark)
    sys.stdout.write(f"{len(list(given.out.glob('*.png')))} pictures in {given.out}\n")


if __name__ == "__main__":
    main()
