"""The numbers of four real systems, computed once more by other means: plain Python and the labeler's labels."""

import csv
import json
import random
from collections import Counter
from pathlib import Path

import pytest

from workbench.domain.actors import Role
from workbench.labelers.rules import RulesLabeler
from workbench.workflow.leaderboard import leaderboard
from workbench.workflow.leaderboard_files import write_leaderboard
from workbench.workflow.opening import NewStudy, init_study, open_study
from workbench.workflow.prompts import find_revision
from workbench.workflow.systems import System, add_data_set, add_systems

Rows = list[tuple[str, str]]  # reference, generated
Labels = list[set[int]]  # findings of each report


def positives(codes: list[int], uncertain_is_present: set[int]) -> set[int]:
    return {i for i, code in enumerate(codes) if code == 1 or (code == -1 and i in uncertain_is_present)}


def macro_f1(truth: Labels, given: Labels, findings: set[int]) -> float:
    scores = []
    for finding in findings:
        tp = sum(finding in t and finding in g for t, g in zip(truth, given, strict=True))
        wrong = sum((finding in t) != (finding in g) for t, g in zip(truth, given, strict=True))
        if any(finding in t for t in truth):
            scores.append(2 * tp / (2 * tp + wrong))
    return sum(scores) / len(scores)


def of_pairs(truth: Labels, given: Labels) -> list[float]:
    return [2 * len(t & g) / (len(t) + len(g)) if t or g else 1.0 for t, g in zip(truth, given, strict=True)]


def bleu2_of_rexrank(reference: str, generated: str) -> float:
    sides = [text.lower().replace(".", " .").split() for text in (reference, generated)]
    product = 1.0
    for n in (1, 2):
        grams = [Counter(tuple(words[i : i + n]) for i in range(len(words) - n + 1)) for words in sides]
        total = sum(grams[1].values())
        hits = sum((grams[0] & grams[1]).values())
        if not total or (n == 1 and not hits):
            return 0.0
        product *= (hits or 0.1) / total
    short = min(0.0, 1 - len(sides[0]) / len(sides[1]))
    return float(product**0.5 * 2.718281828459045**short)


@pytest.fixture(scope="module")
def scored(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[dict, dict[str, Rows], RulesLabeler]:  # type: ignore[type-arg]
    """What one call says of the four systems, the rows of their files, and the labeler alone."""
    folder = tmp_path_factory.mktemp("systems")
    init_study(folder / "study", NewStudy("Systems", {"Lena": [Role.LEAD]}))
    study = open_study(folder / "study")
    lena, files = study.actor("Lena"), sorted((shared / "submissions").glob("iu_xray_*.csv"))
    assert len(files) == 4
    data_set = add_data_set(study, lena, shared / "submissions" / "iu_xray_template.csv", name="iu")
    taken = add_systems(study, lena, data_set, [System(path) for path in files])
    # One of the files spells 25 references otherwise; those of the data set count for all.
    assert [each.other_references for each in taken] == [25, 0, 0, 0]
    write_leaderboard(leaderboard(study, lena, data_set), folder / "out")
    said = json.loads((folder / "out" / "scores.json").read_text(encoding="utf-8"))
    read = {path.stem: list(csv.DictReader(path.open(encoding="utf-8", newline=""))) for path in files}
    reference = {row["study_id"]: row["reference"] for row in read["iu_xray_template"]}
    rows = {name: [(reference[row["study_id"]], row["generated"]) for row in of] for name, of in read.items()}
    return said, rows, RulesLabeler(find_revision(study).prompt, study.label_set)


def test_ran_score_and_what_stands_beside_it(scored: tuple[dict, dict[str, Rows], RulesLabeler]) -> None:  # type: ignore[type-arg]
    said, rows, rules = scored
    ids = list(rules._ids)
    present = {ids.index("lung_opacity")}  # by the label set's policy; all others are absent where uncertain
    by_name = {system["name"]: system for system in said["systems"]}
    assert by_name.keys() == rows.keys()
    for name, pairs in rows.items():
        truth, given = ([positives(rules.codes(pair[side]), present) for pair in pairs] for side in (0, 1))
        supported = set().union(*truth)
        found = by_name[name]["on_common_studies"]
        assert found["ran_score"]["n"] == len(supported) == 20
        assert found["ran_score"]["value"] == pytest.approx(macro_f1(truth, given, supported))
        tp = sum(len(t & g) for t, g in zip(truth, given, strict=True))
        wrong = sum(len(t ^ g) for t, g in zip(truth, given, strict=True))
        assert found["micro_f1"]["value"] == pytest.approx(2 * tp / (2 * tp + wrong))
        alike = [t == g for t, g in zip(truth, given, strict=True)]
        assert found["exact_match"]["value"] == pytest.approx(sum(alike) / 293)
        assert found["report_f1"]["value"] == pytest.approx(sum(of_pairs(truth, given)) / 293)
        invented = Counter(ids[i] for g in given for i in g - supported)
        assert found["invented_without_support"] == dict(invented)
        for each in found["evaluation"]["findings"]:
            at = ids.index(each["finding_id"])
            counts = Counter((at in t, at in g) for t, g in zip(truth, given, strict=True))
            assert [each[k] for k in ("tp", "fp", "fn", "tn")] == [
                counts[True, True],
                counts[False, True],
                counts[True, False],
                counts[False, False],
            ]


def test_its_interval_is_that_of_another_bootstrap(scored: tuple[dict, dict[str, Rows], RulesLabeler]) -> None:  # type: ignore[type-arg]
    said, rows, rules = scored
    present, chance = {rules._ids.index("lung_opacity")}, random.Random(11)
    best = said["systems"][0]
    pairs = rows[best["name"]]
    truth, given = ([positives(rules.codes(pair[side]), present) for pair in pairs] for side in (0, 1))
    supported = set().union(*truth)
    drawn = []
    for _ in range(400):
        at = [chance.randrange(293) for _ in range(293)]
        drawn.append(macro_f1([truth[i] for i in at], [given[i] for i in at], supported))
    drawn.sort()
    ran = best["on_common_studies"]["ran_score"]
    assert ran["low"] == pytest.approx(drawn[9], abs=0.012)
    assert ran["high"] == pytest.approx(drawn[389], abs=0.02)


def test_the_order_and_the_core_metrics(scored: tuple[dict, dict[str, Rows], RulesLabeler]) -> None:  # type: ignore[type-arg]
    said, rows, _ = scored
    values = [system["on_common_studies"]["ran_score"]["value"] for system in said["systems"]]
    assert values == sorted(values, reverse=True)
    by_metric = {m["id"]: {s["system"]: s for s in m["systems"]} for m in said["metrics"]}
    assert {"ran_score", "bleu1", "bleu2", "bleu3", "bleu4", "bleu2_rexrank", "rouge_l"} <= by_metric.keys()
    for name, pairs in rows.items():
        mean = sum(bleu2_of_rexrank(*pair) for pair in pairs) / 293
        assert by_metric["bleu2_rexrank"][name]["value"]["value"] == pytest.approx(mean)
    # Ties go both ways, and a rank counts the separated better ones.
    apart = {(p["better"], p["other"]) for p in said["pairs"] if p["separated"]}
    for place in by_metric["ran_score"].values():
        assert place["rank"] == 1 + sum(other == place["system"] for _, other in apart)
