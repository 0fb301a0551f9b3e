"""The export commands: a file and one JSON object, or one sentence and no file."""

import csv
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from workbench.domain.cohorts import Purpose
from workbench.workflow import cohorts
from workbench.workflow.opening import open_study

Run = Callable[..., Any]


@pytest.mark.parametrize(
    ("arguments", "rows"),
    [
        (["votes", "development"], 300 * 6 * 21),
        (["votes", "development-1", "--long"], 300 * 6 * 21),
        (["votes", "development", "--wide"], 300 * 6),
        (["reference"], 300 * 21),
        (["reference", "development"], 300 * 21),
        (["agreement", "development-1"], 21),
        (["agreement", "development-1", "--view", "four-states"], 21),
    ],
)
def test_each_table_is_written_in_both_formats_with_the_same_rows(
    workbench: Run, study: str, arguments: list[str], rows: int
) -> None:
    as_csv = workbench("export", *arguments, "-o", "out.csv", "--study", study, "--json")
    assert as_csv.code == 0, as_csv.err
    assert as_csv.json == {
        "file": "out.csv",
        "format": "csv",
        "rows": rows,
        "cohort": "development",
        "reference": "development-1",
        "simulated": True,
    }
    as_parquet = workbench("export", *arguments, "-o", "out", "--format", "parquet", "--study", study, "--json")
    assert (as_parquet.code, as_parquet.json["rows"]) == (0, rows)
    table = pq.read_table("out")
    with Path("out.csv").open(encoding="utf-8", newline="") as file:
        header, *cells = csv.reader(file)
    assert (header, len(cells)) == (table.column_names, table.num_rows)
    for i, name in enumerate(header):
        blank = sum(row[i] == "" for row in cells)
        assert table[name].null_count == blank, name


def test_the_audit_trail_is_written(workbench: Run, study: str) -> None:
    result = workbench("export", "audit", "-o", "audit.csv", "--study", study)
    assert (result.code, "written to audit.csv" in result.out) == (0, True), result.err
    with Path("audit.csv").open(encoding="utf-8", newline="") as file:
        events = {row["event"] for row in csv.DictReader(file)}
    assert {"reports imported", "cohort made", "labels submitted", "reference frozen", "revision accepted"} < events


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["votes", "validation", "-o", "x.csv"], "The round of the cohort validation is not closed"),
        (["votes", "nope", "-o", "x.csv"], "no cohort or reference nope"),
        (["votes", "development", "-o", "x.xlsx"], "use csv or parquet"),
        (["votes", "development", "-o", "x.csv", "--format", "excel"], "no table format excel; use csv or parquet"),
        (["votes", "development", "-o", "none/x.csv"], "none/x.csv cannot be written"),
        (["votes", "development", "-o", "x.csv", "--as", "Demo rater"], "may not export votes"),
        (["audit", "-o", "x.csv", "--as", "Demo rater"], "may not export the audit trail"),
        (["audit", "-o", "{study}/data/study.toml", "--format", "csv"], "a part of the study itself"),
        (["votes", "development"], "Missing option"),
    ],
)
def test_a_refusal_is_one_sentence_and_leaves_no_file(
    workbench: Run, study: str, arguments: list[str], told: str
) -> None:
    result = workbench("export", *[a.format(study=study) for a in arguments], "--study", study)
    assert result.code in {1, 2}
    assert told in " ".join(result.err.split())
    assert (result.out, "Traceback" in result.err) == ("", False)
    assert [path.name for path in Path().iterdir()] == ["demo"]


def test_exported_votes_go_into_another_study_and_come_out_the_same(workbench: Run, study: str) -> None:
    for shape in ("--wide", "--long"):
        out, again, copy = f"out{shape}.csv", f"again{shape}.csv", f"copy{shape}"
        assert workbench("export", "votes", "development", shape, "-o", out, "--study", study).code == 0
        assert workbench("init", copy, "--as", "Dr. Chan", "--no-prompts").code == 0
        reports = Path(__file__).parents[2] / "data" / "demo" / "reports.csv"
        assert workbench("import", "reports", str(reports), "--study", copy).code == 0
        taken = workbench("import", "labels", out, "--study", copy, "--json")
        assert taken.code == 0, taken.err
        assert set(taken.json["submitted"]) == {f"rater{i}" for i in range(1, 7)}
        members = cohorts.get_cohort(open_study(Path(study)), "development").members
        opened = open_study(Path(copy))
        cohorts.define(opened, opened.actor(), "development", Purpose.DEVELOPMENT, list(members))
        assert workbench("reference", "freeze", "development", "--study", copy).code == 0
        assert workbench("export", "votes", "development", shape, "-o", again, "--study", copy).code == 0
        assert Path(again).read_bytes() == Path(out).read_bytes()
