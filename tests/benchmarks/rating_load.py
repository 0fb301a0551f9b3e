"""Six raters in six Chromiums on one server while a run writes results: ``python tests/benchmarks/rating_load.py``.

Goals at the 95th percentile: 50 ms on the server until a click is saved as a draft, 200 ms from the key to the control
that shows it, 250 ms from Alt+S to the next report, all controls drawn. Times in the browser are taken in the page,
from the key's event to the frame after the change of the DOM; the driver's round trips are not in them.

Measured three times: one rater alone (the floor: the machine without the load), six raters at a person's pace of one
press a second, each in a beat of their own, six raters without a pause between presses. The run is started as a page
starts it, behind the server in priority. All browsers, the server, the run and the driver share this
machine, so its load is printed too.
"""

import argparse
import json
import math
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from types import ModuleType
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
RATERS = ("Ada", "Ben", "Chen", "Dora", "Emil", "Fay")
LEAD = "Lea"
GOALS = {"saved": 50, "click": 200, "next": 250}
TOLD = {
    "saved": "server, until the draft is saved",
    "drawn": "server, until the page is drawn",
    "click": "key to control shown",
    "next": "Alt+S to next report shown",
}

# Taken in the page: from the event of the key to the frame that shows its effect.
WATCH = """
(() => {
  const times = (window.wbTimes = []);
  let open = null;
  const groups = () => [...document.querySelectorAll('.wb-board .finding')];
  const shown = (key) => groups().find((g) => g.querySelector('kbd')?.textContent === key)
    ?.querySelector('[role=radio][aria-checked=true]')?.textContent;
  const report = () => document.querySelector('.wb-on')?.dataset.on;
  window.addEventListener('keydown', (e) => {
    if (e.key === 'Alt' || e.repeat) return;
    open = e.altKey ? { what: 'next', at: performance.now(), was: report() }
      : { what: 'click', at: performance.now(), key: e.key, was: shown(e.key) };
  }, true);
  const look = () => {
    if (!open) return;
    const all = groups();
    const marked = () => all.filter((g) => g.querySelector('[role=radio][aria-checked=true]:not(:first-child)')).length;
    const done = open.what === 'click' ? shown(open.key) !== open.was && shown(open.key)
      : report() !== open.was && all.length === 21 && !marked();
    if (!done) return;
    const { what, at } = open;
    open = null;
    requestAnimationFrame(() => times.push([what, performance.now() - at]));
  };
  const all = { subtree: true, childList: true, attributes: true, characterData: true };
  new MutationObserver(look).observe(document, all);
})();
"""


def study_at(folder: Path, reports: int) -> Any:
    """Make a study with an open round of six on some of the demo's invented reports."""
    import csv

    from workbench.domain.actors import Role
    from workbench.domain.cohorts import Purpose
    from workbench.workflow.cohorts import define
    from workbench.workflow.ingest import import_reports
    from workbench.workflow.opening import NewStudy, init_study
    from workbench.workflow.rounds import open_round
    from workbench.workflow.settings import SignIn

    people = {LEAD: [Role.LEAD, Role.ADMIN], **{name: [Role.RATER] for name in RATERS}}
    study = init_study(folder, NewStudy("Load", people, simulated="Measuring", sign_in=SignIn.PICK))
    source = ROOT / "data" / "demo" / "reports.csv"
    import_reports(study, study.actor(LEAD), source, columns={"id": "id", "patient": "patient_id", "text": "text"})
    with source.open(encoding="utf-8", newline="") as file:
        ids = [row["id"] for row in csv.DictReader(file)]
    define(study, study.actor(LEAD), "rated", Purpose.DEVELOPMENT, ids[:reports])
    define(study, study.actor(LEAD), "labelled", Purpose.DEVELOPMENT, ids[reports:])
    open_round(study, study.actor(LEAD), "rated", raters=RATERS, twice=0)
    return study


def write_runs(folder: Path) -> None:
    """Run prompts one after the other until this process is ended."""
    from dataclasses import replace
    from itertools import count

    from workbench.prompting.files import read_prompt
    from workbench.workflow.opening import open_study
    from workbench.workflow.prompts import save_candidate
    from workbench.workflow.run import execute, prepare

    study = open_study(folder)
    lead = study.actor(LEAD)
    base = read_prompt(ROOT / "prompts" / study.label_set.id / "0004.md", label_set=study.label_set)
    for n in count():
        prompt = replace(base, guidance=replace(base.guidance, title=f"Load {n}"))
        revision = save_candidate(study, lead, prompt, message="load", parent=None)
        execute(study, prepare(study, lead, cohort="labelled", revision=revision.prompt_hash))
        time.sleep(0.5)


def rate(
    driver: Any, browsing: ModuleType, keys: list[str], *, acts: int, pace: float, late: float
) -> list[tuple[str, float]]:
    """Press keys and submit until so many acts are done, ``late`` seconds after others in the same beat.

    Return what each took in milliseconds.
    """
    from selenium.common.exceptions import TimeoutException
    from selenium.webdriver.common.action_chains import ActionChains
    from selenium.webdriver.common.keys import Keys
    from selenium.webdriver.support.ui import WebDriverWait

    draw = random.Random(acts)
    driver.execute_script("window.wbTimes.length = 0")
    begin = time.monotonic() + late
    for n in range(acts):
        chain = ActionChains(driver)
        if n % 4 == 3:
            chain.key_down(Keys.ALT).send_keys("s").key_up(Keys.ALT)
        else:
            chain.send_keys(keys[(n % 4) * 7 + draw.randrange(7)])
        if pace:
            time.sleep(max(0.0, begin + n * pace - time.monotonic()))
        chain.perform()
        try:
            WebDriverWait(driver, 30, poll_frequency=0.02).until(
                lambda d, n=n: d.execute_script("return window.wbTimes.length") > n
            )
        except TimeoutException:
            raise SystemExit(f"nothing was shown after act {n}: {browsing.text_of(driver)}") from None
    return [(str(what), float(ms)) for what, ms in driver.execute_script("return window.wbTimes")]


def measure(
    browsing: ModuleType, study: Any, raters: tuple[str, ...], acts: int, pace: float
) -> dict[str, list[float]]:
    """Return the milliseconds of each kind with so many raters at work, each at a fresh server and page."""
    from workbench.running.process import give_way
    from workbench.ui.shortcuts import keys_of

    keys = list(keys_of([finding.name for finding in study.label_set.findings]))
    times = study.folder / "times.jsonl"
    times.unlink(missing_ok=True)
    os.environ["WORKBENCH_TIMES"] = str(times)
    found: dict[str, list[float]] = {what: [] for what in TOLD}
    with ExitStack() as stack:
        server = browsing.Server(study.folder, browsing.free_port(), script="tests/benchmarks/rating_load_server.py")
        stack.enter_context(server)
        drivers = [stack.enter_context(browsing.chromium()) for _ in raters]
        for name, driver in zip(raters, drivers, strict=True):
            driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": WATCH})
            driver.get(f"{server.address}/annotate?as={name}")
            browsing.settle(driver)
        writer = subprocess.Popen([sys.executable, __file__, "--write-runs", str(study.folder)])
        give_way(writer.pid)
        try:
            time.sleep(4)  # it is at work, and the pages are at rest
            times.write_text("")
            with ThreadPoolExecutor(len(raters)) as pool:
                jobs = [
                    pool.submit(rate, driver, browsing, keys, acts=acts, pace=pace, late=pace * at / len(drivers))
                    for at, driver in enumerate(drivers)
                ]
                for job in jobs:
                    for what, ms in job.result():
                        found[what].append(ms)
        finally:
            writer.kill()
            writer.wait()
    for line in times.read_text().splitlines():
        event = json.loads(line)
        found[event["what"]].append(event["ms"])
    return found


def percentile(values: list[float], share: float) -> float:
    """Return the smallest value that at least this share of the values does not exceed."""
    return sorted(values)[math.ceil(share * len(values)) - 1]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--acts", type=int, default=60, help="presses and submissions of each rater")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--write-runs", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "browser")]
    os.environ["PYTHONPATH"] = str(ROOT)
    if given.write_runs:
        write_runs(given.write_runs)
        return
    import chromium

    passes = {
        "one rater": (RATERS[:1], 0.0),
        "six, one press a second": (RATERS, 1.0),
        "six, without a pause": (RATERS, 0.0),
    }
    results: dict[str, Any] = {}
    for name, (raters, pace) in passes.items():
        with tempfile.TemporaryDirectory() as folder:
            study = study_at(Path(folder) / "study", 100)
            found = measure(chromium, study, raters, given.acts, pace)
        results[name] = {
            what: {"n": len(ms), "p50": statistics.median(ms), "p95": percentile(ms, 0.95)}
            for what, ms in found.items()
            if ms
        }
        results[name]["load"] = os.getloadavg()[0]
        if not given.json:
            tell(name, results[name], results["one rater"])
    if given.json:
        print(json.dumps(results))


def tell(name: str, rows: dict[str, Any], floor: dict[str, Any]) -> None:
    """Print a pass, and how its 95th percentiles stand to one rater's alone."""
    print(f"{name}: load {rows['load']:.1f} on {os.cpu_count()} cores", flush=True)
    for what, told in TOLD.items():
        if what not in rows:
            continue
        row, goal = rows[what], GOALS.get(what)
        late = f"  goal {goal}{', missed' if row['p95'] > goal else ''}" if goal else ""
        figures = f"n {row['n']:>4}  p50 {row['p50']:>6.0f}  p95 {row['p95']:>6.0f} ms"
        print(f"  {told:<34} {figures}  x{row['p95'] / floor[what]['p95']:.1f}{late}", flush=True)


if __name__ == "__main__":
    main()
