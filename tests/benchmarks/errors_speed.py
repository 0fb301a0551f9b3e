"""How long the errors of a run take on the server: ``python tests/benchmarks/errors_speed.py [--reports 300 5000]``.

Goals: the first view of the page Errors (every error with its kind, the groups of the costliest finding, the raters'
agreement and benchmark as kept) under 500 ms on 300 reports and under 1.5 s on 5,000; a drill (another finding's or
kind's errors in groups, one of them with its phrases) under 150 ms on 300. Beside each stands the floor: reading the
votes and the replies from the database, which no page can do without. What counts is the processor's time, so that
others at work on the same computer do not; the clock's stands beside. Larger cohorts are copies of the demo reports, so
that each sentence is read once for all its copies: with as many different texts the first view takes longer.
"""

import argparse
import csv
import io
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from workbench.domain.actors import Actor  # noqa: E402
from workbench.domain.cohorts import Purpose  # noqa: E402
from workbench.prompting.files import read_prompt  # noqa: E402
from workbench.workflow import errors, prompts, run  # noqa: E402
from workbench.workflow.cohorts import define  # noqa: E402
from workbench.workflow.demo import LEAD, RATER  # noqa: E402
from workbench.workflow.ingest import import_labels, import_reports  # noqa: E402
from workbench.workflow.opening import NewStudy, Role, init_study  # noqa: E402
from workbench.workflow.raters import benchmark_of  # noqa: E402
from workbench.workflow.reference import freeze, summarize, votes_of  # noqa: E402
from workbench.workflow.run import extractions  # noqa: E402
from workbench.workflow.score import Score, score_run  # noqa: E402
from workbench.workflow.settings import SignIn  # noqa: E402
from workbench.workflow.study import Study  # noqa: E402

FIRST = {300: 500.0, 5000: 1500.0}
DRILL = {300: 150.0}
REVISION = "0003"


def made(folder: Path, reports: int) -> tuple[Study, Actor, Score]:
    """Return a study with that many reports, six raters' labels of each, and a scored run of revision 3."""
    people = {LEAD: [Role.LEAD, Role.ADMIN, Role.ADJUDICATOR], RATER: [Role.RATER]}
    new = NewStudy("Speed", people, simulated="For a benchmark.", with_prompts=False, sign_in=SignIn.PICK)
    study = init_study(folder, new)
    lead = study.actor(LEAD)
    demo = ROOT / "data" / "demo"
    rows = [row for row in _read(demo / "reports.csv") if row["cohort"] == "development"]
    times = -(-reports // len(rows))
    wanted = [(f"{row['id']}-{i}", row) for i in range(times) for row in rows][:reports]
    text = io.StringIO()
    out = csv.writer(text)
    out.writerow(["id", "patient", "text"])
    # A word of their own keeps the copies from sharing one reply.
    out.writerows([[name, f"{row['patient_id']}-{name}", f"{row['text']} Film {name}."] for name, row in wanted])
    (folder / "reports.csv").write_text(text.getvalue(), encoding="utf-8")
    import_reports(study, lead, folder / "reports.csv", columns={"id": "id", "patient": "patient", "text": "text"})
    define(study, lead, "speed", Purpose.DEVELOPMENT, [name for name, _ in wanted])
    for path in sorted((demo / "labels").glob("*.csv")):
        labels = {row["report_id"]: row for row in _read(path)}
        fields = list(next(iter(labels.values())))
        text = io.StringIO()
        table = csv.DictWriter(text, fields)
        table.writeheader()
        table.writerows({**labels[row["id"]], "report_id": name} for name, row in wanted if row["id"] in labels)
        (folder / path.name).write_text(text.getvalue(), encoding="utf-8")
        import_labels(study, lead, folder / path.name, simulated=True)
    reference = freeze(study, lead, "speed", incomplete=True)
    prompt = read_prompt(ROOT / "prompts" / "cxr21" / f"{REVISION}.md", label_set=study.label_set)
    saved = prompts.save_candidate(study, lead, prompt, message="for speed", parent=None)
    prepared = run.prepare(study, lead, cohort="speed", revision=saved.prompt_hash)
    run.execute(study, prepared)
    return study, lead, score_run(study, lead, prepared.run.hash, reference)


def _read(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def _milliseconds(call: Callable[[], object]) -> tuple[float, float]:
    """Return the processor's and the clock's time of a call."""
    start, wall = time.process_time(), time.perf_counter()
    call()
    return 1000 * (time.process_time() - start), 1000 * (time.perf_counter() - wall)


def _median(times: Sequence[tuple[float, float]]) -> tuple[float, float]:
    return statistics.median(cpu for cpu, _ in times), statistics.median(wall for _, wall in times)


def measure(reports: int, times: int) -> tuple[int, dict[str, tuple[float, float]]]:
    """Return how many errors there are, and median times in milliseconds by the processor and by the clock."""
    with tempfile.TemporaryDirectory() as folder:
        study, lead, score = made(Path(folder) / "study", reports)
        summarize(study, lead, score.reference)
        benchmark_of(study, lead, score.reference)  # kept from here on, as it is with any frozen reference
        found = errors.mistakes(study, lead, score)
        costliest = found[0].finding_id

        def floor() -> None:
            votes_of(study, lead, score.reference)
            extractions(study, lead, score.prepared)

        def first() -> None:
            errors._READERS.clear()
            fresh = errors.mistakes(study, lead, score)
            wish = errors.Wish(costliest)
            errors.grouped(study, score, errors.chosen(fresh, wish, score.prepared.reports))

        by_finding = {finding: errors.Wish(finding) for finding in dict.fromkeys(m.finding_id for m in found)}

        def drill(wish: errors.Wish) -> None:
            groups = errors.grouped(study, score, errors.chosen(found, wish, score.prepared.reports))
            errors.phrases_in(study, score, groups[0].mistakes[0])
            errors.raters_words(study, lead, score, groups[0].mistakes[0])

        drills = [_milliseconds(lambda w=wish: drill(w)) for wish in by_finding.values() for _ in range(times)]
        return len(found), {
            "floor": _median([_milliseconds(floor) for _ in range(times)]),
            "first": _median([_milliseconds(first) for _ in range(times)]),
            "drill": _median(drills),
            "slowest drill": max(drills),
        }


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--reports", type=int, nargs="+", default=[300, 5000])
    parser.add_argument("--times", type=int, default=5)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    found = {reports: measure(reports, given.times) for reports in given.reports}
    if given.json:
        sys.stdout.write(json.dumps(found) + "\n")
        return
    for reports, (count, row) in found.items():
        sys.stdout.write(f"{reports} reports, {count} errors: milliseconds of the processor, of the clock\n")
        for name, (cpu, wall) in row.items():
            goal = {"first": FIRST, "drill": DRILL}.get(name, {}).get(reports)
            told = "" if goal is None else f"  goal {goal:.0f}{'' if cpu <= goal else '  MISSED'}"
            sys.stdout.write(f"  {name:<14} {cpu:>8.0f} {wall:>8.0f}{told}\n")


if __name__ == "__main__":
    main()
