"""Suggested edits of a prompt: what each would mend, the sentences behind it, and a person's yes or no."""

import html
from collections.abc import Sequence
from dataclasses import dataclass, field

import streamlit as st

from workbench.domain.prompts import Prompt
from workbench.errors import WorkbenchError
from workbench.prompting.edits import Edit, Part
from workbench.text.normalise import words
from workbench.text.phrases import PhraseFinder
from workbench.text.sentences import sentence_spans
from workbench.ui import state, unsaved, widgets
from workbench.ui.undisturbed import undisturbed
from workbench.workflow import labelers, propose, suggest
from workbench.workflow.score import Score
from workbench.workflow.suggest import FROM_ERRORS, Offer, Offers

_SHOWN = 8
_QUOTED = 6
_ACTS = {
    Part.SYNONYMS: ("Synonym", "names the finding"),
    Part.EXCLUSIONS: ("Exclusion", "looks like it and is not"),
    Part.NORMAL: ("Normal phrase", "says it is absent"),
    Part.NEGATION_BEFORE: ("Negation cue", "denies what follows it"),
    Part.NEGATION_AFTER: ("Negation cue", "denies what stands before it"),
    Part.NEGATION_TERMINATORS: ("End of a negation", "what follows is not denied"),
    Part.PSEUDO_NEGATION: ("No negation", "looks like one and is none"),
    Part.DEFINITION: ("Definition", "what a language model is told the finding is"),
}


@dataclass(slots=True)
class _Asked:
    """What was suggested last: for which draft by its hash, for what, what was decided, and where the shown begin."""

    of: str
    where: str
    found: Offers
    decided: dict[Edit, bool] = field(default_factory=dict)
    first: int = 0
    by: str = FROM_ERRORS


def draw(here: state.Here, base: Prompt, draft: Prompt, score: Score, finding: str) -> None:
    """Draw the button that asks for suggestions, and what was suggested last."""
    key = _key(base)
    models = [name for name, kind in _kinds(here).items() if kind != "rules"]
    by = FROM_ERRORS
    if models:
        by = st.selectbox(
            "Suggested by",
            [FROM_ERRORS, *models],
            format_func=lambda each: "the errors alone" if each == FROM_ERRORS else f"the language model of {each}",
            key="revise.suggest.by",
        )
    if by == FROM_ERRORS:
        _ask_errors(here, draft, score, finding, key)
    else:
        _ask_model(here, draft, score, finding, by=by, key=key)
    if key in st.session_state:
        _offers(here, base, score, key)


def _kinds(here: state.Here) -> dict[str, str]:
    return {name: entry.kind for name, entry in here.study.settings.labelers.items()}


def _ask_errors(here: state.Here, draft: Prompt, score: Score, finding: str, key: str) -> None:
    name = here.study.label_set.get(finding).name
    st.caption(
        "Learned from this score's errors alone and measured on patients that each was not learned from. "
        "Nothing is applied before you accept it."
    )
    with st.container(horizontal=True, vertical_alignment="bottom"):
        where = st.segmented_control(
            "Mend", ["This finding", "All findings"], default="All findings", key="revise.suggest.where"
        )
        asked = st.button("Suggest edits", icon=":material/lightbulb:", help="Counts as a look")
    if asked:
        only = finding if where == "This finding" else None
        with widgets.explained(), st.spinner("Reading the errors"):
            found = suggest.suggestions(here.study, here.actor, score, prompt=draft, finding_id=only)
            st.session_state[key] = _Asked(draft.hash, name if only else "all findings", found)


def _ask_model(here: state.Here, draft: Prompt, score: Score, finding: str, *, by: str, key: str) -> None:
    card, name = labelers.card(here.study, by), here.study.label_set.get(finding).name
    st.caption(
        widgets.plain(
            f"It is shown the guidance of {name} and words of reports with errors, at most five times, and runs "
            f"{card.place}. What it proposes is measured on patients whose errors it was not shown. Nothing is applied "
            "before you accept it."
        )
    )
    if card.problem:
        st.warning(widgets.plain(card.problem), icon=":material/lock:")
    label = f"Ask for edits of {widgets.plain(name)}"
    if st.button(label, icon=":material/smart_toy:", help="Counts as a look", disabled=bool(card.problem)):
        asked = st.session_state.get(key)
        again = asked is not None and (asked.of, asked.where, asked.by) == (draft.hash, name, by)
        with widgets.explained(), st.spinner("The model reads the errors"):
            found = propose.proposals(here.study, here.actor, score, finding, by=by, prompt=draft, again=again)
            st.session_state[key] = _Asked(draft.hash, name, found, by=by)


def _offers(here: state.Here, base: Prompt, score: Score, key: str) -> None:
    asked: _Asked = st.session_state[key]
    offers = asked.found.offers
    for sentence in asked.found.told:
        st.caption(widgets.plain(sentence))
    if not offers:
        st.info(f"No phrase would mend more than it breaks, for {widgets.plain(asked.where)}.")
        return
    since = (
        "" if unsaved.draft(here, base).hash == asked.of else " You have edited since: suggest again to measure anew."
    )
    st.markdown(f"**{_counted(asked)}** for {widgets.plain(asked.where)}, the one that gains most first.{since}")
    # What was decided stays in its place, so that a click meant for one never falls on the next.
    batch = offers[asked.first : asked.first + _SHOWN]
    for number, offer in enumerate(batch, asked.first):
        with st.container(border=True):
            _offer(here, base, score, offer, f"{key}.{number}")
    _go_on(here, base, score, asked, batch)
    declined = f" {asked.found.declined} were declined before and are not shown." if asked.found.declined else ""
    st.caption(f"{asked.found.looks} looks at this cohort so far.{declined}")


def _counted(asked: _Asked) -> str:
    accepted = sum(asked.decided.values())
    told = (f", {accepted} accepted, {len(asked.decided) - accepted} declined") if asked.decided else ""
    return f"{len(asked.found.offers)} suggestions{told}"


def _go_on(here: state.Here, base: Prompt, score: Score, asked: _Asked, batch: Sequence[Offer]) -> None:
    """Draw what comes after these suggestions: all of them accepted at once, the next ones, or the trial."""
    open_ones = [offer for offer in batch if offer.edit not in asked.decided]
    following = len(asked.found.offers) - asked.first - len(batch)
    if len(open_ones) > 1:
        st.button(
            f"Accept these {len(open_ones)}",
            icon=":material/done_all:",
            on_click=_accept,
            kwargs={"here": here, "base": base, "score": score, "offers": open_ones},
        )
    elif not open_ones and following > 0:
        st.button(
            f"Show the next {min(following, _SHOWN)}",
            icon=":material/arrow_forward:",
            on_click=_show_next,
            args=(asked,),
        )
    elif not open_ones:
        st.success("All are decided. Next: try the edit, then save it.", icon=":material/check:")


def _show_next(asked: _Asked) -> None:
    asked.first += _SHOWN


def _offer(here: state.Here, base: Prompt, score: Score, offer: Offer, key: str) -> None:
    what, means = _ACTS.get(offer.edit.part, ("Cue", ""))
    finding = here.study.label_set.get(offer.edit.finding_id).name if offer.edit.finding_id else "All findings"
    verb = "" if offer.edit.add else "Take out: "
    decided = st.session_state[_key(base)].decided.get(offer.edit)
    badge = "" if decided is None else " :green-badge[accepted]" if decided else " :gray-badge[declined]"
    left, right = st.columns([5, 4], vertical_alignment="center")
    left.markdown(
        f"{verb}**{widgets.plain(offer.edit.phrase)}**{badge}  \n{widgets.plain(finding)} · {what}", help=means
    )
    if offer.why:
        left.caption(widgets.plain(offer.why))
    arguments = {"here": here, "base": base, "score": score, "offers": [offer]}
    with right.container(horizontal=True, horizontal_alignment="right", gap="small"):
        for label, icon, act in (
            ("Accept", ":material/check:", _accept),
            ("Decline", ":material/close:", _decline),
        ):
            st.button(
                label, icon=icon, key=f"{key}.{label}", on_click=act, kwargs=arguments, disabled=decided is not None
            )
    if offer.gain is None:
        st.caption("Not measured: the rules cannot tell. Try it on reports with an error.")
        return
    unseen = f"Unseen patients: mends {offer.held_out_fixed}, breaks {offer.held_out_broken}"
    with st.expander(f"{unseen}; macro-F1 {offer.gain:+.3f}"):
        st.caption(
            f"On all patients, those it was learned from too: mends {len(offer.answers)}, breaks {len(offer.breaks)}."
        )
        _quotes(here, score, offer)


def _quotes(here: state.Here, score: Score, offer: Offer) -> None:
    """Draw sentences that hold the phrase, of reports that it mends and of those that it breaks."""
    finder = PhraseFinder([(offer.edit.phrase, None)])
    texts = dict(score.prepared.texts)
    for cells, told in ((offer.breaks, "Would become wrong"), (offer.answers, "Would become right")):
        if not cells:
            continue
        st.markdown(f"**{told}**")
        lines = []
        for report, finding in cells[:_QUOTED]:
            text = texts[report]
            held = [text[a:b].strip() for a, b in sentence_spans(text) if finder.find(words(text[a:b]))]
            name = here.study.label_set.get(finding).name
            quote = html.escape(" … ".join(held))
            lines.append(f'<p class="wb-offer"><b>{html.escape(name)}, {html.escape(report)}:</b> {quote}</p>')
        st.html("<style>.wb-offer{margin:0 0 .3rem;font-size:.9rem}</style>" + "".join(lines))
        if len(cells) > _QUOTED:
            st.caption(f"and {len(cells) - _QUOTED} more")


@undisturbed
def _accept(here: state.Here, base: Prompt, score: Score, offers: list[Offer]) -> None:
    _decide(here, base, score, offers, accepted=True)


@undisturbed
def _decline(here: state.Here, base: Prompt, score: Score, offers: list[Offer]) -> None:
    _decide(here, base, score, offers, accepted=False)


def _decide(here: state.Here, base: Prompt, score: Score, offers: list[Offer], *, accepted: bool) -> None:
    try:
        draft = unsaved.draft(here, base)
        chosen = {"accepted": offers} if accepted else {"declined": offers}
        unsaved.take(here, base, suggest.decide_suggestions(here.study, here.actor, score, draft, **chosen))
        st.session_state[_key(base)].decided.update({offer.edit: accepted for offer in offers})
    except WorkbenchError as error:
        state.say(str(error), refused=True)


def _key(base: Prompt) -> str:
    return f"revise.offers.{base.hash}"
