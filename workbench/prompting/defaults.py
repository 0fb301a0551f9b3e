"""The body a prompt starts with."""

from functools import cache
from pathlib import Path


@cache
def default_body() -> str:
    """Return a Jinja body that shows all guidance there is and asks for either reply form."""
    return Path(__file__).with_name("default_body.jinja").read_text(encoding="utf-8")
