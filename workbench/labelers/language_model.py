"""The language-model labeler: prompt and report become messages, the model's reply becomes labels."""

from dataclasses import replace
from time import perf_counter

from workbench.domain.findings import LabelSet
from workbench.domain.prompts import Prompt
from workbench.domain.runs import Extraction, ExtractionStatus, LabelerSettings
from workbench.labelers.replies import json_schema, read_reply
from workbench.models.base import Message, Model, Role
from workbench.prompting.render import render_system, render_user


class LanguageModelLabeler:
    """Labels texts by asking a model.

    Args:
        settings: what identifies the labeler.
        prompt: rendered once, so that every report is sent behind the very same words.
        label_set: the findings.
        model: who is asked.

    Raises:
        InputError: the prompt's body cannot be rendered.
    """

    def __init__(self, settings: LabelerSettings, prompt: Prompt, label_set: LabelSet, model: Model) -> None:
        self.settings = settings
        self._label_set = label_set
        self._form = prompt.guidance.reply
        self._system = Message(Role.SYSTEM, render_system(prompt, label_set))
        self._schema = json_schema(label_set, self._form)
        self._model = model

    async def label(self, text: str, repeat: int = 1) -> Extraction:  # noqa: ARG002 - a repeat asks the same again
        """Return the extraction of a text. A blank text is not sent: models answer it with a valid, empty list."""
        if not text.strip():
            return Extraction(ExtractionStatus.BLANK, detail="There is no text in the sections that were selected.")
        started = perf_counter()
        messages = (self._system, Message(Role.USER, render_user(text)))
        completion = await self._model.complete(messages, schema=self._schema)
        return replace(read_reply(completion, self._label_set, self._form, text), latency=perf_counter() - started)

    async def close(self) -> None:
        """Give back the model's connections."""
        await self._model.close()
