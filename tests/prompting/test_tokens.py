"""Token estimates by hand."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.prompting.tokens import count_tokens


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", 0),
        ("No effusion.", 1 + 2 + 1),  # no, effus|ion, .
        ("pneumothorax", 3),  # pneum|othor|ax
        ("4.5 cm", 1 + 1 + 1 + 1),
        ("123456", 2),
        ("气胸。", 3),
        ("a\n\n  b", 3),
        ("a   b", 3),
        ("___", 1),  # one begun 4
        ("XXXX ____ _____", 2 + 1 + 2),
        ("tórax", 1),
        ("PNEUMOTHORAX.", 6 + 1),  # PN|EU|MO|TH|OR|AX
        ("A", 1),
        ("плевра", 3),
        ('{"a":["b"]}', 1 + 1 + 2 + 1 + 2),  # {" a ":[" b "]}
        ("胸水3cm", 2 + 1 + 1),
    ],
)
def test_counts_by_the_documented_rule(text: str, tokens: int) -> None:
    assert count_tokens(text) == tokens


@given(st.text())
def test_there_are_never_more_tokens_than_characters(text: str) -> None:
    assert count_tokens(text) <= len(text)
