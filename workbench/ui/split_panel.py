"""The reports behind a figure about raters: which ones, who said what, and on which words."""

import pandas as pd
import streamlit as st

from workbench.domain.findings import State
from workbench.domain.references import Outcome, Reference
from workbench.ui import data, state, widgets
from workbench.workflow.agreed import View
from workbench.workflow.splits import Split, Word

TAB = "Split reports"
OUTCOMES = {Outcome.PRESENT: "present", Outcome.NOT_PRESENT: "not present", Outcome.SHORT: "short"}
EVERYBODY, PAIR, OTHERS, AGAIN = "all raters", "two raters", "one rater and the vote of the others", "one rater, twice"
_ALL = ""  # findings
_HOW, _FINDING, _ONE, _TWO = "split.how", "split.finding", "split.one", "split.two"
_AT = "split.at"


def go(finding: str = _ALL, *raters: str, again: bool = False) -> None:
    """Open the tab with the reports behind a figure; call it before the page is drawn, as a click does.

    Args:
        finding: which one, all without.
        raters: two to compare, or one with the vote of the others, or with themselves where ``again``.
        again: whether second readings are meant.
    """
    how = AGAIN if again else (EVERYBODY, OTHERS, PAIR)[len(raters)]
    st.session_state[_HOW], st.session_state[_FINDING] = how, finding
    for key, rater in zip((_ONE, _TWO), raters, strict=False):
        st.session_state[key] = rater
    st.session_state[_AT] = 0
    st.session_state["reference.tabs"] = TAB


def draw(here: state.Here, chosen: Reference, view: View) -> None:
    """Draw what to compare, the list of reports, and the one that is looked at."""
    wish = _wish(here, chosen, view)
    if wish is None:
        return
    found, reports = data.split(here, chosen.name, wish)
    if not found:
        st.success("They are of one mind here: no report is split.")
        return
    at = min(st.session_state.get(_AT, 0), len(found) - 1)
    listed, shown = st.columns(2, gap="medium")
    with listed:
        with st.container(horizontal=True, vertical_alignment="center"):
            st.button("Previous", shortcut="Left", disabled=at == 0, on_click=_move, args=(at - 1,))
            st.button("Next", shortcut="Right", disabled=at + 1 >= len(found), on_click=_move, args=(at + 1,))
            st.markdown(f"Report **{at + 1} of {len(found)}**")
        _list(here, found, at, one_finding=bool(wish.finding))
    with shown:
        split = found[at]
        name = widgets.plain(here.study.label_set.get(split.finding_id).name)
        st.markdown(
            f"**{name}** in report **{widgets.plain(split.report_id)}**. The vote made it "
            f"**{OUTCOMES[split.outcome]}**."
        )
        _who(split, wish)
        widgets.report_text(reports[split.report_id], here.study.settings.sections, split.evidence, unread="")


def _wish(here: state.Here, chosen: Reference, view: View) -> data.SplitWish | None:
    names = {_ALL: "All findings", **{f.id: f.name for f in here.study.label_set.findings}}
    ways = [EVERYBODY, *([PAIR] if len(chosen.raters) > 1 else []), *([OTHERS] if len(chosen.raters) > 2 else [])]
    raters = list(chosen.raters)
    for key, fallback in ((_ONE, raters[0]), (_TWO, raters[-1])):
        if st.session_state.get(key) not in raters:
            st.session_state[key] = fallback
    with st.container(horizontal=True, vertical_alignment="bottom"):
        how = st.selectbox("Between", [*ways, AGAIN], key=_HOW, width=300, on_change=_move, args=(0,))
        finding = st.selectbox(
            "Finding", list(names), format_func=names.__getitem__, key=_FINDING, width=260, on_change=_move, args=(0,)
        )
        picked: list[str] = []
        if how != EVERYBODY:
            picked.append(st.selectbox("Rater", raters, key=_ONE, width=180, on_change=_move, args=(0,)))
        if how == PAIR:
            picked.append(st.selectbox("and", raters, key=_TWO, width=180, on_change=_move, args=(0,)))
    if how == PAIR and picked[0] == picked[1]:
        st.info("Choose two different raters.")
        return None
    return data.SplitWish(finding, tuple(picked), how == AGAIN, view)


def _move(at: int) -> None:
    st.session_state[_AT] = at


def _list(here: state.Here, found: list[Split], at: int, *, one_finding: bool) -> None:
    rows = []
    for i, split in enumerate(found):
        row: dict[str, object] = {" ": "▸" if i == at else "", "Report": split.report_id}
        if not one_finding:
            row["Finding"] = here.study.label_set.get(split.finding_id).name
        rows.append(row | {"Raters said": _counts(split), "Vote": OUTCOMES[split.outcome]})
    key = f"split.list.{at}.{len(found)}"

    def picked() -> None:
        chosen = st.session_state[key].selection.rows
        if chosen:
            st.session_state[_AT] = chosen[0]

    st.dataframe(
        pd.DataFrame(rows),
        hide_index=True,
        height=min(36 * (len(rows) + 1), 560),
        key=key,
        on_select=picked,
        selection_mode="single-row",
        column_config={" ": st.column_config.TextColumn(width=24)},
        alt="Reports on which raters differ",
    )


def _counts(split: Split) -> str:
    said = [word.state for word in split.said.values()]
    counts = {
        "present": said.count(State.PRESENT),
        "uncertain": said.count(State.UNCERTAIN),
        "not": said.count(State.ABSENT) + said.count(State.NOT_MENTIONED),
        "missing": said.count(None),
    }
    return ", ".join(f"{n} {what}" for what, n in counts.items() if n)


def _who(split: Split, wish: data.SplitWish) -> None:
    widgets.chips({rater: word.state for rater, word in split.said.items() if word.state})
    missing = [rater for rater, word in split.said.items() if word.state is None]
    if missing:
        st.caption(widgets.plain(f"Not submitted: {', '.join(missing)}."))
    if split.again is not None:
        rater = wish.raters[0]
        first, second = (widgets.STATE_NAMES[word.state] for word in (split.said[rater], split.again))
        st.markdown(f"{widgets.plain(rater)} first said **{first}**, then **{second}**.")
    words: dict[str, Word] = dict(split.said) | ({"the second time": split.again} if split.again else {})
    for rater, word in words.items():
        if word.evidence:
            st.caption(widgets.plain(f"{rater} marked: “{word.evidence}”"))
        if word.comment:
            st.caption(widgets.plain(f"{rater} wrote: {word.comment}"))
