"""Scores that were computed elsewhere, as they come."""

from pathlib import Path

import pytest

from workbench.errors import InputError
from workbench.formats.metric_scores import read_metric_scores


def written(folder: Path, *rows: str) -> Path:
    path = folder / "scores.csv"
    path.write_text("\n".join(["study_id,system,metric,value,note", *rows]) + "\n")
    return path


def test_scores_are_read_by_metric_system_and_study(tmp_path: Path) -> None:
    rows = ["1,a,green,0.5,", "1,a,radcliq_v1,-0.25,", "2,a,green,1,", "1,b,green,0.5,", "1,b,green,.5,again"]
    assert read_metric_scores(written(tmp_path, *rows)) == {
        "green": {"a": {"1": 0.5, "2": 1.0}, "b": {"1": 0.5}},
        "radcliq_v1": {"a": {"1": -0.25}},
    }


def test_a_blank_or_nan_is_no_score_and_never_0(tmp_path: Path) -> None:
    rows = ["1,a,green,0.5,", "2,a,green,,", "3,a,green,NaN,", "4,a,green,None,"]
    assert read_metric_scores(written(tmp_path, *rows)) == {"green": {"a": {"1": 0.5}}}


@pytest.mark.parametrize(
    ("rows", "told"),
    [
        (["1,a,green,high,"], "row 2: value is high, which is no number"),
        (["1,a,green,inf,"], "row 2: value is inf, which is no number"),
        (["1,a,green,0.5,", "1,,green,0.5,"], "row 3: system is blank"),
        (
            ["1,a,green,0.5,", "2,a,green,0.5,", "1,a,green,0.6,"],
            "row 4: green of a on study 1 is 0.6 here and 0.5 in row 2",
        ),
        (["1,a,green,,"], "holds no score"),
    ],
)
def test_what_is_wrong_is_told_with_the_row(tmp_path: Path, rows: list[str], told: str) -> None:
    with pytest.raises(InputError, match=told):
        read_metric_scores(written(tmp_path, *rows))
    path = tmp_path / "other.csv"
    path.write_text("study_id,system,value\n")
    with pytest.raises(InputError, match="has no column metric"):
        read_metric_scores(path)
