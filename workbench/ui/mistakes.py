"""One error on the screen: the text with the words that matter, the votes, what was said, why, and what to do."""

import html
from collections.abc import Sequence

import streamlit as st

from workbench.domain.actors import Role
from workbench.domain.error_kinds import RULES, ErrorKind
from workbench.domain.references import ReferenceItem
from workbench.domain.reports import Report
from workbench.evaluation.mistakes import MistakeKind
from workbench.ui import selected, state, widgets
from workbench.ui.error_tables import NAMES
from workbench.workflow import errors
from workbench.workflow.errors import Mistake
from workbench.workflow.score import Score

KINDS = {
    MistakeKind.MISSED: "missed: the reference has it, the labeler does not",
    MistakeKind.INVENTED: "invented: the labeler has it, the reference does not",
    MistakeKind.FAILED: "failed: there was no usable reply",
}
STYLE = """<style>
.wb-report mark.raters {background: rgba(123,128,201,.38)}
.wb-report mark.phrase, .wb-report mark.likely {border-bottom: 2px solid #2f8f97; border-radius: 0}
.wb-report mark.likely {border-bottom: 2px dotted #cf7a3f}
.wb-report mark.phrase:not(.plain):not(.raters), .wb-report mark.likely:not(.plain):not(.raters) {
  background: transparent}
.wb-legend {font-size: .8rem; opacity: .85}
.wb-legend mark {color: inherit; padding: 0 .25rem; margin-right: .7rem; border-radius: .2rem}
.wb-quote {font-size: .9rem; border-left: 3px solid rgba(224,164,60,.8); padding: .1rem .6rem; margin: 0}
</style>"""
LONGEST_PHRASE = 8  # words; a whole sentence is found in no other report
CARRY = (
    ("synonyms", "Synonym", ":material/add:", "These words name the finding"),
    ("exclusions", "Exclusion", ":material/remove:", "These words look like it and are not"),
    (
        "examples",
        "Worked example",
        ":material/school:",
        "Quote this in the prompt with its right label; its report then counts in no score of it",
    ),
)


def vote_text(item: ReferenceItem) -> str:
    """Return the vote in words."""
    missing = f", {item.missing} missing" if item.missing else ""
    tie = ", a tie" if item.tie else ""
    votes = "1 vote" if item.present == 1 else f"{item.present} votes"
    return f"{str(item.outcome).replace('_', ' ')} by {votes} for present{missing}{tie}"


def draw(here: state.Here, score: Score, mistake: Mistake, likely: str) -> None:
    """Draw an error: facts at the right of the report. ``likely`` are words it probably was missed for."""
    text, facts = st.columns([5, 4], gap="medium")
    with text:
        st.html(STYLE)
        _report(here, score, mistake, likely)
    with facts:
        _said(here, mistake)
        _carry(here, score, mistake, likely)
        _retag(here, score, mistake)
        _more(here, mistake)


def _report(here: state.Here, score: Score, mistake: Mistake, likely: str) -> None:
    failed = mistake.kind is MistakeKind.FAILED
    evidence = [] if failed or not mistake.evidence else [mistake.evidence]
    phrases = errors.phrases_in(here.study, score, mistake)
    raters = list(errors.raters_words(here.study, here.actor, score, mistake).values())
    passages = [
        ("", "the labeler's words", evidence),
        ("raters", "raters' words", raters),
        ("phrase", "a phrase of the prompt", phrases),
        ("likely", "probably what it was missed for", [likely] if likely and not evidence else []),
    ]
    shown = [(name, told, words) for name, told, words in passages if words]
    keys = "".join(f'<mark class="{name}">{told}</mark>' for name, told, _ in shown)
    st.html(
        f'<div class="wb-report wb-legend"><b>Report {html.escape(mistake.report.id)}</b> &nbsp; {keys}</div>'
        + _marked_report(mistake.report, score.prepared.run.sections, [(name, words) for name, _, words in shown])
    )


def _marked_report(report: Report, read: Sequence[str], passages: Sequence[tuple[str, Sequence[str]]]) -> str:
    """Return a report as HTML with several sorts of passages marked."""
    return widgets.report_html(
        report, read, [widgets.Passage(words, name) for name, each in passages for words in each]
    )


def _said(here: state.Here, mistake: Mistake) -> None:
    name = widgets.plain(here.study.label_set.get(mistake.finding_id).name)
    st.markdown(f"**{name}** {KINDS[mistake.kind]}")
    by = f" · says {widgets.plain(mistake.tag.actor)}: {widgets.plain(mistake.tag.comment)}" if mistake.tag else ""
    st.markdown(f":orange-badge[{NAMES[mistake.why]}] {widgets.plain(RULES[mistake.why])}{by}")
    st.markdown(
        f"Labeler: **{widgets.STATE_NAMES[mistake.predicted]}** · reference: **{vote_text(mistake.reference)}**"
    )
    if mistake.evidence and mistake.why in {ErrorKind.INVENTED_EVIDENCE, ErrorKind.UNREADABLE}:
        st.html(f'<p class="wb-quote">{html.escape(mistake.evidence)}</p>')
    widgets.chips(mistake.votes)


def _carry(here: state.Here, score: Score, mistake: Mistake, likely: str) -> None:
    """Draw the words at hand and where one click carries them."""
    if not here.may(Role.LEAD, Role.ADMIN):
        return
    on = f"{mistake.report.id}.{mistake.finding_id}"
    key = f"errors.phrase.{on}"
    st.session_state.setdefault(key, " ".join((likely or mistake.cause.words or mistake.evidence).split()).strip(" ."))
    with st.container(border=True):
        phrase = st.text_input("Words for the prompt: select them in the report, or write them", key=key)
        selected.listen("errors.selected", on, lambda words: st.session_state.__setitem__(key, words))
        words = len((phrase or "").split())
        if words > LONGEST_PHRASE:
            st.caption(f"A synonym or an exclusion has at most {LONGEST_PHRASE} words: select those that matter.")
        with st.container(horizontal=True):
            for field, label, icon, told in CARRY:
                fits = 0 < words <= LONGEST_PHRASE if field != "examples" else words > 0
                tip = told if fits or not words else f"Select at most {LONGEST_PHRASE} words for this"
                if st.button(label, icon=icon, help=tip, key=f"errors.{field}", disabled=not fits):
                    state.ask(
                        state.Intent(
                            "revise",
                            mistake.finding_id,
                            (phrase or "").strip(),
                            score.prepared.number,
                            mistake.report.id,
                            field,
                        )
                    )
                    st.switch_page(state.page("revise"))


def _retag(here: state.Here, score: Score, mistake: Mistake) -> None:
    on = f"{mistake.report.id}.{mistake.finding_id}"
    kinds = list(ErrorKind)
    with (
        st.popover("It is an error of another kind", icon=":material/sell:"),
        st.form(f"errors.tag.{on}", border=False),
    ):
        kind = st.selectbox("Kind", kinds, index=kinds.index(mistake.why), format_func=NAMES.__getitem__)
        st.caption(
            "Reference doubtful puts the item before an adjudicator who edits no prompts, mixed with as many that "
            "nobody doubts. The frozen reference stays as it is."
        )
        comment = st.text_input("Why", placeholder="in a sentence", max_chars=500)
        if st.form_submit_button("Save", type="primary"):
            with widgets.explained():
                cell = (mistake.report.id, mistake.finding_id)
                errors.tag(here.study, here.actor, score, cell, kind=kind, comment=comment or "")
                state.say(f"Noted: {NAMES[kind]}.")
                st.rerun()


def _more(here: state.Here, mistake: Mistake) -> None:
    finding = here.study.label_set.get(mistake.finding_id)
    with st.expander("What raters were told"):
        st.markdown(widgets.plain(finding.definition))
        for name, told in (("Include", finding.include), ("Exclude", finding.exclude)):
            if told:
                st.markdown(f"**{name}:** {widgets.plain(told)}")
    if mistake.reply.raw or mistake.reply.detail:
        with st.expander("The reply as it came"):
            if mistake.reply.detail:
                st.caption(widgets.plain(mistake.reply.detail))
            st.code(mistake.reply.raw or "(nothing)", language=None, wrap_lines=True, height=200)
