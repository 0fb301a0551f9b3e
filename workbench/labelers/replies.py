"""A model's reply into labels, strictly: it is of the form that was asked for, or it is no label at all.

Nothing is guessed: a misspelt finding is not matched to its neighbour, a missing finding is not absent, and JSON that
was cut off is not mended.
"""

from collections.abc import Iterable

from workbench.domain.findings import LabelSet, State
from workbench.domain.prompts import ReplyForm
from workbench.domain.runs import Extraction, ExtractionStatus, Flag, Mention
from workbench.labelers.answers import (
    NAMED,
    AnswerError,
    Members,
    fields_of,
    malformed,
    object_in,
    shown,
    wrong_label,
)
from workbench.labelers.reasoning import part
from workbench.models.base import Completion
from workbench.models.bodies import storable

_STATES = {state.value: state for state in State}
_SAID = 200  # characters of what a server calls itself and its answers
_Said = Iterable[tuple[str, object, object]]


def read_reply(completion: Completion, label_set: LabelSet, form: ReplyForm) -> Extraction:
    """Return the extraction a completion amounts to.

    How it ended is looked at before what it says: a truncated or refused reply is never parsed. Reasoning at its start
    and a code fence around all the rest are taken off; any other text around the JSON makes it malformed. JSON that
    breaks off is truncated, whatever the server calls it. A finding that is listed twice with one state is merged and
    flagged, with two states it makes the reply malformed. Status and detail name no words of the report.

    Evidence is not looked at here; see ``EvidenceChecker``.

    Args:
        completion: what came.
        label_set: the findings asked for.
        form: the form asked for.
    """
    raw = storable(completion.text)
    parted = part(raw)
    reasoning = "\n\n".join(filter(None, (storable(completion.reasoning), parted.reasoning)))
    twice: list[str] = []
    mentions: dict[str, Mention] = {}
    status, detail = ExtractionStatus.OK, ""
    try:
        mentions, twice = _mentions(object_in(completion), label_set, form)
    except AnswerError as error:
        status, detail = error.status, str(error)
    return Extraction(
        status,
        mentions,
        detail,
        raw=raw,
        input_tokens=completion.input_tokens,
        output_tokens=completion.output_tokens,
        latency=completion.latency,
        cached_tokens=completion.cached_tokens,
        written_tokens=completion.written_tokens,
        request_id=storable(completion.request_id)[:_SAID],
        served_model=storable(completion.model)[:_SAID],
        finish_reason=storable(completion.finish_reason)[:_SAID],
        constraint=completion.constraint,
        lost=completion.lost,
        reasoning=reasoning,
        flags={Flag.LISTED_TWICE: tuple(twice)} if twice else {},
    )


def answer_of(extraction: Extraction) -> str:
    """Return what of a reply was read as its answer: all but the reasoning at its start."""
    return part(extraction.raw).answer


def _mentions(reply: Members, label_set: LabelSet, form: ReplyForm) -> tuple[dict[str, Mention], list[str]]:
    """Return what is said of each finding, those not mentioned left out, and the findings said twice; in label-set
    order.
    """
    ids = label_set.ids
    said, twice = _merged(_listed(reply) if form is ReplyForm.MENTIONED else _spelled_out(reply), frozenset(ids))
    if form is ReplyForm.EVERY:
        missing = [finding for finding in ids if finding not in said]
        if missing:
            raise malformed(f"The reply leaves out {', '.join(missing)}.")
    mentions = {f: said[f] for f in ids if f in said and said[f].state is not State.NOT_MENTIONED}
    return mentions, [f for f in ids if f in twice]


def _listed(reply: Members) -> _Said:
    findings = fields_of(reply, {"findings"}, "The reply")["findings"]
    if not isinstance(findings, list):
        raise malformed("findings is no list.")
    for number, item in enumerate(findings, start=1):
        fields = fields_of(item, {"finding", "state", "evidence"}, f"Entry {number}")
        yield shown(fields["finding"]), fields["state"], fields["evidence"]


def _spelled_out(reply: Members) -> _Said:
    for finding, item in reply.pairs:
        if isinstance(item, Members):
            fields = fields_of(item, {"state", "evidence"}, shown(finding))
            yield finding, fields["state"], fields["evidence"]
        else:
            yield finding, item, None


def _merged(said: _Said, known: frozenset[str]) -> tuple[dict[str, Mention], set[str]]:
    merged: dict[str, Mention] = {}
    twice: set[str] = set()
    wrong: list[str] = []
    for finding, state, evidence in said:
        if finding not in known:
            wrong.append(f"{shown(finding)!r} is no finding of the label set")
        elif not isinstance(state, str) or state not in _STATES:
            wrong.append(f"{finding}: {shown(state)!r} is no state")
        elif not isinstance(evidence, str):
            raise malformed(f"{finding} has no text as evidence.")
        else:
            mention = Mention(_STATES[state], storable(evidence))
            if finding in merged:
                twice.add(finding)
                mention = _agreed(finding, merged[finding], mention)
            merged[finding] = mention
    if wrong:
        more = f"; and {len(wrong) - NAMED} more" if len(wrong) > NAMED else ""
        raise wrong_label("; ".join(wrong[:NAMED]) + more + ".")
    return merged, twice


def _agreed(finding: str, before: Mention, now: Mention) -> Mention:
    if before.state is not now.state:
        raise malformed(f"{finding} is given twice, once {before.state.value} and once {now.state.value}.")
    return before if before.evidence.strip() else now
