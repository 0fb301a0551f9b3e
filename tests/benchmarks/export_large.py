"""What an export of a large round costs, in time and memory, beside a bare loop over the same rows.

Run it with `uv run python tests/benchmarks/export_large.py [REPORTS]` on Linux; 5,000 reports by default, 50,000 are
meant to fit too. Six raters label every report on 21 findings. Each task runs in a process of its own, so that the
memory told is its own: that of an export should hardly grow with the reports. The floor is Python's csv writer over
equally long rows of text that are there already.
"""

import csv
import random
import subprocess
import sys
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path

from workbench.domain.actors import Role
from workbench.domain.annotations import Annotation
from workbench.domain.cohorts import Purpose
from workbench.domain.findings import State
from workbench.domain.reports import Report, Section
from workbench.storage import annotations, imports, reports
from workbench.workflow import cohorts, export, ingest, reference
from workbench.workflow.backup import back_up
from workbench.workflow.export import Shape
from workbench.workflow.opening import NewStudy, init_study
from workbench.workflow.study import read_study

LEAD, COHORT, RATERS = "Lead", "development", 6
TASKS = ("long.csv", "long.parquet", "wide.csv", "reference.csv", "agreement.csv", "audit.csv", "backup.zip", "import")


def make(folder: Path, n: int) -> None:
    """Make a study of n rated reports with a frozen reference."""
    study = init_study(folder, NewStudy("Large", {LEAD: [Role.LEAD]}, with_prompts=False))
    rng, now = random.Random(1), datetime.now(UTC)
    ids = [f"R{i:06}" for i in range(n)]
    with study.database.write() as conn:
        number = imports.add(conn, "reports", "made", file_hash="", actor=LEAD, at=now, rows=n)
        text = "FINDINGS: The lungs are clear."
        reports.add(conn, (Report(i, i, text, (Section("findings", 10, len(text)),)) for i in ids), number)
    cohorts.define(study, study.actor(LEAD), COHORT, Purpose.DEVELOPMENT, ids)
    some = [State.PRESENT, State.UNCERTAIN, State.ABSENT]
    with study.database.write() as conn:
        annotations.append_many(
            conn,
            (
                Annotation(
                    report_id,
                    f"rater {rater}",
                    {finding: rng.choice(some) for finding in rng.sample(study.label_set.ids, 3)},
                    submitted=True,
                    at=now,
                    label_set_hash=study.label_set.hash,
                    evidence={study.label_set.ids[0]: "The lungs are clear."},
                    seconds=40.0,
                    source="browser",
                )
                for report_id in ids
                for rater in range(RATERS)
            ),
        )
    reference.freeze(study, study.actor(LEAD), COHORT)


def work(folder: Path, task: str, out: Path) -> int:
    """Do one task and return how many rows it wrote or read."""
    study = read_study(folder)
    lead = study.actor(LEAD)
    what, _, _ = task.partition(".")
    match what:
        case "long" | "wide":
            return export.export_votes(study, lead, COHORT, out, shape=Shape(what)).rows
        case "reference":
            return export.export_reference(study, lead, out).rows
        case "agreement":
            return export.export_agreement(study, lead, out)[0].rows
        case "audit":
            return export.export_audit(study, lead, out).rows
        case "backup":
            return len(back_up(study, lead, out).files)
        case _:
            return sum(ingest.import_labels(study, lead, out.with_name("long.csv")).submitted.values())


def most_memory() -> float:
    """Return the most memory this process ever had, in MB; getrusage would tell its parent's where that had more."""
    status = Path("/proc/self/status").read_text()
    return int(next(line for line in status.splitlines() if line.startswith("VmHWM")).split()[1]) / 1024


def child(folder: Path, task: str) -> None:
    """Do one task and print seconds, megabytes at most and rows."""
    before = most_memory()
    start = time.perf_counter()
    rows = work(folder, task, folder.parent / task)
    seconds = time.perf_counter() - start
    print(f"{task:15} {seconds:8.2f} s  {most_memory() - before:7.0f} MB more  {rows:10,} rows", flush=True)


def main(n: int) -> None:
    """Make the study and run every task on it."""
    with tempfile.TemporaryDirectory() as aside:
        folder = Path(aside) / "study"
        start = time.perf_counter()
        make(folder, n)
        print(f"{n:,} reports, {RATERS} raters, made in {time.perf_counter() - start:.0f} s")
        for task in TASKS:
            subprocess.run([sys.executable, __file__, "--child", str(folder), task], check=True)
        cells = ["R000001", "rater 1", "finding", "not_mentioned", "2026-03-01T09:30:00.000000+00:00", "1", "40.0"]
        cells += ["browser", "0", "cxr21", "1", "0" * 64, "", "The lungs are clear."]
        start = time.perf_counter()
        with (Path(aside) / "floor.csv").open("w", newline="") as file:
            csv.writer(file).writerows(cells for _ in range(n * RATERS * 21))
        print(f"floor           {time.perf_counter() - start:8.2f} s to write the long form's cells alone")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        child(Path(sys.argv[2]), sys.argv[3])
    else:
        main(int(sys.argv[1]) if len(sys.argv) > 1 else 5000)
