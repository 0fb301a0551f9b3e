"""How much the score depends on what "uncertain" counts as: vote policy by prediction policy (method 5)."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy.typing as npt

from workbench.domain.findings import Policy
from workbench.domain.references import VoteRule
from workbench.evaluation.consensus import collapse, tally
from workbench.evaluation.intervals import SEED
from workbench.evaluation.numbers import Figure
from workbench.evaluation.scores import evaluate

ORDER = (Policy.PRESENT, Policy.ABSENT, Policy.EXCLUDE)


@dataclass(frozen=True, slots=True)
class PolicyTable:
    """Macro-F1 under each pair of policies, applied to all findings alike (overrides per finding are ignored).

    ``macro_f1`` is rows by vote policy, columns by prediction policy, both in the order of ``policies``; the n of a
    figure is how many findings it averages, which can change with the vote policy.
    """

    macro_f1: tuple[tuple[Figure, ...], ...]
    policies: tuple[Policy, ...] = ORDER

    def of(self, vote: Policy, prediction: Policy) -> Figure:
        """Return the macro-F1 under one pair of policies."""
        return self.macro_f1[self.policies.index(vote)][self.policies.index(prediction)]

    def as_json(self) -> dict[str, object]:
        """Return the JSON form: {vote policy: {prediction policy: figure}}."""
        return {
            vote.value: {prediction.value: self.of(vote, prediction).as_json() for prediction in self.policies}
            for vote in self.policies
        }


def policy_table(
    finding_ids: Sequence[str],
    votes: npt.ArrayLike,
    rule: VoteRule,
    predictions: npt.ArrayLike,
    patients: Sequence[str],
    *,
    resamples: int = 0,
    seed: int = SEED,
) -> PolicyTable:
    """Score the predictions under each of the nine pairs of policies.

    Args:
        finding_ids: the columns' findings.
        votes: four-state codes or MISSING, [report, finding, rater].
        rule: the vote that makes the reference.
        predictions: four-state codes or FAILED, [report, finding].
        patients: the patient id of each report.
        resamples: bootstrap draws for intervals; none by default.
        seed: of the bootstrap.

    Raises:
        InputError: no report, a report without prediction, or more raters than the rule counts.
        ValueError: shapes or codes do not fit.
    """
    rows = []
    for vote in ORDER:
        truth = tally(collapse(votes, [vote] * len(finding_ids)), rule).outcome
        rows.append(
            tuple(
                evaluate(
                    finding_ids,
                    truth,
                    predictions,
                    [prediction] * len(finding_ids),
                    patients,
                    resamples=resamples,
                    seed=seed,
                ).macro_f1
                for prediction in ORDER
            )
        )
    return PolicyTable(tuple(rows))
