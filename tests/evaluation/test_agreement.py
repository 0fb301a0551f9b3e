import json
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.domain.findings import MISSING
from workbench.errors import InputError
from workbench.evaluation.agreement import (
    FOUR_STATES,
    Agreement,
    Coefficients,
    agreement,
    agreement_as_it_arrives,
    coefficients,
)
from workbench.evaluation.numbers import Figure, undefined


def of_votes(rows: list[list[int]]) -> Coefficients:
    """One finding's agreement from [report][rater]."""
    return agreement(["f"], np.array(rows)[:, None, :]).findings[0]


def value(figure: Figure) -> float:
    assert figure.value is not None
    return figure.value


def counts_of(raw: np.ndarray, categories: list[object]) -> np.ndarray:
    return np.stack([(raw == category).sum(axis=1) for category in categories], axis=1)


def test_two_raters_by_hand() -> None:
    # 10 reports: both present 2, both absent 5, apart 3
    rows = [[1, 1]] * 2 + [[0, 0]] * 5 + [[1, 0]] * 2 + [[0, 1]]
    found = of_votes(rows)
    assert found.items == 10
    assert value(found.prevalence) == 7 / 20
    assert value(found.percent) == pytest.approx(0.7)
    # two raters: positive agreement = 2a / (2a + b + c) = 4 / 7
    assert value(found.positive) == pytest.approx(4 / 7)
    # pi = .35: Fleiss pe = .35^2 + .65^2 = .545; AC1 pe = 2 * .35 * .65 = .455; BP pe = .5
    assert value(found.fleiss) == pytest.approx((0.7 - 0.545) / (1 - 0.545))
    assert value(found.ac1) == pytest.approx((0.7 - 0.455) / (1 - 0.455))
    assert value(found.brennan_prediger) == pytest.approx((0.7 - 0.5) / 0.5)
    # alpha = 1 - Do / De: Do = 3 / 10; De = 2 * 7 * 13 / (20 * 19)
    assert value(found.alpha) == pytest.approx(1 - 0.3 / (2 * 7 * 13 / (20 * 19)))


def test_fleiss_1971_as_published(shared: Path) -> None:
    raw = pd.read_csv(shared / "agreement" / "fleiss_diagnoses_30x6.csv").to_numpy()
    found = coefficients(counts_of(raw, sorted(set(raw.ravel()))), 0)
    assert found.items == 30
    assert value(found.fleiss) == pytest.approx(0.4302, abs=5e-5)
    assert value(found.alpha) == pytest.approx(0.4334, abs=5e-5)


def test_gwet_2014_with_gaps_as_published(shared: Path) -> None:
    raw = pd.read_csv(shared / "agreement" / "gwet_raw_12x4.csv").iloc[:, 1:].to_numpy()
    found = coefficients(counts_of(raw, [1, 2, 3, 4, 5]), 0)
    assert found.items == 11
    published = {"ac1": 0.775, "fleiss": 0.761, "alpha": 0.743, "brennan_prediger": 0.773, "percent": 0.818}
    for name, expected in published.items():
        assert value(getattr(found, name)) == pytest.approx(expected, abs=5e-4), name


def test_gwet_distribution_of_six_raters_as_published(shared: Path) -> None:
    counts = pd.read_csv(shared / "agreement" / "gwet_distribution_6raters.csv").iloc[:, 1:].to_numpy()
    found = coefficients(counts, 0)
    assert value(found.ac1) == pytest.approx(0.4448, abs=5e-5)
    assert value(found.fleiss) == pytest.approx(0.4139, abs=5e-5)
    assert value(found.alpha) == pytest.approx(0.4204, abs=5e-5)


def test_alpha_is_krippendorffs_own_example() -> None:
    # Krippendorff, Computing Krippendorff's Alpha-Reliability (2011), section C: nominal, any number of observers,
    # missing data: 12 units, 4 observers, alpha 0.743
    observers = [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, 0, 0, 0],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, 0, 3],
        [0, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, 0],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, 0],
    ]
    assert value(coefficients(counts_of(np.array(observers).T, [1, 2, 3, 4, 5]), 0).alpha) == pytest.approx(
        0.743, abs=5e-4
    )


def test_two_states_with_gaps_as_irrcac_gives_them() -> None:
    m = MISSING
    rows = [
        [1, 1, 0, 1, m, 1],
        [0, 0, 0, 0, 0, 0],
        [0, 1, 0, 0, m, m],
        [1, 1, 1, 1, 1, 1],
        [0, 0, 0, m, 0, 1],
        [m, m, m, m, 1, m],  # rated once: in the prevalences behind the chance terms, not in the agreement
        [0, 0, 1, 0, 0, 0],
        [m, 0, m, 0, 0, 0],
        [1, 0, 0, 1, 1, m],
        [0, 0, 0, 0, 0, 0],
    ]
    found = of_votes(rows)
    # irrCAC for Python, CAC(rows, categories=[0, 1], digits=10): gwet, fleiss, bp, krippendorff
    irrcac = {"percent": 0.7518518519, "ac1": 0.5221845437, "fleiss": 0.4837357498, "brennan_prediger": 0.5037037037}
    for name, expected in {**irrcac, "alpha": 0.4899193548}.items():
        assert value(getattr(found, name)) == pytest.approx(expected, abs=1e-10), name
    assert (found.items, found.prevalence.n) == (9, 48)


def test_four_states_with_gaps_as_irrcac_gives_them() -> None:
    m = MISSING
    rows = [
        [1, 1, -2, 1, m, 1],
        [-2, -2, -2, -2, -2, -2],
        [-2, 1, -1, -2, m, m],
        [1, 1, 1, 1, 1, 1],
        [0, -2, -2, m, -2, 1],
        [m, m, m, m, 1, m],
        [-2, 0, -1, -2, -2, 0],
        [m, -2, m, 0, -2, -2],
        [1, -1, -1, 1, 1, m],
        [0, 0, -2, 0, 0, 0],
    ]
    found = agreement(["f"], np.array(rows)[:, None, :], categories=FOUR_STATES).findings[0]
    # irrCAC for Python, CAC(rows, categories=[1, 0, -1, -2], digits=10): gwet, fleiss, bp, krippendorff
    irrcac = {"percent": 0.5444444444, "ac1": 0.4107078692, "fleiss": 0.3308853529, "brennan_prediger": 0.3925925926}
    for name, expected in {**irrcac, "alpha": 0.3900830057}.items():
        assert value(getattr(found, name)) == pytest.approx(expected, abs=1e-10), name


@pytest.mark.parametrize("answer", [0, 1])
def test_raters_who_all_say_the_same_vary_in_nothing(answer: int) -> None:
    found = of_votes([[answer] * 6] * 25)
    assert found.alpha == found.fleiss == undefined("no variation", 25)
    assert (found.percent.value, found.ac1.value, found.brennan_prediger.value) == (1, 1, 1)
    if answer:
        assert found.positive.value == 1
    else:
        assert found.positive == undefined("no rater called it present")


def test_one_dissent_among_25_reports() -> None:
    # one of 150 votes: pa = 1 - (10/30)/25 = .98667; pi = 1/150
    found = of_votes([[1, 0, 0, 0, 0, 0]] + [[0] * 6] * 24)
    pa, pi = 1 - 1 / 75, 1 / 150
    assert value(found.percent) == pytest.approx(pa)
    assert value(found.ac1) == pytest.approx((pa - 2 * pi * (1 - pi)) / (1 - 2 * pi * (1 - pi)))
    assert value(found.alpha) == pytest.approx(0.0, abs=1e-12)  # Do = De exactly: 10/5 / 150 and 2 * 149 / (150 * 149)
    assert value(found.fleiss) == pytest.approx(-1 / 149)
    assert found.positive.value == 0


def test_six_lone_positives_in_300_flatter_ac1_alone() -> None:
    found = of_votes([[0] * i + [1] + [0] * (5 - i) for i in range(6)] + [[0] * 6] * 294)
    assert value(found.ac1) == pytest.approx(0.993, abs=5e-4)
    assert found.positive.value == 0
    assert value(found.alpha) < 0.01


def test_one_rater_is_told_so() -> None:
    with pytest.raises(InputError, match="at least two raters"):
        agreement(["f"], np.zeros((5, 1, 1), dtype=int))


def test_reports_rated_once_give_no_agreement_but_a_prevalence() -> None:
    found = of_votes([[1, MISSING], [MISSING, 0], [MISSING, MISSING]])
    assert found.items == 0
    assert found.prevalence == Figure(0.5, 2)
    for name, figure in found.figures().items():
        assert name == "prevalence" or figure == undefined("no report was rated by two raters")


def test_a_lone_rating_does_not_make_variation() -> None:
    # both raters saw only absent together; the one "present" was seen by one rater
    found = of_votes([[0, 0], [0, 0], [1, MISSING]])
    assert found.alpha == found.fleiss == undefined("no variation", 2)


def test_four_states_and_the_states_a_study_asks_for() -> None:
    ratings = np.array([[[1, 1, -1]], [[0, -2, -2]], [[-2, -2, -2]]])
    assert value(agreement(["f"], ratings, categories=FOUR_STATES).findings[0].brennan_prediger) == pytest.approx(
        (5 / 9 - 1 / 4) / (3 / 4)
    )
    with pytest.raises(ValueError, match=r"ratings \[0\] are none of the categories"):
        agreement(["f"], ratings, categories=(1, -1, -2))
    without = agreement(["f"], np.where(ratings == 0, -2, ratings), categories=(1, -1, -2)).findings[0]
    assert value(without.brennan_prediger) == pytest.approx((7 / 9 - 1 / 3) / (2 / 3))
    with pytest.raises(ValueError, match="none of the categories"):
        agreement(["f"], ratings)


def test_overall_is_the_mean_over_findings_where_defined() -> None:
    varied, quiet = [[1, 1], [0, 0], [1, 0]], [[0, 0], [0, 0], [0, 0]]
    both = np.stack([varied, quiet], axis=1)
    found = agreement(["varied", "quiet"], both)
    assert isinstance(found, Agreement)
    assert found.overall.alpha == Figure(value(found.findings[0].alpha), 1)
    assert (value(found.overall.percent), found.overall.percent.n) == (pytest.approx((2 / 3 + 1) / 2), 2)
    assert found.overall.ac1.n == 2
    assert set(found.as_json()["findings"]) == {"varied", "quiet"}  # type: ignore[call-overload]


def test_chance_raters_of_findings_with_unlike_prevalence_do_not_seem_to_agree() -> None:
    # pooled over cells such raters reach .18 and more; finding by finding nothing is left
    rng = np.random.default_rng(0)
    ratings = (rng.random((2000, 4, 6)) < np.array([0.02, 0.1, 0.3, 0.6])[None, :, None]).astype(int)
    assert value(agreement(list("abcd"), ratings).overall.alpha) == pytest.approx(0, abs=0.01)
    pooled = agreement(["all"], ratings.reshape(-1, 1, 6)).findings[0]
    assert value(pooled.alpha) > 0.18


def brute(rows: list[list[int]], categories: tuple[int, ...]) -> dict[str, float | None]:
    """The coefficients from their definitions over pairs of ratings, category by category."""
    given = [[v for v in row if v != MISSING] for row in rows]
    pairable = [row for row in given if len(row) >= 2]
    pairs = [list(combinations(row, 2)) for row in pairable]
    pa = sum(sum(a == b for a, b in p) / len(p) for p in pairs) / len(pairs)
    rated = [row for row in given if row]
    pi = [sum(row.count(k) / len(row) for row in rated) / len(rated) for k in categories]
    together = sum(2 * sum(a == b == 1 for a, b in p) for p in pairs)
    possible = sum((a == 1) + (b == 1) for p in pairs for a, b in p)
    values = [v for row in pairable for v in row]
    n, q = len(values), len(categories)
    observed = sum(2 * sum(a != b for a, b in p) / (len(row) - 1) for row, p in zip(pairable, pairs, strict=True)) / n
    expected = sum(a != b for a, b in combinations(values, 2)) / (n * (n - 1) / 2)
    chance = {
        "fleiss": sum(p * p for p in pi),
        "ac1": sum(p * (1 - p) for p in pi) / (q - 1),
        "brennan_prediger": 1 / q,
    }
    kappas = {name: (pa - pe) / (1 - pe) if pe < 1 else None for name, pe in chance.items()}
    kappas["fleiss"] = kappas["fleiss"] if expected else None
    return {
        "percent": pa,
        "positive": together / possible if possible else None,
        "alpha": 1 - observed / expected if expected else None,
        **kappas,
    }


@pytest.mark.parametrize("categories", [(0, 1), FOUR_STATES], ids=["two states", "four states"])
@given(st.data())
def test_coefficients_equal_their_definitions_over_pairs(categories: tuple[int, ...], data: st.DataObject) -> None:
    answer = st.sampled_from([*categories, MISSING])
    rows = data.draw(st.lists(st.lists(answer, min_size=4, max_size=4), min_size=1, max_size=8))
    found = agreement(["f"], np.array(rows)[:, None, :], categories=categories).findings[0]
    if not found.items:
        return
    for name, expected in brute(rows, categories).items():
        figure = getattr(found, name)
        assert figure.value == pytest.approx(expected, abs=1e-12), name


def test_intervals_are_those_of_a_plain_loop_over_the_same_draws() -> None:
    rng = np.random.default_rng(3)
    ratings = (rng.random((30, 3, 4)) < np.array([0.5, 0.2, 0.05])[None, :, None]).astype(int)
    ratings[rng.random(ratings.shape) < 0.1] = MISSING
    patients = [f"p{i:02}" for i in rng.integers(0, 20, 30)]
    found = agreement(list("abc"), ratings, patients=patients, resamples=60, seed=5)

    names = sorted(set(patients))
    of_patient = {name: [i for i, patient in enumerate(patients) if patient == name] for name in names}
    looped = []
    for draw in np.random.default_rng(5).integers(0, len(names), size=(60, len(names))):
        rows = [i for number in draw for i in of_patient[names[number]]]
        looped.append(agreement(list("abc"), ratings[rows]))
    for row, of_draw in [(found.overall, [a.overall for a in looped])] + [
        (found.findings[j], [a.findings[j] for a in looped]) for j in range(3)
    ]:
        for name, figure in row.figures().items():
            drawn = [getattr(c, name) for c in of_draw]
            samples = [d.value for d in drawn if d.value is not None]
            assert (figure.low, figure.high) == pytest.approx(np.percentile(samples, [2.5, 97.5]), abs=1e-12), name
            # a finding is left out where it is undefined, a mean loses findings where fewer are averaged
            short = sum(d.n < figure.n for d in drawn) if row is found.overall else 60 - len(samples)
            assert row.left_out[name] == short, name
    assert found.findings[2].left_out["positive"] > 0
    assert (found.resamples, found.patients, found.seed) == (60, len(names), 5)


def test_a_patients_reports_are_drawn_together() -> None:
    # two patients, each with reports that agree wholly (a) or not at all (b): a draw has pa 0, 1/2 or 1
    ratings = np.array([[1, 1]] * 5 + [[1, 0]] * 5)[:, None, :]
    together = agreement(["f"], ratings, patients=["a"] * 5 + ["b"] * 5).findings[0].percent
    assert (together.value, together.low, together.high) == (0.5, 0.0, 1.0)
    apart = agreement(["f"], ratings, patients=list("abcdefghij")).findings[0].percent
    assert apart.low is not None
    assert apart.high is not None
    assert 0 < apart.low < apart.high < 1


def test_one_finding_alone_has_the_interval_that_it_has_among_others() -> None:
    rng = np.random.default_rng(0)
    ratings = rng.integers(0, 2, (40, 5, 3))
    patients = [str(i) for i in range(40)]
    every = agreement(list("abcde"), ratings, patients=patients, resamples=100)
    alone = agreement(["d"], ratings[:, 3:4], patients=patients, resamples=100)
    for name, figure in alone.of("d").figures().items():
        among = every.of("d").figures()[name]
        assert (figure.value, figure.low, figure.high) == pytest.approx((among.value, among.low, among.high), abs=1e-12)


def test_findings_arrive_one_by_one_and_the_last_result_is_the_whole() -> None:
    ratings = np.random.default_rng(0).integers(0, 2, (20, 3, 3))
    patients = [str(i) for i in range(20)]
    steps = list(agreement_as_it_arrives(list("abc"), ratings, patients=patients, resamples=50))
    assert [step.finding_ids for step in steps] == [("a",), ("a", "b"), ("a", "b", "c")]
    assert [step.overall.ac1.n for step in steps] == [1, 2, 3]
    assert steps[0].overall.ac1 == Figure(
        value(steps[0].findings[0].ac1), 1, steps[0].findings[0].ac1.low, steps[0].findings[0].ac1.high
    )
    assert steps[-1] == agreement(list("abc"), ratings, patients=patients, resamples=50)
    with pytest.raises(ValueError, match="none of the categories"):
        agreement_as_it_arrives(["f"], np.full((2, 1, 2), 7))  # at once, not when the first result is asked for


def test_figures_without_an_interval_say_why_where_one_was_asked_for() -> None:
    ratings = np.array([[[1, 1]], [[1, 0]]])
    for patients, resamples in ((["p", "p"], 1000), (["p", "q"], 0)):
        found = agreement(["f"], ratings, patients=patients, resamples=resamples)
        for figure in (found.findings[0].alpha, found.overall.alpha):
            assert (figure.value, figure.low) == (0.0, None)
            assert "two patients" in figure.reason
        assert (found.resamples, found.findings[0].left_out) == (0, {})
    assert agreement(["f"], ratings).findings[0].alpha == Figure(0.0, 2)
    with pytest.raises(ValueError, match="3 patients do not go with 2 reports"):
        agreement(["f"], ratings, patients=["p", "q", "r"])


def test_one_dissent_among_25_is_left_out_where_a_draw_misses_it() -> None:
    ratings = np.array([[1, 0, 0, 0, 0, 0]] + [[0] * 6] * 24)[:, None, :]
    found = agreement(["f"], ratings, patients=[str(i) for i in range(25)]).findings[0]
    # a draw misses the one report with (24/25)^25 = .360; then nothing varies
    assert found.left_out["alpha"] == found.left_out["fleiss"] == found.left_out["positive"]
    assert found.left_out["alpha"] / 1000 == pytest.approx((24 / 25) ** 25, abs=0.05)
    assert found.left_out["ac1"] == found.left_out["percent"] == 0
    assert found.ac1.high == 1.0
    assert found.alpha.high == pytest.approx(0, abs=1e-12)  # drawn m times: Do = m/75, De larger
    assert (found.positive.low, found.positive.high) == (0, 0)


def test_without_variation_no_resample_defines_alpha_and_ac1_is_one_throughout() -> None:
    found = agreement(["f"], np.zeros((25, 1, 6), int), patients=[str(i) for i in range(25)])
    assert found.findings[0].alpha == found.findings[0].fleiss == undefined("no variation", 25)
    assert found.findings[0].ac1 == Figure(1.0, 25, 1.0, 1.0)
    assert set(found.findings[0].left_out) == {"prevalence", "percent", "ac1", "brennan_prediger"}
    assert found.overall.alpha == undefined("defined for no finding")


def test_a_rater_who_rated_nothing_changes_nothing() -> None:
    ratings = np.random.default_rng(1).integers(0, 2, (15, 2, 3))
    patients = [str(i) for i in range(15)]
    silent = np.full((15, 2, 1), MISSING)
    assert agreement(["a", "b"], np.concatenate([ratings, silent], axis=2), patients=patients) == agreement(
        ["a", "b"], ratings, patients=patients
    )


def test_everything_missing_is_undefined_with_a_reason() -> None:
    found = agreement(["f"], np.full((4, 1, 6), MISSING), patients=list("abcd"))
    assert found.findings[0].prevalence == undefined("no report was rated")
    assert found.findings[0].ac1 == undefined("no report was rated by two raters")
    assert found.overall.items == 0
    nothing = agreement(["f"], np.zeros((0, 1, 6), int), patients=[])
    assert nothing.findings[0].alpha == undefined("no report was rated by two raters")


def test_one_answer_to_choose_from_is_no_choice() -> None:
    with pytest.raises(ValueError, match="two or more different categories"):
        agreement(["f"], np.ones((3, 1, 2)), categories=(1,))


def test_json_gives_the_same_agreement_back_in_the_same_order() -> None:
    ratings = np.random.default_rng(2).integers(0, 2, (12, 3, 3))
    ratings[:, 1] = 0
    found = agreement(["z", "quiet", "a"], ratings, patients=[str(i % 7) for i in range(12)], resamples=40)
    stored = json.loads(json.dumps(found.as_json(), sort_keys=True))
    assert Agreement.from_json(stored) == found
    assert Agreement.from_json(stored).finding_ids == ("z", "quiet", "a")
    with pytest.raises(TypeError, match="whole number"):
        Agreement.from_json({**stored, "seed": "2024"})
    with pytest.raises(KeyError):
        found.of("pneumonia")
