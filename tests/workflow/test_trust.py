"""Metrics tested on edited reports: by hand, from elsewhere, and under the rights of the study."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from workbench.domain.actors import Actor
from workbench.domain.pairs import EditedPair
from workbench.domain.prompts import Prompt
from workbench.domain.reports import Report
from workbench.errors import InputError
from workbench.formats.alterations import read_alterations
from workbench.formats.pairs import read_pairs, unedited_id
from workbench.text.sections import split_sections
from workbench.workflow.prompts import save_candidate
from workbench.workflow.study import Study
from workbench.workflow.trust import measure
from workbench.workflow.trust_files import picture, trust_json, write_trust
from workbench.workflow.trust_pairs import make_pairs

TEXT = "FINDINGS: There is a small left pleural effusion. The heart is normal in size."
REMOVED = "FINDINGS: The heart is normal in size."
SWAPPED = TEXT.replace("left", "right")
SHORTER = "FINDINGS: Small left pleural effusion. The heart is normal in size."


def pair(kind: str, text: str, *, matters: bool, report: str = "r1") -> EditedPair:
    return EditedPair(f"{report}:{kind}", report, report, kind, matters, "", TEXT, text)


PAIRS = [
    pair("removed", REMOVED, matters=True),
    pair("side_swapped", SWAPPED, matters=True),
    pair("style", SHORTER, matters=False),
]


@pytest.fixture
def revised(study: Study, lead: Actor, make_prompt: Callable[..., Prompt]) -> str:
    return save_candidate(study, lead, make_prompt(), message="m", parent=None).prompt_hash


def test_ran_score_sees_a_finding_that_is_gone_and_is_blind_to_its_side(
    study: Study, lead: Actor, revised: str
) -> None:
    found = measure(study, lead, PAIRS, metrics=["ran_score"], revision=revised, resamples=0)
    (ran,) = found.metrics
    # The effusion is missed: F1 of the pair falls from 1 to 0. Side and style change nothing the prompt reads.
    assert [kind.mean_drop.value for kind in ran.trust.kinds] == [1.0, 0.0, 0.0]
    # Of the two pairs (error, harmless) one is told apart and one is equal: (1 + 1/2) / 2.
    assert ran.trust.probability.value == 0.75
    assert ran.blind_to == ("side_swapped",)


def test_a_metric_from_elsewhere_is_measured_from_the_unedited_pair(study: Study, lead: Actor, revised: str) -> None:
    values = {unedited_id("r1"): 0.2, "r1:removed": 2.0, "r1:side_swapped": 1.0, "r1:style": 0.3}
    found = measure(
        study,
        lead,
        PAIRS,
        metrics=[],
        scores={"cost": values},
        directions={"cost": False},
        revision=revised,
        resamples=0,
    )
    (cost,) = found.metrics
    assert [kind.mean_drop.value for kind in cost.trust.kinds] == pytest.approx([1.8, 0.8, 0.1])
    assert cost.trust.probability.value == 1.0


def test_what_has_no_score_is_left_out_and_counted(study: Study, lead: Actor, revised: str) -> None:
    values = {unedited_id("r1"): 1.0, "r1:removed": 0.5, "r1:style": 1.0}
    found = measure(study, lead, PAIRS, metrics=[], scores={"green": values}, revision=revised, resamples=0)
    assert (found.metrics[0].trust.left_out, found.metrics[0].trust.n_significant) == (1, 1)


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"metrics": ["bertscore"]}, "bertscore is not computed here"),
        ({"metrics": ["blue"]}, "There is no metric 'blue'"),
        ({"metrics": [], "scores": {"mine": {"r1:removed": 1.0}}}, "Is higher better in mine, or lower"),
    ],
)
def test_a_metric_that_cannot_be_had_is_refused(
    study: Study, lead: Actor, revised: str, asked: dict[str, object], said: str
) -> None:
    with pytest.raises(InputError, match=said):
        measure(study, lead, PAIRS, revision=revised, **asked)  # type: ignore[arg-type]


def test_edits_are_made_of_a_seeded_sample_and_say_what_they_are(root: Path) -> None:
    words = read_alterations(root / "data" / "alterations.yaml")
    texts = [TEXT.replace("small", size) for size in ("small", "large", "moderate")]
    reports = [Report(f"r{i}", f"p{i}", text, split_sections(text), "en", "f") for i, text in enumerate(texts)]
    made = make_pairs(reports, words, count=2, seed=3)
    assert made == make_pairs(reversed(reports), words, count=2, seed=3)
    assert len({one.report_id for one in made}) == 2
    kinds = {one.kind: one.significant for one in made}
    assert kinds["removed"]
    assert not kinds["style"]
    assert all(one.done and one.generated != one.reference for one in made)


def test_reports_in_another_language_give_no_pairs(root: Path) -> None:
    words = read_alterations(root / "data" / "alterations.yaml")
    chinese = Report("1", "1", "双肺纹理增多。", (), "zh", "f")
    with pytest.raises(InputError, match="None of the reports can be edited"):
        make_pairs([chinese, replace(chinese, id="2", text="")], words, count=5, seed=1)


def test_the_files_hold_the_pairs_and_what_every_number_rests_on(
    study: Study, lead: Actor, revised: str, tmp_path: Path
) -> None:
    found = measure(study, lead, PAIRS, revision=revised, resamples=20)
    paths = write_trust(found, PAIRS, tmp_path / "out")
    assert [path.name for path in paths] == ["trust.csv", "trust.json", "trust.svg", "pairs.csv"]
    assert read_pairs(paths[3]) == PAIRS
    rows = paths[0].read_text().splitlines()
    assert len(rows) == 1 + 3 * (2 + 3)  # three metrics: two sorts and three kinds each
    assert all(found.pairs_hash in row and found.reading.prompt.hash in row for row in rows[1:])
    assert trust_json(found)["pairs"] == {"removed": 1, "side_swapped": 1, "style": 1}
    assert "side swapped (1)" in picture(found)
