"""The rules labeler: carries out a prompt's own guidance, sentence by sentence.

Everything it knows of findings are the phrases of the prompt; everything it knows of negation, doubt and history are
the prompt's cues. It is the embedded default, needs no network, and is a baseline to hold beside every model.
"""

import asyncio
from dataclasses import dataclass
from functools import cache, lru_cache

from workbench.domain.findings import CODES, FAILED, Finding, LabelSet, Policies, Policy, State
from workbench.domain.prompts import Cues, CueSet, FindingGuidance, Guidance, Prompt
from workbench.domain.runs import Extraction, ExtractionStatus, LabelerSettings, Mention
from workbench.errors import WorkbenchError
from workbench.labelers.reading_languages import ReadingLanguages
from workbench.labelers.sentence_reader import STRENGTH, Found, SentenceReader
from workbench.text.normalise import placed_words
from workbench.text.sentences import sentence_spans

ENGINE_VERSION = "2"

_SENTENCES_KEPT = 1 << 16
_BY_STRENGTH = tuple(sorted(STRENGTH, key=STRENGTH.__getitem__))
_CODE_OF_STRENGTH = tuple(CODES[state] for state in _BY_STRENGTH)


@dataclass(frozen=True, slots=True)
class Span:
    """Something to highlight: characters ``start`` to ``end`` (end not included) of the text.

    ``kind`` is ``finding``, ``normal`` (a statement that a finding is absent), ``negation``, ``uncertainty``,
    ``history`` or ``pseudo``; ``finding`` and ``state`` are set for the first two only.
    """

    start: int
    end: int
    kind: str
    finding: str = ""
    state: State | None = None


class RulesLabeler:
    """Labels reports by the phrases and cues of one prompt.

    A text in a language that the prompt's phrases are not in has no states: nothing in it could be found.

    Args:
        prompt: the prompt whose guidance is carried out.
        label_set: gives the findings and the order of ``codes``; findings without guidance are never mentioned.
    """

    def __init__(self, prompt: Prompt, label_set: LabelSet) -> None:
        if prompt.guidance is not _CANARY_GUIDANCE:
            _checked_once()
        self._ids = label_set.ids
        self.languages = ReadingLanguages(prompt.guidance)
        self._reader = SentenceReader(prompt.guidance, label_set.ids)
        self._read = lru_cache(maxsize=_SENTENCES_KEPT)(self._strengths)

    @property
    def settings(self) -> LabelerSettings:
        """Return what identifies this labeler: the engine's version, since the prompt has its own hash."""
        return LabelerSettings(kind="rules", name="rules", options={"engine": ENGINE_VERSION})

    def codes(self, text: str) -> list[int]:
        """Return the state codes of a text in label-set order: 1, 0, -1, or -2 for not mentioned; all of them FAILED
        where the prompt's phrases are in another language than the text.
        """
        if self.languages.unread(text):
            return [FAILED] * len(self._ids)
        strengths = [0] * len(self._ids)
        read = self._read
        for start, end in sentence_spans(text):
            for finding, strength in read(text[start:end]):
                if strength > strengths[finding]:  # noqa: PLR1730 - max() costs a call in the innermost loop
                    strengths[finding] = strength
        return [_CODE_OF_STRENGTH[strength] for strength in strengths]

    def label_text(self, text: str) -> dict[str, Mention]:
        """Return the findings the text speaks of, in label-set order, each with the first sentence that decides it.

        The evidence is quoted as it stands in the text. Findings not mentioned, or only as history, are left out.
        That a text cannot be read at all ``extraction`` tells.
        """
        best: dict[int, tuple[int, str]] = {}
        for start, end in sentence_spans(text):
            sentence = text[start:end]
            for finding, strength in self._read(sentence):
                if strength > best.get(finding, (0, ""))[0]:
                    best[finding] = (strength, sentence)
        return {
            self._ids[finding]: Mention(_BY_STRENGTH[strength], evidence)
            for finding, (strength, evidence) in sorted(best.items())
        }

    def spans(self, text: str) -> list[Span]:
        """Return every finding and cue that was found, by place, for highlighting; spans may overlap.

        A finding named only as history has the state not mentioned. Cues of sentences that name no finding, and what
        an exclusion silences, are left out.
        """
        spans: list[Span] = []
        for start, end in sentence_spans(text):
            places = placed_words(text[start:end])
            spans += [
                self._span(found, start + places[found.start].start, start + places[found.end - 1].end)
                for found in self._reader.read([word.text for word in places])
            ]
        return sorted(spans, key=lambda span: (span.start, span.end))

    def _span(self, found: Found, start: int, end: int) -> Span:
        if found.finding is None:
            return Span(start, end, found.kind)
        return Span(start, end, found.kind, self._ids[found.finding], found.state)

    def extraction(self, text: str) -> Extraction:
        """Return the extraction of a text; a blank text is ``blank`` and one in another language than the prompt's
        phrases is ``other_language``, never "nothing mentioned".
        """
        if not text.strip():
            return Extraction(ExtractionStatus.BLANK, detail="There is no text in the sections that were selected.")
        if why := self.languages.why_not(text):
            return Extraction(ExtractionStatus.OTHER_LANGUAGE, detail=why)
        return Extraction(ExtractionStatus.OK, self.label_text(text))

    async def label(self, text: str, repeat: int = 1) -> Extraction:  # noqa: ARG002 - every repeat is the same
        """Return what ``extraction`` does."""
        if text.strip():
            await asyncio.sleep(0)  # lets the runner save and beat between reports
        return self.extraction(text)

    async def close(self) -> None:
        """Give back nothing: it holds only the prompt."""

    def _strengths(self, sentence: str) -> tuple[tuple[int, int], ...]:
        return tuple((finding, STRENGTH[state]) for finding, state in self._reader.states(sentence).items())


_CANARY_GUIDANCE = Guidance(
    label_set="canary",
    language="en",
    title="",
    instructions="",
    findings={
        "effusion": FindingGuidance(synonyms=("effusion",)),
        "pneumothorax": FindingGuidance(synonyms=("pneumothorax",)),
    },
    cues=Cues(
        negation=CueSet(before=("no", "no evidence of", "negative for"), after=("is not seen",), terminators=("but",)),
        pseudo_negation=("no change in",),
        uncertainty=CueSet(before=("possible", "cannot exclude"), after=("not ruled out",)),
        history=CueSet(before=("history of",)),
    ),
)
_CANARY = (
    ("There is no evidence of effusion or large pneumothorax.", "absent", "absent"),
    ("Negative for effusion/pneumothorax.", "absent", "absent"),
    ("No effusion, but a small pneumothorax.", "absent", "present"),
    ("No change in the effusion. A pneumothorax is not seen.", "present", "absent"),
    ("Possible effusion. Pneumothorax not ruled out.", "uncertain", "uncertain"),
    ("Cannot exclude effusions. History of pneumothorax.", "uncertain", "not_mentioned"),
)


def check_engine() -> None:
    """Label a handful of sentences whose answer is known, before anything else is labeled.

    Raises:
        WorkbenchError: an answer is wrong. An engine whose negation is dead looks alive and calls every finding
            present, so it must not be used at all.
    """
    policies = Policies(Policy.PRESENT)
    findings = tuple(Finding(id=i, name=i, name_zh="", group="", definition="") for i in _CANARY_GUIDANCE.findings)
    label_set = LabelSet("canary", "1", "", findings, policies, policies)
    labeler = RulesLabeler(Prompt(_CANARY_GUIDANCE, ""), label_set)
    for text, *expected in _CANARY:
        found = labeler.label_text(text)
        states = [str(found[i].state if i in found else State.NOT_MENTIONED) for i in label_set.ids]
        if states != expected:
            raise WorkbenchError(
                f'The rules engine reads "{text}" as {" and ".join(states)} instead of {" and ".join(expected)}: '
                "its installation is damaged, so no report is labeled; install the workbench again."
            )


# Every labeler of this process waits for it, so that no run, trial or draw ever rests on an engine that is dead.
_checked_once = cache(check_engine)
