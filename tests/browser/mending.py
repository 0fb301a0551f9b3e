"""The way from a prompt of names only to one that passes the gate, by the pages alone, as a radiologist would go it.

A test walks it once. ``uv run python tests/browser/mending.py --out FOLDER`` walks it with a picture of
each step, at both sizes; ``--out docs --readme`` takes those of the README.
"""

import argparse
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from chromium import choose, chromium, click, field, server, settle, tab, text_of, view
from selenium.webdriver.chrome.webdriver import WebDriver
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.ui import WebDriverWait

from workbench.workflow.demo import demo

Snap = Callable[[str], None]
# The steps whose pictures are in the README.
SHOWN = ("errors-by-kind", "revise-carried-over", "revise-suggestions", "accept-closed", "accept-signed", "history")

FIRST = "Suggestions taken, and the words of one error"
SECOND = "Own phrases for what the gate named, and suggestions"
MISSED_WHY = "only suspected"
REASON = "It finds what the first prompt missed"
# Suggestions that a radiologist does not believe: they stand beside a finding and do not name it.
DECLINED = ("place", "described", "pulmonary edema", "visualized ribs", "below", "expected")
# What one reads in the errors and writes down oneself.
OWN: Mapping[str, Sequence[str]] = {
    "Lung opacity": (
        "opacity",
        "infiltrate",
        "consolidation",
        "haziness",
        "ground-glass",
        "airspace disease/process",
        "opaque",
        "shadowing",
        "bronchopneumonia",
    ),
    "Pulmonary edema": ("vascular congestion", "fluid overload", "edema", "cephalization"),
    "Interstitial abnormality": ("interstitial", "scar", "scarring", "fibrosis", "reticular"),
    "Emphysema or hyperinflation": ("hyperinflated", "hyperlucent", "overexpanded lungs", "increased lucency"),
    "Pleural effusion": ("pleural fluid", "right/left/bilateral effusion", "fluid at both bases", "meniscus sign"),
    "Cardiomegaly": (
        "heart ... large",
        "heart size is increased",
        "heart size ... increased",
        "silhouette is big",
        "heart is ... enlarged",
        "biventricular enlargement",
    ),
    "Vascular abnormality": (
        "dilated ascending/thoracic aorta",
        "ectatic aorta",
        "aorta is ectatic",
        "uncoiled aorta",
        "unfolding/elongation of the aorta",
        "pulmonary artery is dilated",
        "enlarged pulmonary trunk",
    ),
    "Other bone abnormality": (
        "demineraliz*",
        "kyphosis",
        "osteophyte",
        "spondylosis",
        "osteoarthritic changes",
        "curvature of the thoracic spine",
        "vertebral deformity",
    ),
    "Support device": ("surgical clips", "gastric band", "breast expanders", "loop recorder"),
}


class Mending:
    """A radiologist who leads a study, at a browser."""

    def __init__(self, driver: WebDriver, snap: Snap) -> None:
        self.driver, self.snap = driver, snap

    def walk(self, address: str) -> None:
        """Go from revision 1 to an accepted one and open the history."""
        self.driver.get(f"{address}/errors")
        settle(self.driver)
        self.reads_a_kind()
        self.takes_suggestions(FIRST)
        self.runs(2)
        self.finds_the_gate_closed()
        self.writes_own_phrases()
        self.runs(3)
        self.accepts(3)
        self.looks_back()

    def reads_a_kind(self) -> None:
        """See of what kinds the errors are, read one kind, and carry the words of an error over."""
        self.snap("errors")
        self.opens("By kind and finding")
        self.snap("errors-by-kind")
        self.opens("Read them")
        click(self.driver, "synonym ")
        self.snap("errors-one-kind")
        click(self.driver, "Synonym")
        self.sees("Carried over from report")
        self.snap("revise-carried-over")

    def takes_suggestions(self, message: str) -> None:
        """Ask for suggestions, decline one, accept the others, try the edit on the cohort and save it."""
        self.opens("Suggestions")
        click(self.driver, "Suggest edits")
        self.sees("suggestions for all findings")
        self.snap("revise-suggestions")
        self.decides()
        self.snap("revise-decided")
        self.tries_and_saves(message)

    def decides(self) -> None:
        """Decline what is not believed, accept the others, and go on to the next until all are decided."""
        while "All are decided" not in text_of(self.driver):
            for phrase in DECLINED:
                decline = "//button[contains(., 'Decline')]"
                path = f"//strong[.='{phrase}']/ancestor::*[.{decline}][1]{decline}[not(@disabled)]"
                for found in self.driver.find_elements(By.XPATH, path)[:1]:
                    found.click()
                    settle(self.driver)
            label = next((label for label in ("Accept these", "Accept", "Show the next") if self.offers(label)), "")
            if label:
                click(self.driver, label)

    def tries_and_saves(self, message: str) -> None:
        self.opens("Try it")
        click(self.driver, "Try it")
        self.sees("Become right")
        self.snap("revise-tried")
        field(self.driver, "What changed and why").send_keys(message, Keys.ENTER)
        settle(self.driver)
        click(self.driver, "Save as candidate")

    def runs(self, number: int) -> None:
        self.sees(f"Saved as revision {number}")
        self.snap(f"run-{number}")
        click(self.driver, "Start the run")
        self.sees("Accept or reject it")
        self.snap(f"run-{number}-scored")

    def finds_the_gate_closed(self) -> None:
        click(self.driver, "Accept or reject it")
        self.sees("Recall is under 0.80")
        self.snap("accept-closed")
        click(self.driver, "Lung opacity")
        self.sees("Lung opacity missed")
        self.snap("errors-again")

    def writes_own_phrases(self) -> None:
        """Read what the gate names, and write down what is missing."""
        field(self.driver, "Words for the prompt").send_keys(Keys.CONTROL, "a")
        field(self.driver, "Words for the prompt").send_keys("perihilar opacities", Keys.ENTER)
        settle(self.driver)
        click(self.driver, "Synonym")
        self.sees("Carried over from report")
        for finding, phrases in OWN.items():
            choose(self.driver, "Finding", finding)
            synonyms = field(self.driver, "Synonyms")
            synonyms.send_keys(Keys.CONTROL, Keys.END)
            synonyms.send_keys(Keys.ENTER, "\n".join(phrases), Keys.CONTROL, Keys.ENTER)
            settle(self.driver)
        self.opens("What you changed")
        self.snap("revise-own")
        self.opens("Suggestions")
        click(self.driver, "Suggest edits")
        self.decides()
        self.tries_and_saves(SECOND)

    def accepts(self, number: int) -> None:
        """Sign what asks for a name and accept, giving a reason and no override."""
        click(self.driver, "Accept or reject it")
        self.snap("accept-open")

        def found(what: str) -> list[WebElement]:
            return self.driver.find_elements(By.CSS_SELECTOR, f"[data-testid=stMain] {what}")

        def press(element: WebElement) -> None:
            self.driver.execute_script("arguments[0].scrollIntoView({ block: 'center' })", element)
            element.click()

        missed = "[data-testid=stExpander]:has(input[aria-label='Why it may be missed'])"
        for at in range(len(found(missed))):
            press(found(f"{missed} summary")[at])
            found(f"{missed} input[type=text]")[at].send_keys(MISSED_WHY, Keys.ENTER)
            settle(self.driver)
        for at in range(len(found("[data-testid=stCheckbox] label"))):
            press(found("[data-testid=stCheckbox] label")[at])
            settle(self.driver)
        field(self.driver, "Reason for the decision").send_keys(REASON, Keys.ENTER)
        settle(self.driver)
        self.snap("accept-signed")
        click(self.driver, f"Accept revision {number}")
        self.sees(f"Revision {number} is accepted")

    def looks_back(self) -> None:
        """See each step in the history, its findings, two of them compared, and what was decided."""
        for told in ("Revision 1 → 2", "Revision 2 → 3", FIRST, SECOND):
            self.sees(told)
        self.snap("history")
        self.opens("Finding by revision")
        self.snap("history-findings")
        self.opens("Compare any two")
        self.snap("history-compare")
        self.opens("Revisions and decisions")
        self.sees(REASON)
        self.snap("history-decisions")

    def opens(self, label: str) -> None:
        """Scroll up and open a tab."""
        self.driver.execute_script("document.querySelector('[data-testid=stMain]').scrollTo(0, 0)")
        tab(self.driver, label)

    def sees(self, text: str) -> None:
        """Wait until the page says this."""
        WebDriverWait(self.driver, 90).until(lambda d: text in text_of(d), f"the page never shows {text!r}")
        settle(self.driver)

    def offers(self, label: str) -> bool:
        path = f"//*[@data-testid='stMain']//button[not(@disabled) and contains(normalize-space(.), '{label}')]"
        return bool(self.driver.find_elements(By.XPATH, path))


def pictures(driver: WebDriver, out: Path, *, dark: bool) -> Snap:
    """Return what takes a picture of each step at both sizes."""
    out.mkdir(parents=True, exist_ok=True)
    mode = "dark" if dark else "light"
    taken: list[str] = []

    def snap(name: str) -> None:
        taken.append(name)
        for width, height in ((1920, 1080), (1400, 900)):
            view(driver, width, height, dark=dark)
            settle(driver)
            time.sleep(0.7)  # charts fade in
            driver.save_screenshot(str(out / f"{len(taken):02}-{name}-{width}-{mode}.png"))

    return snap


def readme_pictures(driver: WebDriver, out: Path) -> Snap:
    """Return what takes the pictures of the README, each step once."""

    def snap(name: str) -> None:
        path = out / f"mend-{name}.png"
        if name in SHOWN:
            time.sleep(0.7)
            driver.save_screenshot(str(path))

    return snap


def main() -> None:
    """Make the study, serve it, walk and take the pictures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--dark", action="store_true")
    parser.add_argument("--readme", action="store_true")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        study = Path(folder) / "study"
        demo(study, revisions=1)
        with server(study) as address, chromium(dark=given.dark) as driver:
            pictured = pictures(driver, given.out, dark=given.dark)
            Mending(driver, readme_pictures(driver, given.out) if given.readme else pictured).walk(address)
    sys.stdout.write(f"{len(list(given.out.glob('*.png')))} pictures in {given.out}\n")


if __name__ == "__main__":
    main()
