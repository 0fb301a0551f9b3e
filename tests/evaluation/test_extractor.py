"""One table is corrected by hand; then numpy's matrix inverse does the same, and a simulation knows the truth."""

import numpy as np
import pytest
from scipy.stats import beta

from workbench.domain.findings import FAILED, MISSING
from workbench.evaluation.confusion import Confusion
from workbench.evaluation.extractor import ExtractorSpread, extractor_spread

MANY = 10**9  # so many labelled texts leave no doubt about a rate


def counts(sensitivity: list[float], specificity: list[float], n: int = MANY) -> Confusion:
    found, clear = ([round(rate * n) for rate in rates] for rates in (sensitivity, specificity))
    zero = np.zeros(len(found), dtype=np.int64)
    return Confusion(
        tp=np.array(found),
        fp=n - np.array(clear),
        fn=n - np.array(found),
        tn=np.array(clear),
        failed_positive=zero,
        failed_negative=zero,
        excluded=zero,
        short=zero,
        excluded_positive=zero,
    )


def studies(table: list[list[int]]) -> tuple[np.ndarray, np.ndarray]:
    """Return truth and predictions of one finding with these counts [reference, generated]."""
    cells = [(r, g) for r in (0, 1) for g in (0, 1) for _ in range(table[r][g])]
    return np.array([[r] for r, _ in cells]), np.array([[[g] for _, g in cells]])


def spread(table: list[list[int]], human: Confusion, machine: Confusion | None = None) -> ExtractorSpread:
    truth, predictions = studies(table)
    return extractor_spread(["x"], ["s"], truth, predictions, human=human, machine=machine, draws=400)


def test_an_extractor_without_errors_moves_nothing() -> None:
    found = spread([[50, 10], [10, 30]], counts([1.0], [1.0]))
    assert found.systems[0].extracted.value == 0.75  # 2 x 30 / (60 + 20)
    assert found.systems[0].corrected.value == pytest.approx(0.75, abs=1e-6)
    assert found.systems[0].corrected.high == pytest.approx(0.75, abs=1e-6)


def test_one_table_by_hand() -> None:
    # True table [[60, 0], [0, 40]], perfect agreement. Both sides are read with sensitivity 0.9 and specificity 1:
    # of the 40, 32.4 are seen on both sides, 3.6 on either one, 0.4 on none. 1,000 times as many, to be whole.
    human = counts([0.9], [1.0])
    found = spread([[604, 36], [36, 324]], human, human)
    assert found.systems[0].extracted.value == pytest.approx(0.9)
    assert found.systems[0].corrected.value == pytest.approx(1.0, abs=1e-4)


def test_numpys_inverse_gives_the_same() -> None:
    table = [[70, 12], [9, 25]]
    human, machine = counts([0.85], [0.97]), counts([0.8], [0.93])
    r, g = (np.array([[sp, 1 - se], [1 - sp, se]]) for se, sp in ((0.85, 0.97), (0.8, 0.93)))
    true = np.linalg.inv(r) @ np.array(table) @ np.linalg.inv(g).T
    expected = 2 * true[1, 1] / (2 * true[1, 1] + true[0, 1] + true[1, 0])
    assert (true > 0).all(), "the example should need no emptied cell"
    found = spread(table, human, machine).systems[0]
    assert found.corrected.value == pytest.approx(expected, abs=1e-4)
    assert found.emptied == 0.0


def test_a_cell_is_never_left_with_less_than_nothing() -> None:
    # Specificity 0.9 alone explains more false positives than there are.
    found = spread([[99, 1], [0, 5]], counts([1.0], [0.9])).systems[0]
    assert found.corrected.value is not None
    assert 0 <= found.corrected.value <= 1
    assert found.emptied == 1.0


def test_rates_have_their_jeffreys_interval() -> None:
    human = counts([0.8], [0.95], n=20)
    truth, predictions = studies([[5, 1], [1, 5]])
    found = extractor_spread(["x"], ["s"], truth, predictions, human=human, draws=20_000).findings[0]
    assert (found.sensitivity.value, found.sensitivity.n) == (0.8, 20)
    assert [found.sensitivity.low, found.sensitivity.high] == pytest.approx(
        beta.ppf((0.025, 0.975), 16.5, 4.5), abs=0.01
    )
    assert [found.specificity.low, found.specificity.high] == pytest.approx(
        beta.ppf((0.025, 0.975), 19.5, 1.5), abs=0.01
    )


def test_with_fewer_labelled_texts_a_score_could_move_further() -> None:
    widths = []
    for n in (100, 1000, 10_000):
        corrected = spread([[150, 15], [15, 60]], counts([0.9], [0.97], n)).systems[0].corrected
        assert corrected.low is not None
        assert corrected.high is not None
        widths.append(corrected.high - corrected.low)
    assert widths[0] > 1.5 * widths[1] > 1.5**2 * widths[2]


def simulated(rng: np.random.Generator, n: int = 4000) -> tuple[float, ExtractorSpread]:
    """Return the true macro-F1 of a system and what is worked out from labels that were read with errors."""
    truth = rng.random((n, 3)) < (0.1, 0.3, 0.5)
    said = np.where(rng.random((n, 3)) < 0.2, ~truth, truth)
    rates = {"human": ((0.9, 0.8, 0.95), (0.97, 0.95, 0.9)), "machine": ((0.85, 0.9, 0.9), (0.95, 0.99, 0.85))}

    def read(texts: np.ndarray, kind: str) -> np.ndarray:
        se, sp = rates[kind]
        return np.where(texts, rng.random(texts.shape) < se, rng.random(texts.shape) >= sp)

    def labelled(kind: str, m: int = 150) -> Confusion:
        se, sp = (rng.binomial(m, rate) / m for rate in rates[kind])
        return counts(se.tolist(), sp.tolist(), m)

    tp, wrong = (truth & said).sum(axis=0), (truth != said).sum(axis=0)
    found = extractor_spread(
        list("xyz"),
        ["s"],
        read(truth, "human").astype(int),
        read(said, "machine").astype(int)[None],
        human=labelled("human"),
        machine=labelled("machine"),
        draws=300,
        seed=1,
    )
    return float((2 * tp / (2 * tp + wrong)).mean()), found


def test_the_true_score_is_within_the_spread_about_as_often_as_it_says() -> None:
    rng = np.random.default_rng(5)
    held, extracted_off = 0, 0
    for _ in range(60):
        true, found = simulated(rng)
        corrected, extracted = found.systems[0].corrected, found.systems[0].extracted.value
        assert corrected.low is not None
        assert corrected.high is not None
        assert extracted is not None
        held += corrected.low <= true <= corrected.high
        extracted_off += extracted < corrected.low
    assert held >= 52  # 57 expected
    assert extracted_off > 30, "errors on both sides make a system look worse than it is"


def test_a_failed_reply_is_a_miss_that_no_correction_takes_back() -> None:
    truth, predictions = studies([[4, 0], [0, 4]])
    predictions[0, -1, 0] = FAILED
    found = extractor_spread(["x"], ["s"], truth, predictions, human=counts([1.0], [1.0]), draws=50).systems[0]
    assert found.extracted.value == pytest.approx(6 / 7)
    assert found.corrected.value == pytest.approx(6 / 7, abs=1e-4)


def test_systems_that_are_close_are_not_settled_and_those_far_apart_are() -> None:
    rng = np.random.default_rng(6)
    truth = (rng.random((400, 2)) < 0.3).astype(int)
    predictions = np.stack([np.where(rng.random(truth.shape) < w, 1 - truth, truth) for w in (0.05, 0.055, 0.4)])
    human, machine = counts([0.9, 0.9], [0.95, 0.95], 60), counts([0.85, 0.85], [0.9, 0.9], 60)
    found = extractor_spread(list("xy"), ["a", "b", "c"], truth, predictions, human=human, machine=machine)
    assert found.unsettled == (tuple(sorted(("a", "b"), key=lambda s: -(value(found, s)))),)
    assert {frozenset((p.first, p.second)): p.settled for p in found.pairs}[frozenset("ac")]


def value(found: ExtractorSpread, system: str) -> float:
    extracted = next(s.extracted.value for s in found.systems if s.system == system)
    assert extracted is not None
    return extracted


def test_without_labelled_machine_texts_this_is_said() -> None:
    found = spread([[5, 1], [1, 5]], counts([0.9], [0.9]))
    assert found.machine_assumed
    assert {finding.source for finding in found.findings} == {"human"}


def test_a_finding_that_no_labelled_text_has_is_undefined_and_leaves_much_open() -> None:
    nothing = counts([0.0], [1.0], 0)
    found = spread([[50, 5], [5, 20]], nothing)
    assert found.findings[0].sensitivity.value is None
    corrected = found.systems[0].corrected
    assert corrected.low is not None
    assert corrected.high is not None
    assert corrected.high - corrected.low > 0.1
    assert found.systems[0].emptied > 0.3, "many draws do not go with what was extracted, and this is told"


def test_labels_that_say_nothing_cannot_be_corrected() -> None:
    found = spread([[50, 5], [5, 20]], counts([0.5], [0.5])).systems[0].corrected
    assert found.value is None
    assert "say too little" in found.reason


def test_without_a_reference_positive_there_is_no_score() -> None:
    found = spread([[5, 1], [0, 0]], counts([0.9], [0.9]))
    assert not found.systems[0].extracted.defined
    assert not found.systems[0].corrected.defined


def test_cells_left_out_are_left_out() -> None:
    truth, predictions = studies([[5, 1], [1, 5]])
    truth[0] = MISSING
    predictions[0, 1, 0] = MISSING
    expected = spread([[3, 1], [1, 5]], counts([0.9], [0.9])).systems
    found = extractor_spread(["x"], ["s"], truth, predictions, human=counts([0.9], [0.9]), draws=400)
    assert found.systems == expected


def test_shapes_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ValueError, match="do not go with"):
        extractor_spread(["x"], ["s", "t"], [[1]], [[[1]]], human=counts([0.9], [0.9]))
