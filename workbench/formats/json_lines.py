"""JSON Lines: one object per line."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from workbench.errors import InputError
from workbench.formats.tables import Place, lines


def read_objects(place: Place, encoding: str = "utf-8") -> Iterator[dict[str, Any]]:
    """Yield the object of each line that is not blank; ``place.row`` is the line.

    A bare NaN, which JSON does not have but Python and pandas write, is read as a missing value (None).

    Raises:
        InputError: the file cannot be read, or a line is no JSON object, or names a key twice.
    """
    for line in lines(place.path, encoding, place):
        place.row += 1
        if line.strip():
            yield _object(line, place)


def text_of(value: object, key: str, place: Place) -> str | None:
    """Return a value as text, None where it is missing; whole numbers, which ids often are, become their digits.

    Raises:
        InputError: it is a list, an object, a fraction or a truth value, or text that no file could hold.
    """
    if value is None:
        return None
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if not isinstance(value, str):
        raise InputError(f"{place}: {key} is {json.dumps(value)[:40]} and should be text.")
    if "\0" in value or not _encodable(value):
        raise InputError(f"{place}: {key} holds a character that no text has (NUL or half a surrogate pair).")
    return value


def _object(line: str, place: Place) -> dict[str, Any]:
    try:
        value = json.loads(line, object_pairs_hook=lambda pairs: _unique(pairs, place), parse_constant=_missing)
    except (ValueError, RecursionError) as error:
        if place.row == 1 and line.lstrip().startswith("["):
            raise InputError(f"{place.path} is one JSON list; write one object per line instead.") from error
        said = "it is nested too deeply" if isinstance(error, RecursionError) else "a number in it is too long"
        said = error.msg if isinstance(error, json.JSONDecodeError) else said
        raise InputError(f"{place} is not one JSON object: {said}.") from error
    if not isinstance(value, dict):
        raise InputError(f"{place} is not one JSON object; write one object per line.")
    return value


def _unique(pairs: list[tuple[str, Any]], place: Place) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise InputError(f"{place} names {twice} twice; keep one.")
    return value


def _missing(_constant: str) -> None:
    return None


def _encodable(text: str) -> bool:
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def all_keys(path: Path, encoding: str = "utf-8") -> list[str]:
    """Return every key that some object of a file has, in the order of their first appearance.

    The whole file is read: programs that write JSON leave out what is missing, so one line does not tell the keys.

    Raises:
        InputError: there is no object in it, or as ``read_objects``.
    """
    keys: dict[str, None] = {}
    empty = True
    for value in read_objects(Place(path), encoding):
        empty = False
        if not keys.keys() >= value.keys():
            keys.update(dict.fromkeys(value))
    if empty:
        raise InputError(f"{path} is empty; it should hold one JSON object per line.")
    return list(keys)
