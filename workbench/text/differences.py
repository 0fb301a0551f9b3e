"""Where two texts part: two versions of one report are shown side by side by their first difference."""

from itertools import zip_longest

WIDTH = 60  # characters shown of each text


def first_difference(one: str, other: str, width: int = WIDTH) -> tuple[str, str]:
    """Return an excerpt of each text around the first character in which they differ.

    Excerpts are at most ``width`` characters plus an ellipsis on each side that is cut, with line breaks shown as
    spaces. Equal texts give their beginnings.
    """
    pairs = enumerate(zip_longest(one, other))
    at = next((i for i, (a, b) in pairs if a != b), 0)
    return _excerpt(one, at, width), _excerpt(other, at, width)


def _excerpt(text: str, at: int, width: int) -> str:
    start = max(0, at - width // 2)
    end = start + width
    shown = " ".join(text[start:end].split())
    return f"{'…' if start else ''}{shown}{'…' if end < len(text) else ''}"
