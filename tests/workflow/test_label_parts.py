"""Labelling in parts: the same labels as in one file, from any source, and never two labellings in one folder."""

import csv
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from workbench.domain.prompts import Prompt
from workbench.errors import ConflictError, InputError
from workbench.prompting.files import prompt_text
from workbench.running.bulk import CHUNK
from workbench.workflow.label import Source, label_file, label_parts
from workbench.workflow.labelling import Labelling, Means, labelling
from workbench.workflow.study import Study

ONE = Means(workers=1)


@pytest.fixture
def using(study: Study, make_prompt: Callable[..., Prompt]) -> Labelling:
    """A study whose only accepted file is the two-finding prompt."""
    path = study.prompts_folder / "0001.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(prompt_text(make_prompt()), encoding="utf-8")
    return labelling(study.folder)


@pytest.fixture
def mimic(tmp_path: Path) -> Path:
    """Seven invented reports of MIMIC-CXR's form, one of which has nothing to read."""
    texts = ["Small pleural effusion.", "No pneumothorax.", "", "Possible pleural effusion.", "Normal."]
    for number in range(7):
        path = tmp_path / "files" / "p10" / f"p1000000{number // 2}" / f"s5000000{number}.txt"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"    FINAL REPORT\n INDICATION:  ___F, pneumothorax?\n \n FINDINGS: \n {texts[number % 5]}\n")
    return tmp_path / "files"


def table(path: Path) -> list[list[str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file))


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("binary", [False, True])
def test_the_parts_together_are_the_one_file(
    using: Labelling, mimic: Path, tmp_path: Path, workers: int, binary: bool
) -> None:
    whole = label_file(using, Source(mimic), tmp_path / "whole.csv", binary=binary, means=ONE)
    done = label_parts(
        using, Source(mimic), tmp_path / "out", part_reports=2, binary=binary, means=Means(workers=workers)
    )
    parts = [table(path) for path in sorted(done.out.glob("part-*.csv"))]
    assert [parts[0][0], *(row for part in parts for row in part[1:])] == table(whole.out)
    assert done.failures is not None
    assert whole.failures is not None
    assert done.failures.read_bytes() == whole.failures.read_bytes()
    assert (done.labelled, done.failed, done.parts, done.kept) == (6, 1, 4, 0)
    effusion = parts[0][0].index("pleural_effusion")
    assert [row[0] + row[effusion] for row in parts[0][1:]] == ["s500000001", "s50000001" + ("0" if binary else "")]


def test_parquet_holds_the_same_labels(using: Labelling, mimic: Path, tmp_path: Path) -> None:
    rows = table(label_file(using, Source(mimic), tmp_path / "whole.csv", means=ONE).out)
    label_file(using, Source(mimic), tmp_path / "whole.parquet", means=ONE)
    done = label_parts(using, Source(mimic), tmp_path / "out", form="parquet", part_reports=4, means=ONE)
    for found in (pq.read_table(tmp_path / "whole.parquet"), pq.read_table(sorted(done.out.glob("*.parquet")))):
        shown = [["" if cell is None else str(cell) for cell in row.values()] for row in found.to_pylist()]
        assert [found.column_names, *shown] == rows


def test_an_earlier_part_is_kept_and_what_is_read_for_it_compared(
    using: Labelling, mimic: Path, tmp_path: Path
) -> None:
    label_parts(using, Source(mimic), tmp_path / "out", part_reports=2, means=ONE)
    again = label_parts(using, Source(mimic), tmp_path / "out", part_reports=2, means=ONE)
    assert (again.parts, again.kept, again.labelled, again.failed) == (4, 4, 6, 1)
    report = mimic / "p10" / "p10000001" / "s50000003.txt"
    report.write_text(report.read_text().replace("Possible", "Probable"))  # as long as it was
    with pytest.raises(ConflictError, match=r"files has changed: what is read for s50000002 to s50000003"):
        label_parts(using, Source(mimic), tmp_path / "out", part_reports=2, means=ONE)
    report.unlink()
    with pytest.raises(ConflictError, match="begun with another source"):
        label_parts(using, Source(mimic), tmp_path / "out", part_reports=2, means=ONE)


def test_another_prompt_or_sections_do_not_go_on(
    using: Labelling, mimic: Path, tmp_path: Path, make_prompt: Callable[..., Prompt]
) -> None:
    label_parts(using, Source(mimic), tmp_path / "out", means=ONE)
    other = replace(using, prompt=make_prompt("later", "fluid"), prompt_file=Path("0002.md"))
    with pytest.raises(ConflictError, match=r"begun with another prompt: 0001\.md .* and now it is 0002\.md"):
        label_parts(other, Source(mimic), tmp_path / "out", means=ONE)
    fewer = replace(using, settings=using.settings.model_copy(update={"sections": ("impression",)}))
    with pytest.raises(ConflictError, match="another choice of sections"):
        label_parts(fewer, Source(mimic), tmp_path / "out", means=ONE)


def test_a_fault_far_down_the_source_keeps_the_parts_that_are_whole(using: Labelling, tmp_path: Path) -> None:
    source = tmp_path / "in.csv"
    source.write_text("id,text\n" + "".join(f"r{i},FINDINGS: Normal.\n" for i in range(CHUNK + 10)) + "broken\n")
    with pytest.raises(InputError, match=f"row {CHUNK + 12}"):
        label_parts(using, Source(source), tmp_path / "out", part_reports=200, means=ONE)
    names = sorted(path.name for path in (tmp_path / "out").iterdir())
    assert names == ["manifest.json", *(f"part-{n + 1:05d}.csv" for n in range(CHUNK // 200))]


def test_the_folder_of_the_reports_is_never_written_into(using: Labelling, mimic: Path) -> None:
    before = sorted(mimic.rglob("*"))
    with pytest.raises(InputError, match="holds the reports to be labelled"):
        label_parts(using, Source(mimic), mimic)
    with pytest.raises(InputError, match="There are no parts of the form xml"):
        label_parts(using, Source(mimic), mimic / "out", form="xml")
    assert sorted(mimic.rglob("*")) == before
