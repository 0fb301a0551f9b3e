"""The language-model labeler: prompt and report become messages, the model's reply becomes labels."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from time import perf_counter
from typing import TypeVar

from workbench.domain.findings import LabelSet
from workbench.domain.prompts import Prompt
from workbench.domain.runs import Extraction, ExtractionStatus, Flag, LabelerSettings, Usage
from workbench.errors import WorkbenchError
from workbench.labelers.evidence import EvidenceChecker
from workbench.labelers.replies import answer_of, read_reply
from workbench.models.base import CallError, Completion, Constraint, Message, Model, Role, Trouble
from workbench.prompting.render import render_user, system_text
from workbench.prompting.reply_form import json_schema
from workbench.prompting.tokens import count_tokens

# Another reply may heal these. A cut-off or refused one would only be cut off or refused again.
_MENDABLE = frozenset({ExtractionStatus.MALFORMED, ExtractionStatus.WRONG_LABEL})
_QUOTED = 4_000  # characters of a reply that its model is shown again

N = TypeVar("N", int, float)


class LanguageModelLabeler:
    """Labels texts by asking a model.

    Args:
        settings: what identifies the labeler.
        prompt: rendered once, so that every report is sent behind the very same words.
        label_set: the findings.
        model: who is asked. Every call goes through it, a second one for the same report included.
        constraint: how the server holds a reply to its form, None where that is not known; unless it is given the JSON
            Schema by other ways, the schema is spelled out behind the prompt.

    Raises:
        InputError: the prompt's body cannot be rendered.
    """

    def __init__(
        self,
        settings: LabelerSettings,
        prompt: Prompt,
        label_set: LabelSet,
        model: Model,
        *,
        constraint: Constraint | None = Constraint.JSON_SCHEMA,
    ) -> None:
        self.settings = settings
        self._label_set = label_set
        self._form = prompt.guidance.reply
        system = system_text(prompt, label_set, schema=not (constraint and constraint.knows_schema))
        self._system = Message(Role.SYSTEM, system)
        self._system_tokens = count_tokens(system)
        self._schema = json_schema(label_set, self._form)
        self._evidence = EvidenceChecker(prompt, label_set, system)
        self._model = model

    async def label(self, text: str, repeat: int = 1) -> Extraction:  # noqa: ARG002 - a repeat asks the same again
        """Return the extraction of a text.

        A blank text is not sent: models answer it with a valid, empty list. One that is longer than the model is known
        to read is not sent either. A reply that cannot be used is sent back once, with what is wrong with it.

        Raises:
            CallError: the call brought no reply.
        """
        messages = self.messages(text)
        if isinstance(messages, Extraction):
            return messages
        try:
            first = await self._ask(messages)
        except CallError as error:
            return self.turned_away(error, text)
        extraction = await self._mended(first, messages) if first.status in _MENDABLE else first
        return self._doubted(extraction, text)

    def messages(self, text: str) -> tuple[Message, Message] | Extraction:
        """Return what a model is asked about a text, or what becomes of one that is not sent."""
        if not text.strip():
            return Extraction(ExtractionStatus.BLANK, detail="There is no text in the sections that were selected.")
        user = Message(Role.USER, render_user(text))
        if too_long := self._too_long(user.text):
            return Extraction(ExtractionStatus.TOO_LONG, detail=too_long)
        return self._system, user

    @property
    def schema(self) -> Mapping[str, object]:
        """Return the JSON Schema of a reply."""
        return self._schema

    def read(self, completion: Completion, text: str) -> Extraction:
        """Return what the answer to ``messages`` amounts to, whenever it came. Nothing is asked again."""
        return self._doubted(read_reply(completion, self._label_set, self._form), text)

    def turned_away(self, error: CallError, text: str) -> Extraction:
        """Return what becomes of a text that the server did not answer.

        Raises:
            CallError: it is no extraction; the text may be asked about again.
        """
        if error.trouble is not Trouble.TOO_LONG:
            raise error
        return Extraction(ExtractionStatus.TOO_LONG, detail=self._refused_as_too_long(render_user(text)))

    def tokens(self, text: str) -> int:
        """Return about how many tokens are sent for a text."""
        return self._tokens(render_user(text))

    def _doubted(self, extraction: Extraction, text: str) -> Extraction:
        doubts = self._evidence.flags(extraction.mentions, text)
        return replace(extraction, flags={**extraction.flags, **doubts}) if doubts else extraction

    async def close(self) -> None:
        """Give back the model's connections."""
        await self._model.close()

    async def _ask(self, messages: Sequence[Message]) -> Extraction:
        started = perf_counter()
        completion = await self._model.complete(messages, schema=self._schema)
        if completion.latency is None:
            completion = replace(completion, latency=perf_counter() - started)
        return read_reply(completion, self._label_set, self._form)

    async def _mended(self, first: Extraction, messages: Sequence[Message]) -> Extraction:
        """Return what becomes of a reply that cannot be used: the second one, or the first when none came."""
        try:
            second = await self._ask((*messages, *_asking_again(first)))
        except WorkbenchError as error:  # it stands, being paid for; what is wrong with the server, the next will tell
            took = (error.usage if isinstance(error, CallError) else None) or Usage()
            return replace(
                first,
                detail=f"{first.detail} Asked again, the model gave no reply.",
                input_tokens=_more(first.input_tokens, took.input_tokens),
                output_tokens=_more(first.output_tokens, took.output_tokens),
                cached_tokens=_more(first.cached_tokens, took.cached_tokens),
                written_tokens=_more(first.written_tokens, took.written_tokens),
                lost=first.lost + took.lost,
            )
        return replace(
            second,
            input_tokens=_sum(first.input_tokens, second.input_tokens),
            output_tokens=_sum(first.output_tokens, second.output_tokens),
            cached_tokens=_sum(first.cached_tokens, second.cached_tokens),
            written_tokens=_sum(first.written_tokens, second.written_tokens),
            latency=_sum(first.latency, second.latency),
            lost=first.lost + second.lost,
            unrepaired=first.raw,
            flags={Flag.REPAIRED: (), **second.flags},
        )

    def _too_long(self, user: str) -> str:
        """Return why a report cannot be sent, empty where it can."""
        most, kept = self.settings.context_tokens, self.settings.max_tokens or 0
        if most is None or self._system_tokens + len(user) + kept <= most:  # an estimate is at most a token a character
            return ""
        tokens = self._tokens(user)
        if tokens + kept <= most:
            return ""
        reply = f" with {kept:,} kept for the reply" if kept else ""
        return (
            f"Prompt and report are about {tokens:,} tokens (estimated); the model reads {most:,} at once{reply}, "
            "so nothing was sent. Take a model that reads more, or a shorter prompt."
        )

    def _refused_as_too_long(self, user: str) -> str:
        return (
            f"Prompt and report are about {self._tokens(user):,} tokens (estimated), more than the model reads, as its "
            "server says. Take a model that reads more, or a shorter prompt."
        )

    def _tokens(self, user: str) -> int:
        return self._system_tokens + count_tokens(user)


def _asking_again(first: Extraction) -> tuple[Message, Message]:
    """Return the model's own reply and what is wrong with it. Servers refuse an empty turn, so it is put in words."""
    answer = answer_of(first).strip()
    shown = answer if len(answer) <= _QUOTED else f"{answer[:_QUOTED]} ..."
    complaint = (
        f"That answer cannot be used. {first.detail} Answer again, about the same report, in the form asked for: "
        "one JSON object on a single line and nothing else."
    )
    return Message(Role.ASSISTANT, shown or "(no answer)"), Message(Role.USER, complaint)


def _more(own: int | None, more: int) -> int | None:
    return None if own is None else own + more


def _sum(first: N | None, second: N | None) -> N | None:
    if first is None or second is None:
        return first if second is None else second
    return first + second
