"""Labelling a file: rows in order, failures apart, nothing half written, no database."""

import csv
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from workbench.domain.findings import Policies, Policy
from workbench.domain.prompts import Prompt
from workbench.errors import InputError, NotFoundError
from workbench.prompting.files import prompt_text
from workbench.running.bulk import BLANK
from workbench.workflow.label import Source, label_file, label_parts
from workbench.workflow.labelling import Labelling, Means, labelling
from workbench.workflow.opening import open_study
from workbench.workflow.study import Study

ONE = Means(workers=1)
Write = Callable[[str, str], Path]
REPORTS = (
    "id,text\n"
    'b2,"FINDINGS: Small pleural effusion. No pneumothorax."\n'
    'a1,"INDICATION: pneumothorax."\n'
    'c3,"FINDINGS: Possible pleural effusion."\n'
    'd4,"FINDINGS: Normal."\n'
)


@pytest.fixture
def using(study: Study, make_prompt: Callable[..., Prompt]) -> Labelling:
    """A study whose only accepted file is the two-finding prompt."""
    path = study.prompts_folder / "0001.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(prompt_text(make_prompt()), encoding="utf-8")
    return labelling(study.folder)


def table(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("workers", [1, 2])
def test_four_states_come_out_in_input_order_and_failures_apart(
    using: Labelling, csv_file: Write, tmp_path: Path, workers: int
) -> None:
    done = label_file(using, Source(csv_file("in.csv", REPORTS)), tmp_path / "out.csv", means=Means(workers=workers))
    rows = table(done.out)
    assert list(rows[0]) == ["report_id", *using.label_set.ids]
    assert [(r["report_id"], r["pleural_effusion"], r["pneumothorax"]) for r in rows] == [
        ("b2", "1", "0"),
        ("c3", "-1", ""),
        ("d4", "", ""),
    ]
    assert done.failures is not None
    assert [r["report_id"] for r in table(done.failures)] == ["a1"]
    assert (done.labelled, done.failed) == (3, 1)


@pytest.mark.parametrize(("policy", "expected"), [(Policy.PRESENT, "1"), (Policy.ABSENT, "0"), (Policy.EXCLUDE, "")])
def test_binary_collapses_uncertain_by_policy_and_not_mentioned_to_0(
    using: Labelling, csv_file: Write, tmp_path: Path, policy: Policy, expected: str
) -> None:
    from dataclasses import replace

    label_set = replace(using.label_set, prediction_policies=Policies(policy))
    out = label_file(
        replace(using, label_set=label_set),
        Source(csv_file("in.csv", REPORTS)),
        tmp_path / "out.csv",
        binary=True,
        means=ONE,
    ).out
    assert [(r["pleural_effusion"], r["pneumothorax"]) for r in table(out)] == [("1", "0"), (expected, "0"), ("0", "0")]


def test_a_fault_in_the_middle_leaves_the_old_output_as_it_was(
    using: Labelling, csv_file: Write, tmp_path: Path
) -> None:
    out = tmp_path / "out.csv"
    out.write_text("old\n")
    with pytest.raises(InputError, match="row"):
        label_file(using, Source(csv_file("in.csv", REPORTS + "e5\n")), out, means=ONE)
    assert out.read_text() == "old\n"
    assert sorted(p.name for p in tmp_path.iterdir() if "out" in p.name) == ["out.csv"]


def test_failures_of_an_earlier_labelling_do_not_stay_behind(using: Labelling, csv_file: Write, tmp_path: Path) -> None:
    label_file(using, Source(csv_file("in.csv", REPORTS)), tmp_path / "out.csv", means=ONE)
    label_file(using, Source(csv_file("in.csv", 'id,text\nx,"FINDINGS: Normal."\n')), tmp_path / "out.csv", means=ONE)
    assert not (tmp_path / "out.failures.csv").exists()


def test_the_source_is_never_overwritten(using: Labelling, csv_file: Write) -> None:
    source = csv_file("in.csv", REPORTS)
    with pytest.raises(InputError, match="is the file to be labelled"):
        label_file(using, Source(source), source)
    assert source.read_text(encoding="utf-8") == REPORTS


def test_a_source_named_like_the_failures_is_never_overwritten(
    using: Labelling, csv_file: Write, tmp_path: Path
) -> None:
    source = csv_file("out.failures.csv", REPORTS)
    with pytest.raises(InputError, match="is the file to be labelled"):
        label_file(using, Source(source), tmp_path / "out.csv")
    assert source.read_text(encoding="utf-8") == REPORTS


@pytest.mark.parametrize("out", ["", ".", os.devnull, "n" * 300])
def test_a_place_where_no_file_can_be_is_refused(using: Labelling, csv_file: Write, out: str) -> None:
    with pytest.raises(InputError, match=r"is a folder|is a device|cannot be written"):
        label_file(using, Source(csv_file("in.csv", REPORTS)), Path(out), means=ONE)


def test_a_file_put_beside_the_accepted_ones_does_not_label(study: Study, make_prompt: Callable[..., Prompt]) -> None:
    study.prompts_folder.mkdir(parents=True, exist_ok=True)
    (study.prompts_folder / "0001.md").write_text(prompt_text(make_prompt()), encoding="utf-8")
    open_study(study.folder)
    (study.prompts_folder / "0009.md").write_text(prompt_text(make_prompt("later", "fluid")), encoding="utf-8")
    (study.prompts_folder / "0010.md").write_text("no prompt at all", encoding="utf-8")
    chosen = labelling(study.folder)
    assert (chosen.prompt_file.name, chosen.prompt.hash) == ("0001.md", make_prompt().hash)


def test_the_highest_accepted_file_labels_and_no_database_is_made(using: Labelling, study: Study) -> None:
    assert using.prompt_file.name == "0001.md"
    (study.folder / "data" / "workbench.db").unlink()
    labelling(study.folder)
    assert not (study.folder / "data" / "workbench.db").exists()


def test_without_a_prompt_the_message_says_what_to_name(study: Study) -> None:
    with pytest.raises(NotFoundError, match="--prompt FILE"):
        labelling(study.folder)


def test_a_long_report_is_read_to_its_last_sentence(using: Labelling, csv_file: Write, tmp_path: Path) -> None:
    filler = "The bones are unchanged and the soft tissues are as before. " * 70
    source = csv_file("in.csv", f'id,text\nlong,"FINDINGS: {filler}Small right apical pneumothorax."\n')
    (row,) = table(label_file(using, Source(source), tmp_path / "out.csv", means=ONE).out)
    assert row["pneumothorax"] == "1"


@pytest.mark.parametrize("parts", [False, True])
def test_reports_in_another_language_are_failures_and_are_counted_by_why(
    using: Labelling, csv_file: Write, tmp_path: Path, *, parts: bool
) -> None:
    texts = 'e5,"FINDINGS: 右侧胸腔少量积液。"\nf6,"FINDINGS: 双肺清晰，未见积液。"\n'
    source = Source(csv_file("in.csv", REPORTS + texts))
    done = (label_parts if parts else label_file)(using, source, tmp_path / ("out" if parts else "out.csv"), means=ONE)
    assert (done.labelled, done.failed) == (3, 3)
    assert done.failures is not None
    why = "The report is in Chinese; the prompt's phrases are in English, so the rules cannot read it."
    assert [(r["report_id"], r["reason"]) for r in table(done.failures)] == [("a1", BLANK), ("e5", why), ("f6", why)]
    assert list(done.reasons.items()) == [(why, 2), (BLANK, 1)]
