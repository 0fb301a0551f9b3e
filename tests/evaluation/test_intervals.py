import numpy as np
import pytest

from workbench.evaluation.intervals import (
    NO_BOOTSTRAP,
    patient_index,
    percentile_interval,
    proportion,
    resample_patients,
    resampled_sums,
    sum_by_patient,
    wilson,
    with_bootstrap,
    with_interval,
)
from workbench.evaluation.numbers import Figure, undefined


def test_wilson_by_hand() -> None:
    # 5 of 10, z2 = 3.8415: centre (0.5 + 0.19207) / 1.38415 = 0.5;
    # half = 1.95996 / 1.38415 * sqrt(0.025 + 0.0096036) = 1.41601 * 0.186021 = 0.263408
    assert wilson(5, 10) == pytest.approx((0.236592, 0.763408), abs=2e-6)
    # 0 of 10: low 0, high = z2 / (n + z2) = 3.8415 / 13.8415 = 0.277533; 10 of 10 is its mirror
    assert wilson(0, 10) == (0.0, pytest.approx(0.277533, abs=1e-6))
    assert wilson(10, 10) == (pytest.approx(0.722467, abs=1e-6), 1.0)


def test_wilson_as_published() -> None:
    # R. G. Newcombe, Stat Med 1998;17:857-872, table I, method 3: 81/263, 15/148, 0/20, 1/29
    assert wilson(81, 263) == pytest.approx((0.2553, 0.3662), abs=5e-5)
    assert wilson(15, 148) == pytest.approx((0.0624, 0.1605), abs=5e-5)
    assert wilson(0, 20) == pytest.approx((0.0, 0.1611), abs=5e-5)
    assert wilson(1, 29) == pytest.approx((0.0061, 0.1718), abs=5e-5)
    # as statsmodels' proportion_confint(270, 300, method="wilson") gives it
    assert wilson(270, 300) == pytest.approx((0.8608335376153785, 0.9290520854049847), rel=1e-12)


@pytest.mark.parametrize("n", [1, 2, 7, 300, 10**6])
def test_wilson_holds_the_share_and_stays_within_0_and_1(n: int) -> None:
    for successes in {0, 1, n // 2, n - 1, n}:
        low, high = wilson(successes, n)
        assert 0 <= low <= successes / n <= high <= 1


@pytest.mark.parametrize(("successes", "n"), [(0, 0), (3, 2), (-1, 2)])
def test_wilson_refuses_what_is_no_proportion(successes: int, n: int) -> None:
    with pytest.raises(ValueError, match="no proportion"):
        wilson(successes, n)


def test_a_proportion_of_nothing_is_undefined() -> None:
    assert proportion(0, 0, "no positive") == undefined("no positive")
    assert proportion(9, 10, "no positive").value == 0.9


def test_patients_are_numbered_by_id_and_summed() -> None:
    index, n = patient_index(["b", "a", "b", "c"])
    assert (index.tolist(), n) == ([1, 0, 1, 2], 3)
    sums = sum_by_patient([[1, 0], [2, 0], [3, 1], [4, 0]], index, n)
    assert sums.tolist() == [[2, 0], [4, 1], [4, 0]]


def test_a_draw_takes_as_many_patients_as_there_are() -> None:
    # column 0 counts patients; columns 1..3 mark one patient each
    sums = resampled_sums(np.hstack([np.ones((3, 1)), np.eye(3)]), 4000, seed=1)
    assert (sums[:, 0] == 3).all()
    assert (sums[:, 1:].sum(axis=1) == 3).all()
    # each patient is drawn once on average, binomial(3, 1/3), and not at all with (2/3)^3 = 0.296
    assert sums[:, 1:].mean(axis=0) == pytest.approx([1, 1, 1], abs=0.05)
    assert (sums[:, 1:] == 0).mean(axis=0) == pytest.approx([8 / 27] * 3, abs=0.03)


def test_draws_do_not_depend_on_how_many_are_held_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    per_patient = np.random.default_rng(0).integers(0, 5, size=(11, 4)).astype(float)
    whole = resampled_sums(per_patient, 50, seed=3)
    monkeypatch.setattr("workbench.evaluation.intervals.BLOCK", 25)  # two draws of eleven patients
    assert (resampled_sums(per_patient, 50, seed=3) == whole).all()
    assert (resampled_sums(per_patient, 50, seed=4) != whole).any()


def test_percentiles_leave_undefined_samples_out_and_count_them() -> None:
    samples = np.random.default_rng(0).random((500, 3))
    samples[::3, 1] = np.nan
    samples[:, 2] = np.nan
    low, high, dropped = percentile_interval(samples)
    expected = np.nanpercentile(samples[:, :2], [2.5, 97.5], axis=0)
    assert low[:2] == pytest.approx(expected[0], rel=1e-12)
    assert high[:2] == pytest.approx(expected[1], rel=1e-12)
    assert dropped.tolist() == [0, 167, 500]
    assert np.isnan([low[2], high[2]]).all()
    assert with_interval(Figure(0.5, 3), float(low[2]), float(high[2])) == Figure(0.5, 3)


def test_resampling_reports_adds_up_a_patients_reports_and_needs_two_patients() -> None:
    by_report = np.array([[1.0, 0], [2, 0], [0, 4]])[:, None, :]
    sums = resample_patients(by_report, ["a", "a", "b"], 50, seed=1)
    assert sums.shape == (50, 1, 2)
    assert {tuple(row) for row in sums[:, 0].tolist()} == {(6, 0), (3, 4), (0, 8)}  # a twice, each once, b twice
    assert resample_patients(by_report, ["a", "a", "a"], 50, seed=1).shape == (0, 1, 2)
    assert resample_patients(by_report[:0], [], 50, seed=1).shape == (0, 1, 2)
    with pytest.raises(ValueError, match="2 patients do not go with 3 reports"):
        resample_patients(by_report, ["a", "b"], 50, seed=1)


def test_bootstrap_ends_go_to_defined_figures_only_and_their_absence_is_explained() -> None:
    figures = [Figure(0.5, 3), undefined("none", 3)]
    with_ends = with_bootstrap(figures, np.array([[0.0, np.nan], [4.0, np.nan]]))  # 2.5 % of the way from 0 to 4
    assert with_ends == (Figure(0.5, 3, low=0.1, high=3.9), undefined("none", 3))
    assert with_bootstrap(figures, np.empty((0, 2))) == (Figure(0.5, 3, reason=NO_BOOTSTRAP), undefined("none", 3))
