"""How wide a text is on a screen, in letters of the Latin alphabet: a Chinese one takes the room of two."""

import unicodedata

_TWO = frozenset("WF")


def shown_width(text: str) -> int:
    """Return how many Latin letters wide a text is; marks that sit on the letter before them take no room."""
    return sum(0 if unicodedata.combining(sign) else 1 + (unicodedata.east_asian_width(sign) in _TWO) for sign in text)


def shortened(text: str, most: int) -> str:
    """Return a text no wider than ``most`` letters, its middle left out where it is wider, so that both ends tell."""
    if shown_width(text) <= most:
        return text
    end = text[-(most // 4) :]
    while shown_width(end) > most // 3:
        end = end[1:]
    begun = text[: len(text) - len(end)]
    while begun and shown_width(begun) + 1 + shown_width(end) > most:
        begun = begun[:-1]
    return f"{begun.rstrip()}…{end.lstrip()}"
