"""Errors as tables and pictures: findings against the raters, kinds by finding, what was said by what is so."""

from collections import Counter
from collections.abc import Mapping, Sequence

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from workbench.domain.error_kinds import RULES, ErrorKind
from workbench.domain.findings import LabelSet, State
from workbench.evaluation.agreement import Agreement
from workbench.evaluation.benchmark import Benchmark
from workbench.evaluation.evaluations import Evaluation, FindingScores
from workbench.evaluation.numbers import Figure
from workbench.ui.heat_map import heat
from workbench.ui.ink import Scale
from workbench.ui.plot_text import lines, literal
from workbench.ui.tables import interval, note
from workbench.ui.widgets import STATE_NAMES, UNDEFINED, figure_text
from workbench.workflow.browse import StateCounts
from workbench.workflow.errors import Mistake, costliest_first

NAMES: Mapping[ErrorKind, str] = {
    ErrorKind.SYNONYM: "synonym",
    ErrorKind.NEGATION: "negation",
    ErrorKind.UNCERTAINTY: "uncertainty",
    ErrorKind.HISTORY: "history or comparison",
    ErrorKind.SECTION: "section",
    ErrorKind.BOUNDARY: "label boundary",
    ErrorKind.RARE: "rare label",
    ErrorKind.INVENTED_EVIDENCE: "invented evidence",
    ErrorKind.UNREADABLE: "unreadable reply",
    ErrorKind.DOUBTFUL: "reference doubtful",
    ErrorKind.UNEXPLAINED: "unexplained",
}
_SCALE: Scale = ((0.0, "#f6e7dc"), (0.35, "#e3ab84"), (1.0, "#b4592a"))
_ROW = 26
AGREED, AGREED_N = "Positive agreement", "n, ratings present"


def rater_mean(benchmark: Benchmark | None, finding_id: str) -> float | None:
    """Return the mean F1 of the single raters on a finding, over those in whom it is defined; None without any."""
    if benchmark is None:
        return None
    values = [row.scores.of(finding_id).f1.value for row in benchmark.raters]
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


def agreement_of(agreement: Agreement | None, finding_id: str) -> Figure | None:
    """Return the raters' positive agreement on a finding, its n being ratings "present"; None with one rater alone."""
    if agreement is None:
        return None
    return agreement.findings[agreement.finding_ids.index(finding_id)].positive


def against_raters(
    evaluation: Evaluation, label_set: LabelSet, agreement: Agreement | None, benchmark: Benchmark | None
) -> pd.DataFrame:
    """Return a row per finding, costliest first: the model's figures, a single radiologist's, and the agreement."""
    found = costliest_first(evaluation)
    return pd.DataFrame([_against(row, cost, label_set, agreement, benchmark) for row, cost in found])


def _against(
    row: FindingScores,
    cost: float | None,
    label_set: LabelSet,
    agreement: Agreement | None,
    benchmark: Benchmark | None,
) -> dict[str, object]:
    single, f1 = rater_mean(benchmark, row.finding_id), row.f1.value
    agreed = agreement_of(agreement, row.finding_id)
    return {
        "id": row.finding_id,
        "Finding": label_set.get(row.finding_id).name,
        "Costs macro-F1": cost,
        "F1": f1,
        "F1 95 %": interval(row.f1),
        "One radiologist": single,
        "Difference": None if single is None or f1 is None else f1 - single,
        AGREED: None if agreed is None else agreed.value,
        AGREED_N: None if agreed is None else agreed.n,
        "Recall": row.recall.value,
        "Precision": row.precision.value,
        "Positives": row.support,
        "Missed": row.fn,
        "Invented": row.fp,
        "Note": note(row),
    }


def four_states(counts: StateCounts) -> pd.DataFrame:
    """Return the 4-state table of a finding: what was said, by what the reference has; failed replies last."""
    states = (State.PRESENT, State.UNCERTAIN, State.ABSENT, State.NOT_MENTIONED, None)
    used = [s for s in states if s is not None or counts.present.get(s) or counts.not_present.get(s)]
    return pd.DataFrame(
        {
            "The labeler said": [STATE_NAMES[s] for s in used],
            "Reference: present": [counts.present.get(s, 0) for s in used],
            "Reference: not present": [counts.not_present.get(s, 0) for s in used],
        }
    )


def two_by_two(row: FindingScores) -> pd.DataFrame:
    """Return the 2 x 2 confusion of a finding, rows true and columns predicted; failed replies where there are any."""
    counts = row.table
    frame = pd.DataFrame(
        {
            "Reference": ["present", "not present"],
            "Labeler: present": [int(counts[1, 1]), int(counts[0, 1])],
            "Labeler: not present": [int(counts[1, 0]), int(counts[0, 0])],
        }
    )
    if row.failed:
        frame["Failed reply"] = [int(counts[1, 2]), int(counts[0, 2])]
    return frame


def by_kind(found: Sequence[Mistake], label_set: LabelSet, order: Sequence[str]) -> go.Figure:
    """Draw how many errors there are by finding (rows, in the given order) and kind; a click picks "finding kind"."""
    counts = Counter((mistake.finding_id, mistake.why) for mistake in found)
    rows = [finding for finding in order if any(f == finding for f, _ in counts)]
    per_kind = Counter(mistake.why for mistake in found)
    kinds = [kind for kind, _ in per_kind.most_common()]
    most = max(counts.values(), default=1)
    figure = heat(
        [f"{NAMES[kind].replace(' ', '<br>', 1)}<br><b>{per_kind[kind]}</b>" for kind in kinds],
        [literal(label_set.get(finding).name) for finding in rows],
        [[counts.get((finding, kind)) for kind in kinds] for finding in rows],
        _SCALE,
        span=(0, most),
        texts=[[str(counts.get((finding, kind), "")) for kind in kinds] for finding in rows],
        hovers=[
            [
                lines(f"{label_set.get(finding).name}, {NAMES[kind]}: {counts.get((finding, kind), 0)} errors")
                for kind in kinds
            ]
            for finding in rows
        ],
        picks=[[f"{finding} {kind.value}" if (finding, kind) in counts else "" for kind in kinds] for finding in rows],
    )
    figure.update_layout(height=_ROW * len(rows) + 100, margin={"l": 8, "r": 8, "t": 88, "b": 8})
    return figure


def draw_line(row: FindingScores, agreement: Agreement | None, benchmark: Benchmark | None) -> None:
    """Draw a finding's figures in a line, a single radiologist's and the raters' agreement beside the model's."""
    single, agreed = rater_mean(benchmark, row.finding_id), agreement_of(agreement, row.finding_id)
    facts = [
        f"<b>F1</b> {figure_text(row.f1, 2)}",
        f"<b>recall</b> {figure_text(row.recall, 2)}",
        f"<b>precision</b> {figure_text(row.precision, 2)}",
        f"<b>positives</b> {row.support}{' (too few to assess)' if row.too_few else ''}",
        f"<b>one radiologist reaches</b> {_or_dash(single)}",
        f"<b>raters' positive agreement</b> {_or_dash(None if agreed is None else agreed.value)}"
        + ("" if agreed is None else f" (n = {agreed.n:,} ratings “present”)"),
    ]
    st.html(f'<div class="wb-facts">{" &nbsp;·&nbsp; ".join(facts)}</div>')


def _or_dash(value: float | None) -> str:
    return UNDEFINED if value is None else f"{value:.2f}"


def draw_rules() -> None:
    """Draw every kind with its rule."""
    st.dataframe(
        pd.DataFrame({"Kind": [NAMES[kind] for kind in ErrorKind], "Its rule": [RULES[kind] for kind in ErrorKind]}),
        hide_index=True,
        height=424,
        alt="The rule behind each kind",
    )


def draw_against(
    evaluation: Evaluation, label_set: LabelSet, agreement: Agreement | None, benchmark: Benchmark | None
) -> None:
    """Draw the findings with what a single radiologist reaches on each, and how far the raters agree."""
    st.markdown(
        "**Difference** below 0: the model is worse than one radiologist against the vote of the others. "
        f"**{AGREED}** low: the reference itself is shaky there. It is positive specific agreement: of the ratings "
        f"“present” ({AGREED_N}), the share that another rater of the report confirms."
    )
    figures = ("F1", "One radiologist", "Difference", AGREED, "Recall", "Precision")
    columns = {name: st.column_config.NumberColumn(format="%.2f") for name in figures}
    columns["Costs macro-F1"] = st.column_config.NumberColumn(format="%.3f")
    st.dataframe(
        against_raters(evaluation, label_set, agreement, benchmark).drop(columns="id"),
        hide_index=True,
        height=780,
        placeholder=UNDEFINED,
        column_config=columns,
        alt="Findings, the model against a single radiologist",
    )
