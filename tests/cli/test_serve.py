"""``workbench serve``: a study in which one picks a name never leaves this computer."""

from collections.abc import Callable
from typing import Any

import pytest

Run = Callable[..., Any]


@pytest.mark.parametrize("address", ["0.0.0.0", "192.168.1.5", "::"])
def test_a_study_in_which_one_picks_a_name_is_served_to_this_computer_only(
    workbench: Run, study: str, address: str
) -> None:
    result = workbench("serve", "--study", study, "--address", address)
    assert (result.code, result.out) == (1, "")
    assert "served on 127.0.0.1 only" in result.err
    assert result.err.count("\n") == 1


def test_who_serves_a_study_that_nobody_can_enter_is_told_so(
    workbench: Run, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = str(tmp_path / "new")
    workbench("init", folder, "--as", "Dr. Chan", "--no-prompts")
    served: list[object] = []
    monkeypatch.setattr("workbench.cli.study._serve", lambda *given: served.append(given[:3]))
    told = workbench("serve", "--study", folder, "--address", "0.0.0.0").err
    assert "make an account with `workbench user add NAME`" in told
    assert "let a proxy with https stand before this server" in told
    workbench("user", "add", "Dr. Chan", "--study", folder)
    assert workbench("serve", "--study", folder).err == ""
    assert [given[2] for given in served] == ["0.0.0.0", "127.0.0.1"]  # type: ignore[index]
