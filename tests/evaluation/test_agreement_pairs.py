import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score

from workbench.domain.findings import MISSING
from workbench.errors import InputError
from workbench.evaluation.agreement import FOUR_STATES
from workbench.evaluation.agreement_pairs import Concordance, PairAgreement, intra_rater, pairwise
from workbench.evaluation.numbers import Figure, undefined

# 20 reports: both present 4, only the first 3, only the second 1, neither 12
TABLE = [(1, 1)] * 4 + [(1, 0)] * 3 + [(0, 1)] + [(0, 0)] * 12


def of_pair(rows: list[tuple[int, int]]) -> Concordance:
    return pairwise(["f"], ["ann", "ben"], np.array(rows)[:, None, :]).pairs[0].findings[0]


def test_two_raters_by_hand() -> None:
    found = of_pair(TABLE)
    assert (found.reports, found.differ) == (20, 4)
    assert found.percent.value == 16 / 20
    assert found.positive.value == 8 / 12  # 2 * 4 / (2 * 4 + 3 + 1)
    # pe = 7/20 * 5/20 + 13/20 * 15/20 = 230/400; kappa = (.8 - .575) / (1 - .575)
    assert found.kappa.value == pytest.approx((0.8 - 0.575) / (1 - 0.575), abs=1e-15)
    # Wilson of 16 of 20, z2 = 3.8415: centre (.8 + .09604) / 1.19207 = .75167;
    # half = 1.95996 / 1.19207 * sqrt(.008 + .002401) = .16768
    assert (found.percent.low, found.percent.high) == pytest.approx((0.58399, 0.91935), abs=1e-5)
    assert found.kappa.low is None


def test_kappa_as_published() -> None:
    # J. Cohen, Psychol Bull 1968;70:213-220: 200 cases, three categories, unweighted kappa .492
    # (po = 140 / 200 = .70, pe = .6 * .5 + .3 * .3 + .1 * .2 = .41)
    table = [[88, 14, 18], [10, 40, 10], [2, 6, 12]]
    rows = [(a, b) for a in range(3) for b in range(3) for _ in range(table[a][b])]
    found = pairwise(["f"], ["a", "b"], np.array(rows)[:, None, :], categories=(0, 1, 2)).pairs[0].findings[0]
    assert found.kappa.value is not None
    assert f"{found.kappa.value:.3f}" == "0.492"
    assert found.kappa.value == pytest.approx(0.29 / 0.59, abs=1e-15)
    assert found.kappa.value == pytest.approx(cohen_kappa_score(*zip(*rows, strict=True)), abs=1e-15)


CODES = st.sampled_from([*FOUR_STATES, MISSING])


@given(st.lists(st.tuples(CODES, CODES, CODES), min_size=1, max_size=12))
def test_kappa_is_scikit_learns_for_each_pair_with_missing_votes(rows: list[tuple[int, int, int]]) -> None:
    found = pairwise(["f"], ["a", "b", "c"], np.array(rows)[:, None, :], categories=FOUR_STATES)
    for i, j, pair in ((0, 1, found.of("a", "b")), (0, 2, found.of("c", "a")), (1, 2, found.of("b", "c"))):
        both = [(row[i], row[j]) for row in rows if MISSING not in (row[i], row[j])]
        [row] = pair.findings
        assert row.reports == len(both)
        assert row.differ == sum(a != b for a, b in both)
        if not both:
            assert row.kappa == row.percent == row.positive == undefined("no report was rated by both")
            continue
        assert row.percent.value == sum(a == b for a, b in both) / len(both)
        touching = [(a == 1) + (b == 1) for a, b in both]
        expected = 2 * touching.count(2) / sum(touching) if sum(touching) else None
        assert row.positive.value == expected
        if len({answer for pair_ in both for answer in pair_}) == 1:  # scikit-learn gives NaN here
            assert row.kappa == undefined("no variation", len(both))
        else:
            kappa = cohen_kappa_score(*zip(*both, strict=True), labels=list(FOUR_STATES))
            assert row.kappa.value == pytest.approx(kappa, abs=1e-12)


def test_a_rater_who_never_varies_beside_one_who_does_agrees_by_chance_alone() -> None:
    found = of_pair([(0, 1), (0, 0), (0, 0)])
    assert found.kappa.value == 0
    opposite = of_pair([(0, 1), (0, 1)])
    assert (opposite.kappa.value, opposite.percent.value) == (0, 0)


def test_the_mean_is_over_findings_where_defined_and_the_matrix_shows_it() -> None:
    quiet = [(0, 0)] * 20
    ratings = np.stack([np.array(TABLE), np.array(quiet)], axis=1)
    found = pairwise(["varied", "quiet"], ["ann", "ben"], ratings)
    kappa = found.of("ben", "ann").findings[0].kappa
    assert found.pairs[0].overall.kappa == Figure(kappa.value, 1)
    assert found.pairs[0].overall.percent == Figure((0.8 + 1) / 2, 2)
    assert (found.pairs[0].overall.reports, found.pairs[0].overall.differ) == (20, 4)
    same = undefined("the same rater")
    assert found.matrix() == ((same, Figure(kappa.value, 1)), (Figure(kappa.value, 1), same))
    assert found.matrix("kappa", "quiet")[0][1] == undefined("no variation", 20)
    assert found.matrix("percent", "varied")[1][0].value == 0.8
    with pytest.raises(ValueError, match="not in tuple"):
        found.matrix("kappa", "pneumonia")
    with pytest.raises(KeyError):
        found.of("ann", "zoe")


def test_a_missing_vote_is_left_out_of_its_own_pairs_alone() -> None:
    ratings = np.array([[1, 1, MISSING], [0, 0, 0], [1, 0, 1]])[:, None, :]
    found = pairwise(["f"], list("abc"), ratings)
    assert [pair.findings[0].reports for pair in found.pairs] == [3, 2, 2]
    assert found.of("a", "c").findings[0].percent.value == 1


def test_a_rater_who_rated_nothing_agrees_with_nobody_for_a_stated_reason() -> None:
    ratings = np.array([[1, 1, MISSING], [0, 0, MISSING]])[:, None, :]
    found = pairwise(["f"], list("abc"), ratings, patients=["p", "q"])
    assert found.of("a", "c").findings[0].kappa == undefined("no report was rated by both")
    assert found.of("a", "c").overall.kappa == undefined("defined for no finding")
    assert found.of("a", "b").findings[0].kappa.value == 1


def test_pairs_need_two_raters_known_codes_and_matching_shapes() -> None:
    with pytest.raises(InputError, match="at least two raters"):
        pairwise(["f"], ["a"], np.zeros((3, 1, 1)))
    with pytest.raises(ValueError, match=r"ratings \[-1\] are none of the categories"):
        pairwise(["f"], ["a", "b"], np.full((3, 1, 2), -1))
    with pytest.raises(ValueError, match="not \\[report, 1 findings, 2 raters\\]"):
        pairwise(["f"], ["a", "a"], np.zeros((3, 1, 2)))
    with pytest.raises(ValueError, match="1 patients do not go with 3 reports"):
        pairwise(["f"], ["a", "b"], np.zeros((3, 1, 2)), patients=["p"])


def test_intervals_are_those_of_scikit_learn_over_the_same_draws() -> None:
    rng = np.random.default_rng(4)
    truth = rng.random((40, 2)) < [0.4, 0.06]
    ratings = np.where(rng.random((40, 2, 2)) < 0.15, ~truth[..., None], truth[..., None]).astype(int)
    patients = [f"p{i:02}" for i in range(40)]
    found = pairwise(["often", "rare"], ["a", "b"], ratings, patients=patients, resamples=80, seed=9).pairs[0]
    kappas = np.full((80, 2), np.nan)
    for i, draw in enumerate(np.random.default_rng(9).integers(0, 40, size=(80, 40))):
        for j in range(2):
            a, b = ratings[draw, j].T
            if len({*a, *b}) > 1:
                kappas[i, j] = cohen_kappa_score(a, b)
    for j in range(2):
        kappa = found.findings[j].kappa
        assert (kappa.low, kappa.high) == pytest.approx(np.nanpercentile(kappas[:, j], [2.5, 97.5]), abs=1e-12)
        assert found.findings[j].left_out["kappa"] == np.isnan(kappas[:, j]).sum()
    means = np.nanmean(kappas, axis=1)
    overall = found.overall
    assert (overall.kappa.low, overall.kappa.high) == pytest.approx(np.percentile(means, [2.5, 97.5]), abs=1e-12)
    assert overall.left_out["kappa"] == np.isnan(kappas).any(axis=1).sum()
    assert overall.percent.low is not None


def test_a_rater_read_twice_by_hand() -> None:
    # ann: 5 reports, present then absent once; ben: another 2 reports, the same both times; cai: none again
    first, second = np.array([[1], [1], [0], [0], [0]]), np.array([[1], [0], [0], [0], [0]])
    none = np.zeros((0, 1), int)
    found = intra_rater(
        ["f"],
        {"ann": (first, second), "ben": ([[0], [0]], [[0], [0]]), "cai": (none, none)},
        patients={"ann": list("pqrst"), "ben": ["p", "u"], "cai": []},
    )
    ann = found.of("ann").findings[0]
    assert (ann.reports, ann.differ, ann.percent.value) == (5, 1, 4 / 5)
    assert ann.positive.value == 2 / 3  # 2 * 1 / (2 * 1 + 1)
    # pe = 2/5 * 1/5 + 3/5 * 4/5 = .56; kappa = (.8 - .56) / .44
    assert ann.kappa.value == pytest.approx(0.24 / 0.44)
    assert ann.kappa.high == 1
    assert 0 < ann.left_out["kappa"] < 1000
    ben = found.of("ben").findings[0]
    assert (ben.percent.value, ben.percent.n) == (1, 2)
    assert ben.kappa == undefined("no variation", 2)
    assert ben.positive == undefined("neither reading called it present", 2)
    assert found.of("cai").findings[0].percent == undefined("no report was rated twice")
    assert [row[i].value for i, row in enumerate(found.matrix("percent"))] == [4 / 5, 1, None]


def test_a_second_reading_that_is_missing_is_left_out() -> None:
    found = intra_rater(["f", "g"], {"ann": ([[1, 0], [0, 0], [1, 1]], [[1, MISSING], [MISSING, 0], [1, 0]])})
    assert [row.reports for row in found.of("ann").findings] == [2, 2]
    assert found.of("ann").overall.differ == 1
    with pytest.raises(ValueError, match="readings of ann"):
        intra_rater(["f"], {"ann": ([[1]], [[1], [0]])})


def test_json_gives_the_same_pairs_back() -> None:
    ratings = np.random.default_rng(0).integers(0, 2, (12, 2, 3))
    for patients in (None, [str(i) for i in range(12)]):
        found = pairwise(["f", "g"], list("abc"), ratings, patients=patients, resamples=30)
        assert PairAgreement.from_json(json.loads(json.dumps(found.as_json(), sort_keys=True))) == found
