"""The commands on reviews: open, rate nothing seen, close, show, out and in."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from workbench.domain.reviews import Judgement
from workbench.workflow import reviewing
from workbench.workflow.opening import open_study

Run = Callable[..., Any]


@pytest.fixture
def scored(workbench: Run, tmp_path: Path) -> str:
    """A study with two systems on three studies and two reviewers."""
    assert workbench("init", "study", "--as", "Lena").code == 0
    study = str(tmp_path / "study")
    for name in ("Ada", "Ben"):
        assert workbench("user", "add", name, "--role", "rater", "--study", study, "--as", "Lena").code == 0
    rows = {"alpha": ["Pleural effusion.", "Clear.", "Clear."], "beta": ["Clear.", "Pneumothorax.", "Clear."]}
    (tmp_path / "ref.csv").write_text("study_id,reference\n1,Pleural effusion.\n2,Pneumothorax.\n3,Normal.\n")
    files = []
    for name, texts in rows.items():
        path = tmp_path / f"{name}.csv"
        path.write_text("study_id,generated\n" + "".join(f"{i},{text}\n" for i, text in enumerate(texts, 1)))
        files += ["--generated", str(path)]
    done = workbench(
        "score", "--reference", str(tmp_path / "ref.csv"), *files, "--data-set", "ds", "--study", study, "--as", "Lena"
    )
    assert done.code == 0, done.err
    return study


def test_a_review_from_opening_to_its_numbers(workbench: Run, scored: str, tmp_path: Path) -> None:
    lena = ("--study", scored, "--as", "Lena")
    opened = workbench("review", "open", "ds", "--reviewer", "Ada", "--reviewer", "Ben", *lena, "--json").json
    assert (opened["systems"], opened["studies"], opened["open"]) == (["alpha", "beta"], ["1", "2", "3"], True)
    study = open_study(Path(scored))
    for name in ("Ada", "Ben"):
        actor = study.actor(name)
        for at in range(5):  # five texts: of study 3 both wrote the same
            task = reviewing.open_item(study, actor, "review-1", at)
            good = task.reference == task.generated or "Normal." in task.reference[0][1]
            reviewing.rate(study, actor, "review-1", at, Judgement(5 if good else 1 + (name == "Ben")))
    shown = workbench("review", "show", "ds", *lena, "--json").json
    assert shown["rated"] == {"Ada": 5, "Ben": 5}
    assert "systems" not in shown
    refused = workbench("review", "show", "ds", "--study", scored, "--as", "Ada")
    assert (refused.code, "before review-1 is closed" in refused.err) == (1, True)
    refused = workbench("leaderboard", "ds", "--study", scored, "--as", "Ada")
    assert (refused.code, "before review-1 is closed" in refused.err) == (1, True)
    assert workbench("review", "export", "ds", "-o", "out.csv", *lena).code == 1
    assert workbench("review", "close", "ds", *lena).code == 0
    found = workbench("review", "show", "ds", *lena, "--json").json
    by_name = {each["name"]: each for each in found["systems"]}
    # alpha: 5, then (1 + 2) / 2, then 5 for the text that both wrote; beta the other way round.
    assert by_name["alpha"]["rating"]["value"] == pytest.approx(11.5 / 3)
    assert by_name["beta"]["rating"]["value"] == pytest.approx(11.5 / 3)
    assert found["agreement"]["items"] == 5
    assert found["agreement"]["percent"]["value"] == pytest.approx(0.6)
    ran = next(each for each in found["metrics"] if each["id"] == "ran_score")
    assert ran["kendall"]["value"] == pytest.approx(1)  # F1 is 1 where they gave 5 and 0 elsewhere
    told = workbench("review", "show", "ds", *lena)
    assert "alpha (ordinal)" in told.out
    assert workbench("review", "export", "ds", "-o", "out.csv", *lena, "--json").json["rows"] == 12
    again = workbench("review", "import", "out.csv", "--data-set", "ds", *lena, "--json").json
    assert (again["ratings"], again["systems"], again["reviewers"]) == (12, ["alpha", "beta"], ["Ada", "Ben"])


def test_ratings_made_elsewhere_are_shown_as_imported(workbench: Run, scored: str, tmp_path: Path) -> None:
    lena = ("--study", scored, "--as", "Lena")
    (tmp_path / "r.csv").write_text("study_id,system,reviewer,rating\n1,alpha,Carl,5\n1,beta,Carl,2\n")
    assert workbench("review", "import", "r.csv", *lena).code == 0
    found = workbench("review", "show", "ds", *lena, "--json").json
    assert (found["imported"], found["reviewers"]) == (2, {"Carl": 2})
    assert found["agreement"]["alpha"]["value"] is None


def test_an_unknown_data_set_is_one_sentence(workbench: Run, scored: str) -> None:
    refused = workbench("review", "open", "other", "--reviewer", "Ada", "--study", scored, "--as", "Lena")
    assert refused.code == 1
    assert "There is no data set other" in refused.err
