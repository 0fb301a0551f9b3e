"""Whether the words a model gives as evidence carry its label. What is doubtful is flagged; no label is changed."""

import json
import re
from collections.abc import Callable, Mapping

from workbench.domain.findings import LabelSet, State
from workbench.domain.prompts import Prompt
from workbench.domain.runs import Extraction, Flag, Mention
from workbench.labelers.rules import RulesLabeler
from workbench.prompting.render import harmless

_EDGES = " .,;:!?\"'`()[]{}<>-\u2013\u2014\u2018\u2019\u201c\u201d\u2026。，；：、！？（）【】《》「」"
_CHINESE = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff]")
_SAMPLE = re.compile(r'"evidence"\s*+:\s*+("(?:[^"\\\n]|\\.)*+")')
_OTHER = {State.PRESENT: State.ABSENT, State.ABSENT: State.PRESENT}
_READ_AT_MOST = 2_000  # characters of a quote that the rules labeler is given

Quoted = Callable[[str], Flag | None]


class EvidenceChecker:
    """Flags the evidence of replies under one prompt.

    Args:
        prompt: its worked examples must not come back as evidence; its guidance is how the rules labeler reads a quote.
        label_set: the findings.
        system: what the model is told before any report; a sample answer in it must not come back either.
    """

    def __init__(self, prompt: Prompt, label_set: LabelSet, system: str) -> None:
        samples = [_unquoted(match[1]) for match in _SAMPLE.finditer(system)]
        examples = [example.text for example in prompt.guidance.examples]
        self._examples = [spaced for spaced in map(_spaced, [*examples, *samples]) if spaced.strip(_EDGES)]
        self._rules = RulesLabeler(prompt, label_set)

    def flags(self, mentions: Mapping[str, Mention], text: str) -> dict[Flag, tuple[str, ...]]:
        """Return the findings whose evidence is doubtful, by what is doubtful about it, in the order of ``mentions``.

        ``NO_EVIDENCE``: none, or only punctuation. ``INVENTED_EVIDENCE``: it does not stand in ``text``, the report as
        it was given. ``INEXACT_EVIDENCE``: it does, but for case, white space or punctuation at its ends.
        ``EXAMPLE_EVIDENCE``: it is invented and stands in a worked example. ``OTHERWISE_READ``: read alone, the rules
        labeler finds the finding present in it where the model said absent, or the other way round.
        """
        found: dict[Flag, list[str]] = {}
        stands = quote_finder(text)
        # One sentence is often the evidence of several findings: it is looked up once.
        quotes = {quote: self._quote(quote, stands) for quote in {m.evidence for m in mentions.values()}}
        for finding, mention in mentions.items():
            flags, read = quotes[mention.evidence]
            for flag in flags:
                found.setdefault(flag, []).append(finding)
            if finding in read and contradict(read[finding].state, mention.state):
                found.setdefault(Flag.OTHERWISE_READ, []).append(finding)
        return {flag: tuple(findings) for flag, findings in found.items()}

    def _quote(self, quote: str, stands: Quoted) -> tuple[tuple[Flag, ...], Mapping[str, Mention]]:
        """Return what is doubtful about a quote, whatever it is given for, and what the rules labeler reads in it."""
        flag = stands(quote)
        if flag is Flag.NO_EVIDENCE:
            return (flag,), {}
        read = self._rules.label_text(quote) if len(quote) <= _READ_AT_MOST else {}
        if flag is Flag.INVENTED_EVIDENCE and self._in_example(quote):
            return (flag, Flag.EXAMPLE_EVIDENCE), read
        return ((flag,) if flag else ()), read

    def _in_example(self, quote: str) -> bool:
        words = _spaced(quote).strip(_EDGES)
        return any(_has_words(words, example) for example in self._examples)


def quote_finder(text: str) -> Quoted:
    """Return what tells how a quote stands in a text: None is exactly, else NO_, INVENTED_ or INEXACT_EVIDENCE.

    A quote begins and ends where words do: "no" does not stand in "normal".
    """
    spaced = ""

    def stands(quote: str) -> Flag | None:
        nonlocal spaced
        if not any(map(str.isalnum, quote)):
            return Flag.NO_EVIDENCE
        if _has_words(quote, text):
            return None
        spaced = spaced or _spaced(text)
        stands_inexactly = _has_words(_spaced(quote).strip(_EDGES), spaced)
        return Flag.INEXACT_EVIDENCE if stands_inexactly else Flag.INVENTED_EVIDENCE

    return stands


def contradicted(extraction: Extraction, baseline: Mapping[str, Mention]) -> tuple[str, ...]:
    """Return the findings that one labeler calls present and the other absent, in the order of ``baseline``.

    What is uncertain or not mentioned contradicts nothing, and neither does a reply that could not be used.

    Args:
        extraction: of a language model.
        baseline: what the rules labeler finds in the same text; see ``RulesLabeler.label_text``.
    """
    return tuple(f for f, mention in baseline.items() if contradict(mention.state, extraction.state(f)))


def contradict(one: State | None, other: State | None) -> bool:
    """Return whether one of two states is present and the other absent."""
    return one is not None and one in _OTHER and _OTHER[one] is other


def _spaced(text: str) -> str:
    """Return a text as quotes are compared: case and white space evened out, marks as they are sent to a model."""
    return " ".join(harmless(text).casefold().split())


def _has_words(quote: str, text: str) -> bool:
    """Return whether a quote stands in a text and there begins and ends where words do."""
    at = text.find(quote)
    while at >= 0:
        if not (_within(text, at, quote[0]) or _within(text, at + len(quote), quote[-1])):
            return True
        at = text.find(quote, at + 1)
    return False


def _within(text: str, at: int, edge: str) -> bool:
    """Return whether the place ``at`` is inside a word. Chinese has no spaces and so no such place."""
    if not 0 < at < len(text) or not edge.isalnum():
        return False
    pair = text[at - 1 : at + 1]
    return pair.isalnum() and not _CHINESE.search(pair)


def _unquoted(written: str) -> str:
    try:
        return str(json.loads(written))
    except json.JSONDecodeError:
        return ""
