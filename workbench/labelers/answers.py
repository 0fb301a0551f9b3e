"""The one JSON object that an answer of a model has to be, read strictly.

Nothing is guessed, and JSON that was cut off is not mended. What is wrong is told without words of the report.
"""

import json
from dataclasses import dataclass
from string import ascii_letters

from workbench.domain.runs import ExtractionStatus
from workbench.labelers.reasoning import part
from workbench.models.base import Completion, Finish
from workbench.models.bodies import storable

_FENCE = "```"
_SHOWN = 40  # characters of a wrong name that are repeated
NAMED = 10  # wrong names that are repeated


class AnswerError(Exception):
    """An answer that cannot be used: the status it ends in, and a sentence without words of the report."""

    def __init__(self, status: ExtractionStatus, detail: str) -> None:
        super().__init__(detail)
        self.status = status


@dataclass(frozen=True, slots=True)
class Members:
    """A JSON object as it was written, repeated keys included."""

    pairs: list[tuple[str, object]]


def object_in(completion: Completion) -> Members:
    """Return the JSON object that a completion is.

    How it ended is looked at before what it says: a truncated or refused reply is never parsed. Reasoning at its start
    and a code fence around all the rest are taken off; any other text around the JSON makes it malformed. JSON that
    breaks off is truncated, whatever the server calls it.

    Raises:
        AnswerError: it is none.
    """
    _check_finish(completion)
    parted = part(completion.text)
    if not parted.ended:
        raise malformed("The model's reasoning does not end, so that there is no answer.")
    if storable(parted.answer) != parted.answer:
        raise malformed("The reply holds a NUL or half a character, which no JSON holds unless it is spelled out.")
    try:
        return _parsed(parted.answer)
    except RecursionError:
        raise malformed("The reply is nested too deeply to be read.") from None


def _check_finish(completion: Completion) -> None:
    if completion.finish is Finish.LENGTH:
        raise AnswerError(ExtractionStatus.TRUNCATED, "The reply was cut off at the limit of tokens.")
    if completion.finish is Finish.REFUSAL:
        raise AnswerError(ExtractionStatus.REFUSED, "The model refused to answer.")


def malformed(detail: str) -> AnswerError:
    """Return the error of an answer that is not of the form asked for."""
    return AnswerError(ExtractionStatus.MALFORMED, detail)


def wrong_label(detail: str) -> AnswerError:
    """Return the error of an answer of the right form that names what there is not."""
    return AnswerError(ExtractionStatus.WRONG_LABEL, detail)


def _parsed(answer: str) -> Members:
    text = answer.strip()
    if not text:
        raise malformed("The reply is empty.")
    inside = _unfenced(text)
    try:
        value = json.loads(inside, object_pairs_hook=Members, parse_constant=_refuse_constant)
    except json.JSONDecodeError as error:
        if inside.startswith("{") and _breaks_off(error):
            raise AnswerError(ExtractionStatus.TRUNCATED, "The reply breaks off before its JSON ends.") from None
        raise malformed(f"The reply is not JSON alone: {error.msg} at character {error.pos + 1}.") from None
    except (RecursionError, ValueError):
        raise malformed("The reply is not JSON that can be read.") from None
    if not isinstance(value, Members):
        raise malformed("The reply is JSON but no object.")
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


def fields_of(value: object, names: set[str], where: str) -> dict[str, object]:
    """Return the members of an object that must have these names, no other, and none twice.

    Raises:
        AnswerError: it is no such object; ``where`` says which one.
    """
    if not isinstance(value, Members):
        raise malformed(f"{where} is no object.")
    fields = dict(value.pairs)
    if len(fields) != len(value.pairs):
        raise malformed(f"{where} has a key twice.")
    if fields.keys() != names:
        missing, extra = sorted(names - fields.keys()), sorted(shown(name) for name in fields.keys() - names)
        problem = f"lacks {', '.join(missing)}" if missing else f"has {', '.join(extra[:NAMED])} too"
        raise malformed(f"{where} {problem}.")
    return fields


def shown(value: object) -> str:
    """Return what a value begins with, to be named in a sentence."""
    try:
        text = value if isinstance(value, str) else json.dumps(value, default=lambda _: "...")
    except RecursionError:
        text = "..."
    return storable(text[:_SHOWN])
