"""Tables as data frames: figures as numbers so that columns sort, undefined ones empty with the reason in words."""

from collections.abc import Iterable

import pandas as pd

from workbench.domain.findings import LabelSet
from workbench.evaluation.agreement import Agreement, Coefficients
from workbench.evaluation.evaluations import Evaluation, FindingScores
from workbench.evaluation.numbers import Figure
from workbench.evaluation.policies import PolicyTable
from workbench.workflow.agreed import View
from workbench.workflow.browse import ReportLine
from workbench.workflow.cohorts import CohortView
from workbench.workflow.errors import costliest_first
from workbench.workflow.reference import ReferenceSummary

COEFFICIENTS = {
    "prevalence": "Prevalence",
    "percent": "Percent agreement",
    "positive": "Positive agreement",
    "alpha": "Alpha",
    "fleiss": "Fleiss",
    "ac1": "AC1",
    "brennan_prediger": "Brennan-Prediger",
}


def reports(lines: Iterable[ReportLine]) -> pd.DataFrame:
    """Return a row per report."""
    rows = [(line.id, line.patient_id, ", ".join(line.cohorts), line.words, line.beginning) for line in lines]
    return pd.DataFrame(rows, columns=["Report", "Patient", "Cohort", "Words", "Begins with"])


def cohorts(views: Iterable[CohortView]) -> pd.DataFrame:
    """Return a row per cohort."""
    rows = [
        (
            view.cohort.name,
            str(view.cohort.purpose),
            view.reports,
            view.patients,
            "locked" if view.locked else "open",
            "enriched" if view.cohort.enriched else "plain draw",
            view.cohort.author,
            view.cohort.created_at,
        )
        for view in views
    ]
    columns = ["Cohort", "Purpose", "Reports", "Patients", "Access", "Drawn", "By", "When"]
    return pd.DataFrame(rows, columns=columns)


def scores(evaluation: Evaluation, label_set: LabelSet) -> pd.DataFrame:
    """Return a row per finding with counts, figures and what to know before reading them."""
    return pd.DataFrame([_scores_of(row, label_set) for row in evaluation.findings])


def _scores_of(row: FindingScores, label_set: LabelSet) -> dict[str, object]:
    return {
        "Finding": label_set.get(row.finding_id).name,
        "Positives": row.support,
        "F1": row.f1.value,
        "F1 95 %": interval(row.f1),
        "Recall": row.recall.value,
        "Precision": row.precision.value,
        "Specificity": row.specificity.value,
        "Accuracy": row.accuracy.value,
        "TP": row.tp,
        "FP": row.fp,
        "FN": row.fn,
        "TN": row.tn,
        "Short": row.short,
        "Note": note(row),
    }


def note(row: FindingScores) -> str:
    """Return what to know before reading a finding's figures."""
    parts = []
    if row.too_few:
        parts.append(f"too few to assess ({row.tp + row.fn} positives)")
    if row.f1.value is None:
        parts.append(f"F1 undefined: {row.f1.reason}")
    if row.precision.value is None and row.f1.value is not None:
        parts.append(f"precision undefined: {row.precision.reason}")
    if row.failed:
        parts.append(f"{row.failed} failed replies count as wrong")
    if row.excluded:
        parts.append(f"{row.excluded} uncertain left out")
    return "; ".join(parts)


def interval(figure: Figure) -> str:
    """Return a figure's interval as text, empty without one."""
    return "" if figure.low is None or figure.high is None else f"{figure.low:.3f}–{figure.high:.3f}"


def votes(summary: ReferenceSummary, view: View, label_set: LabelSet) -> pd.DataFrame:
    """Return a row per finding with what the votes came to and, with two raters or more, how far they agreed."""
    rows = []
    for i, vote in enumerate(summary.findings):
        row: dict[str, object] = {
            "Finding": label_set.get(vote.finding_id).name,
            "Present": vote.present,
            "Not present": vote.not_present,
            "Short": vote.short,
            "Ties": vote.ties,
        }
        if summary.views:
            said = summary.views[view].agreement.findings[i]
            row["n"] = said.items
            row |= {COEFFICIENTS[name]: figure.value for name, figure in said.figures().items()}
        rows.append(row)
    return pd.DataFrame(rows)


def intervals(agreement: Agreement, label_set: LabelSet) -> pd.DataFrame:
    """Return a row per finding with each coefficient and its 95 % interval as text, the mean over findings last."""
    named = [*zip(agreement.finding_ids, agreement.findings, strict=True)]
    rows = [_spread(label_set.get(finding).name, found) for finding, found in named]
    return pd.DataFrame([*rows, _spread("Mean over findings", agreement.overall)])


def _spread(name: str, found: Coefficients) -> dict[str, str | None]:
    figures = found.figures().items()
    return {"Finding": name, **{COEFFICIENTS[which]: _with_interval(figure) for which, figure in figures}}


def _with_interval(figure: Figure) -> str | None:
    if figure.value is None:
        return None
    if figure.low is None or figure.high is None:
        return f"{figure.value:.2f}"
    return f"{figure.value:.2f} ({figure.low:.2f}–{figure.high:.2f})"


def agreement_notes(agreement: Agreement, label_set: LabelSet) -> list[str]:
    """Return in sentences which coefficients are undefined and why, and which draws their intervals leave out."""
    told: dict[str, list[str]] = {}
    for finding, found in zip(agreement.finding_ids, agreement.findings, strict=True):
        name = label_set.get(finding).name
        for reason in dict.fromkeys(f.reason for f in found.figures().values() if f.value is None):
            which = [COEFFICIENTS[c] for c, f in found.figures().items() if f.reason == reason and f.value is None]
            told.setdefault(f"{', '.join(which)} undefined ({reason})", []).append(name)
    notes = [f"{what}: {', '.join(names)}." for what, names in told.items()]
    missed = [
        f"{label_set.get(finding).name} {max(found.left_out.values())}"
        for finding, found in zip(agreement.finding_ids, agreement.findings, strict=True)
        if any(found.left_out.values())
    ]
    if missed:
        notes.append(
            f"Of {agreement.resamples:,} draws of patients, those in which a coefficient is undefined are left out of "
            f"its interval; at most: {', '.join(missed)}."
        )
    return notes


def policies(table: PolicyTable) -> pd.DataFrame:
    """Return macro-F1 by vote policy (rows) and prediction policy (columns) as text with n."""
    frame = pd.DataFrame(
        [
            {f"predictions: {prediction}": _with_n(table.of(vote, prediction)) for prediction in table.policies}
            for vote in table.policies
        ]
    )
    frame.insert(0, "uncertain counts as", [f"votes: {vote}" for vote in table.policies])
    return frame


def _with_n(figure: Figure) -> str:
    return f"— ({figure.reason})" if figure.value is None else f"{figure.value:.3f} (n {figure.n})"


def costs(evaluation: Evaluation, label_set: LabelSet) -> pd.DataFrame:
    """Return a row per finding with what it costs macro-F1, costliest first (``errors.costliest_first``).

    Findings without support follow; what was invented there costs macro-F1 nothing and is listed all the same.
    """
    rows = []
    for row, cost in costliest_first(evaluation):
        rows.append(
            {
                "id": row.finding_id,
                "Finding": label_set.get(row.finding_id).name,
                "Costs macro-F1": cost,
                "F1": row.f1.value,
                "Missed": row.fn,
                "Invented": row.fp,
                "Positives": row.support,
                "Note": note(row),
            }
        )
    return pd.DataFrame(rows)
