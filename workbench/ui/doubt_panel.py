"""The replies of a model that a clinician should look at, with the report and the reply as it came."""

import pandas as pd
import streamlit as st

from workbench.domain.runs import Extraction, Flag
from workbench.ui import data, state, widgets
from workbench.ui.run_progress import KINDS
from workbench.workflow.doubts import INSTRUCTED, Doubt
from workbench.workflow.run import PreparedRun

NAMES = {
    INSTRUCTED: "report talks to the labeler",
    Flag.INVENTED_EVIDENCE.value: "invented quote",
    Flag.INEXACT_EVIDENCE.value: "quote nearly as written",
    Flag.NO_EVIDENCE.value: "no quote",
    Flag.EXAMPLE_EVIDENCE.value: "quote from a worked example",
    Flag.OTHERWISE_READ.value: "rules read the quote otherwise",
    Flag.LISTED_TWICE.value: "finding listed twice",
    Flag.REPAIRED.value: "usable only at the second try",
    **KINDS,
}


def draw(here: state.Here, prepared: PreparedRun) -> None:
    """Draw which replies to look at, by kind, and the one that is chosen."""
    found = data.doubtful(here, prepared)
    st.subheader("Replies to look at", anchor=False)
    if not found.counts:
        st.markdown(f"None of {len(found.replies):,}: every reply could be used and each quote stands in its report.")
        return
    kinds = list(found.counts)
    kind = st.segmented_control(
        "What is doubtful",
        kinds,
        default=kinds[0],
        required=True,
        key="doubts.kind",
        format_func=lambda each: f"{NAMES[each]} · {found.counts[each]}",
        label_visibility="collapsed",
    )
    items = found.of(kind if kind in kinds else kinds[0])
    _told(items)
    left, right = st.columns([2, 3], gap="medium")
    with left:
        chosen = _chosen(here, items)
    with right:
        _reply(here, prepared, chosen, found.replies[chosen.report_id])


def _told(items: tuple[Doubt, ...]) -> None:
    if items[0].kind != INSTRUCTED:
        return
    obeyed = [item for item in items if item.findings]
    if obeyed:
        st.error(
            f"{len(obeyed)} of {len(items)} such replies contradict the rules labeler: did the model obey the report?",
            icon=":material/warning:",
        )
    else:
        st.success("No such reply contradicts the rules labeler: the report was read as data.")


def _chosen(here: state.Here, items: tuple[Doubt, ...]) -> Doubt:
    names = here.study.label_set
    table = pd.DataFrame(
        {
            "Report": [item.report_id for item in items],
            "About": [", ".join(names.get(f).name for f in item.findings) or item.detail for item in items],
        }
    )
    event = st.dataframe(
        table,
        hide_index=True,
        height=min(38 + 35 * len(items), 420),
        selection_mode="single-row",
        on_select="rerun",
        key=f"doubts.{items[0].kind}",
        alt="Replies to look at",
    )
    rows = event.selection.rows
    return items[rows[0]] if rows and rows[0] < len(items) else items[0]


def _reply(here: state.Here, prepared: PreparedRun, doubt: Doubt, reply: Extraction) -> None:
    st.markdown(f"**Report {widgets.plain(doubt.report_id)}**")
    about = [reply.mentions[f].evidence for f in doubt.findings if f in reply.mentions]
    widgets.report_text(data.report(here, doubt.report_id), prepared.run.sections, about)
    if doubt.detail:
        st.caption(widgets.plain(f"“{doubt.detail}”" if doubt.kind == INSTRUCTED else doubt.detail))
    for finding in doubt.findings:
        mention, name = reply.mentions.get(finding), here.study.label_set.get(finding).name
        said = widgets.STATE_NAMES[reply.state(finding)]
        quote = f", quoting “{mention.evidence}”" if mention and mention.evidence else ""
        st.markdown(widgets.plain(f"The reply says {name}: {said}{quote}."))
    facts = [reply.served_model, reply.finish_reason, reply.constraint, _tokens(reply)]
    st.caption(widgets.plain("The reply as it came" + "".join(f" · {fact}" for fact in facts if fact)))
    st.code(reply.raw or "(nothing)", language=None, wrap_lines=True, height=160)
    if reply.unrepaired:
        st.caption("The first reply, which could not be used")
        st.code(reply.unrepaired, language=None, wrap_lines=True, height=120)
    if reply.reasoning:
        st.caption("What it wrote before answering; it is kept and not read")
        st.code(reply.reasoning, language=None, wrap_lines=True, height=120)


def _tokens(reply: Extraction) -> str:
    if reply.input_tokens is None or reply.output_tokens is None:
        return ""
    return f"{reply.input_tokens:,} tokens in, {reply.output_tokens:,} out"
