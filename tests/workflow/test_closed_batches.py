"""A batch whose host was closed meanwhile: its answers can be had, it can be cancelled, and no report follows it."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from workbench.domain.actors import Actor
from workbench.domain.cohorts import Purpose
from workbench.domain.data_use import Basis
from workbench.domain.prompts import Prompt
from workbench.errors import RightsError
from workbench.models import transport
from workbench.workflow import batches, data_use, run
from workbench.workflow.cohorts import define
from workbench.workflow.ingest import import_reports
from workbench.workflow.prompts import save_candidate
from workbench.workflow.run import PreparedRun
from workbench.workflow.settings import LabelerConfig
from workbench.workflow.study import Study

HOST = "gpu.hospital.test"
KINDS = ("openai", "anthropic")


@pytest.fixture
def handed_over(  # noqa: PLR0917 - fixtures
    study: Study,
    lead: Actor,
    make_prompt: Callable[..., Prompt],
    tmp_path: Path,
    start_batch_server: Callable[..., Any],
    monkeypatch: pytest.MonkeyPatch,
) -> Callable[[str], tuple[Study, PreparedRun, Any]]:
    """Return a study, a run whose four reports a far host has as a batch, and that host, which is closed by now."""

    async def here(_host: str, _port: int) -> list[str]:
        return ["127.0.0.1"]

    monkeypatch.setattr(transport, "_looked_up", here)

    def hand_over(kind: str) -> tuple[Study, PreparedRun, Any]:
        server = start_batch_server("--looks", "2")
        path = tmp_path / "r.csv"
        rows = "".join(f'r{i},p{i},"FINDINGS: pneumothorax present. Number {i}."\n' for i in range(4))
        path.write_text(f"id,patient_id,text\n{rows}", encoding="utf-8")
        import_reports(study, lead, path)
        define(study, lead, "all", Purpose.DEVELOPMENT, [f"r{i}" for i in range(4)])
        address = server.url.replace("127.0.0.1", HOST) + ("/v1" if kind == "openai" else "")
        labeler = LabelerConfig(kind=kind, model="m", base_url=address, max_tokens=500)
        settings = study.settings.model_copy(update={"labelers": {**study.settings.labelers, "m": labeler}})
        it = replace(study, settings=settings)
        made = save_candidate(it, lead, make_prompt(), message="m", parent=None)
        data_use.open_host(it, lead, HOST, Basis("Contract 7", zero_retention=False))
        prepared = run.prepare(it, lead, cohort="all", revision=made.prompt_hash, labeler="m")
        assert batches.submit(it, lead, prepared).submitted == 4
        data_use.close_host(it, lead, HOST)
        return it, prepared, server

    return hand_over


@pytest.mark.parametrize("kind", KINDS)
def test_what_a_closed_host_has_can_be_collected_and_nothing_more_is_sent(
    kind: str, handed_over: Callable[[str], tuple[Study, PreparedRun, Any]], lead: Actor
) -> None:
    it, prepared, server = handed_over(kind)
    for sending in (
        lambda: batches.submit(it, lead, prepared),
        lambda: run.execute(it, prepared),
        lambda: batches.write_requests(it, lead, prepared, it.folder / "out.jsonl"),
    ):
        with pytest.raises(RightsError, match=r"closed by Dr\. Lead"):
            sending()
    with pytest.raises(RightsError, match=r"collected \(`workbench run --resume .*cancelled .*neither sends a report"):
        batches.submit(it, lead, prepared)
    assert run.reopen(it, lead, prepared.run.hash).run == prepared.run
    again = run.prepare(it, lead, cohort="all", revision=prepared.run.prompt_hash, labeler="m")
    assert batches.collect(it, lead, again).answered in {0, 4}
    batches.collect(it, lead, again)
    assert run.progress(it, prepared).done == 4
    assert set(server.log()["asked"].values()) == {1}

    calls = server.log()["calls"]
    for looking in (  # nothing lies there any more, so there is no reason to go there
        lambda: batches.collect(it, lead, prepared),
        lambda: batches.cancel(it, lead, prepared),
        lambda: run.reopen(it, lead, prepared.run.hash),
    ):
        with pytest.raises(RightsError, match=r"closed by Dr\. Lead"):
            looking()
    assert server.log()["calls"] == calls


@pytest.mark.parametrize("kind", KINDS)
def test_a_batch_on_a_closed_host_can_be_cancelled(
    kind: str, handed_over: Callable[[str], tuple[Study, PreparedRun, Any]], lead: Actor
) -> None:
    it, prepared, server = handed_over(kind)
    batches.cancel(it, lead, prepared)
    while batches.under_way(it, prepared):
        batches.collect(it, lead, prepared)
    assert set(server.log()["asked"].values()) <= {1}
    assert len(server.log()["batches"]) == 1


def test_looking_after_a_batch_opens_the_way_to_its_own_server_alone(
    handed_over: Callable[[str], tuple[Study, PreparedRun, Any]],
) -> None:
    it, prepared, server = handed_over("openai")
    port = int(server.url.rsplit(":", 1)[1])
    egress = data_use.egress_to_fetch(it, prepared.run.labeler)
    assert (egress.restricted, egress.hosts) == (True, frozenset({f"{HOST}:{port}"}))
