"""Which errors to look at, and the walk through them: by kind, filtered, those that are nearly the same in a row."""

from collections import Counter
from collections.abc import Sequence

import streamlit as st

from workbench.domain.error_kinds import ErrorKind
from workbench.evaluation.mistakes import MistakeKind
from workbench.ui import data, doubting, mistakes, state
from workbench.ui.error_tables import NAMES
from workbench.workflow import errors
from workbench.workflow.errors import Group, Mistake, Wish
from workbench.workflow.score import Score

ALL = "all"
DIRECTIONS = {ALL: None, "missed": MistakeKind.MISSED, "invented": MistakeKind.INVENTED, "failed": MistakeKind.FAILED}
TABS, READ = "errors.tabs", "Read them"  # the page's tabs, and the one in which errors are read
KIND = "errors.kind"  # the kind that is read, "all" or none
_CONTROL = "errors.kind.control"
_AT = "errors.at"  # which error is read, and its place: it moves when it is said to be of another kind


def show(score: Score, finding: str) -> None:
    """Let the page Errors open with the errors of a finding, of every kind."""
    st.session_state[f"errors.score.{score.reference.name}"] = score.hash
    st.session_state[f"errors.finding.{score.hash}"] = finding
    st.session_state[KIND] = ALL
    st.session_state[TABS] = READ


def ask(here: state.Here, score: Score, finding: str) -> Wish:
    """Draw the filters and the kinds, and return what is asked for."""
    reports = score.prepared.reports
    with st.container(horizontal=True, vertical_alignment="bottom"):
        place = st.container()
        wish = _filters(finding, sorted({r.language for r in reports}), sorted({r.source for r in reports}))
    counts = Counter(m.why for m in errors.chosen(data.mistakes(here, score), wish, reports))
    known = [ALL, *(kind.value for kind, _ in counts.most_common())]
    # Kept apart from the control, whose own state goes while another tab is shown.
    st.session_state[_CONTROL] = st.session_state.get(KIND) if st.session_state.get(KIND) in known else ALL
    with place:
        kind = st.segmented_control(
            "Kind of error",
            known,
            required=True,
            key=_CONTROL,
            on_change=_keep,
            format_func=lambda k: (
                f"all {counts.total()}" if k == ALL else f"{NAMES[ErrorKind(k)]} {counts[ErrorKind(k)]}"
            ),
            label_visibility="collapsed",
        )
    picked = None if kind in {ALL, None} else ErrorKind(kind)
    return Wish(wish.finding, picked, wish.direction, wish.agreement, wish.length, wish.language, wish.source)


def _keep() -> None:
    st.session_state[KIND] = st.session_state[_CONTROL]
    st.session_state[_AT] = (st.session_state.get(_AT, (None, 0))[0], 0)


def _filters(finding: str, languages: Sequence[str], sources: Sequence[str]) -> Wish:
    with st.popover("Filter", icon=":material/filter_list:"):
        direction = st.segmented_control(
            "Labeler", list(DIRECTIONS), default=ALL, required=True, key="errors.direction"
        )
        agreement = st.segmented_control(
            "Raters", (ALL, "unanimous", "split"), default=ALL, required=True, key="errors.agreement"
        )
        length = st.segmented_control(
            "Report",
            (ALL, "short", "long"),
            default=ALL,
            required=True,
            key="errors.length",
            help="Parted at the median",
        )
        language = st.selectbox("Language", [ALL, *languages], key="errors.language") if len(languages) > 1 else ALL
        source = st.selectbox("File it came from", [ALL, *sources], key="errors.source") if len(sources) > 1 else ALL
    return Wish(
        finding,
        None,
        DIRECTIONS[direction or ALL],
        agreement or ALL,
        length or ALL,
        "" if language == ALL else language,
        "" if source == ALL else source,
    )


def walk(here: state.Here, score: Score, wish: Wish) -> None:
    """Draw one error after another, with the keys to go on; those that are nearly the same follow each other."""
    if wish.kind is ErrorKind.DOUBTFUL and (told := doubting.outcome(here, score.reference)):
        st.caption(told)
    groups = data.error_groups(here, score, wish)
    steps = [(at, group, mistake) for at, group in enumerate(groups) for mistake in group.mistakes]
    if not steps:
        st.success("No errors here.")
        return
    cells = [(mistake.report.id, mistake.finding_id) for _, _, mistake in steps]
    at = _place(cells)
    number, group, mistake = steps[at]
    following = next((i for i, step in enumerate(steps) if step[0] > number), at)
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.button("Previous", shortcut="Left", disabled=at == 0, on_click=_go, args=(cells, at - 1))
        st.button("Next", shortcut="Right", disabled=at + 1 >= len(steps), on_click=_go, args=(cells, at + 1))
        if len(groups) < len(steps):
            st.button(
                "Next that differs",
                shortcut="Shift+Right",
                disabled=following == at,
                on_click=_go,
                args=(cells, following),
            )
        st.markdown(f"Error **{at + 1} of {len(steps)}**{_alike(group, mistake)}", width="content")
    mistakes.draw(here, score, mistake, group.words if not mistake.cause.words and not mistake.evidence else "")


def _alike(group: Group, mistake: Mistake) -> str:
    if len(group.mistakes) == 1:
        return ""
    place = group.mistakes.index(mistake) + 1
    return f" · {place} of {len(group.mistakes)} that are nearly the same"


def _place(cells: Sequence[tuple[str, str]]) -> int:
    """Return where the error that was read last is now, else what has come into its place, else the first."""
    last: tuple[tuple[str, str] | None, int] = st.session_state.get(_AT, (None, 0))
    cell, at = last
    if cell in cells:
        at = cells.index(cell)
    elif cell is not None and not any(finding == cell[1] for _, finding in cells):
        at = 0
    at = min(at, len(cells) - 1)
    st.session_state[_AT] = (cells[at], at)
    return at


def _go(cells: Sequence[tuple[str, str]], at: int) -> None:
    st.session_state[_AT] = (cells[at], at)
