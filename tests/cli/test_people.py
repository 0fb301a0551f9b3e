"""``workbench user``: a code is printed once, rights are checked, and each refusal is one line."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]


@pytest.fixture
def new_study(workbench: Run, tmp_path: Path) -> str:
    """A study with one lead, who is the only one to act."""
    folder = str(tmp_path / "new")
    assert workbench("init", folder, "--as", "Dr. Chan", "--no-prompts").code == 0
    return folder


def test_a_code_is_printed_once_and_never_again(workbench: Run, new_study: str) -> None:
    made = workbench("user", "add", "Dr. Wong", "--role", "rater", "--study", new_study)
    assert made.code == 0, made.err
    code = re.search(r"[A-Z2-9]{4}-[A-Z2-9]{4}-[A-Z2-9]{4}", made.out)
    assert code
    for again in (["list"], ["list", "--json"], ["role", "Dr. Wong", "rater"], ["email", "Dr. Wong", "w@x.org"]):
        told = workbench("user", *again, "--study", new_study)
        assert told.code == 0, told.err
        assert code[0] not in told.out + told.err
    assert workbench("user", "code", "Dr. Wong", "--study", new_study, "--json").json["code"] != code[0]


def test_the_list_tells_accounts_from_lines_in_the_settings(workbench: Run, new_study: str) -> None:
    workbench("user", "add", "Dr. Wong", "--role", "rater", "--email", "w@x.org", "--study", new_study)
    workbench("user", "add", "Dr. Gone", "--role", "rater", "--role", "adjudicator", "--study", new_study)
    workbench("user", "deactivate", "Dr. Gone", "--study", new_study)
    value = workbench("user", "list", "--study", new_study, "--json").json
    wong, gone = value["people"]
    assert (wong["name"], wong["roles"], wong["email"], wong["active"]) == ("Dr. Wong", ["rater"], "w@x.org", True)
    assert wong["has_password"] is False
    assert (gone["roles"], gone["active"], gone["code_expires_at"]) == (["rater", "adjudicator"], False, None)
    assert value["without_account"] == [{"name": "Dr. Chan", "roles": ["lead", "admin"]}]
    shown = workbench("user", "list", "--study", new_study).out
    assert "deactivated" in shown
    assert "no account (data/study.toml)" in shown


def test_the_first_lead_gets_an_account_as_study_toml_lists_them(workbench: Run, new_study: str) -> None:
    made = workbench("user", "add", "Dr. Chan", "--study", new_study, "--json")
    assert made.json["roles"] == ["lead", "admin"]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["add", "Dr. Wong", "--role", "rater", "--as", "Dr. Rater"], "may not make an account for Dr. Wong"),
        (["list", "--as", "Dr. Rater"], "may not see who has an account"),
        (["add", "Dr. Rater", "--role", "rater"], "has an account already"),
        (["add", "Dr. Wong"], "Say what Dr. Wong may do with --role"),
        (["code", "Nobody"], "Nobody has no account"),
        (["role", "Dr. Chan", "rater"], "Dr. Chan has no account"),
        (["email", "Dr. Rater", "nonsense"], "'nonsense' is no e-mail address"),
    ],
)
def test_a_refusal_is_one_line(workbench: Run, new_study: str, arguments: list[str], told: str) -> None:
    workbench("user", "add", "Dr. Rater", "--role", "rater", "--study", new_study)
    result = workbench("user", *arguments, "--study", new_study)
    assert (result.code, result.out) == (1, "")
    assert told in result.err
    assert result.err.count("\n") == 1


def test_an_unknown_role_is_wrong_usage(workbench: Run, new_study: str) -> None:
    assert workbench("user", "add", "Dr. Wong", "--role", "boss", "--study", new_study).code == 2
    assert workbench("user", "role", "Dr. Wong", "--study", new_study).code == 2
