"""A report as a rater reads it: its sections, each sentence one that can be clicked as evidence."""

import html
from collections.abc import Mapping, Sequence

from workbench.domain.reports import Report
from workbench.text.sentences import sentence_spans
from workbench.ui.widgets import LONGEST_HEADER


def report_html(report: Report, read: Sequence[str], evidence: Mapping[str, Sequence[str]]) -> str:
    """Return a report as HTML, every word of it and all escaped.

    Args:
        report: what is read.
        read: the sections that are rated; the others are set back as context.
        evidence: by sentence the names of the findings that rest on it.
    """
    blocks = []
    at = 0
    for section in sorted(report.sections, key=lambda s: s.start):
        between = report.text[at : section.start].strip()
        if len(between) > LONGEST_HEADER:
            blocks.append(_block("", between, evidence, context=True))
            between = ""
        title = between.rstrip(": ") or section.name
        text = report.text[section.start : section.end]
        blocks.append(_block(title, text, evidence, context=section.name not in read))
        at = max(at, section.end)
    rest = report.text[at:].strip()
    if rest:
        blocks.append(_block("", rest, evidence, context=True))
    return f'<div class="wb-report" dir="auto" lang="{html.escape(report.language)}">{"".join(blocks)}</div>'


def _block(title: str, text: str, evidence: Mapping[str, Sequence[str]], *, context: bool) -> str:
    name = html.escape(" · ".join(part for part in (title, "context" if context else "") if part))
    return (
        f'<div class="wb-section{" unread" if context else ""}"><div class="wb-name">{name}</div>'
        f'<div class="wb-text" dir="auto">{_sentences(text.strip(), evidence)}</div></div>'
    )


def _sentences(text: str, evidence: Mapping[str, Sequence[str]]) -> str:
    pieces, at = [], 0
    for start, end in sentence_spans(text):
        names = evidence.get(squeezed(text[start:end]), ())
        told = f' data-for="{html.escape(", ".join(names))}"' if names else ""
        words = html.escape(text[start:end])
        span = f'<span class="wb-sentence{" evidence" if names else ""}"{told}>{words}</span>'
        pieces += [html.escape(text[at:start]), span]
        at = end
    return "".join([*pieces, html.escape(text[at:])])


def squeezed(text: str) -> str:
    """Return a text with every run of white space as one space: how a browser hands over a sentence."""
    return " ".join(text.split())
