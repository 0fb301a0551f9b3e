"""Ratings of generated reports as CSV: what is read, and that what is written is read back."""

from pathlib import Path

import pytest

from workbench.domain.findings import LabelSet
from workbench.domain.reviews import OTHER, Fault, ImportedRating, Judgement
from workbench.errors import InputError
from workbench.formats.exports import write_table
from workbench.formats.label_sets import read_label_set
from workbench.formats.ratings import columns, faults_text, read_ratings


@pytest.fixture(scope="module")
def label_set(root: Path) -> LabelSet:
    """The label set that studies start with."""
    return read_label_set(root / "data" / "cxr21.yaml")


def test_faults_stand_in_one_order_and_none_is_blank() -> None:
    marks = {"edema": frozenset({Fault.DEGREE, Fault.MISSED})}
    assert faults_text(marks, "edema") == "missed;degree"
    assert faults_text(marks, "fracture") is None


def test_a_spreadsheets_way_of_writing_is_read(tmp_path: Path, label_set: LabelSet) -> None:
    path = tmp_path / "r.csv"
    path.write_text(
        "study_id,system,reviewer,rating,fracture,other,comment\n"
        " 1 ,a,Ada,5.0,,, fine \n2,a,Ada,1,Missed; place,DEGREE,\n"
    )
    assert read_ratings(path, label_set) == [
        ImportedRating("1", "a", "Ada", Judgement(5, {}, "fine")),
        ImportedRating(
            "2",
            "a",
            "Ada",
            Judgement(1, {"fracture": frozenset({Fault.MISSED, Fault.PLACE}), OTHER: frozenset({Fault.DEGREE})}),
        ),
    ]


def test_what_is_written_is_read_back(tmp_path: Path, label_set: LabelSet) -> None:
    shown = columns(label_set)
    values = {"study_id": "=1", "system": "a", "reviewer": "Ada", "rating": 2, "fracture": "missed", "comment": "-cut"}
    path = tmp_path / "out.csv"
    write_table(path, shown, [[values.get(column.name) for column in shown]])
    assert read_ratings(path, label_set) == [
        ImportedRating("=1", "a", "Ada", Judgement(2, {"fracture": frozenset({Fault.MISSED})}, "-cut"))
    ]


@pytest.mark.parametrize("rating", ["0", "6", "4.5", "good", "-1"])
def test_a_rating_off_the_scale_is_refused_with_its_row(tmp_path: Path, label_set: LabelSet, rating: str) -> None:
    path = tmp_path / "r.csv"
    path.write_text(f"study_id,system,reviewer,rating\n1,a,Ada,3\n2,a,Ada,{rating}\n")
    with pytest.raises(InputError, match=f"row 3: the rating is {rating}; write a whole number from 1 to 5"):
        read_ratings(path, label_set)
