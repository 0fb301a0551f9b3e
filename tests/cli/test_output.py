"""What is printed is what there is: nothing wrapped, read as markup, or lost to a terminal's encoding."""

import io
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from workbench.cli.output import Output, table

Run = Callable[..., Any]


def test_a_prompt_shown_into_a_file_and_imported_is_the_same_revision(
    workbench: Run, study: str, tmp_path: Path
) -> None:
    shown = tmp_path / "shown.md"
    shown.write_text(workbench("prompt", "show", "4", "--study", study).out, encoding="utf-8")
    again = workbench("prompt", "import", str(shown), "--study", study, "--json")
    assert (again.code, again.json["number"], again.json["status"]) == (0, 4, "accepted")


@pytest.mark.parametrize("text", ["x" * 500 + " end", "IMPRESSION:lungs:clear", "[bold]no[/bold]", "a\tb", "no end\n"])
def test_text_is_printed_as_it_is(capsys: pytest.CaptureFixture[str], text: str) -> None:
    Output(as_json=False).answer({}, text)
    assert capsys.readouterr().out == text.removesuffix("\n") + "\n"


@pytest.mark.parametrize("name", ["a[/b]", "[red]a[/red]", "a\\[b]", ":lungs:"])
def test_a_name_with_brackets_or_colons_stands_in_a_table_as_it_is(name: str) -> None:
    out = io.StringIO()
    Console(file=out, width=80).print(table(f"Title {name}", ["name"], [[name]]))
    assert out.getvalue().count(name) == 2


def test_a_terminal_without_the_letters_still_gets_an_answer(study: str) -> None:
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}

    def run(*more: str) -> "subprocess.CompletedProcess[str]":
        command = [sys.executable, "-m", "workbench", "cohort", "list", "--study", study, *more]
        return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)

    toml = Path(study) / "data" / "study.toml"
    toml.write_text(toml.read_text(encoding="utf-8").replace("[people]", '[people]\n"\u9648" = ["lead"]'), "utf-8")
    assert json.loads(run("--json").stdout)["cohorts"]
    refused = run("--json", "--bad")
    assert (refused.returncode, "Traceback" in refused.stderr) == (2, False)
    nobody = subprocess.run(
        [sys.executable, "-m", "workbench", "prompt", "show", "--report", "x", "--as", "y", "--study", study],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert nobody.returncode == 1
    assert "\\u9648" in nobody.stderr
    assert "Traceback" not in nobody.stderr


def test_json_holds_any_letter_in_a_terminal_that_has_few(monkeypatch: pytest.MonkeyPatch) -> None:
    raw = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(raw, encoding="ascii"))
    Output(as_json=True).answer({"name": "\u80ba \U0001fac1"})
    sys.stdout.flush()
    assert json.loads(raw.getvalue()) == {"name": "\u80ba \U0001fac1"}


@pytest.mark.parametrize(
    "arguments", [["import", "reports", "r\udcff.csv"], ["init", "s\udcff"], ["init", "s", "--as", "\udcff"]]
)
def test_a_name_that_is_no_text_is_refused_before_anything_is_done(
    workbench: Run, tmp_path: Path, arguments: list[str]
) -> None:
    refused = workbench(*arguments)
    assert refused.code == 1
    assert "udcff" in refused.err
    assert "cannot be read as text; rename the file" in refused.err
    assert list(tmp_path.iterdir()) == []


def test_what_the_system_refuses_is_told_in_one_line(
    workbench: Run, study: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device", "labels.csv")

    monkeypatch.setattr("workbench.cli.label.label_file", full)
    refused = workbench("label", "r.csv", "-o", "l.csv", "--study", study)
    assert refused.code == 1
    assert refused.err.startswith("workbench: The system refused: labels.csv: No space left on device.")
    assert len(refused.err.splitlines()) == 1
