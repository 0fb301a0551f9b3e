"""How values are written into columns: instants as UTC text that sorts by time, mappings as canonical JSON."""

import json
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

from workbench.domain.hashing import canonical_json


def instant_text(instant: datetime) -> str:
    """Return an instant as UTC ISO text of fixed width, so that text order is time order.

    Raises:
        ValueError: the instant carries no time zone, so nobody could say later when it was.
    """
    if instant.tzinfo is None:
        raise ValueError(f"{instant.isoformat()} has no time zone")
    return instant.astimezone(UTC).isoformat(timespec="microseconds")


def instant(text: str) -> datetime:
    """Return the instant that ``instant_text`` wrote."""
    return datetime.fromisoformat(text)


def json_text(value: object) -> str:
    """Return canonical JSON, equal for equal values."""
    return canonical_json(value)


def from_json(text: str) -> Any:
    """Return the value that ``json_text`` wrote."""
    return json.loads(text)


def id_array(ids: Iterable[str]) -> str:
    """Return ids as one JSON parameter for ``json_each``: no limit on their number, unlike question marks."""
    return json.dumps(list(ids))
