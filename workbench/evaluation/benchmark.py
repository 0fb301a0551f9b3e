"""What a single radiologist reaches, and the model beside it, on the same references (method 9)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from workbench.domain.findings import MISSING, Policy, State
from workbench.domain.references import Outcome, VoteRule
from workbench.errors import InputError
from workbench.evaluation import agreement_json as stored
from workbench.evaluation.confusion import predicted, sort_cells
from workbench.evaluation.consensus import Codes, collapse, tally
from workbench.evaluation.evaluations import Evaluation
from workbench.evaluation.intervals import RESAMPLES, SEED, Numbers, patient_index, with_bootstrap
from workbench.evaluation.numbers import Figure, mean_of_defined
from workbench.evaluation.scores import counted_by_report, evaluate, f1, macro, whole_and_resamples

NO_MODEL = "no model was scored"


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
    """Each rater left out in turn. ``rule`` is the vote of the others; the means of macro-F1 are over raters.

    The means' intervals draw patients, the same ones for every rater, so that they say how far the mean depends on the
    patients and not on who the raters are.
    """

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
    truths = _truths(raters, votes, vote_policies)
    two_states = [Policy.ABSENT] * len(finding_ids)  # what is collapsed already holds nothing uncertain
    rows, samples = [], []
    for rater, (own, truth) in zip(raters, truths, strict=True):
        answers = np.where(own == MISSING, State.ABSENT.code, own)  # never scored: the truth is missing there
        scores = evaluate(finding_ids, truth, answers, two_states, patients, resamples=resamples, seed=seed)
        rows.append(LeftOut(rater, scores, None))
        samples.append(_macro_samples(truth, predicted(answers, two_states), patients, resamples, seed))
    made = Benchmark(
        rule=rule_of_others(len(raters)),
        raters=tuple(rows),
        mean_rater=_mean([row.scores.macro_f1 for row in rows], samples, "defined for no rater"),
        mean_model=mean_of_defined([], NO_MODEL),
    )
    if predictions is None:
        return made
    return with_model(
        made,
        votes,
        vote_policies,
        patients,
        predictions=predictions,
        prediction_policies=prediction_policies,
        resamples=resamples,
        seed=seed,
    )


def with_model(
    made: Benchmark,
    votes: npt.ArrayLike,
    vote_policies: Sequence[Policy],
    patients: Sequence[str],
    *,
    predictions: npt.ArrayLike,
    prediction_policies: Sequence[Policy],
    resamples: int = RESAMPLES,
    seed: int = SEED,
) -> Benchmark:
    """Return a benchmark with a model scored on the very cells that each rater was scored on.

    Args:
        made: the benchmark of the same votes, its raters in the order of the votes' last axis.
        votes: as for ``single_rater_benchmark``, and so are the other arguments.
        vote_policies: what an uncertain vote counts as, per finding.
        patients: the patient id of each report.
        predictions: the model's four-state codes or FAILED, [report, finding].
        prediction_policies: what an uncertain prediction counts as, per finding.
        resamples: bootstrap draws over patients.
        seed: of the bootstrap.

    Raises:
        ValueError: shapes or codes do not fit.
    """
    finding_ids = made.raters[0].scores.finding_ids
    truths = _truths([row.rater for row in made.raters], votes, vote_policies)
    given = predicted(predictions, prediction_policies)
    rows, samples = [], []
    for row, (_, truth) in zip(made.raters, truths, strict=True):
        model = evaluate(finding_ids, truth, predictions, prediction_policies, patients, resamples=resamples, seed=seed)
        rows.append(replace(row, model=model))
        samples.append(_macro_samples(truth, given, patients, resamples, seed))
    mean = _mean([row.model.macro_f1 for row in rows if row.model], samples, NO_MODEL)
    return replace(made, raters=tuple(rows), mean_model=mean)


def _truths(raters: Sequence[str], votes: npt.ArrayLike, vote_policies: Sequence[Policy]) -> list[tuple[Codes, Codes]]:
    """Return per rater the own votes and the vote of the others [report, finding], MISSING where the rater gave none.

    Raises:
        InputError: fewer than three raters.
        ValueError: the votes are not those of these raters.
    """
    collapsed = collapse(votes, vote_policies)
    if collapsed.ndim != 3 or collapsed.shape[2] != len(raters):
        raise ValueError(f"votes of shape {collapsed.shape} are not [report, finding, {len(raters)} raters]")
    rule = rule_of_others(len(raters))
    found = []
    for i in range(len(raters)):
        own = collapsed[:, :, i]
        others = tally(np.delete(collapsed, i, axis=2), rule).outcome
        found.append((own, np.where(own == MISSING, MISSING, others).astype(np.int8)))
    return found


def vote_of_others(
    raters: Sequence[str], votes: npt.ArrayLike, vote_policies: Sequence[Policy], rater: str
) -> tuple[Codes, Codes]:
    """Return one rater's votes and the vote of the others, [report, finding]: the cells that the rater is scored on.

    Args:
        raters: the raters' names, in the order of the votes' last axis.
        votes: four-state codes or MISSING, [report, finding, rater].
        vote_policies: what an uncertain vote counts as, per finding.
        rater: which of them.

    Returns:
        Two arrays of 1, 0 or MISSING; the second is MISSING too where the rater gave no vote or the others' vote is
        short.

    Raises:
        InputError: fewer than three raters.
        ValueError: the rater is not among them, or the votes are not theirs.
    """
    return _truths(raters, votes, vote_policies)[list(raters).index(rater)]


def _macro_samples(truth: Codes, given: npt.ArrayLike, patients: Sequence[str], resamples: int, seed: int) -> Numbers:
    """Return macro-F1 of each bootstrap draw of patients, NaN where undefined; the draws are those of ``evaluate``."""
    index, n_patients = patient_index(patients)
    by_report = counted_by_report(sort_cells(truth, np.asarray(given)))
    _, drawn = whole_and_resamples(by_report, index, n_patients, resamples, seed)
    return macro(f1(drawn))


def _mean(figures: Sequence[Figure], samples: Sequence[Numbers], reason: str) -> Figure:
    """Return the mean over raters where defined, its interval from the same mean of each bootstrap draw."""
    table = np.stack(samples, axis=1)  # [resample, rater]
    defined = np.count_nonzero(~np.isnan(table), axis=1)
    means: Numbers = np.full(len(table), np.nan)
    np.divide(np.nansum(table, axis=1), defined, out=means, where=defined > 0)
    return with_bootstrap([mean_of_defined(figures, reason)], means[:, None])[0]
