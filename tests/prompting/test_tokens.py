"""Token estimates by hand."""

import pytest

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
        ("___", 3),
        ("tórax", 1),
    ],
)
def test_counts_by_the_documented_rule(text: str, tokens: int) -> None:
    assert count_tokens(text) == tokens
