"""Passwords and one-time codes: made, checked, and kept as Argon2 hashes only."""

import secrets
import threading
import unicodedata
from functools import cache

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from workbench.errors import InputError

SHORTEST, LONGEST = 10, 500
_LETTERS = "ABCDEFGHJKMNPQRSTVWXYZ23456789"  # without I, L, O, U, 0 and 1, which are read for one another
_GROUPS, _GROUP = 3, 4
_HASHER = PasswordHasher()  # RFC 9106, low-memory profile: 64 MiB, three passes
_AT_ONCE = threading.BoundedSemaphore(2)  # a crowd of strangers at the door must not take all memory


def new_code() -> str:
    """Return a fresh one-time code such as ``K7QM-3XPA-9TRD``: 58 random bits in letters that are not mistaken."""
    groups = ("".join(secrets.choice(_LETTERS) for _ in range(_GROUP)) for _ in range(_GROUPS))
    return "-".join(groups)


def hash_code(code: str) -> str:
    """Return the hash that a one-time code is kept as."""
    return _hash(_typed_code(code))


def code_fits(code: str, kept: str) -> bool:
    """Return whether a code is the one kept, however it was spaced and in whatever case. Takes as long for no code."""
    return _fits(_typed_code(code), kept)


def hash_password(password: str) -> str:
    """Return the hash that a password is kept as."""
    return _hash(_typed(password))


def password_fits(password: str, kept: str) -> bool:
    """Return whether a password is the one kept. Where none is kept (``""``) it is False and takes as long."""
    return _fits(_typed(password), kept)


def require_password(password: str) -> None:
    """Refuse a password that is too short to be one. Length is all that is asked.

    Raises:
        InputError: it has fewer than ten characters, or more than 500.
    """
    if not SHORTEST <= len(_typed(password)) <= LONGEST:
        raise InputError(f"A password has at least {SHORTEST} characters; a few words in a row are easy to remember.")


def _typed(password: str) -> str:
    return unicodedata.normalize("NFKC", password)  # keyboards differ in how they send an accent


def _typed_code(code: str) -> str:
    return "".join(sign for sign in code.upper() if sign.isalnum())


def _hash(text: str) -> str:
    with _AT_ONCE:
        return _HASHER.hash(text)


def _fits(text: str, kept: str) -> bool:
    with _AT_ONCE:
        try:
            _HASHER.verify(kept or _nobodys_hash(), text[: LONGEST + 1])
        except (VerificationError, InvalidHashError):
            return False
    return bool(kept)


@cache
def _nobodys_hash() -> str:
    return _HASHER.hash(secrets.token_hex(16))
