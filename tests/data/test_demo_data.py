"""The demo study's data: counts, difficulties, and that the committed files are what the generator writes."""

import csv
import re
import subprocess
import sys
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

Rows = list[dict[str, str]]
RARE = (2, 6)


def read(path: Path) -> Rows:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def words(text: str) -> list[str]:
    return re.findall(r"[a-z0-9']+", text.lower())


def sentences(text: str) -> list[str]:
    return [part.strip() for part in re.split(r"(?<=[.?!])\s+|\n+", text) if part.strip()]


def body(text: str) -> str:
    found = re.search(r"(findings|impression|conclusion)\s*:", text, re.IGNORECASE)
    return text[found.end() :] if found else text


@pytest.fixture(scope="module")
def demo(root: Path) -> Path:
    return root / "data" / "demo"


@pytest.fixture(scope="module")
def reports(demo: Path) -> Rows:
    return read(demo / "reports.csv")


@pytest.fixture(scope="module")
def truth(demo: Path) -> dict[str, dict[str, int | None]]:
    return {
        row["id"]: {f: int(v) if v else None for f, v in row.items() if f != "id"} for row in read(demo / "truth.csv")
    }


@pytest.fixture(scope="module")
def raters(demo: Path) -> dict[str, Rows]:
    return {path.stem: read(path) for path in sorted((demo / "labels").glob("rater*.csv"))}


@pytest.fixture(scope="module")
def label_set(root: Path) -> dict[str, Any]:
    loaded = YAML(typ="safe", pure=True).load((root / "data" / "cxr21.yaml").read_text(encoding="utf-8"))
    assert isinstance(loaded, dict)
    return loaded


def counts(
    reports: Rows, truth: dict[str, dict[str, int | None]], cohort: str, states: tuple[int, ...]
) -> Counter[str]:
    ids = [row["id"] for row in reports if row["cohort"] == cohort]
    return Counter(finding for i in ids for finding, state in truth[i].items() if state in states)


def test_the_generator_writes_the_committed_bytes(demo: Path, tmp_path: Path) -> None:
    subprocess.run([sys.executable, str(demo / "generate.py"), "--out", str(tmp_path)], check=True, cwd=tmp_path)
    written = sorted(path.relative_to(tmp_path) for path in tmp_path.rglob("*.csv"))
    assert written == sorted(path.relative_to(demo) for path in demo.rglob("*.csv"))
    for name in written:
        assert (tmp_path / name).read_bytes() == (demo / name).read_bytes(), name


def test_there_are_300_development_and_120_validation_reports_with_ids_of_their_own(reports: Rows) -> None:
    assert Counter(row["cohort"] for row in reports) == {"development": 300, "validation": 120}
    assert len({row["id"] for row in reports}) == 420
    assert all(row["text"].strip() for row in reports)
    assert {row["language"] for row in reports} == {"en"}


def test_truth_and_labels_have_the_columns_of_the_label_set_in_its_order(
    truth: dict[str, dict[str, int | None]], raters: dict[str, Rows], label_set: dict[str, Any]
) -> None:
    ids = [finding["id"] for finding in label_set["findings"]]
    assert list(next(iter(truth.values()))) == ids
    assert len(raters) == 6
    for name, rows in raters.items():
        assert list(rows[0]) == ["report_id", *ids, "reviewed"], name
        assert {value for row in rows for f in ids for value in [row[f]]} <= {"1", "0", "-1", ""}


def test_no_patient_is_in_both_cohorts_and_some_have_several_reports(reports: Rows) -> None:
    cohorts = defaultdict(set)
    for row in reports:
        cohorts[row["patient_id"]].add(row["cohort"])
    assert all(len(found) == 1 for found in cohorts.values())
    per_patient = Counter(Counter(row["patient_id"] for row in reports).values())
    assert per_patient[2] >= 20
    assert per_patient[1] + per_patient[2] + per_patient[3] >= 0.99 * sum(per_patient.values())


def test_every_finding_occurs_and_at_least_five_are_rare(
    reports: Rows, truth: dict[str, dict[str, int | None]], label_set: dict[str, Any]
) -> None:
    present = counts(reports, truth, "development", (1,))
    assert all(present[finding["id"]] >= 2 for finding in label_set["findings"])
    rare = [finding for finding, n in present.items() if RARE[0] <= n <= RARE[1]]
    assert len(rare) >= 5
    assert sum(n > 20 for n in present.values()) >= 9
    in_validation = counts(reports, truth, "validation", (1, -1))
    assert all(in_validation[finding["id"]] >= 1 for finding in label_set["findings"])


def test_between_a_third_and_two_fifths_of_the_reports_are_normal(
    truth: dict[str, dict[str, int | None]],
) -> None:
    normal = sum(not any(state in (1, -1) for state in states.values()) for states in truth.values())
    assert 0.32 <= normal / len(truth) <= 0.41


def test_the_label_sets_own_rules_hold_in_the_truth(truth: dict[str, dict[str, int | None]]) -> None:
    for report_id, states in truth.items():
        if states["consolidation"] == 1:
            assert states["lung_opacity"] == 1, report_id


def test_no_two_patients_have_the_same_findings_text(reports: Rows) -> None:
    seen: dict[str, str] = {}
    for row in reports:
        key = " ".join(words(body(row["text"])))
        assert seen.setdefault(key, row["patient_id"]) == row["patient_id"], row["id"]


def test_sentences_are_varied(reports: Rows) -> None:
    all_sentences = [" ".join(words(s)) for row in reports for s in sentences(body(row["text"]))]
    long = [s for s in all_sentences if len(s.split()) >= 4]
    assert len(set(long)) > 0.55 * len(long)
    assert Counter(long).most_common(1)[0][1] < 0.08 * len(reports)


@pytest.mark.parametrize(
    ("difficulty", "pattern", "at_least"),
    [
        ("negation before", r"\bno (evidence of|pleural effusion|pneumothorax)", 50),
        ("negation after", r"\b(is|are|has) not (seen|identified|evident)|not demonstrated|absent\.", 20),
        ("negation by a colon", r"\b(effusions?|pneumothorax|consolidation|edema)[/\w]*: (none|no|absent)", 5),
        ("a list with a slash", r"\b(effusions?|pneumothorax|PTX|edema)/\w+", 8),
        ("scope ended by but", r"\bno [^.]*, but there", 3),
        ("pseudo-negation", r"no (significant |interval )*(change|increase|improvement|growth|clearing) (in|of)", 8),
        ("a finding that has gone", r"has (resolved|cleared)|no longer|interval (resolution|clearing)", 20),
        ("uncertainty before", r"\b(possible|questionable|suspected|may represent|cannot exclude)", 25),
        ("uncertainty after", r"cannot be excluded|not excluded|not ruled out|versus", 12),
        ("history among the findings", r"\bhistory of (pneumonia|rib fractures|pneumothorax|pleural effusion|CHF)", 5),
        (
            "misspelling",
            r"effusoin|pnuemothorax|cardiomegally|atelectesis|opactiy|degenertive|nomral|enalrged|lugns",
            5,
        ),
        ("blank of MIMIC", r"___", 50),
        ("blank of Open-i", r"XXXX", 50),
    ],
)
def test_the_difficulties_of_the_job_occur(reports: Rows, difficulty: str, pattern: str, at_least: int) -> None:
    found = [row["id"] for row in reports if re.search(pattern, row["text"], re.IGNORECASE)]
    assert len(found) >= at_least, difficulty


def test_some_reports_lack_an_impression_some_all_headers_and_some_dictate_in_one_case(reports: Rows) -> None:
    texts = [row["text"] for row in reports]
    assert sum("impression" not in t.lower() and "conclusion" not in t.lower() for t in texts) >= 8
    assert sum(not re.search(r"(findings|impression|conclusion):", t, re.IGNORECASE) for t in texts) >= 8
    assert sum(t.replace("XXXX", "") == t.replace("XXXX", "").lower() for t in texts) >= 10
    assert sum(t == t.upper() for t in texts) >= 3
    assert max(len(words(t)) for t in texts) > 120


def test_findings_named_in_the_indication_only_do_not_count(
    reports: Rows, truth: dict[str, dict[str, int | None]]
) -> None:
    asked = [row for row in reports if re.match(r"[^\n]*pneumonia", row["text"], re.IGNORECASE)]
    assert len(asked) >= 15
    assert sum(truth[row["id"]]["pneumonia"] not in (1, -1) for row in asked) >= 10


def test_near_duplicates_stay_with_one_patient(reports: Rows) -> None:
    by_patient = defaultdict(list)
    for row in reports:
        by_patient[row["patient_id"]].append(row["text"])
    pairs = [texts for texts in by_patient.values() if any(a != b and b.startswith(a) for a in texts for b in texts)]
    assert len(pairs) >= 3


def votes(reports: Rows, raters: dict[str, Rows], label_set: dict[str, Any]) -> dict[tuple[str, str], tuple[int, int]]:
    """Present votes and missing votes of each report and finding: method 1 and 2, counted by hand."""
    policy = label_set["policies"]["vote"]
    as_present = {
        f["id"]: policy["overrides"].get(f["id"], policy["default"]) == "present" for f in label_set["findings"]
    }
    by_report = [{row["report_id"]: row for row in rows if row["reviewed"] == "1"} for rows in raters.values()]
    tally = {}
    for report in reports:
        rows = [rater.get(report["id"]) for rater in by_report]
        for finding, uncertain_counts in as_present.items():
            given = [row[finding] for row in rows if row is not None]
            present = sum(v == "1" or (v == "-1" and uncertain_counts) for v in given)
            tally[report["id"], finding] = (present, len(rows) - len(given))
    return tally


def test_the_votes_hold_ties_short_votes_and_a_majority_that_mostly_agrees_with_the_plan(
    reports: Rows,
    raters: dict[str, Rows],
    truth: dict[str, dict[str, int | None]],
    label_set: dict[str, Any],
) -> None:
    tally = votes(reports, raters, label_set)
    ties = [key for key, (present, missing) in tally.items() if present == 3 and missing == 0]
    short = [key for key, (present, missing) in tally.items() if present < 4 <= present + missing]
    cohort = {row["id"]: row["cohort"] for row in reports}
    for name in ("development", "validation"):
        assert sum(cohort[report_id] == name for report_id, _ in ties) >= 3
        assert sum(cohort[report_id] == name for report_id, _ in short) >= 1
    decided = {key: present >= 4 for key, (present, _) in tally.items() if key not in short}
    agree = [(truth[r][f] == 1) == vote for (r, f), vote in decided.items() if truth[r][f] != -1]
    assert 0.98 < sum(agree) / len(agree) < 1
    positives = [vote for (r, f), vote in decided.items() if truth[r][f] == 1]
    assert 0.9 < sum(positives) / len(positives) < 1


def test_each_rater_has_the_habit_that_is_said_of_them(
    reports: Rows, raters: dict[str, Rows], truth: dict[str, dict[str, int | None]]
) -> None:
    def share(rater: str, of: int, marked: tuple[str, ...], findings: tuple[str, ...] | None = None) -> float:
        cells = [
            row[finding]
            for row in raters[rater]
            if row["reviewed"] == "1"
            for finding, state in truth[row["report_id"]].items()
            if state == of and (findings is None or finding in findings)
        ]
        return sum(cell in marked for cell in cells) / len(cells)

    others = ("rater2", "rater3", "rater4", "rater5", "rater6")
    assert share("rater1", -1, ("1",)) > 0.7 > max(share(name, -1, ("1",)) for name in others)
    rare = ("calcification", "fracture", "diaphragm_abnormality", "pneumothorax")
    assert share("rater2", 1, ("1",), rare) < 0.75 < share("rater6", 1, ("1",), rare)
    assert len(raters["rater3"]) < len(reports)
    assert share("rater4", -1, ("-1",)) > 0.8
    assert share("rater5", 1, ("1",), ("consolidation", "pneumonia", "lung_opacity")) < 0.9
    assert share("rater6", 1, ("1",)) > 0.93
    assert any(row["reviewed"] == "0" for rows in raters.values() for row in rows)


def test_the_readme_counts_are_those_of_the_files(
    demo: Path, reports: Rows, truth: dict[str, dict[str, int | None]]
) -> None:
    text = (demo / "README.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(\w+)` \| (\d+) \| (\d+) \| (\d+) \| (\d+) \|$", text, re.MULTILINE)
    expected = [
        (
            finding,
            *(
                str(counts(reports, truth, cohort, (state,))[finding])
                for cohort in ("development", "validation")
                for state in (1, -1)
            ),
        )
        for finding in next(iter(truth.values()))
    ]
    assert rows == expected


def test_nothing_is_copied_from_real_reports(reports: Rows, shared: Path) -> None:
    real = read(shared / "openi" / "reports.csv")
    columns = ("indication", "comparison", "findings", "impression")
    haystack = "\n".join(f" {' '.join(words(' '.join(row[c] for c in columns)))} " for row in real)
    long = {" ".join(words(s)) for row in reports for s in sentences(row["text"]) if len(words(s)) >= 8}
    copied = sorted(s for s in long if f" {s} " in haystack)
    assert len(copied) <= 3, copied
