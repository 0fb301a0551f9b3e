"""Identity by content: a tagged SHA-256 of canonical JSON."""

import hashlib
import json

SHORT = 12  # characters of a hash shown to people; the full 64 are stored


def canonical_json(value: object) -> str:
    """Return JSON text that is equal for equal values: sorted keys, no spaces, no NaN, text not escaped.

    Raises:
        ValueError: a float is NaN or infinite, which JSON does not have.
        TypeError: a value has no JSON form.
    """
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def content_hash(kind: str, value: object) -> str:
    """Return 64 hex digits that identify ``value`` among values of one ``kind``.

    The kind is part of what is hashed, so that a prompt and a cohort with the same JSON differ.
    """
    text = f"workbench/{kind}/1\n{canonical_json(value)}"
    return hashlib.sha256(text.encode()).hexdigest()


def text_hash(text: str) -> str:
    """Return the plain SHA-256 of a text in UTF-8, as 64 hex digits."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def short(digest: str) -> str:
    """Return the first characters of a hash, enough to be read aloud."""
    return digest[:SHORT]
