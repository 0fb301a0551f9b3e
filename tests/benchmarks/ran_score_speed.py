"""How long Ran Score takes on as many pairs as MIMIC-CXR's test set has, whole process, against starting up alone.

    nice -n -10 uv run python tests/benchmarks/ran_score_speed.py

Scores 2,347 pairs made of real Open-i reports (the generated one is the next report of the list) by the rules labeler
with 1,000 resamples, in a process of its own; prints its time, that of a process that only opens the study, and the
difference. The floor is what labelling the 4,694 texts alone takes.
"""

import csv
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from workbench.domain.actors import Role
from workbench.formats.reports import read_reports
from workbench.labelers.rules import RulesLabeler
from workbench.workflow.opening import NewStudy, init_study, open_study
from workbench.workflow.prompts import find_revision

PAIRS = 2347
ROOT = Path(__file__).resolve().parents[2]
OPENI = ROOT.parent / "shared" / "data" / "openi" / "reports.csv"
OPEN = "from workbench.cli.commands import app; from workbench.workflow.opening import open_study; open_study()"


def timed(*command: str, study: Path) -> float:
    """Return the seconds of a process on a fresh copy of a study."""
    copy = study.with_name("copy")
    shutil.copytree(study, copy)
    start = time.perf_counter()
    subprocess.run([sys.executable, *command], cwd=copy, check=True, capture_output=True)
    seconds = time.perf_counter() - start
    shutil.rmtree(copy)
    return seconds


def main() -> None:
    """Print the times."""
    if not OPENI.exists():
        sys.exit(f"real reports are not here: {OPENI} is missing")
    texts = [text for report in read_reports(OPENI, form="openi") if (text := report.select())]
    texts = (texts * (1 + PAIRS // len(texts)))[: PAIRS + 1]
    with tempfile.TemporaryDirectory() as aside:
        folder = Path(aside)
        init_study(folder / "study", NewStudy("Speed", {"Lena": [Role.LEAD]}))
        study = open_study(folder / "study")
        with (folder / "pairs.csv").open("w", encoding="utf-8", newline="") as file:
            rows = csv.writer(file)
            rows.writerow(["study_id", "reference", "generated"])
            rows.writerows([f"s{i:05}", texts[i], texts[i + 1]] for i in range(PAIRS))
        labeler = RulesLabeler(find_revision(study).prompt, study.label_set)
        start = time.perf_counter()
        for text in texts:
            labeler.codes(text)
        floor = time.perf_counter() - start
        study.database.close()
        pairs = str(folder / "pairs.csv")
        score = ["-m", "workbench", "score", "--reference", pairs, "--generated", pairs, "--study", "."]
        times = [(timed("-c", OPEN, study=folder / "study"), timed(*score, study=folder / "study")) for _ in range(3)]
        started, whole = (min(one) for one in zip(*times, strict=True))
    print(f"{PAIRS:,} pairs, 1,000 resamples: {whole:.2f} s, start-up alone {started:.2f} s")
    print(f"after start-up {whole - started:.2f} s; labelling each text once {floor:.2f} s")


if __name__ == "__main__":
    main()
