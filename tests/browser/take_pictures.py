"""Take the pictures of the README from the running app: ``uv run python tests/browser/take_pictures.py``.

Without ``--study`` a fresh demo study is made, so that the same command gives the same pictures.
"""

import argparse
import sys
import tempfile
import time
from pathlib import Path

from chromium import PAGES, ROOT, choose, chromium, page, server, settle
from selenium.webdriver.chrome.webdriver import WebDriver
from selenium.webdriver.common.by import By

from workbench.workflow.demo import LEAD, RATER, demo
from workbench.workflow.opening import open_study
from workbench.workflow.prompts import find_revision, save_candidate
from workbench.workflow.reference import get_reference
from workbench.workflow.revise import with_finding
from workbench.workflow.run import execute, prepare
from workbench.workflow.score import score_run
from workbench.workflow.study import Study

LARGEST = 300_000  # bytes


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


def mark(driver: WebDriver) -> None:
    """Mark two findings, as a rater would."""
    for place, state in ((0, "present"), (3, "uncertain")):
        controls = driver.find_elements(By.CSS_SELECTOR, "[data-testid=stMain] [data-testid=stButtonGroup]")
        controls[place].find_element(By.XPATH, f".//button[normalize-space(.)='{state}']").click()
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
            path = out / f"{name}.png"
            driver.save_screenshot(str(path))
            if name == "annotate":
                choose(driver, "Acting person", LEAD)
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
        with server(study) as address:
            take(address, given.out, width=width, height=height, dark=given.dark)
    sys.stdout.write(f"{len(PAGES)} pictures in {given.out}\n")


if __name__ == "__main__":
    main()
