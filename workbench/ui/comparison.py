"""Two scored points of the history side by side: what got worse first, and every label that flipped with its text."""

import html
from collections.abc import Sequence

import pandas as pd
import streamlit as st

from workbench.domain.findings import LabelSet
from workbench.evaluation.numbers import Figure
from workbench.ui import data, history_figures, state, widgets
from workbench.workflow.compare import Compared, FindingChange, Flip
from workbench.workflow.score import Score

BEFORE, AFTER, FINDING, WHICH = "compare.before", "compare.after", "compare.finding", "compare.which"
ALL = ""
BROKEN, FIXED, BOTH = "wrong now", "right now", "all flips"


def signed(value: Figure) -> str:
    """Return a change with its sign and interval."""
    if value.value is None:
        return widgets.UNDEFINED
    interval = "" if value.low is None or value.high is None else f" ({value.low:+.3f} to {value.high:+.3f})"
    return f"{value.value:+.3f}{interval}"


def name(score: Score) -> str:
    """Return a point as it is chosen."""
    it = score.evaluation.macro_f1
    repeats = f", asked {score.prepared.run.repeats} times" if score.prepared.run.repeats > 1 else ""
    value = widgets.UNDEFINED if it.value is None else f"{it.value:.3f}"
    return f"Revision {score.prepared.number} · {score.prepared.run.labeler.name}{repeats} · macro-F1 {value}"


def show(before: str, after: str) -> None:
    """Have the comparison open with two scores (their hashes) and the worst finding, at the next run of the page."""
    st.session_state[BEFORE], st.session_state[AFTER] = before, after
    st.session_state.pop(FINDING, None)


def draw(here: state.Here, points: Sequence[Score]) -> None:
    """Draw the choice of two points and what changed between them."""
    by_hash = {score.hash: score for score in points}
    if len(by_hash) < 2:
        st.info("There is one scored run so far; two are needed to compare.")
        return
    hashes = list(by_hash)
    _keep(BEFORE, hashes, hashes[-2])
    _keep(AFTER, hashes, hashes[-1])
    one, two = st.columns(2)
    old = one.selectbox("Before", hashes, format_func=lambda h: name(by_hash[h]), key=BEFORE)
    new = two.selectbox("After", hashes, format_func=lambda h: name(by_hash[h]), key=AFTER)
    with widgets.explained():
        _compared(here, data.compared(here, by_hash[old], by_hash[new]))


def _keep(key: str, options: Sequence[str], default: str) -> None:
    if st.session_state.get(key) not in options:
        st.session_state[key] = default


def _compared(here: state.Here, found: Compared) -> None:
    if found.unchanged:
        told = f"No change: the two say the same of every finding in all {found.old.n_reports:,} reports."
        st.success(told, icon=":material/equal:")
        return
    _headline(found)
    _worse(found, here.study.label_set)
    _beside(found)
    left, right = st.columns([5, 6], gap="large")
    with left:
        rows = [(here.study.label_set.get(row.finding_id).name, row.change.f1_change) for row in found.findings]
        widgets.chart(history_figures.change_dots(rows), key="compare.changes", alt="Change of F1 per finding")
    with right:
        _flips(here, found)
    with st.expander("All figures, with p-values"):
        st.dataframe(_table(found, here.study.label_set), hide_index=True, alt="Change per finding", placeholder="—")
        st.caption(
            f"p: {found.change.test}, adjusted over findings by Holm. P-values inform and decide nothing. "
            "Intervals are of a paired bootstrap over patients."
        )


def _headline(found: Compared) -> None:
    fixed = sum(flip.fixed for flip in found.flips)
    change = found.change.macro_f1_change
    columns = st.columns(4, gap="medium")
    with columns[0]:
        value = widgets.UNDEFINED if change.value is None else f"{change.value:+.3f}"
        st.metric("Change of macro-F1", value, help="After less before, on the same reports and findings")
        interval = "" if change.low is None else f"{change.low:+.3f} to {change.high:+.3f} · "
        st.caption(f"{interval}n = {change.n} findings")
    with columns[1]:
        old, new = (e.macro_f1.value for e in (found.old, found.new))
        texts = [widgets.UNDEFINED if v is None else f"{v:.3f}" for v in (old, new)]
        st.metric("Macro-F1", f"{texts[0]} → {texts[1]}")
        st.caption(f"on {found.old.n_reports:,} reports of {found.old.n_patients:,} patients")
    columns[2].metric("Labels now right", f"{fixed:,}")
    columns[3].metric("Labels now wrong", f"{len(found.flips) - fixed:,}")


def _worse(found: Compared, label_set: LabelSet) -> None:
    if not found.worse:
        st.success("No finding got worse.", icon=":material/check_circle:")
        return
    named = [
        f"{label_set.get(row.finding_id).name} {signed(row.change.f1_change)}, {row.change.broken} wrong now"
        for row in found.worse
    ]
    more = f"; and {len(named) - 3} more" if len(named) > 3 else ""
    told = f"{len(named)} got worse: {'; '.join(named[:3])}{more}."
    st.warning(widgets.plain(told), icon=":material/trending_down:")


def _beside(found: Compared) -> None:
    told = []
    if found.old.n_failed or found.new.n_failed:
        told.append(
            f"Failed replies count as wrong: {found.old.n_failed} before, {found.new.n_failed} after. Over the reports "
            f"that both answered macro-F1 changes by {signed(found.answered)}."
        )
    moved = found.moved.value or 0.0
    for which, wobble in (("first", found.wobble_before), ("second", found.wobble_after)):
        if wobble.value is not None:
            told.append(
                f"Asked again, the {which} gives {wobble.value:.1%} of its labels otherwise; between the two "
                f"{moved:.1%} differ{', hardly more than that' if moved <= 1.5 * wobble.value else ''}."
            )
    if found.left_out:
        told.append(f"{len(found.left_out)} reports that a prompt quotes are left out.")
    if told:
        st.caption(widgets.plain(" ".join(told)))


def _flips(here: state.Here, found: Compared) -> None:
    counts = {row.finding_id: row.change for row in found.findings if not row.same}
    _keep(FINDING, [*counts, ALL], next(iter(counts), ALL))
    finding = st.selectbox(
        "Labels that flipped, worst finding first",
        [*counts, ALL],
        format_func=lambda f: (
            f"{here.study.label_set.get(f).name} · {counts[f].broken} wrong now, {counts[f].fixed} right now"
            if f
            else f"All findings · {len(found.flips)} flips"
        ),
        key=FINDING,
    )
    which = st.segmented_control(
        "Which", (BOTH, BROKEN, FIXED), default=BOTH, required=True, key=WHICH, label_visibility="collapsed"
    )
    wanted = {BOTH: {True, False}, BROKEN: {False}, FIXED: {True}}[which or BOTH]
    shown = [flip for flip in found.flips if flip.fixed in wanted and finding in {ALL, flip.finding_id}]
    if not shown:
        st.caption("None of these.")
        return
    picked = st.dataframe(
        _flip_table(shown, here.study.label_set),
        hide_index=True,
        height=min(230, 36 * (len(shown) + 1) + 2),
        on_select="rerun",
        selection_mode="single-row-required",
        key=f"compare.flips.{found.before.hash[:8]}.{found.after.hash[:8]}.{finding}.{which}",
        alt="Labels that flipped",
    )
    rows = picked.selection.rows
    _flip(here, found, shown[rows[0] if rows and rows[0] < len(shown) else 0])


def _flip_table(flips: Sequence[Flip], label_set: LabelSet) -> pd.DataFrame:
    return pd.DataFrame(
        [
            {
                "Now": "right" if flip.fixed else "wrong",
                "Finding": label_set.get(flip.finding_id).name,
                "Report": flip.report_id,
                "Reference": "present" if flip.present else "not present",
                "Before": widgets.STATE_NAMES[flip.before],
                "After": widgets.STATE_NAMES[flip.after],
                "Steady": "no" if flip.unsteady else "",
            }
            for flip in flips
        ]
    ).drop(columns=[] if any(flip.unsteady for flip in flips) else ["Steady"])


def _flip(here: state.Here, found: Compared, flip: Flip) -> None:
    finding = html.escape(here.study.label_set.get(flip.finding_id).name)
    told = "right now" if flip.fixed else "wrong now"
    wobbles = "; a repeat said otherwise, so this may be no change" if flip.unsteady else ""
    st.html(
        f"<div><b>{html.escape(flip.report_id)}</b>: {finding} is {told}{wobbles}. Before "
        f"<b>{widgets.STATE_NAMES[flip.before]}</b>, after <b>{widgets.STATE_NAMES[flip.after]}</b>, reference "
        f"<b>{'present' if flip.present else 'not present'}</b>.</div>"
    )
    words = [each for each in (flip.words_before, flip.words_after) if each]
    with st.container(height=280, border=False):
        widgets.report_text(data.report(here, flip.report_id), found.after.prepared.run.sections, words)


def _table(found: Compared, label_set: LabelSet) -> pd.DataFrame:
    return pd.DataFrame([_row(row, label_set) for row in found.findings])


def _row(row: FindingChange, label_set: LabelSet) -> dict[str, object]:
    it = row.change
    return {
        "Finding": label_set.get(it.finding_id).name,
        "F1 before": _number(row.before.f1),
        "F1 after": _number(row.after.f1),
        "Change (95 %)": signed(it.f1_change),
        "Right now": it.fixed,
        "Wrong now": it.broken,
        "Recall": signed(it.recall_change),
        "p of recall": _p(it.recall_p_holm),
        "Specificity": signed(it.specificity_change),
        "p of specificity": _p(it.specificity_p_holm),
        "Positives": row.after.support,
    }


def _number(value: Figure) -> str:
    return widgets.UNDEFINED if value.value is None else f"{value.value:.3f}"


def _p(value: Figure) -> str:
    return "<0.001" if value.value is not None and value.value < 0.001 else _number(value)
