"""Every command explains itself by example and can answer in JSON."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
import typer

from workbench.cli.commands import app

Run = Callable[..., Any]


def _commands(command: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    inner = getattr(command, "commands", None)
    if inner is None:
        yield path, command
        return
    for name, child in inner.items():
        yield from _commands(child, (*path, name))


COMMANDS = dict(_commands(typer.main.get_command(app)))


def test_the_walk_finds_the_commands() -> None:
    assert {("demo",), ("label",), ("import", "reports"), ("prompt", "accept"), ("cohort", "unlock")} <= set(COMMANDS)


@pytest.mark.parametrize("path", COMMANDS, ids=" ".join)
def test_every_command_shows_an_example_of_itself_and_takes_json(workbench: Run, path: tuple[str, ...]) -> None:
    told = workbench(*path, "--help")
    assert told.code == 0
    assert "Example" in told.out
    assert f"workbench {' '.join(path)}" in told.out.split("Example", 1)[1]
    assert "--json" in told.out
    assert all(getattr(parameter, "help", "") for parameter in COMMANDS[path].params if parameter.name != "help")


@pytest.mark.parametrize("path", COMMANDS, ids=" ".join)
def test_wrong_usage_ends_with_2_and_no_traceback(workbench: Run, path: tuple[str, ...]) -> None:
    told = workbench(*path, "--no-such-option")
    assert (told.code, told.out) == (2, "")
    assert "Traceback" not in told.err
