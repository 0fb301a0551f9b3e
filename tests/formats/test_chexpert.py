"""CheXpert's labels as labelers write them, and which of them are comparable."""

from pathlib import Path

import pytest

from workbench.domain.findings import LabelSet
from workbench.errors import InputError
from workbench.formats.chexpert import OBSERVATIONS, flat, read_chexpert, read_comparable
from workbench.formats.label_sets import read_label_set

SOME = ["Cardiomegaly", "Edema", "Atelectasis"]


@pytest.fixture
def label_set(root: Path) -> LabelSet:
    return read_label_set(root / "data" / "cxr21.yaml")


def test_the_shipped_map_names_findings_of_the_label_set_and_observations(root: Path, label_set: LabelSet) -> None:
    found = read_comparable(root / "data" / "comparable_chexpert.yaml", label_set)
    assert len(found) == 10
    assert found["pulmonary_edema"] == "Edema"
    assert set(found.values()) <= set(OBSERVATIONS)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("format: 1\nlabel_set: other\nfindings: {}\n", "is for the label set other"),
        ("format: 1\nlabel_set: cxr21\nfindings: {cough: Edema}\n", "cough is no finding"),
        ("format: 1\nlabel_set: cxr21\nfindings: {fracture: Break}\n", "Break is none of CheXpert's observations"),
    ],
)
def test_a_map_that_does_not_fit_is_refused(tmp_path: Path, label_set: LabelSet, text: str, told: str) -> None:
    path = tmp_path / "map.yaml"
    path.write_text(text)
    with pytest.raises(InputError, match=told):
        read_comparable(path, label_set)


def test_labels_of_a_real_labeler_are_read_by_the_reports_text(shared: Path) -> None:
    path = shared / "negation" / "chexpert_sample_labels.csv"
    text = "Minimal patchy airspace disease within the lingula, may reflect atelectasis or consolidation."
    read = read_chexpert(path, SOME, by_text={flat(text): ["r3", "r4"]})
    assert read == {"r3": [-2, -2, -1], "r4": [-2, -2, -1]}


def test_rows_are_told_by_id_and_what_is_wrong_by_its_row(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("report_id,Cardiomegaly,Edema,Atelectasis\nr1,1.0,0,\nr2,-1,,0.0\n")
    assert read_chexpert(path, SOME) == {"r1": [1, 0, -2], "r2": [-1, -2, 0]}
    path.write_text("report_id,Cardiomegaly,Edema,Atelectasis\nr1,1,0,\nr1,0,0,\n")
    with pytest.raises(InputError, match="row 3: report r1 has two different rows"):
        read_chexpert(path, SOME)
    path.write_text("report_id,Cardiomegaly,Edema,Atelectasis\nr1,2,0,\n")
    with pytest.raises(InputError, match="row 2: Cardiomegaly is 2"):
        read_chexpert(path, SOME)
    path.write_text("Cardiomegaly,Edema,Atelectasis\n1,0,\n")
    with pytest.raises(InputError, match="add a column report_id"):
        read_chexpert(path, SOME)
    path.write_text("report_id,Cardiomegaly\nr1,2\n")
    with pytest.raises(InputError, match="has no column Edema"):
        read_chexpert(path, SOME)
