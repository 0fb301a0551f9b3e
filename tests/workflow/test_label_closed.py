"""Labelling with a language model stops in the middle where its server may be sent no more reports."""

from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from workbench.domain.actors import Actor
from workbench.domain.data_use import Basis
from workbench.domain.prompts import Prompt
from workbench.errors import WorkbenchError
from workbench.labelers.registry import settings_of
from workbench.models import egress
from workbench.prompting.files import prompt_text
from workbench.workflow import data_use, label, labelers
from workbench.workflow.label import Source, label_file
from workbench.workflow.labelling import labelling
from workbench.workflow.study import Study

HOST = "127.0.0.1"
TODAY = datetime.now(UTC).date()


@pytest.mark.parametrize(
    ("ends", "why"), [("closed", "It was closed by Dr. Lead"), ("until", f"Its agreement ended on {TODAY}")]
)
def test_labelling_sends_nothing_more_once_its_host_is_closed_and_keeps_what_came(  # noqa: PLR0917 - fixtures
    study: Study,
    lead: Actor,
    make_prompt: Callable[..., Prompt],
    csv_file: Callable[[str, str], Path],
    start_fault_server: Callable[..., Any],
    monkeypatch: pytest.MonkeyPatch,
    *,
    ends: str,
    why: str,
) -> None:
    server = start_fault_server()
    for module in (egress, data_use):  # so that the server of this test counts as one elsewhere
        monkeypatch.setattr(module, "is_loopback", lambda _: False)
    monkeypatch.setattr(labelers, "_LOOK_SECONDS", -1.0)
    data_use.open_host(study, lead, HOST, Basis("Contract", zero_retention=True, until=TODAY))
    study.prompts_folder.mkdir(parents=True, exist_ok=True)
    (study.prompts_folder / "0001.md").write_text(prompt_text(make_prompt()), encoding="utf-8")
    by = settings_of("m", kind="openai", base_url=f"{server.url}/v1", model="m")
    using = labelling(study.folder, prompt=study.prompts_folder / "0001.md", labeler=by)
    rows = "".join(f'r{i},"FINDINGS: pneumothorax present. Number {i}."\n' for i in range(8))
    path = csv_file("in.csv", f"id,text\n{rows}")
    source, out = Source(path), path.with_name("l.csv")
    read = label.iter_reports

    def ending_after_four(*args: Any, **more: Any) -> Iterator[Any]:
        for number, report in enumerate(read(*args, **more)):
            if number == 4 and ends == "closed":
                data_use.close_host(study, lead, HOST)
            elif number == 4:
                monkeypatch.setattr(data_use, "_today", tomorrow)
            yield report

    monkeypatch.setattr(label, "iter_reports", ending_after_four)
    with pytest.raises(WorkbenchError, match=why) as stopped:
        label_file(using, source, out)
    assert "\n" not in str(stopped.value)
    asked = server.log()["calls"]
    assert asked == 1 + 4  # a probe and the four reports before
    assert not out.exists()
    journal = out.with_name("l.csv.journal")
    assert len(journal.read_text(encoding="utf-8").splitlines()) == 1 + 4  # whose they are, and the four answers
    monkeypatch.setattr(label, "iter_reports", read)
    with pytest.raises(WorkbenchError, match=why):
        label_file(using, source, out)
    assert server.log()["calls"] == asked
    assert len(journal.read_text(encoding="utf-8").splitlines()) == 1 + 4


def tomorrow() -> date:
    return TODAY + timedelta(days=1)
