"""A report as a rater reads it: its sections, each sentence one that can be clicked as evidence."""

import html
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from workbench.domain.reports import Report
from workbench.text.normalise import placed_words
from workbench.text.phrases import PhraseFinder
from workbench.text.sentences import sentence_spans
from workbench.ui.widgets import LONGEST_HEADER, section_title


@dataclass(frozen=True, slots=True)
class _Shown:
    """What is shown in a report beside its words."""

    evidence: Mapping[str, Sequence[str]]
    phrases: PhraseFinder[str] | None


def report_html(
    report: Report,
    read: Sequence[str],
    evidence: Mapping[str, Sequence[str]],
    phrases: PhraseFinder[str] | None = None,
) -> str:
    """Return a report as HTML, every word of it and all escaped.

    Args:
        report: what is read.
        read: the sections that are rated; the others are set back as context.
        evidence: by sentence the names of the findings that rest on it.
        phrases: what is highlighted in the sections that are rated.
    """
    shown = _Shown(evidence, phrases)
    blocks = []
    at = 0
    for section in sorted(report.sections, key=lambda s: s.start):
        between = report.text[at : section.start].strip()
        if len(between) > LONGEST_HEADER:
            blocks.append(_block("", between, shown, context=True))
            between = ""
        title = between.rstrip(": ") or section_title(section.name)
        text = report.text[section.start : section.end]
        blocks.append(_block(title, text, shown, context=section.name not in read))
        at = max(at, section.end)
    rest = report.text[at:].strip()
    if rest:
        blocks.append(_block("", rest, shown, context=True))
    return f'<div class="wb-report" dir="auto" lang="{html.escape(report.language)}">{"".join(blocks)}</div>'


def _block(title: str, text: str, shown: _Shown, *, context: bool) -> str:
    shown = _Shown(shown.evidence, None) if context else shown
    name = html.escape(" · ".join(part for part in (title, "context" if context else "") if part))
    return (
        f'<div class="wb-section{" unread" if context else ""}"><div class="wb-name">{name}</div>'
        f'<div class="wb-text" dir="auto">{_sentences(text.strip(), shown)}</div></div>'
    )


def _sentences(text: str, shown: _Shown) -> str:
    pieces, at = [], 0
    for start, end in sentence_spans(text):
        names = shown.evidence.get(squeezed(text[start:end]), ())
        told = f' data-for="{html.escape(", ".join(names))}"' if names else ""
        words = _highlighted(text[start:end], shown.phrases)
        span = f'<span class="wb-sentence{" evidence" if names else ""}"{told}>{words}</span>'
        pieces += [html.escape(text[at:start]), span]
        at = end
    return "".join([*pieces, html.escape(text[at:])])


def _highlighted(sentence: str, phrases: PhraseFinder[str] | None) -> str:
    """Return a sentence escaped, with each stretch that phrases cover marked once, however many overlap there."""
    if phrases is None:
        return html.escape(sentence)
    words = placed_words(sentence)
    pieces, at = [], 0
    for first, last in _joined((hit.start, hit.end) for hit in phrases.find([word.text for word in words])):
        start, end = words[first].start, words[last - 1].end
        pieces += [html.escape(sentence[at:start]), "<mark>", html.escape(sentence[start:end]), "</mark>"]
        at = end
    return "".join([*pieces, html.escape(sentence[at:])])


def _joined(spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return spans (end not included) by start, those that overlap made one."""
    joined: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if joined and start < joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((start, end))
    return joined


def squeezed(text: str) -> str:
    """Return a text with every run of white space as one space: how a browser hands over a sentence."""
    return " ".join(text.split())
