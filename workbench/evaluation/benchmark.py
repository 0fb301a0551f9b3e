"""What a single radiologist reaches, and the model beside it, on the same references (method 9)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from workbench.domain.findings import MISSING, Policy, State
from workbench.domain.references import Outcome, VoteRule
from workbench.errors import InputError
from workbench.evaluation import agreement_json as stored
from workbench.evaluation.consensus import collapse, tally
from workbench.evaluation.evaluations import Evaluation
from workbench.evaluation.intervals import RESAMPLES, SEED
from workbench.evaluation.numbers import Figure, mean_of_defined
from workbench.evaluation.scores import evaluate


@dataclass(frozen=True, slots=True)
class LeftOut:
    """One rater against the consensus of the others, and the model against the very same cells.

    ``scores.of(finding).recall`` is the rater's sensitivity, ``.precision`` the precision, each with its interval.
    """

    rater: str
    scores: Evaluation
    model: Evaluation | None

    def as_json(self) -> dict[str, object]:
        """Return the JSON form."""
        model = None if self.model is None else self.model.as_json()
        return {"rater": self.rater, "scores": self.scores.as_json(), "model": model}

    @classmethod
    def from_json(cls, value: Mapping[str, object]) -> "LeftOut":
        """Read what ``as_json`` wrote."""
        model = None if value["model"] is None else Evaluation.from_json(stored.mapping(value["model"]))
        return cls(str(value["rater"]), Evaluation.from_json(stored.mapping(value["scores"])), model)


@dataclass(frozen=True, slots=True)
class Benchmark:
    """Each rater left out in turn. ``rule`` is the vote of the others; the means of macro-F1 are over raters."""

    rule: VoteRule
    raters: tuple[LeftOut, ...]
    mean_rater: Figure
    mean_model: Figure

    def of(self, rater: str) -> LeftOut:
        """Return one rater's row. Raises KeyError for an unknown one."""
        for row in self.raters:
            if row.rater == rater:
                return row
        raise KeyError(rater)

    def as_json(self) -> dict[str, object]:
        """Return the JSON form; ``from_json`` makes an equal benchmark of it."""
        return {
            "rule": {"k": self.rule.k, "n": self.rule.n, "tie": self.rule.tie.value},
            "raters": [row.as_json() for row in self.raters],
            "mean_rater": self.mean_rater.as_json(),
            "mean_model": self.mean_model.as_json(),
        }

    @classmethod
    def from_json(cls, value: Mapping[str, object]) -> "Benchmark":
        """Read what ``as_json`` wrote."""
        rule = stored.mapping(value["rule"])
        return cls(
            rule=VoteRule(stored.whole(rule["k"]), stored.whole(rule["n"]), Outcome(str(rule["tie"]))),
            raters=tuple(LeftOut.from_json(row) for row in stored.rows(value["raters"])),
            mean_rater=stored.figure(value["mean_rater"]),
            mean_model=stored.figure(value["mean_model"]),
        )


def rule_of_others(n_raters: int) -> VoteRule:
    """Return the majority rule of the raters that remain when one is left out: 3 of 5 for six raters.

    Raises:
        InputError: fewer than three raters, so that no vote remains.
    """
    if n_raters < 3:
        raise InputError(
            f"The single-radiologist benchmark needs three raters or more and there are {n_raters}; "
            "with one rater left out no vote would remain."
        )
    return VoteRule((n_raters - 1) // 2 + 1, n_raters - 1)


def single_rater_benchmark(
    finding_ids: Sequence[str],
    raters: Sequence[str],
    votes: npt.ArrayLike,
    vote_policies: Sequence[Policy],
    patients: Sequence[str],
    *,
    predictions: npt.ArrayLike | None = None,
    prediction_policies: Sequence[Policy] = (),
    resamples: int = RESAMPLES,
    seed: int = SEED,
) -> Benchmark:
    """Score each rater, and the model, against the consensus of the other raters.

    A rater is scored on the votes he or she gave; the model on the same cells of the same reference, so that the two
    figures in a row answer the same question. Raters' labels are collapsed by the vote policies, on either side of
    the comparison; the model's by the prediction policies.

    Args:
        finding_ids: the columns' findings.
        raters: the raters' names, in the order of the last axis.
        votes: four-state codes or MISSING, [report, finding, rater].
        vote_policies: what an uncertain vote counts as, per finding.
        patients: the patient id of each report.
        predictions: the model's four-state codes or FAILED, [report, finding].
        prediction_policies: what an uncertain prediction counts as, per finding.
        resamples: bootstrap draws over patients; 0 leaves the intervals out.
        seed: of the bootstrap.

    Raises:
        InputError: fewer than three raters, or no report.
        ValueError: shapes or codes do not fit.
    """
    collapsed = collapse(votes, vote_policies)
    if collapsed.ndim != 3 or collapsed.shape[2] != len(raters):
        raise ValueError(f"votes of shape {collapsed.shape} are not [report, finding, {len(raters)} raters]")
    rule = rule_of_others(len(raters))
    two_states = [Policy.ABSENT] * len(finding_ids)  # what is collapsed already holds nothing uncertain
    rows = []
    for i, rater in enumerate(raters):
        own = collapsed[:, :, i]
        consensus = tally(np.delete(collapsed, i, axis=2), rule).outcome
        truth = np.where(own == MISSING, MISSING, consensus)
        answers = np.where(own == MISSING, State.ABSENT.code, own)  # never scored: the truth is missing there
        scores = evaluate(finding_ids, truth, answers, two_states, patients, resamples=resamples, seed=seed)
        model = (
            None
            if predictions is None
            else evaluate(
                finding_ids, truth, predictions, prediction_policies, patients, resamples=resamples, seed=seed
            )
        )
        rows.append(LeftOut(rater, scores, model))
    return Benchmark(
        rule=rule,
        raters=tuple(rows),
        mean_rater=mean_of_defined([row.scores.macro_f1 for row in rows], "defined for no rater"),
        mean_model=mean_of_defined([row.model.macro_f1 for row in rows if row.model], "no model was scored"),
    )
