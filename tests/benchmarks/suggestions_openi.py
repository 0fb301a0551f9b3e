"""How far suggestions alone bring the prompt that knows names only, on real reports it did not learn from.

    uv run python tests/benchmarks/suggestions_openi.py [--keep FOLDER]

By the command line from an empty study: 1,000 of Open-i's reports, the first by the hash of their uid, are the
development cohort, and 1,000 of the others the validation cohort, none of them nearly the same as one of the first.
Revision 1 is run and scored, `workbench prompt suggest --auto-loop` does the rest, and its last revision is accepted.
No phrase is written by hand, and the validation cohort stays locked until then; it is scored afterwards, for the second
curve alone. The reference is the human indexing, mapped onto the findings as in `openi_scores.py`. Fails below
a rise of 0.15. Last, the time for all findings of 300 reports is measured.
"""

import argparse
import csv
import hashlib
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from openi_scores import OPENI, ROOT, indexed

from workbench.evaluation.consensus import per_finding
from workbench.formats.label_sets import read_label_set
from workbench.formats.reports import read_reports
from workbench.labelers.rereading import Rereading
from workbench.labelers.suggestions import suggest
from workbench.prompting.files import read_prompt

SIZE = 1_000
LEAST_RISE = 0.15
MOST_SECONDS = 5.0
SMALL = 300
FIRST = ROOT / "prompts" / "cxr21" / "0001.md"


class Study:
    """A study worked on by the command line alone."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def workbench(self, *arguments: str) -> dict[str, Any]:
        command = [sys.executable, "-m", "workbench", *arguments, "--study", str(self.folder), "--json"]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, cwd=ROOT)
        return dict(json.loads(done.stdout))

    def score(self, revision: int, cohort: str) -> float:
        where = ("--prompt", str(revision), "--cohort", cohort)
        self.workbench("run", *where)
        return float(self.workbench("evaluate", *where)["scores"]["macro_f1"]["value"])


def drawn(truth: dict[str, list[int]], texts: dict[str, str]) -> list[str]:
    """Return the uids that have an indexing and something to read, in the order of their hashes."""
    usable = [uid for uid in texts if uid in truth and texts[uid]]
    return sorted(usable, key=lambda uid: hashlib.sha256(uid.encode()).hexdigest())


def make(folder: Path, parts: dict[str, list[str]], truth: dict[str, list[int]], ids: tuple[str, ...]) -> Study:
    """Make the study: reports, two cohorts, one rater (the indexer), a reference on each, and revision 1."""
    study = Study(folder / "study")
    command = [sys.executable, "-m", "workbench", "init", str(study.folder), "--no-prompts", "--as", "Lead"]
    subprocess.run(command, check=True, cwd=ROOT, stdout=subprocess.DEVNULL)
    settings = study.folder / "data" / "study.toml"
    settings.write_text(settings.read_text().replace("k = 4\nn = 6", "k = 1\nn = 1"))
    with (OPENI / "reports.csv").open(encoding="utf-8", newline="") as file:
        rows = {row["uid"]: row for row in csv.DictReader(file)}
    for name, uids in parts.items():  # the development cohort is allocated before anything else comes in
        part = folder / f"{name}.csv"
        with part.open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, list(rows[uids[0]]))
            writer.writeheader()
            writer.writerows(rows[uid] for uid in uids)
        study.workbench("import", "reports", str(part), "--format", "openi")
        study.workbench("cohort", "allocate", name, "--size", str(SIZE))
    labels = folder / "labels.csv"
    with labels.open("w", newline="") as file:
        table = csv.writer(file)
        table.writerow(["report_id", "reviewed", *ids])
        for uids in parts.values():
            table.writerows([uid, 1, *truth[uid]] for uid in uids)
    study.workbench("import", "labels", str(labels), "--rater", "indexer")
    for name in parts:
        study.workbench("reference", "freeze", name)
    study.workbench("prompt", "import", str(FIRST))
    return study


def seconds_for_all_findings(uids: list[str], truth: dict[str, list[int]], texts: dict[str, str]) -> float:
    label_set = read_label_set(ROOT / "data" / "cxr21.yaml")
    prompt = read_prompt(FIRST, label_set=label_set)
    rows = np.array([truth[uid] for uid in uids], dtype=np.int8)
    policies = per_finding(label_set.prediction_policies, label_set.ids)
    start = time.perf_counter()
    found = suggest(Rereading(prompt, label_set, [texts[uid] for uid in uids], rows, policies), uids)
    taken = time.perf_counter() - start
    print(f"\n{len(found)} suggestions for all findings on {len(uids)} reports in {taken:.1f} s")
    return taken


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--keep", type=Path, help="make the study here and leave it")
    keep = parser.parse_args().keep
    if not OPENI.is_dir():
        sys.exit(f"real reports are not here: {OPENI} is missing")
    ids = read_label_set(ROOT / "data" / "cxr21.yaml").ids
    truth = indexed(ids)
    texts = {report.id: report.select() for report in read_reports(OPENI / "reports.csv", form="openi")}
    order = drawn(truth, texts)
    parts = {"development": order[:SIZE], "validation": order[SIZE:]}
    with tempfile.TemporaryDirectory() as aside:
        study = make(keep or Path(aside), parts, truth, ids)
        study.score(1, "development")
        found = study.workbench("prompt", "suggest", "1", "--auto-loop")
        curve = [(step["revision"], step["macro_f1"]) for step in found["curve"]]
        last = str(curve[-1][0])
        reason = "suggestions alone"
        study.workbench("prompt", "accept", last, "--reason", reason, "--sign", "all", "--override", reason)
        declared = ["--revision", last, "--labeler", "rules", "--policies", "as in the label set"]
        study.workbench("cohort", "unlock", "validation", "--reason", reason, *declared, "--endpoint", "macro-F1")
        print("| revision | macro-F1, 1,000 reports learned from | macro-F1, 1,000 others |\n| --- | --- | --- |")
        validation = []
        for revision, value in curve:
            validation.append(study.score(revision, "validation"))
            print(f"| {revision} | {value:.3f} | {validation[-1]:.3f} |", flush=True)
    rise = validation[-1] - validation[0]
    print(f"\nrise on reports not learned from: {rise:+.3f} (at least {LEAST_RISE:+.2f}); {found['looks']} looks")
    slow = seconds_for_all_findings(order[:SMALL], truth, texts)
    if rise < LEAST_RISE or slow > MOST_SECONDS:
        sys.exit(1)


if __name__ == "__main__":
    main()
