"""A model's reply into labels, strictly: it is of the form that was asked for, or it is no label at all.

Nothing is guessed: a misspelt finding is not matched to its neighbour, a missing finding is not absent, and JSON that
was cut off is not mended.
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from string import ascii_letters

from workbench.domain.findings import LabelSet, State
from workbench.domain.prompts import ReplyForm
from workbench.domain.runs import Extraction, ExtractionStatus, Flag, Mention
from workbench.labelers.reasoning import part
from workbench.models.base import Completion, Finish

_FENCE = "```"
_STATES = {state.value: state for state in State}
_SHOWN = 40  # characters of a wrong name that are repeated
_NAMED = 10  # wrong names that are repeated
_SAID = 200  # characters of what a server calls itself and its answers
_Said = Iterable[tuple[str, object, object]]


class _ReplyError(Exception):
    def __init__(self, status: ExtractionStatus, detail: str) -> None:
        super().__init__(detail)
        self.status = status


@dataclass(frozen=True, slots=True)
class _Members:
    """A JSON object as it was written, repeated keys included."""

    pairs: list[tuple[str, object]]


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
        _check_finish(completion)
        if not parted.ended:
            raise _malformed("The model's reasoning does not end, so that there is no answer.")
        mentions, twice = _mentions(_parsed(parted.answer), label_set, form)
    except _ReplyError as error:
        status, detail = error.status, str(error)
    except RecursionError:
        status, detail = ExtractionStatus.MALFORMED, "The reply is nested too deeply to be read."
    return Extraction(
        status,
        mentions,
        detail,
        raw=raw,
        input_tokens=completion.input_tokens,
        output_tokens=completion.output_tokens,
        latency=completion.latency,
        cached_tokens=completion.cached_tokens,
        request_id=storable(completion.request_id)[:_SAID],
        served_model=storable(completion.model)[:_SAID],
        finish_reason=storable(completion.finish_reason)[:_SAID],
        constraint=completion.constraint,
        reasoning=reasoning,
        flags={Flag.LISTED_TWICE: tuple(twice)} if twice else {},
    )


def answer_of(extraction: Extraction) -> str:
    """Return what of a reply was read as its answer: all but the reasoning at its start."""
    return part(extraction.raw).answer


def storable(text: str) -> str:
    """Return a text as it can be kept: halves of characters, which JSON can spell and no file can hold, become "?"."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


def _check_finish(completion: Completion) -> None:
    if completion.finish is Finish.LENGTH:
        raise _ReplyError(ExtractionStatus.TRUNCATED, "The reply was cut off at the limit of tokens.")
    if completion.finish is Finish.REFUSAL:
        raise _ReplyError(ExtractionStatus.REFUSED, "The model refused to answer.")


def _malformed(detail: str) -> _ReplyError:
    return _ReplyError(ExtractionStatus.MALFORMED, detail)


def _wrong(detail: str) -> _ReplyError:
    return _ReplyError(ExtractionStatus.WRONG_LABEL, detail)


def _parsed(answer: str) -> _Members:
    text = answer.strip()
    if not text:
        raise _malformed("The reply is empty.")
    inside = _unfenced(text)
    try:
        value = json.loads(inside, object_pairs_hook=_Members, parse_constant=_refuse_constant)
    except json.JSONDecodeError as error:
        if inside.startswith("{") and _breaks_off(error):
            raise _ReplyError(ExtractionStatus.TRUNCATED, "The reply breaks off before its JSON ends.") from None
        raise _malformed(f"The reply is not JSON alone: {error.msg} at character {error.pos + 1}.") from None
    except (RecursionError, ValueError):
        raise _malformed("The reply is not JSON that can be read.") from None
    if not isinstance(value, _Members):
        raise _malformed("The reply is JSON but no object.")
    return value


def _unfenced(text: str) -> str:
    """Return what stands in a code fence around the whole text, also in one that was never closed; else the text."""
    if not text.startswith(_FENCE):
        return text
    inside = text.removeprefix(_FENCE).lstrip(ascii_letters)  # the name of the language
    closed = inside.removesuffix(_FENCE)
    if _FENCE in closed:
        return text
    if closed == inside and not _is_cut(inside):
        return text
    return closed.strip()


def _is_cut(text: str) -> bool:
    """Return whether a text is the beginning of a JSON object."""
    try:
        json.loads(text)
    except json.JSONDecodeError as error:
        return text.lstrip().startswith("{") and _breaks_off(error)
    except (RecursionError, ValueError):
        pass
    return False


def _breaks_off(error: json.JSONDecodeError) -> bool:
    """Return whether there was nothing wrong with JSON but that it ended too soon."""
    return error.pos >= len(error.doc.rstrip()) or error.msg.startswith("Unterminated string")


def _refuse_constant(name: str) -> object:
    raise ValueError(name)


def _mentions(reply: _Members, label_set: LabelSet, form: ReplyForm) -> tuple[dict[str, Mention], list[str]]:
    """Return what is said of each finding, those not mentioned left out, and the findings said twice; in label-set
    order.
    """
    ids = label_set.ids
    said, twice = _merged(_listed(reply) if form is ReplyForm.MENTIONED else _spelled_out(reply), frozenset(ids))
    if form is ReplyForm.EVERY:
        missing = [finding for finding in ids if finding not in said]
        if missing:
            raise _malformed(f"The reply leaves out {', '.join(missing)}.")
    mentions = {f: said[f] for f in ids if f in said and said[f].state is not State.NOT_MENTIONED}
    return mentions, [f for f in ids if f in twice]


def _listed(reply: _Members) -> _Said:
    findings = _fields(reply, {"findings"}, "The reply")["findings"]
    if not isinstance(findings, list):
        raise _malformed("findings is no list.")
    for number, item in enumerate(findings, start=1):
        fields = _fields(item, {"finding", "state", "evidence"}, f"Entry {number}")
        yield _text(fields["finding"]), fields["state"], fields["evidence"]


def _spelled_out(reply: _Members) -> _Said:
    for finding, item in reply.pairs:
        if isinstance(item, _Members):
            fields = _fields(item, {"state", "evidence"}, _text(finding))
            yield finding, fields["state"], fields["evidence"]
        else:
            yield finding, item, None


def _merged(said: _Said, known: frozenset[str]) -> tuple[dict[str, Mention], set[str]]:
    merged: dict[str, Mention] = {}
    twice: set[str] = set()
    wrong: list[str] = []
    for finding, state, evidence in said:
        if finding not in known:
            wrong.append(f"{_text(finding)!r} is no finding of the label set")
        elif not isinstance(state, str) or state not in _STATES:
            wrong.append(f"{finding}: {_text(state)!r} is no state")
        elif not isinstance(evidence, str):
            raise _malformed(f"{finding} has no text as evidence.")
        else:
            mention = Mention(_STATES[state], storable(evidence))
            if finding in merged:
                twice.add(finding)
                mention = _agreed(finding, merged[finding], mention)
            merged[finding] = mention
    if wrong:
        more = f"; and {len(wrong) - _NAMED} more" if len(wrong) > _NAMED else ""
        raise _wrong("; ".join(wrong[:_NAMED]) + more + ".")
    return merged, twice


def _agreed(finding: str, before: Mention, now: Mention) -> Mention:
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
        problem = f"lacks {', '.join(missing)}" if missing else f"has {', '.join(extra[:_NAMED])} too"
        raise _malformed(f"{where} {problem}.")
    return fields


def _text(value: object) -> str:
    shown = value if isinstance(value, str) else json.dumps(value, default=lambda _: "...")
    return storable(shown[:_SHOWN])
