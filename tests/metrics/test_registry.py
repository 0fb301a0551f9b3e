import csv
import math
from pathlib import Path

import numpy as np
import pytest

from workbench.errors import InputError
from workbench.metrics.radcliq import radcliq_v1
from workbench.metrics.registry import METRICS, core, get, text_scores

CORE = ["bleu1", "bleu2", "bleu3", "bleu4", "bleu2_rexrank", "rouge_l"]


def test_ids_are_those_that_others_name() -> None:
    ids = {"radcliq_v1", "bertscore", "semb_score", "f1chexbert", "radgraph_f1", "ratescore", "green", "fineradscore"}
    assert set(METRICS) == {*CORE, *ids, "crimson", "ran_score"}
    assert all(metric.id == metric_id for metric_id, metric in METRICS.items())


def test_lower_is_better_in_two_metrics_only() -> None:
    assert [m.id for m in METRICS.values() if not m.higher_is_better] == ["radcliq_v1", "fineradscore"]


def test_core_metrics_need_nothing_but_the_texts() -> None:
    assert [metric.id for metric in core()] == CORE
    assert [metric.id for metric in core(["rouge_l", "bertscore", "bleu4"])] == ["rouge_l", "bleu4"]


def test_an_unknown_metric_is_named_with_those_that_exist() -> None:
    with pytest.raises(InputError, match="no metric 'meteor'; there are ran_score, bleu1"):
        get("meteor")


def test_scores_come_as_asked_for_and_in_that_order() -> None:
    assert list(text_scores(["a"], ["a"], ["rouge_l", "bleu3", "green", "bleu1"])) == ["rouge_l", "bleu3", "bleu1"]


def test_case_empty_candidate_has_one_documented_value_for_every_metric_and_stops_no_other_row() -> None:
    references = ["Small effusion.", "No pneumothorax is seen.", "Small effusion."]
    scores = text_scores(references, ["", "No pneumothorax is seen.", " "])
    assert list(scores) == CORE
    for values in scores.values():
        assert values.tolist() == pytest.approx([0.0, 1.0, 0.0])
    parts = [np.array([0.0, 1.0, 0.0])] * 3
    assert radcliq_v1(*parts, scores["bleu2_rexrank"]) == pytest.approx([2.4501, -1.4407, 2.4501], abs=1e-4)


def test_what_is_missing_is_undefined_and_never_a_word() -> None:
    scores = text_scores(["None", None, "nan"], [None, "None", "nan"])
    for metric_id, values in scores.items():
        assert np.isnan(values[:2]).all()
        assert values[2] == (0.0 if metric_id in {"bleu2", "bleu3", "bleu4"} else pytest.approx(values[2]))
        assert not math.isnan(values[2])


def test_identical_reports_have_the_best_value(shared: Path) -> None:
    with (shared / "submissions" / "iu_xray_template.csv").open(encoding="utf-8") as file:
        texts = [row["reference"] for row in csv.DictReader(file)]
    for values in text_scores(texts, texts).values():
        assert values == pytest.approx(1.0)
