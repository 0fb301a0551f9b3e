"""Sentences of a report: where each begins and ends.

Made for radiology as it is typed: numbered impressions, abbreviations, decimals, lower-cased text with free-standing
full stops, lines wrapped in the middle of a sentence, and full stops that were forgotten.
"""

import re

_ABBREVIATIONS = frozenset(
    {
        "dr",
        "mr",
        "mrs",
        "ms",
        "prof",
        "st",
        "no",
        "vs",
        "approx",
        "fig",
        "e.g",
        "i.e",
        "eg",
        "ie",
        "ca",
        "cf",
        "resp",
        "neg",
    }
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

_END = re.compile(r"[.!?。！？\n][.!?。！？\"')\]]*")
# A forgotten full stop: words that open a sentence, capitalised after a lower-case word.
_OPENING = re.compile(r" (?:No|There|The|This|These)\s")
_LONGEST = 1_200  # characters of a sentence
_FULL_LINE = 45  # characters
_FULL_WIDTH = "。！？"
_SPACE = re.compile(r"\s+")
_ENUMERATOR = re.compile(r"\s*(?:\(?\d{1,2}|[A-Za-z])$")
_LAST_WORD = re.compile(r"([A-Za-z][A-Za-z.]*)$")
_MEASURE = re.compile(r"\s\d+\s*(?:cm|mm|x\b)", re.IGNORECASE)
_LIST_ITEM = re.compile(r"(?:[-*•+>]\s|\(?\d{1,2}[.)]\s)")
_LINE_OPENING = re.compile(r"[A-Z](?:[a-z]|\s)|[A-Z][A-Z ]+:")


def sentence_spans(text: str) -> list[tuple[int, int]]:
    """Return the sentences of a text as ``(start, end)`` pairs in order, end not included, without outer white space.

    A blank line always ends a sentence; a single line break does so where the next line opens one. Every character
    that is not white space belongs to exactly one sentence. A blank text has none. A stretch of more than 1,200
    characters without an end is cut at a space, so that no text takes long to read; nothing of it is left out.
    """
    spans: list[tuple[int, int]] = []
    start = 0
    for at, after in _candidates(text):
        if text[at] == "\n":
            ends = _ends_at_line(text, start, at)
        else:
            ends = text[at] == " " or _ends_at_stop(text, start, at, after)
        if ends:
            _add(text, start, after, spans)
            start = after
    _add(text, start, len(text), spans)
    return spans


def _candidates(text: str) -> list[tuple[int, int]]:
    """Return where a sentence may end: the first character of the end and the character after it."""
    found = [match.span() for match in _END.finditer(text)]
    forgotten = [
        (match.start(), match.start() + 1)
        for match in _OPENING.finditer(text)
        if text[max(0, match.start() - 4) : match.start()].rstrip()[-1:].islower()
    ]
    return sorted(found + forgotten) if forgotten else found


def _add(text: str, start: int, end: int, spans: list[tuple[int, int]]) -> None:
    while end - start > _LONGEST:
        cut = max(text.rfind(" ", start, start + _LONGEST), text.rfind("\n", start, start + _LONGEST)) + 1
        cut = cut if cut > start else start + _LONGEST
        _add_piece(text, start, cut, spans)
        start = cut
    _add_piece(text, start, end, spans)


def _add_piece(text: str, start: int, end: int, spans: list[tuple[int, int]]) -> None:
    piece = text[start:end]
    start += len(piece) - len(piece.lstrip())
    piece = piece.strip()
    if len(piece) > 3 or any(map(str.isalnum, piece)):
        spans.append((start, start + len(piece)))
    elif piece and spans:
        spans[-1] = (spans[-1][0], start + len(piece))  # a stray full stop belongs to what it follows
    elif piece:
        spans.append((start, start + len(piece)))


def _ends_at_stop(text: str, start: int, at: int, after: int) -> bool:
    """Return whether the full stop at ``at`` ends the sentence that began at ``start``."""
    if text[at] == "?" and _asks_ahead(text, start, at, after):
        return False
    follows = text[after : after + 1]
    if follows and not follows.isspace() and text[at] not in _FULL_WIDTH:
        glued = follows.isupper() or (follows.isalpha() and at - start > 4 and text[at - 4 : at].isalpha())
        if not glued or after - at > 2:  # a row of points leads on: "Pneumothorax....none"
            return False
    if at - start > 5 and text[at - 5 : at].isalpha():
        return True  # a long word before it: the usual case, settled first
    if text[at] != ".":
        return True
    return _ends_after(text, start, at, after)


def _asks_ahead(text: str, start: int, at: int, after: int) -> bool:
    """Return whether a question mark stands before what it questions: "?pneumonia", or first in its sentence."""
    before = text[start:at]
    return not before.strip() or (before[-1:].isspace() and text[after : after + 1].isalnum())


def _ends_after(text: str, start: int, at: int, after: int) -> bool:
    """Return whether what stands before the full stop at ``at`` can be the last of a sentence."""
    if at - start < 8 and _ENUMERATOR.match(text[start:at]):
        return False
    last = text[at - 1 : at] if at > start else ""
    if last.isspace():  # free-standing: an end, unless it is the point of a decimal number
        return not (text[start:at].rstrip()[-1:].isdigit() and _MEASURE.match(text, after))
    if last.isalpha() or last == ".":
        return _last_word(text, start, at) not in _ABBREVIATIONS or after == len(text)
    return True


def _last_word(text: str, start: int, at: int) -> str:
    """Return the word before ``at`` in lower case, as far as it can matter here; "" where there is none."""
    word = _LAST_WORD.search(text[max(start, at - 10) : at])
    return word.group(1).lower() if word else ""


def _ends_at_line(text: str, start: int, at: int) -> bool:
    """Return whether a line break ends the sentence that began at ``start``."""
    gap = _SPACE.match(text, at)
    after = gap.end() if gap else at
    if text.count("\n", at, after) > 1 or _LIST_ITEM.match(text, after):
        return True
    before = text[start:at].rstrip()
    opens = _LINE_OPENING.match(text, after) is not None
    if not opens and text[after : after + 1].isupper():  # an abbreviation: a wrapped line only breaks when it is full
        opens = at - text.rfind("\n", 0, at) < _FULL_LINE
    if before.endswith((",", "/", "-")) or not opens:
        return before.endswith(":") and before.isupper()
    return _last_word(text, start, start + len(before)) not in _FUNCTION_WORDS
