"""What is missing is counted, and every coefficient really leaves out what is said of it."""

import numpy as np
import pytest

from workbench.domain.findings import MISSING
from workbench.evaluation.agreement import agreement
from workbench.evaluation.agreement_gaps import Gaps, gaps

M = MISSING
# four reports, one finding, three raters: whole, one missing, a lone vote, none
VOTES = np.array([[1, 0, 1], [0, 0, M], [1, M, M], [M, M, M]])[:, None, :]


def test_missing_votes_are_counted_by_hand() -> None:
    assert gaps(VOTES) == Gaps(items=4, votes=12, missing=6, lone=1, unrated=1)
    assert gaps(VOTES[:1]) == Gaps(items=1, votes=3, missing=0, lone=0, unrated=0)
    with pytest.raises(ValueError, match="not of shape"):
        gaps(VOTES[:, 0])


def test_the_sentences_are_true_of_the_coefficients() -> None:
    whole, paired, with_lone = (agreement(["f"], VOTES[rows]).findings[0] for rows in (range(4), range(2), range(3)))
    for name in ("percent", "positive", "alpha"):  # leave out what has fewer than two votes
        assert getattr(whole, name) == getattr(paired, name), name
    for name in ("fleiss", "ac1"):  # the lone vote moves their chance term, the report without votes nothing
        assert getattr(whole, name).value != getattr(paired, name).value, name
        assert getattr(whole, name) == getattr(with_lone, name), name
    assert whole.brennan_prediger == paired.brennan_prediger
    assert (whole.prevalence.value, whole.prevalence.n) == (3 / 6, 6)


def test_it_is_said_how_many_and_which_coefficient_drops_them() -> None:
    told = " ".join(gaps(VOTES).told())
    assert "6 of 12 votes are missing" in told
    assert "2 of 4 places (one finding in one report) have fewer than two votes" in told
    assert "count places with a lone vote (1)" in told
    assert gaps(VOTES[:1]).told() == (
        "Every rater voted on every finding of every report, so nothing is left out of any coefficient.",
    )
