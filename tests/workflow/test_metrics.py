"""Scores computed elsewhere take part in everything; RadCliQ-v1 is made of its parts and its reciprocal of the mean."""

from collections.abc import Callable
from pathlib import Path

import pytest

from workbench.domain.actors import Actor
from workbench.domain.prompts import Prompt
from workbench.errors import InputError, RightsError
from workbench.evaluation.ranking import NO_VALUE
from workbench.metrics.radcliq import radcliq_v1
from workbench.storage.leaderboard import DataSetRecord
from workbench.workflow import metrics
from workbench.workflow.leaderboard import (
    NO_RADCLIQ,
    NOT_POSITIVE,
    Board,
    leaderboard,
    metric_correlations,
)
from workbench.workflow.leaderboard_files import page_of
from workbench.workflow.metrics import import_scores, imported
from workbench.workflow.prompts import save_candidate
from workbench.workflow.study import Study
from workbench.workflow.systems import System, add_data_set, add_systems

Write = Callable[[str, str], Path]
IDS = [f"s{i}" for i in range(8)]
REFERENCES = ["Pleural effusion today.", "Pneumothorax.", "Clear.", "Small pleural effusion."] * 2


@pytest.fixture
def data_set(study: Study, lead: Actor, csv_file: Write, make_prompt: Callable[..., Prompt]) -> DataSetRecord:
    """Eight studies and two systems: one repeats the reference, one always says the same."""
    save_candidate(study, lead, make_prompt(), message="m", parent=None)
    rows = "".join(f"{i},{text},{text}\n" for i, text in zip(IDS, REFERENCES, strict=True))
    good = csv_file("good.csv", f"study_id,reference,generated\n{rows}")
    poor = csv_file("poor.csv", "study_id,generated\n" + "".join(f"{i},Pneumothorax.\n" for i in IDS))
    made = add_data_set(study, lead, good, name="eight")
    add_systems(study, lead, made, [System(good), System(poor)])
    return made


@pytest.fixture
def at_hand(study: Study, lead: Actor, data_set: DataSetRecord) -> tuple[Study, Actor, DataSetRecord]:
    """The study, its lead and the data set."""
    return study, lead, data_set


def scores(**values: dict[str, list[float]]) -> str:
    lines = ["study_id,system,metric,value"]
    for metric, by_system in values.items():
        for system, of_studies in by_system.items():
            lines += [f"{i},{system},{metric},{value}" for i, value in zip(IDS, of_studies, strict=False)]
    return "\n".join(lines) + "\n"


def board_of(study: Study, lead: Actor, data_set: DataSetRecord) -> Board:
    return leaderboard(study, lead, data_set, revision=1)


def test_scores_of_reports_that_a_system_has_replaced_are_told_as_such(
    study: Study, lead: Actor, data_set: DataSetRecord, csv_file: Write
) -> None:
    text = scores(green={"good": [0.9] * 8, "poor": [0.1] * 8})
    import_scores(study, lead, data_set, csv_file("x.csv", text))
    assert board_of(study, lead, data_set).column("green").judge == ""
    other = csv_file("other.csv", "study_id,generated\n" + "".join(f"{i},Clear.\n" for i in IDS))
    add_systems(study, lead, data_set, [System(other, "poor")])
    board = board_of(study, lead, data_set)
    told = "Since x.csv came in, poor submitted other reports: import scores of those."
    assert board.column("green").judge == told
    assert told in next(column.definition for column in page_of(board).metrics if column.name == "GREEN")
    import_scores(study, lead, data_set, csv_file("y.csv", scores(green={"poor": [0.2] * 8})))
    assert board_of(study, lead, data_set).column("green").judge == ""


def test_imported_scores_are_ranked_by_their_own_direction(
    study: Study, lead: Actor, data_set: DataSetRecord, csv_file: Write
) -> None:
    text = scores(
        green={"good": [0.9] * 8, "poor": [0.1] * 8},
        fineradscore={"good": [1, 2, 1, 2, 1, 2, 1, 2], "poor": [3, 4, 3, 4, 3, 4, 3, 4]},
        rating={"good": [5, 4, 5, 4, 5, 4, 5, 4], "poor": [1, 2, 1, 2, 1]},
    )
    done = import_scores(study, lead, data_set, csv_file("x.csv", text), higher_is_better={"rating": True})
    assert [(one.metric, one.higher_is_better, dict(one.values)) for one in done] == [
        ("green", True, {"good": 8, "poor": 8}),
        ("fineradscore", False, {"good": 8, "poor": 8}),
        ("rating", True, {"good": 8, "poor": 5}),
    ]
    board = board_of(study, lead, data_set)
    for metric in ("green", "fineradscore", "rating"):
        first, second = board.column(metric).ranking.systems
        assert (first.system, second.system) == ("good", "poor")
    # Compared only where both have a rating.
    rating = board.column("rating").ranking
    assert (rating.n_studies, rating.left_out, rating.of("good").value.value) == (5, 3, 23 / 5)
    found = {(c.first, c.second): c for c in metric_correlations(board)}
    assert found["green", "rating"].spearman.n == 13
    assert (found["green", "fineradscore"].kendall.value or 0) < 0


def test_radcliq_is_made_of_its_parts_and_its_reciprocal_is_of_the_mean(
    study: Study, lead: Actor, data_set: DataSetRecord, csv_file: Write
) -> None:
    parts = {"radgraph_f1": 1.0, "bertscore": 1.0, "semb_score": 1.0}
    text = scores(
        **{part: {"good": [high] * 8, "poor": [0.1 * (i % 3) for i in range(8)]} for part, high in parts.items()}
    )
    assert board_of(study, lead, data_set).reciprocals == {}
    import_scores(study, lead, data_set, csv_file("x.csv", text))
    board = board_of(study, lead, data_set)
    column = board.column("radcliq_v1")
    assert not column.metric.higher_is_better
    assert [place.system for place in column.ranking.systems] == ["good", "poor"]
    best = column.ranking.of("good").value.value
    assert best is not None
    assert best < 0  # identical reports: lower is better, and it may be negative
    assert (board.reciprocals["good"].value, board.reciprocals["good"].reason) == (None, NOT_POSITIVE)
    bleu2 = board.column("bleu2_rexrank").values[1]
    by_hand = [float(radcliq_v1(0.1 * (i % 3), 0.1 * (i % 3), 0.1 * (i % 3), bleu2[i])) for i in range(8)]
    assert board.reciprocals["poor"].value == pytest.approx(8 / sum(by_hand))


def test_a_metric_of_one_system_is_shown_of_it_and_takes_nothing_from_the_others(
    study: Study, lead: Actor, data_set: DataSetRecord, csv_file: Write
) -> None:
    parts = {part: {"poor": [0.0] * 8} for part in ("radgraph_f1", "bertscore", "semb_score")}
    import_scores(study, lead, data_set, csv_file("x.csv", scores(green={"good": [0.5, 0.7]}, **parts)))
    board = board_of(study, lead, data_set)
    green = board.column("green")
    assert [(p.system, p.value.value, p.rank) for p in green.ranking.systems] == [
        ("good", 0.6, 1),
        ("poor", None, None),
    ]
    assert (green.shown("good").n, green.shown("poor").reason) == (2, NO_VALUE)
    assert board.uneven[0] == (
        "GREEN: ranked on the 2 studies of all systems that have it; over all its own studies good 0.600 (n 2); "
        "no score of poor."
    )
    # Of what has no RadCliQ-v1 it is not said that its mean is not positive.
    assert board.reciprocals["good"].reason == NO_RADCLIQ
    assert board.reciprocals["poor"].defined
    (cells,) = (metric.cells for metric in page_of(board).metrics if metric.name == "GREEN")
    assert [(cell.value, cell.n, cell.note) for cell in cells] == [
        (0.6, 2, ""),
        (None, 0, "it has no value on any study"),
    ]


def test_metrics_without_a_common_study_show_each_systems_own_mean_and_rank_nobody(
    study: Study, lead: Actor, data_set: DataSetRecord, csv_file: Write
) -> None:
    text = scores(green={"good": [0.5, 0.7]}) + f"{IDS[5]},poor,green,0.25\n"
    import_scores(study, lead, data_set, csv_file("x.csv", text))
    board = board_of(study, lead, data_set)
    green = board.column("green")
    assert [place.rank for place in green.ranking.systems] == [None, None]
    assert [(green.shown(name).value, green.shown(name).n) for name in ("good", "poor")] == [(0.6, 2), (0.25, 1)]
    assert "no study has a value in every system; over all" in board.uneven[0]


WRONG = pytest.mark.parametrize(
    ("text", "told", "said"),
    [
        (scores(mine={"good": [1.0]}), {}, "is higher better in mine, or lower"),
        (scores(green={"good": [1.0]}), {"green": False}, "in green higher is better"),
        (scores(green={"good": [1.0]}), {"mine": True}, "holds no score of mine"),
        (scores(green={"god": [1.0]}), {}, "no system called god; it has good, poor"),
        (scores(bleu4={"good": [1.0]}), {}, "bleu4 is computed by the workbench itself"),
        ("study_id,system,metric,value\nx,good,green,1\n", {}, "no study with a score of green is in"),
    ],
)


@WRONG
def test_what_cannot_be_taken_in_is_refused_and_nothing_is_kept(
    at_hand: tuple[Study, Actor, DataSetRecord], csv_file: Write, text: str, told: dict[str, bool], said: str
) -> None:
    study, lead, data_set = at_hand
    with pytest.raises(InputError, match=said):
        import_scores(study, lead, data_set, csv_file("x.csv", text), higher_is_better=told)
    assert imported(study, lead, data_set) == []


def test_scores_of_a_package_that_was_run_stand_beside_the_others(
    study: Study, lead: Actor, data_set: DataSetRecord, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    asked: list[tuple[str | None, ...]] = []

    def instead(
        _metric: str, references: tuple[str, ...], generated: tuple[str | None, ...], *, weights: Path
    ) -> list[float]:
        assert weights == tmp_path
        asked.append(generated)
        return [
            float(reference == text) if text != "Clear." else float("nan")
            for reference, text in zip(references, generated, strict=True)
        ]

    monkeypatch.setattr(metrics, "check_adapter", lambda *_, **__: None)
    monkeypatch.setattr(metrics, "run_adapter", instead)
    done = metrics.run_metric(study, lead, data_set, "bertscore", weights=tmp_path)
    assert dict(done.values) == {"good": 6, "poor": 8}  # a study without a value is none, never 0
    assert len(asked) == 2
    column = board_of(study, lead, data_set).column("bertscore")
    assert [place.system for place in column.ranking.systems] == ["good", "poor"]


def test_only_leads_import_scores(study: Study, rater: Actor, data_set: DataSetRecord, csv_file: Write) -> None:
    with pytest.raises(RightsError, match="import scores"):
        import_scores(study, rater, data_set, csv_file("x.csv", scores(green={"good": [1.0]})))
