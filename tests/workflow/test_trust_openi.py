"""What the README says of three metrics on 500 real reports is what comes out."""

from pathlib import Path

import pytest

from workbench.evaluation.numbers import Figure
from workbench.formats.alterations import read_alterations
from workbench.formats.reports import iter_reports
from workbench.workflow.demo import LEAD, demo
from workbench.workflow.opening import open_study
from workbench.workflow.trust import TrustTable, measure
from workbench.workflow.trust_pairs import make_pairs


@pytest.fixture(scope="module")
def table(root: Path, shared: Path, tmp_path_factory: pytest.TempPathFactory) -> TrustTable:
    folder = tmp_path_factory.mktemp("demo") / "study"
    demo(folder)
    study = open_study(folder)
    reports = iter_reports(shared / "openi" / "reports.csv", form="openi")
    words = read_alterations(root / "data" / "alterations.yaml")
    pairs = make_pairs(reports, words, count=500, seed=1)
    return measure(study, study.actor(LEAD), pairs, revision=4)


def span(figure: Figure) -> str:
    return f"{figure.value:.3f} ({figure.low:.3f} to {figure.high:.3f})"


def test_the_readme_has_the_figures_of_every_metric(root: Path, table: TrustTable) -> None:
    said = (root / "README.md").read_text(encoding="utf-8")
    for metric, name in zip(table.metrics, ("Ran Score of the pair", "BLEU-2 (ReXrank)", "ROUGE-L"), strict=True):
        found = metric.trust
        right = f"{found.pooled.value:.3f} | {found.discrimination.value:.3f} | {found.robustness.value:.3f}"
        assert f"| {name} | {span(found.probability)} | {right} |" in said
    assert f"On 500 of Open-i's reports,\n{sum(table.by_kind.values()):,} edits" in said
    assert table.reports == 500


def test_no_kind_carries_the_figures(table: TrustTable) -> None:
    ran = table.metrics[0].trust
    errors = [kind.probability.value for kind in ran.kinds if kind.significant]
    assert ran.probability.value == pytest.approx(sum(errors) / 6)
    assert max(table.by_kind.values()) < 150
    assert min(table.by_kind.values()) == table.by_kind["critical_missed"] > 40


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        ("removed", "finding removed"),
        ("invented", "finding invented"),
        ("negated", "finding negated"),
        ("critical_missed", "critical finding missed"),
    ],
)
def test_the_readme_has_the_figures_of_every_error_that_is_seen(
    root: Path, table: TrustTable, kind: str, name: str
) -> None:
    ran, bleu, rouge = (metric.trust.of(kind).probability for metric in table.metrics)
    line = f"| {name} | {table.by_kind[kind]} | {span(ran)} | {bleu.value:.3f} | {rouge.value:.3f} |"
    assert line in (root / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(("kind", "name"), [("side_swapped", "side swapped"), ("severity_raised", "severity raised")])
def test_the_readme_names_what_ran_score_is_blind_to(root: Path, table: TrustTable, kind: str, name: str) -> None:
    assert kind in table.metrics[0].blind_to
    ran, bleu, rouge = (metric.trust.of(kind) for metric in table.metrics)
    assert ran.blind == table.by_kind[kind]
    figures = f"**{ran.probability.value:.3f}**: blind | {bleu.probability.value:.3f} | {rouge.probability.value:.3f}"
    assert f"| **{name}** | {table.by_kind[kind]} | {figures} |" in (root / "README.md").read_text(encoding="utf-8")
