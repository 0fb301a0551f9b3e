"""Findings that stand in a report without a header of their own.

They are a paragraph under the comparison, the technique or the reason for the study, or follow the name of a view
("CHEST, PA AND LATERAL:"), or stand between the title and the first header.
"""

import re
from dataclasses import replace
from typing import NamedTuple

from workbench.domain.reports import READ_BY_DEFAULT, Section

UNLABELLED = "unlabelled"
PREAMBLE = "preamble"

# What a report says of the patient and the study; what was found stands elsewhere.
_CONTEXT = frozenset({"indication", "history", "comparison", "technique", "examination"})
_BLANK_LINE = re.compile(r"\n\s*\n\s*")
_ANY_WORD = re.compile(r"[^\W\d_]{2}")
# How a paragraph begins that says why the study was asked for.
_ASKED = re.compile(
    r"(?:an? )?[\d_]+ ?[-–]? ?(?:(?:year|yr|month|week|day)s?[- ]old\b|y/?o\b|[mf]\b)|(?:the |this )?patient with\b"
    r"|history of\b|evaluat(?:e|ion) (?:for|of)\b|assess for\b|rule out\b|r/o\b|please\b|\?",
    re.IGNORECASE,
)
_LINE_COLON = re.compile(r"^[ \t]*(?P<name>\S[^\n]{1,80}?)[ \t]?:(?=\s|$)", re.MULTILINE)
_SPACE = re.compile(r"\s*")
_LETTERS = re.compile(r"[^\W\d_]+")
# Words of the name of a view or of a part of the chest that stands as a header where FINDINGS does not.
_VIEWS = "chest cxr thorax view views radiograph radiographs ray rays xray film films portable"
_PARTS = (
    "lung lungs airway airways pleura pleural heart cardiac cardiomediastinal mediastinum mediastinal hila hilar bone "
    "bones rib ribs skeletal osseous tube tubes line lines catheters device devices diaphragm abdomen"
)
_BESIDE = (
    "ap pa posteroanterior anteroposterior frontal lateral lat decubitus oblique lordotic upright supine erect semi "
    "semierect semiupright bedside single one two three v x left right both upper am pm a p m at on of the and with in "
    "support soft tissue tissues silhouette structures spaces space size contours wall exam examination "
    "study"
)
_PART_WORDS = frozenset(_PARTS.split())
_NAMING_WORDS = frozenset(_VIEWS.split()) | _PART_WORDS
_HEADER_WORDS = _NAMING_WORDS | frozenset(_BESIDE.split())
_SENTENCE_ENDS = ".!?;:。！？；："


class _Free(NamedTuple):
    """Findings that stand in a section of context without their own header."""

    at: int  # which section
    end: int  # of the context
    start: int  # of the findings
    named: bool  # after the name of a view or of a part of the chest


def without_edges(text: str, name: str, start: int, end: int) -> list[Section]:
    """Return the span without the white space around it, or nothing where there is only white space."""
    stretch = text[start:end].rstrip()
    kept = stretch.lstrip()
    if not kept:
        return []
    end = start + len(stretch)
    return [Section(name, end - len(kept), end)]


def names_view_or_part(name: str) -> bool:
    """Return whether words name a view ("PORTABLE CHEST, TWO VIEWS") or a part of the chest, and say nothing else."""
    words = set(_LETTERS.findall(name.lower()))
    return words <= _HEADER_WORDS and not words.isdisjoint(_NAMING_WORDS)


def with_free_findings(text: str, sections: list[Section]) -> list[Section]:
    """Return the sections of a report, none of them findings, with what was found in it named as such.

    ``text.sections.split_sections`` says which stretches these are.
    """
    names = [section.name for section in sections]
    for at, section in enumerate(sections):
        if section.name == PREAMBLE and names[at + 1 : at + 2] == ["impression"]:
            sections[at] = replace(section, name=UNLABELLED)
    for free in reversed(_chosen(text, sections)):
        context = sections[free.at]
        found = Section("findings", free.start, context.end)
        sections[free.at : free.at + 1] = [*without_edges(text, context.name, context.start, free.end), found]
    if not _read(sections):
        _read_what_is_left(text, sections)
    return sections


def _read(sections: list[Section]) -> bool:
    return any(section.name in READ_BY_DEFAULT for section in sections)


def _chosen(text: str, sections: list[Section]) -> list[_Free]:
    """Return the free findings that are read: those that end a run of context, or else the last that may be."""
    free = [found for at, section in enumerate(sections) if (found := _free(text, at, section)) is not None]
    follows = [section.name for section in sections[1:]] + [""]
    last = [found for found in free if follows[found.at] not in _CONTEXT]
    if last or not free:
        return last
    # More context follows, so that a paragraph under an indication may well go on with it.
    sure = [found for found in free if found.named or sections[found.at].name in {"comparison", "technique"}]
    return sure[-1:] or ([] if _read(sections) else free[-1:])


def _free(text: str, at: int, section: Section) -> _Free | None:
    """Return where in a section of context findings begin, None where there are none."""
    titled = section.name == PREAMBLE
    if section.name not in _CONTEXT and not titled:
        return None
    gaps = [match.span() for match in _BLANK_LINE.finditer(text, section.start, section.end)]
    header = _named(text, section, {start for _, start in gaps})
    if header is not None:
        gaps = sorted([header, *(gap for gap in gaps if gap[1] != header[0])])
    for end, start in gaps:
        named = header is not None and start >= header[1]
        if titled and not named:
            continue
        if not _ASKED.match(text, start) and (named or _begins(text, section.start, end, start)):
            return _Free(at, end, start, named) if _ANY_WORD.search(text, start, section.end) else None
    return None


def _begins(text: str, low: int, end: int, start: int) -> bool:
    """Return whether a paragraph is one of its own rather than the next line of a sentence in a double-spaced text."""
    return not text[start].islower() or text[max(low, end - 80) : end].rstrip()[-1:] in _SENTENCE_ENDS


def _named(text: str, section: Section, paragraphs: set[int]) -> tuple[int, int] | None:
    """Return where the first name of a view or a part of the chest begins that is a header, and where findings do.

    The name of a part is a sub-header of what was found and stays in it.
    """
    titled = section.name == PREAMBLE
    low = text.rfind("\n", 0, section.start) + 1 if titled else section.start
    for match in _LINE_COLON.finditer(text, low, section.end):
        start, name = match.start("name"), match["name"]
        if not names_view_or_part(name):
            continue
        if start == section.start and not titled:  # the first paragraph: an earlier study of that name, for one
            continue
        is_part = not _PART_WORDS.isdisjoint(_LETTERS.findall(name.lower()))
        if titled or start in paragraphs or name.isupper() or (is_part and name[0].isupper()):
            after = _SPACE.match(text, match.end(), section.end)
            return start, start if is_part or after is None else after.end()
    return None


def _read_what_is_left(text: str, sections: list[Section]) -> None:
    """Rename the last preamble that is more than titles in capitals, or else the last preliminary read."""
    for name, called in ((PREAMBLE, UNLABELLED), ("wet read", "findings")):
        for at, section in reversed(list(enumerate(sections))):
            titles = name == PREAMBLE and text[section.start : section.end].isupper() and not text.isupper()
            if section.name == name and not titles:
                sections[at] = replace(section, name=called)
                return
