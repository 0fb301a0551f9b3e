import json

import numpy as np
import pytest

from workbench.domain.findings import FAILED, MISSING, Policy
from workbench.domain.references import VoteRule
from workbench.errors import InputError
from workbench.evaluation.benchmark import (
    Benchmark,
    rule_of_others,
    single_rater_benchmark,
    vote_of_others,
    with_model,
)
from workbench.evaluation.intervals import SEED

RATERS = ["ann", "ben", "cai", "dee", "eli", "fay"]


@pytest.mark.parametrize(("n", "k"), [(6, 3), (5, 3), (4, 2), (3, 2)])
def test_the_others_decide_by_majority(n: int, k: int) -> None:
    assert rule_of_others(n) == VoteRule(k, n - 1)


def test_two_raters_leave_no_vote() -> None:
    with pytest.raises(InputError, match="three raters or more and there are 2"):
        rule_of_others(2)


def test_each_rater_and_the_model_by_hand() -> None:
    votes = np.array(
        [
            [1, 1, 1, 0, 0, 0],  # 3 of the other 5 for dee, eli, fay; 2 for ann, ben, cai
            [1, 1, 1, 1, 1, 0],  # present for everybody
            [1, 0, 0, 0, 0, 0],  # absent for everybody
            [0, 0, 0, 0, 0, 0],
        ]
    )[:, None, :]
    model = [[1], [1], [0], [FAILED]]
    found = single_rater_benchmark(
        ["f"],
        RATERS,
        votes,
        [Policy.ABSENT],
        list("pqrs"),
        predictions=model,
        prediction_policies=[Policy.ABSENT],
        resamples=0,
    )
    assert found.rule == VoteRule(3, 5)
    by_rater = {row.rater: row.scores.findings[0] for row in found.raters}
    # ann: reference 0 1 0 0, says 1 1 1 0: tp 1, fp 2 -> 2/4
    assert (by_rater["ann"].tp, by_rater["ann"].fp, by_rater["ann"].f1.value) == (1, 2, 2 / 4)
    # ben, cai: say 1 1 0 0: tp 1, fp 1 -> 2/3
    assert by_rater["ben"].f1.value == by_rater["cai"].f1.value == 2 / 3
    # dee, eli: reference 1 1 0 0, say 0 1 0 0: tp 1, fn 1 -> 2/3; fay says nothing: 0
    assert by_rater["dee"].f1.value == by_rater["eli"].f1.value == 2 / 3
    assert by_rater["fay"].f1.value == 0
    assert found.mean_rater.value == pytest.approx((2 / 4 + 4 * 2 / 3 + 0) / 6)
    assert found.mean_rater.n == 6
    # model 1 1 0 failed: against 0 1 0 0 2/3 for three raters, against 1 1 0 0 1.0 for three
    assert [row.model.macro_f1.value for row in found.raters if row.model] == [2 / 3] * 3 + [1.0] * 3
    assert found.mean_model.value == pytest.approx(5 / 6)


def test_what_a_rater_did_not_rate_is_scored_for_neither() -> None:
    votes = np.array([[1, 1, 1, 1], [1, 1, 1, MISSING], [0, 0, 0, 0]])[:, None, :]
    found = single_rater_benchmark(
        ["f"], RATERS[:4], votes, [Policy.ABSENT], list("pqr"), predictions=[[1], [0], [0]],
        prediction_policies=[Policy.ABSENT], resamples=0,
    )  # fmt: skip
    last = found.raters[3]
    assert (last.scores.findings[0].n, last.scores.findings[0].f1.value) == (2, 1.0)
    assert last.model is not None
    assert (last.model.findings[0].n, last.model.macro_f1.value) == (2, 1.0)
    assert found.raters[0].scores.findings[0].n == 3


def test_an_uncertain_vote_counts_by_policy_on_both_sides() -> None:
    votes = np.array([[-1, -1, 1, 0], [1, 1, 1, 1]])[:, None, :]

    def first(policy: Policy) -> tuple[int, int, int]:
        found = single_rater_benchmark(["f"], RATERS[:4], votes, [policy], list("pq"), resamples=0)
        row = found.raters[0].scores.findings[0]
        assert found.mean_model.value is None
        return row.tp, row.fn, row.n

    # ann says uncertain on report 1; the others of 2 of 3: uncertain, present, absent
    assert first(Policy.PRESENT) == (2, 0, 2)  # reference present, ann present
    assert first(Policy.ABSENT) == (1, 0, 2)  # reference absent, ann absent
    assert first(Policy.EXCLUDE) == (1, 0, 1)  # ann's own vote is out


def test_json_gives_the_same_benchmark_back() -> None:
    rng = np.random.default_rng(0)
    votes = rng.choice([1, 0, -1, -2, MISSING], size=(12, 2, 4))
    model = rng.choice([1, 0, -1, -2, FAILED], size=(12, 2))
    policies = [Policy.PRESENT, Policy.EXCLUDE]
    for predictions in (model, None):
        found = single_rater_benchmark(
            ["f", "g"], RATERS[:4], votes, policies, [str(i) for i in range(12)],
            predictions=predictions, prediction_policies=policies, resamples=20,
        )  # fmt: skip
        assert Benchmark.from_json(json.loads(json.dumps(found.as_json(), sort_keys=True))) == found
    assert found.of("cai") is found.raters[2]
    with pytest.raises(KeyError):
        found.of("zoe")


def test_the_means_interval_is_that_of_a_plain_loop_over_the_same_draws() -> None:
    rng = np.random.default_rng(4)
    truth = rng.random((30, 3)) < 0.3
    votes = np.where(rng.random((30, 3, 4)) < 0.85, truth[..., None], ~truth[..., None]).astype(int)
    patients = [f"p{i:02}" for i in rng.integers(0, 20, 30)]
    policies = [Policy.ABSENT] * 3
    found = single_rater_benchmark(list("abc"), RATERS[:4], votes, policies, patients, resamples=40)

    names = sorted(set(patients))
    means = []
    for draw in np.random.default_rng(SEED).integers(0, len(names), size=(40, len(names))):
        rows = [i for number in draw for i, patient in enumerate(patients) if patient == names[number]]
        drawn = single_rater_benchmark(
            list("abc"), RATERS[:4], votes[rows], policies, [patients[i] for i in rows], resamples=0
        )
        means.append(drawn.mean_rater.value)
    expected = np.percentile(means, [2.5, 97.5])
    assert (found.mean_rater.low, found.mean_rater.high) == pytest.approx(expected, abs=1e-12)
    assert found.mean_rater.low < found.mean_rater.value < found.mean_rater.high


def test_a_model_put_beside_a_kept_benchmark_is_scored_as_in_one_go() -> None:
    rng = np.random.default_rng(1)
    votes = rng.choice([1, 0, -1, MISSING], size=(15, 2, 5))
    model = rng.choice([1, 0, -1, -2, FAILED], size=(15, 2))
    policies, patients = [Policy.PRESENT, Policy.EXCLUDE], [str(i % 9) for i in range(15)]
    given = {"predictions": model, "prediction_policies": policies, "resamples": 20}
    at_once = single_rater_benchmark(["f", "g"], RATERS[:5], votes, policies, patients, **given)
    kept = single_rater_benchmark(["f", "g"], RATERS[:5], votes, policies, patients, resamples=20)
    assert kept.mean_model.value is None
    assert with_model(kept, votes, policies, patients, **given) == at_once


def test_the_vote_of_the_others_is_missing_where_the_rater_said_nothing() -> None:
    votes = np.array([[1, 1, 0, 1], [1, 1, 1, MISSING], [0, 1, 1, 1]])[:, None, :]
    own, others = vote_of_others(RATERS[:4], votes, [Policy.ABSENT], "dee")
    assert own[:, 0].tolist() == [1, MISSING, 1]
    assert others[:, 0].tolist() == [1, MISSING, 1]  # 2 of 3, not asked, 2 of 3
    with pytest.raises(ValueError, match="zoe"):
        vote_of_others(RATERS[:4], votes, [Policy.ABSENT], "zoe")
