"""A model's reply into labels, strictly: it is of the form that was asked for, or it is no label at all.

Nothing is guessed: a misspelt finding is not matched to its neighbour, a missing finding is not absent, and JSON that
was cut off is not mended.
"""

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from workbench.domain.findings import LabelSet, State
from workbench.domain.prompts import ReplyForm
from workbench.domain.runs import Extraction, ExtractionStatus, Mention
from workbench.models.base import Completion, Finish

_FENCE = re.compile(r"\A\s*```[A-Za-z]*[ \t]*\n(?P<inside>(?:(?!```).)*?)\n?[ \t]*```\s*\Z", re.DOTALL)
_STATES = frozenset(state.value for state in State)
_MENTIONED_STATES = [State.PRESENT.value, State.ABSENT.value, State.UNCERTAIN.value]
_SHOWN = 40  # characters of a wrong name that are repeated


class _ReplyError(Exception):
    def __init__(self, status: ExtractionStatus, detail: str) -> None:
        super().__init__(detail)
        self.status = status


@dataclass(frozen=True, slots=True)
class _Members:
    """A JSON object as it was written, repeated keys included."""

    pairs: list[tuple[str, object]]


def json_schema(label_set: LabelSet, form: ReplyForm) -> dict[str, object]:
    """Return the JSON Schema of a reply.

    ``mentioned``: ``{"findings": [{"finding": id, "state": s, "evidence": text}, ...]}`` with s present, absent or
    uncertain. ``every``: one member per finding id, ``{"state": s, "evidence": text}``, where s may be not_mentioned
    too. There is no ``maxItems``: servers cut a list at it without a word.
    """
    evidence: dict[str, object] = {"type": "string"}
    if form is ReplyForm.MENTIONED:
        item = _object(
            {
                "finding": {"type": "string", "enum": list(label_set.ids)},
                "state": {"type": "string", "enum": _MENTIONED_STATES},
                "evidence": evidence,
            }
        )
        return _object({"findings": {"type": "array", "items": item}})
    said = _object({"state": {"type": "string", "enum": [state.value for state in State]}, "evidence": evidence})
    return _object(dict.fromkeys(label_set.ids, said))


def _object(properties: Mapping[str, object]) -> dict[str, object]:
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }


def read_reply(completion: Completion, label_set: LabelSet, form: ReplyForm, text: str) -> Extraction:
    """Return the extraction a completion amounts to.

    How it ended is looked at before what it says: a truncated or refused reply is never parsed. A code fence around
    the whole reply is taken off; any other text around the JSON makes it malformed. Status and detail name no words
    of the report. Evidence that does not stand in ``text`` leaves the label and is noted in ``detail``.

    Args:
        completion: what came.
        label_set: the findings asked for.
        form: the form asked for.
        text: the text that was sent.
    """
    try:
        _check_finish(completion)
        mentions = _mentions(_parsed(completion.text), label_set, form)
    except _ReplyError as error:
        return _extraction(completion, error.status, {}, str(error))
    return _extraction(completion, ExtractionStatus.OK, mentions, _doubts(mentions, text))


def _extraction(
    completion: Completion, status: ExtractionStatus, mentions: Mapping[str, Mention], detail: str
) -> Extraction:
    return Extraction(
        status,
        mentions,
        detail,
        raw=completion.text,
        input_tokens=completion.input_tokens,
        output_tokens=completion.output_tokens,
    )


def _check_finish(completion: Completion) -> None:
    if completion.finish is Finish.LENGTH:
        raise _ReplyError(ExtractionStatus.TRUNCATED, "The reply was cut off at the limit of tokens.")
    if completion.finish is Finish.REFUSAL:
        raise _ReplyError(ExtractionStatus.REFUSED, "The model refused to answer.")


def _malformed(detail: str) -> _ReplyError:
    return _ReplyError(ExtractionStatus.MALFORMED, detail)


def _wrong(detail: str) -> _ReplyError:
    return _ReplyError(ExtractionStatus.WRONG_LABEL, detail)


def _parsed(reply: str) -> _Members:
    if not reply.strip():
        raise _malformed("The reply is empty.")
    fenced = _FENCE.match(reply)
    try:
        value = json.loads(
            fenced["inside"] if fenced else reply, object_pairs_hook=_Members, parse_constant=_refuse_constant
        )
    except json.JSONDecodeError as error:
        raise _malformed(f"The reply is not JSON alone: {error.msg} at character {error.pos + 1}.") from None
    except (RecursionError, ValueError):
        raise _malformed("The reply is not JSON that can be read.") from None
    if not isinstance(value, _Members):
        raise _malformed("The reply is JSON but no object.")
    return value


def _refuse_constant(name: str) -> object:
    raise ValueError(name)


def _mentions(reply: _Members, label_set: LabelSet, form: ReplyForm) -> dict[str, Mention]:
    """Return what is said of each finding, in label-set order, those not mentioned left out."""
    said = _merged(_listed(reply) if form is ReplyForm.MENTIONED else _spelled_out(reply), label_set)
    if form is ReplyForm.EVERY:
        missing = [finding for finding in label_set.ids if finding not in said]
        if missing:
            raise _malformed(f"The reply leaves out {', '.join(missing)}.")
    return {f: said[f] for f in label_set.ids if f in said and said[f].state is not State.NOT_MENTIONED}


def _listed(reply: _Members) -> Iterable[tuple[str, object, object]]:
    findings = _fields(reply, {"findings"}, "The reply")["findings"]
    if not isinstance(findings, list):
        raise _malformed("findings is no list.")
    for number, item in enumerate(findings, start=1):
        fields = _fields(item, {"finding", "state", "evidence"}, f"Entry {number}")
        yield _text(fields["finding"]), fields["state"], fields["evidence"]


def _spelled_out(reply: _Members) -> Iterable[tuple[str, object, object]]:
    for finding, item in reply.pairs:
        if isinstance(item, _Members):
            fields = _fields(item, {"state", "evidence"}, _text(finding))
            yield finding, fields["state"], fields["evidence"]
        else:
            yield finding, item, None


def _merged(said: Iterable[tuple[str, object, object]], label_set: LabelSet) -> dict[str, Mention]:
    known = frozenset(label_set.ids)
    merged: dict[str, Mention] = {}
    unknown: list[str] = []
    for finding, state, evidence in said:
        if finding not in known:
            unknown.append(f"{_text(finding)!r} is no finding of the label set")
        elif not isinstance(state, str) or state not in _STATES:
            unknown.append(f"{finding}: {_text(state)!r} is no state")
        elif not isinstance(evidence, str):
            raise _malformed(f"{finding} has no text as evidence.")
        else:
            merged[finding] = _agreed(finding, merged.get(finding), Mention(State(state), evidence))
    if unknown:
        raise _wrong("; ".join(unknown) + ".")
    return merged


def _agreed(finding: str, before: Mention | None, now: Mention) -> Mention:
    if before is None:
        return now
    if before.state is not now.state:
        raise _malformed(f"{finding} is given twice, once {before.state.value} and once {now.state.value}.")
    return before if before.evidence.strip() else now


def _fields(value: object, names: set[str], where: str) -> dict[str, object]:
    if not isinstance(value, _Members):
        raise _malformed(f"{where} is no object.")
    fields = dict(value.pairs)
    if len(fields) != len(value.pairs):
        raise _malformed(f"{where} has a key twice.")
    if fields.keys() != names:
        missing, extra = sorted(names - fields.keys()), sorted(_text(name) for name in fields.keys() - names)
        raise _malformed(f"{where} lacks {', '.join(missing)}." if missing else f"{where} has {', '.join(extra)} too.")
    return fields


def _text(value: object) -> str:
    shown = value if isinstance(value, str) else json.dumps(value, default=lambda _: "...")
    return shown[:_SHOWN]


def _doubts(mentions: Mapping[str, Mention], text: str) -> str:
    """Return what is doubtful about evidence, in a sentence; empty when every quote stands in the text."""
    invented = [
        f for f, mention in mentions.items() if mention.evidence.strip() and not stands_in(mention.evidence, text)
    ]
    none = [f for f, mention in mentions.items() if not mention.evidence.strip()]
    notes = [f"Invented evidence: {', '.join(invented)}."] if invented else []
    return " ".join([*notes, *([f"No evidence: {', '.join(none)}."] if none else [])])


def stands_in(quote: str, text: str) -> bool:
    """Return whether a quote stands in a text, exactly or but for case, white space and punctuation at its ends."""
    return quote in text or _normalised(quote) in _normalised(text)


def _normalised(text: str) -> str:
    return " ".join(text.casefold().split()).strip(" .,;:!?\"'()[]-\u2018\u2019\u201c\u201d\u2026")
