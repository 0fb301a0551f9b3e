"""Sentences of a report: where each begins and ends.

Made for radiology as it is typed: numbered impressions, abbreviations, decimals, lower-cased text with free-standing
full stops, lines wrapped in the middle of a sentence, and full stops that were forgotten.
"""

import re

_ABBREVIATIONS = frozenset(
    {"dr", "mr", "mrs", "ms", "prof", "st", "no", "vs", "approx", "fig", "e.g", "i.e", "eg", "ie", "ca", "cf", "resp"}
)
_FUNCTION_WORDS = frozenset(
    {
        "a",
        "an",
        "and",
        "are",
        "as",
        "at",
        "by",
        "for",
        "from",
        "in",
        "into",
        "is",
        "no",
        "not",
        "of",
        "on",
        "or",
        "over",
    }
    | {"per", "than", "that", "the", "their", "this", "to", "was", "were", "with", "without", "which"}
)

# Candidates for an end, each checked where it is not certain:
#   1. . ! ? before white space, the end, or a capital letter that follows at once ("effusion.The heart")
#   2. a line break (with the white space around it)
#   3. a forgotten full stop: a lower-case word, then a capitalised word that opens sentences
_CANDIDATE = re.compile(
    r"(?P<stop>[.!?。！？]+[\"')\]]*(?=\s|$|[A-Z][a-z]|[\u3400-\u9fff]))"
    r"|(?P<line>[^\S\n]*\n\s*)"
    r"|(?<=[a-z]) +(?=(?:No|There|The|This|These)[ ])"
)
_ENUMERATOR = re.compile(r"\s*(?:\(?\d{1,2}|[A-Za-z])$")
_LAST_WORD = re.compile(r"([A-Za-z][A-Za-z.]*)$")
_MEASURE = re.compile(r"\s\d+\s*(?:cm|mm|x\b)", re.IGNORECASE)
_LIST_ITEM = re.compile(r"(?:[-*•+>]\s|\(?\d{1,2}[.)]\s)")
_LINE_OPENING = re.compile(r"[A-Z](?:[a-z]|\s)|[A-Z][A-Z ]+:")


def sentence_spans(text: str) -> list[tuple[int, int]]:
    """Return the sentences of a text as ``(start, end)`` pairs in order, end not included, without outer white space.

    A blank line always ends a sentence; a single line break does so where the next line opens one. Every character
    that is not white space belongs to exactly one sentence. A blank text has none.
    """
    spans: list[tuple[int, int]] = []
    start = 0
    for match in _CANDIDATE.finditer(text):
        at = match.start()
        kind = match.lastgroup
        if kind == "stop":
            if not _ends_at_stop(text, start, at, match.end()):
                continue
        elif kind == "line" and not _ends_at_line(text, start, at, match.group(), match.end()):
            continue
        _add(text, start, match.end(), spans)
        start = match.end()
    _add(text, start, len(text), spans)
    return spans


def _add(text: str, start: int, end: int, spans: list[tuple[int, int]]) -> None:
    piece = text[start:end]
    stripped = piece.strip()
    if not stripped:
        return
    first = start + piece.index(stripped[0])
    if len(stripped) < 4 and spans and not any(map(str.isalnum, stripped)):
        spans[-1] = (spans[-1][0], first + len(stripped))  # a stray full stop belongs to what it follows
    else:
        spans.append((first, first + len(stripped)))


def _ends_at_stop(text: str, start: int, at: int, after: int) -> bool:
    """Return whether the full stop at ``at`` ends the sentence that began at ``start``."""
    before = text[start:at]
    if text[at] != ".":
        return True
    if _ENUMERATOR.match(before):
        return False
    last = before[-1:]
    if last.isspace():  # free-standing: an end, unless it is the point of a decimal number
        return not (before.rstrip()[-1:].isdigit() and _MEASURE.match(text, after))
    if last.isalpha() or last == ".":
        word = _LAST_WORD.search(before)
        return word is None or word.group(1).lower() not in _ABBREVIATIONS or after == len(text)
    return True


def _ends_at_line(text: str, start: int, at: int, gap: str, after: int) -> bool:
    """Return whether a line break ends the sentence that began at ``start``."""
    if gap.count("\n") > 1:
        return True
    if _LIST_ITEM.match(text, after):
        return True
    before = text[start:at]
    if before.endswith((",", "/", "-")) or not _LINE_OPENING.match(text, after):
        return before.endswith(":") and before.isupper()
    word = _LAST_WORD.search(before)
    return word is None or word.group(1).lower() not in _FUNCTION_WORDS
