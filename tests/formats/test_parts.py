"""Labels in parts: what is whole stays, the rest is written again, and nothing of two labellings is mixed."""

import csv
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from workbench.domain.findings import LabelSet
from workbench.domain.runs import Usage
from workbench.errors import ConflictError, InputError
from workbench.formats.parts import Row, open_parts
from workbench.formats.parts_manifest import LabelerMark, LabelSetMark, PromptMark, SourceMark, Task, UsageMark

TASK = Task(
    source=SourceMark(name="in.csv", form="csv", sha256="a" * 64),
    prompt=PromptMark(file="0001.md", hash="b" * 64),
    label_set=LabelSetMark(id="three", version="1", hash="c" * 64),
    labeler=LabelerMark(name="rules", kind="rules", hash="d" * 64, engine="1"),
    sections=("findings",),
    splitting="1",
    binary=False,
    policies=None,
    form="csv",
    part_reports=3,
)
FAILING = {"r1", "r2", "r4", "r7"}


class StoppedError(Exception):
    """Stands for whatever ends a labelling half way."""


def rows(count: int = 8) -> Iterator[Row]:
    return ((f"r{i}", f"Text {i}.") for i in range(count))


def labels(some: Iterator[Row], stop_before: str = "") -> Iterator[tuple[str, Sequence[int] | str]]:
    for report, text in some:
        if report == stop_before:
            raise StoppedError
        yield report, f"=no label for {text}" if report in FAILING else [int(report[1:]) % 2, -1, -2]


def fill(folder: Path, three: LabelSet, *, task: Task = TASK, stop_before: str = "", some: int = 8) -> int:
    """Write all parts and return how many stood there."""
    with open_parts(folder, task, three) as parts:
        kept = len(parts.manifest.parts)
        found = labels(parts.rest(rows(some)), stop_before)
        for first in found:
            parts.add(chained(first, found, task.part_reports))
        parts.finish()
    return kept


def chained(first: Any, more: Iterator[Any], count: int) -> Iterator[Any]:
    yield first
    for _ in range(count - 1):
        row = next(more, None)
        if row is None:
            return
        yield row


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def cells(path: Path) -> list[list[str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file))


def test_parts_hold_their_rows_and_the_manifest_says_what_is_in_each(tmp_path: Path, three: LabelSet) -> None:
    fill(tmp_path / "out", three)
    assert sorted(contents(tmp_path / "out")) == [
        "failures.csv",
        "manifest.json",
        "part-00001.csv",
        "part-00002.csv",
        "part-00003.csv",
    ]
    assert cells(tmp_path / "out" / "part-00001.csv") == [["report_id", *three.ids], ["r0", "0", "-1", ""]]
    assert cells(tmp_path / "out" / "part-00003.csv") == [["report_id", *three.ids], ["r6", "0", "-1", ""]]
    assert cells(tmp_path / "out" / "failures.csv") == [
        ["report_id", "reason"],
        *([report, f"'=no label for Text {report[1:]}."] for report in ("r1", "r2", "r4", "r7")),
    ]
    known = json.loads((tmp_path / "out" / "manifest.json").read_text())
    assert (known["reports"], known["labelled"], known["failed"], known["finished"]) == (8, 4, 4, True)
    assert [(p["first"], p["last"], p["reports"], p["rows"], p["failed"]) for p in known["parts"]] == [
        ("r0", "r2", 3, 1, 2),
        ("r3", "r5", 3, 2, 1),
        ("r6", "r7", 2, 1, 1),
    ]
    assert known["failures"]["rows"] == 4
    assert known["task"]["prompt"] == {"file": "0001.md", "hash": "b" * 64}


@pytest.mark.parametrize("form", ["csv", "parquet"])
@pytest.mark.parametrize("stop", ["r0", "r2", "r3", "r5", "r7"])
def test_a_labelling_that_stopped_ends_in_the_same_bytes(tmp_path: Path, three: LabelSet, form: str, stop: str) -> None:
    task = TASK.model_copy(update={"form": form})
    fill(tmp_path / "whole", three, task=task)
    with pytest.raises(StoppedError):
        fill(tmp_path / "out", three, task=task, stop_before=stop)
    assert fill(tmp_path / "out", three, task=task) == int(stop[1:]) // 3
    assert contents(tmp_path / "out") == contents(tmp_path / "whole")


def test_what_a_killed_process_leaves_is_cleared_away(tmp_path: Path, three: LabelSet) -> None:
    fill(tmp_path / "whole", three)
    with pytest.raises(StoppedError):
        fill(tmp_path / "out", three, stop_before="r4")
    (tmp_path / "out" / ".part-00002.csv.abc.partial").write_text("half a")
    (tmp_path / "out" / "part-00002.csv").write_text("a part that the manifest does not name")
    with (tmp_path / "out" / "failures.csv").open("a") as file:
        file.write("r4,half a ro")
    fill(tmp_path / "out", three)
    assert contents(tmp_path / "out") == contents(tmp_path / "whole")


def test_a_finished_labelling_is_read_again_and_left_as_it_is(tmp_path: Path, three: LabelSet) -> None:
    fill(tmp_path / "out", three)
    before = contents(tmp_path / "out")
    with open_parts(tmp_path / "out", TASK, three) as parts:
        assert list(parts.rest(rows())) == []
    assert contents(tmp_path / "out") == before


def test_no_failures_no_file(tmp_path: Path, three: LabelSet) -> None:
    fill(tmp_path / "out", three, some=1)
    assert sorted(contents(tmp_path / "out")) == ["manifest.json", "part-00001.csv"]


def test_a_part_without_a_label_is_a_part(tmp_path: Path, three: LabelSet) -> None:
    task = TASK.model_copy(update={"form": "parquet", "part_reports": 1})
    fill(tmp_path / "out", three, task=task)
    assert pq.read_table(tmp_path / "out" / "part-00002.parquet").num_rows == 0
    assert pq.read_table(tmp_path / "out" / "part-00004.parquet").to_pylist() == [
        {"report_id": "r3", "effusion": 1, "edema": -1, "cavity": None}
    ]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (
            {"source": SourceMark(name="new.csv", form="csv", sha256="e" * 64)},
            r"another source: in\.csv \(aaaa.*new\.csv",
        ),
        (
            {"source": TASK.source.model_copy(update={"columns": {"id": "nr"}})},
            r"way of reading it: csv, utf-8, and .*id=nr",
        ),
        ({"prompt": PromptMark(file="0002.md", hash="e" * 64)}, r"another prompt: 0001\.md \(bbbb.*0002\.md \(eeee"),
        (
            {"label_set": LabelSetMark(id="three", version="2", hash="e" * 64)},
            "another label set: three 1, and .*three 2",
        ),
        ({"labeler": TASK.labeler.model_copy(update={"engine": "2"})}, "another labeler: rules"),
        ({"sections": ("findings", "impression")}, "choice of sections: findings, and now it is findings, impression"),
        ({"binary": True, "policies": {"default": "present"}}, "all four states, and now it is --binary"),
        ({"form": "parquet"}, "another form: csv, and now it is parquet"),
        ({"part_reports": 4}, "number of reports in a part: 3, and now it is 4"),
    ],
)
def test_another_task_does_not_go_on_in_the_same_folder(
    tmp_path: Path, three: LabelSet, change: dict[str, Any], said: str
) -> None:
    with pytest.raises(StoppedError):
        fill(tmp_path / "out", three, stop_before="r4")
    before = contents(tmp_path / "out")
    with pytest.raises(ConflictError, match=said):
        fill(tmp_path / "out", three, task=TASK.model_copy(update=change))
    assert contents(tmp_path / "out") == before


def test_a_prompt_file_of_another_name_with_the_same_prompt_goes_on(tmp_path: Path, three: LabelSet) -> None:
    with pytest.raises(StoppedError):
        fill(tmp_path / "out", three, stop_before="r4")
    assert (
        fill(tmp_path / "out", three, task=TASK.model_copy(update={"prompt": PromptMark(file="x.md", hash="b" * 64)}))
        == 1
    )


@pytest.mark.parametrize(
    "changed",
    [
        lambda: ((r, t.replace("Text 1", "Other")) for r, t in rows()),
        lambda: (row for row in rows() if row[0] != "r1"),
        lambda: rows(2),
        lambda: ((r + t[:1], t[1:]) for r, t in rows()),  # the same characters, parted elsewhere
    ],
)
def test_a_source_whose_labelled_reports_changed_is_refused(
    tmp_path: Path, three: LabelSet, changed: Callable[[], Iterator[Row]]
) -> None:
    with pytest.raises(StoppedError):
        fill(tmp_path / "out", three, stop_before="r4")
    with (
        pytest.raises(ConflictError, match=r"in\.csv has changed: what is read for r0 to r2 .*part-00001\.csv was lab"),
        open_parts(tmp_path / "out", TASK, three) as parts,
    ):
        parts.rest(changed())


@pytest.mark.parametrize("name", ["part-00001.csv", "failures.csv"])
@pytest.mark.parametrize("how", ["changed", "gone"])
def test_a_file_that_was_meddled_with_is_named(tmp_path: Path, three: LabelSet, name: str, how: str) -> None:
    with pytest.raises(StoppedError):
        fill(tmp_path / "out", three, stop_before="r4")
    path = tmp_path / "out" / name
    path.unlink() if how == "gone" else path.write_text(path.read_text().replace("r", "s"))
    with pytest.raises(InputError, match=rf"{name} is missing or was changed"):
        fill(tmp_path / "out", three)


def test_two_cannot_write_into_one_folder(tmp_path: Path, three: LabelSet) -> None:
    with (
        open_parts(tmp_path / "out", TASK, three),
        pytest.raises(ConflictError, match="Another labelling is writing into"),
        open_parts(tmp_path / "out", TASK, three),
    ):
        pass


def test_a_folder_that_is_not_of_labels_is_left_alone(tmp_path: Path, three: LabelSet) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("x")
    with pytest.raises(InputError, match=r"holds thesis\.txt and no manifest\.json"):
        fill(tmp_path / "mine", three)
    assert sorted(contents(tmp_path / "mine")) == ["thesis.txt"]
    (tmp_path / "mine" / "manifest.json").write_text("{}")
    with pytest.raises(InputError, match="is no manifest of labels"):
        fill(tmp_path / "mine", three)
    with pytest.raises(InputError, match="is a file; name a folder"):
        fill(tmp_path / "mine" / "thesis.txt", three)
    with pytest.raises(InputError, match="cannot be made"):
        fill(tmp_path / "no" / "such", three)


def test_all_that_is_counted_of_a_model_goes_into_the_manifest() -> None:
    assert list(UsageMark.model_fields) == [field.name for field in fields(Usage)]
