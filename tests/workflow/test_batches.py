"""Batches: handed over once, collected into the same extractions, found again after a kill, under lock and cap."""

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx2
import pytest

from workbench.domain.actors import Actor
from workbench.domain.cohorts import Purpose
from workbench.domain.data_use import Basis, Opening
from workbench.domain.prompts import Prompt
from workbench.errors import InputError, RightsError
from workbench.models.base import CallError
from workbench.models.egress import Egress
from workbench.running import batching
from workbench.running.spending import Cap
from workbench.storage import batches as store
from workbench.storage import runs as run_store
from workbench.workflow import batches, data_use, run
from workbench.workflow.cohorts import define
from workbench.workflow.ingest import import_reports
from workbench.workflow.prompts import save_candidate
from workbench.workflow.run import PreparedRun, key_of
from workbench.workflow.settings import LabelerConfig, PriceSettings
from workbench.workflow.study import Study

KINDS = ("openai", "anthropic")
SIX = ["pneumothorax present.", "pneumothorax absent.", "Clear.", "Quiet.", "Calm.", "Plain."]


@pytest.fixture
def make_run(study: Study, lead: Actor, make_prompt: Callable[..., Prompt], tmp_path: Path) -> Callable[..., Any]:
    """Return a study with reports in a cohort and a labeler on a server, and its prepared run."""

    def make(server: Any, texts: Sequence[str], kind: str = "openai", **config: Any) -> tuple[Study, Any]:
        path = tmp_path / "batch_reports.csv"
        rows = "".join(f'r{i},p{i},"FINDINGS: {text}"\n' for i, text in enumerate(texts))
        path.write_text(f"id,patient_id,text\n{rows}", encoding="utf-8")
        import_reports(study, lead, path)
        define(study, lead, "all", Purpose.DEVELOPMENT, [f"r{i}" for i in range(len(texts))])
        root = server if isinstance(server, str) else server.url
        address = f"{root}/v1" if kind == "openai" else root
        labeler = LabelerConfig(**{"kind": kind, "model": "m", "base_url": address, "max_tokens": 500, **config})
        labelers = {**study.settings.labelers, "m": labeler}
        it = replace(study, settings=study.settings.model_copy(update={"labelers": labelers}))
        made = save_candidate(it, lead, make_prompt(), message="m", parent=None)
        return it, run.prepare(it, lead, cohort="all", revision=made.prompt_hash, labeler="m")

    return make


def labels(study: Study, lead: Actor, prepared: PreparedRun) -> dict[str, tuple[str, str | None]]:
    """Return how each report ended, and the state of pneumothorax."""
    found = run.extractions(study, lead, prepared)
    return {report: (e.status.value, e.state("pneumothorax")) for report, e in found.items()}


def events(study: Study) -> list[str]:
    with study.database.read() as conn:
        return [row[0] for row in conn.execute("SELECT event FROM batch_events ORDER BY id")]


@pytest.mark.parametrize("kind", KINDS)
def test_a_run_is_handed_over_once_and_its_answers_are_the_extractions_that_calls_would_make(
    kind: str, start_batch_server: Callable[..., Any], make_run: Callable[..., Any], lead: Actor
) -> None:
    server = start_batch_server("--looks", "2")
    it, prepared = make_run(server, SIX, kind)
    first = batches.submit(it, lead, prepared)
    assert (first.submitted, first.answered, first.failed) == (6, 0, 0)
    (record,) = batches.of_run(it, prepared)
    assert (record.requests, record.actor, record.over) == (6, lead.name, False)
    assert record.provider_id in server.log()["batches"]
    assert run.progress(it, prepared).done == 0

    again = batches.submit(it, lead, prepared)  # not ended yet: nothing to collect, nothing to hand over
    assert (again.submitted, again.answered) == (0, 0)
    assert batches.collect(it, lead, prepared).answered == 6
    assert set(server.log()["asked"].values()) == {1}
    assert labels(it, lead, prepared) == {
        "r0": ("ok", "present"),
        "r1": ("ok", "absent"),
        **{f"r{i}": ("ok", "not_mentioned") for i in range(2, 6)},
    }
    (record,) = batches.of_run(it, prepared)
    assert (record.over, record.answered, record.failed) == (True, 6, 0)
    assert batches.under_way(it, prepared) == []
    assert events(it) == ["submitted", "told", "collected"]

    before = server.log()["calls"]
    assert run.execute(it, prepared).finished  # by call: there is nothing left to ask
    assert server.log()["calls"] == before
    with it.database.read() as conn:
        key = key_of(prepared.run, dict(prepared.texts)["r0"])
        kept = run_store.extractions(conn, [key])[key]
    assert kept.batch == record.provider_id
    assert kept.served_model == "m-served"
    assert kept.mentions["pneumothorax"].evidence == "pneumothorax present."


@pytest.mark.parametrize("kind", KINDS)
def test_what_a_batch_did_not_answer_counts_as_a_failed_call_and_is_asked_again(
    kind: str, start_batch_server: Callable[..., Any], make_run: Callable[..., Any], lead: Actor
) -> None:
    steps = ["expired", "canceled", "missing", "400", "500", "ok"]
    it, prepared = make_run(start_batch_server(), [f"pneumothorax present. {{deal {s}}}" for s in steps], kind)
    batches.submit(it, lead, prepared)
    found = batches.collect(it, lead, prepared)
    assert (found.answered, found.failed) == (1, 5)
    assert run.unanswered(it, prepared) == ("r0", "r1", "r2", "r3", "r4")
    with it.database.read() as conn:
        keys = {report: key_of(prepared.run, text) for report, text in prepared.texts}
        failures = run_store.failures(conn, list(keys.values()))
    assert {r: failures[keys[r]].trouble for r in ("r0", "r3", "r4")} == {
        "r0": "server",
        "r3": "rejected",
        "r4": "server",
    }
    assert "before this report was answered" in failures[keys["r0"]].detail
    assert not any("CANARY" in failure.detail for failure in failures.values())
    assert batches.submit(it, lead, prepared).submitted == 5


@pytest.mark.parametrize("kind", KINDS)
def test_replies_are_read_as_strictly_as_those_to_calls_and_none_is_mended(
    kind: str, start_batch_server: Callable[..., Any], make_run: Callable[..., Any], lead: Actor
) -> None:
    steps = ["truncated", "refusal", "prose", "wrong_label", "contradiction", "fence", "invented"]
    server = start_batch_server()
    texts = [f"pneumothorax present. {{deal {step}}}" for step in steps]
    it, prepared = make_run(server, texts, kind)
    assert batches.submit(it, lead, prepared).submitted == 7
    batches.collect(it, lead, prepared)
    ends = {report: status for report, (status, _) in labels(it, lead, prepared).items()}
    assert list(ends.values()) == ["truncated", "refused", "malformed", "wrong_label", "malformed", "ok", "ok"]
    assert run.progress(it, prepared).finished
    assert set(server.log()["asked"].values()) == {1}
    flagged = run.extractions(it, lead, prepared)["r6"].flags
    assert [flag.value for flag in flagged] == ["invented_evidence"]


def test_a_report_longer_than_the_model_reads_is_in_no_batch(
    start_batch_server: Callable[..., Any], make_run: Callable[..., Any], lead: Actor
) -> None:
    server = start_batch_server()
    it, prepared = make_run(server, SIX, context_tokens=600)  # of which 500 are kept for the reply
    assert batches.submit(it, lead, prepared).submitted == 0
    assert run.progress(it, prepared).failed == {"too_long": 6}
    assert server.log()["batches"] == {}


@pytest.mark.parametrize("kind", KINDS)
def test_a_batch_whose_arrival_nobody_was_told_of_is_found_again_and_not_paid_for_twice(
    kind: str, start_batch_server: Callable[..., Any], make_run: Callable[..., Any], lead: Actor
) -> None:
    server = start_batch_server("--lose", "--others", "5")
    it, prepared = make_run(server, SIX, kind)
    with pytest.raises(CallError, match="finds out whether the batch arrived"):
        batches.submit(it, lead, prepared)
    (record,) = batches.under_way(it, prepared)
    assert record.provider_id == ""
    found = batches.submit(it, lead, prepared)
    assert (found.submitted, found.answered) == (0, 6)
    assert len(server.log()["batches"]) == 1


@pytest.mark.parametrize("kind", KINDS)
def test_a_batch_that_never_arrived_is_handed_over_by_the_next_command_with_the_same_requests(
    kind: str,
    start_batch_server: Callable[..., Any],
    make_run: Callable[..., Any],
    lead: Actor,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    server = start_batch_server("--others", "5", "--looks", "2")
    it, prepared = make_run(server, SIX, kind)

    class Killed(BaseException):
        pass

    def killed(*_: object, **__: object) -> None:
        raise Killed

    where = {"openai": "openai_batches.OpenAIBatches", "anthropic": "anthropic_batches.AnthropicBatches"}[kind]
    with monkeypatch.context() as patch:
        patch.setattr(f"workbench.models.{where}.submit", killed)
        with pytest.raises(Killed):
            batches.submit(it, lead, prepared)
    assert len(batches.under_way(it, prepared)) == 1
    assert server.log()["batches"] == {}
    assert batches.submit(it, lead, prepared).submitted == 6
    assert batches.collect(it, lead, prepared).answered == 6
    assert len(batches.of_run(it, prepared)) == 1


def test_collecting_alone_hands_nothing_over(
    start_batch_server: Callable[..., Any], make_run: Callable[..., Any], lead: Actor, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = start_batch_server()
    it, prepared = make_run(server, SIX)

    def lost(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("workbench.models.openai_batches.OpenAIBatches.submit", lost)
        with pytest.raises(KeyboardInterrupt):
            batches.submit(it, lead, prepared)
    found = batches.collect(it, lead, prepared)
    assert "had not reached the provider" in found.notes[0]
    assert batches.under_way(it, prepared) == []
    assert server.log()["batches"] == {}


def test_a_stop_in_the_middle_of_collecting_keeps_what_was_saved_and_goes_on(
    start_batch_server: Callable[..., Any], make_run: Callable[..., Any], lead: Actor, monkeypatch: pytest.MonkeyPatch
) -> None:
    it, prepared = make_run(start_batch_server(), [*SIX[:5], "{deal expired} a."])
    batches.submit(it, lead, prepared)
    monkeypatch.setattr(batching, "_TOGETHER", 2)
    read, times = batching.outcome, []

    def stopping(*args: Any, **more: Any) -> Any:
        times.append(1)
        if len(times) == 5:
            raise KeyboardInterrupt
        return read(*args, **more)

    with monkeypatch.context() as patch:
        patch.setattr(batching, "outcome", stopping)
        with pytest.raises(KeyboardInterrupt):
            batches.collect(it, lead, prepared)
    saved = run.progress(it, prepared)
    assert 0 < saved.done < 6
    assert saved.unanswered == 0
    batches.collect(it, lead, prepared)
    with it.database.read() as conn:
        assert conn.execute("SELECT COUNT(*) FROM failures").fetchone()[0] == 1
    assert run.progress(it, prepared).done == 6


def test_nothing_under_way_is_asked_by_call_and_the_run_says_what_waits(
    start_batch_server: Callable[..., Any], make_run: Callable[..., Any], lead: Actor
) -> None:
    server = start_batch_server("--looks", "9")
    it, prepared = make_run(server, SIX)
    batches.submit(it, lead, prepared)
    define(it, lead, "some", Purpose.DEVELOPMENT, ["r0", "r1"])
    other = run.prepare(it, lead, cohort="some", revision=prepared.run.prompt_hash, labeler="m")
    before = server.log()["calls"]
    progress = run.execute(it, other)
    assert (progress.done, server.log()["calls"]) == (0, before)
    assert "2 reports wait for a batch that was handed over" in progress.stopped
    assert prepared.run.hash[:12] in progress.stopped
    assert batches.submit(it, lead, other).submitted == 0


@pytest.mark.parametrize("kind", KINDS)
def test_more_than_a_provider_takes_at_once_becomes_several_batches(
    kind: str,
    start_batch_server: Callable[..., Any],
    make_run: Callable[..., Any],
    lead: Actor,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    where = {"openai": "openai_batches.OpenAIBatches", "anthropic": "anthropic_batches.AnthropicBatches"}[kind]
    monkeypatch.setattr(f"workbench.models.{where}.most_requests", 4)
    server = start_batch_server()
    it, prepared = make_run(server, SIX, kind)
    assert batches.submit(it, lead, prepared).submitted == 6
    assert sorted(len(asked) for asked in server.log()["batches"].values()) == [2, 4]
    assert batches.collect(it, lead, prepared).answered == 6


@pytest.mark.parametrize("kind", KINDS)
def test_batches_are_under_the_lock_of_data_use_with_the_sentence_that_calls_are_refused_with(
    kind: str, make_run: Callable[..., Any], lead: Actor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "k")
    it, prepared = make_run("http://127.0.0.1:9", SIX, kind)
    elsewhere = replace(prepared.run.labeler, base_url=None)
    cloud = replace(prepared, run=replace(prepared.run, labeler=elsewhere))
    with it.database.write() as conn:
        run_store.add(conn, cloud.run, lead.name, datetime.now(UTC))
    told = []
    for refused in (
        lambda: run.execute(it, cloud),
        lambda: batches.submit(it, lead, cloud),
        lambda: batches.collect(it, lead, cloud),
        lambda: batches.write_requests(it, lead, cloud, it.folder / "out.jsonl"),
    ):
        with pytest.raises(RightsError, match="restricted to this computer") as error:
            refused()
        told.append(str(error.value))
    assert len(set(told)) == 1
    assert not (it.folder / "out.jsonl").exists()
    with it.database.read() as conn:
        assert store.of_run(conn, cloud.run.hash) == []


def test_whoever_hands_over_on_zero_retention_is_told_that_batches_are_kept(
    start_batch_server: Callable[..., Any], make_run: Callable[..., Any], lead: Actor, monkeypatch: pytest.MonkeyPatch
) -> None:
    it, prepared = make_run(start_batch_server(), SIX)
    now = datetime.now(UTC)
    opening = Opening("a.org", Basis("Contract 7", zero_retention=True), lead.name, now)
    monkeypatch.setattr(data_use, "permission", lambda *_: data_use.Permission(opening=opening))
    assert batches.submit(it, lead, prepared).notes == (batches.KEPT,)
    assert batches.collect(it, lead, prepared).notes == ()


def test_a_batch_that_would_pass_a_cap_is_refused_before_it_is_handed_over(
    start_batch_server: Callable[..., Any], make_run: Callable[..., Any], lead: Actor
) -> None:
    server = start_batch_server()
    price = PriceSettings(input=1000.0, output=2000.0)
    it, prepared = make_run(server, SIX, price=price)
    with pytest.raises(InputError, match=r"about .* tokens \(estimated\), which is above the cap of 1,000"):
        batches.submit(it, lead, prepared, cap=Cap(tokens=1_000))
    # Replies alone, at most 500 tokens each: 6 x 500 x 2000 / 10^6 x 0.5 = 3 USD.
    with pytest.raises(InputError, match=r"estimated at 0\.5 of the price"):
        batches.submit(it, lead, prepared, cap=Cap(cost=3.0))
    assert server.log()["batches"] == {}
    assert batches.of_run(it, prepared) == []
    assert batches.submit(it, lead, prepared, cap=Cap(cost=30.0)).submitted == 6


def test_answers_in_batches_cost_their_share_of_the_price(
    start_batch_server: Callable[..., Any], make_run: Callable[..., Any], lead: Actor
) -> None:
    price = PriceSettings(input=10.0, output=20.0, batch_factor=0.25)
    it, prepared = make_run(start_batch_server(), SIX[:2], price=price)
    batches.submit(it, lead, prepared)
    batches.collect(it, lead, prepared)
    done = run.progress(it, prepared)
    used = done.usage
    assert used.batch_input_tokens == used.input_tokens > 0
    whole = (used.input_tokens * 10 + used.output_tokens * 20) / 1_000_000
    assert done.cost == pytest.approx(whole / 4)


def test_a_batch_that_the_provider_does_not_take_up_says_why(
    start_batch_server: Callable[..., Any], make_run: Callable[..., Any], lead: Actor
) -> None:
    it, prepared = make_run(start_batch_server("--fail", "token_limit_exceeded"), SIX)
    batches.submit(it, lead, prepared)
    found = batches.collect(it, lead, prepared)
    assert (found.answered, found.failed) == (0, 6)
    assert "more tokens would wait in batches" in found.notes[0]


@pytest.mark.parametrize("kind", KINDS)
def test_a_server_without_batches_is_told_of_and_nothing_is_left_under_way(
    kind: str, start_batch_server: Callable[..., Any], make_run: Callable[..., Any], lead: Actor
) -> None:
    it, prepared = make_run(start_batch_server("--refuse", "404"), SIX, kind)
    with pytest.raises(CallError, match="No batch was made"):
        batches.submit(it, lead, prepared)
    assert batches.under_way(it, prepared) == []
    assert run.execute(it, prepared).finished  # by call it works


def test_answers_to_what_nobody_asked_are_left_out_and_told(
    start_batch_server: Callable[..., Any], make_run: Callable[..., Any], lead: Actor
) -> None:
    it, prepared = make_run(start_batch_server(), ["pneumothorax present. {deal strange}"])
    batches.submit(it, lead, prepared)
    found = batches.collect(it, lead, prepared)
    assert (found.answered, found.failed) == (1, 0)
    assert "1 answers to nothing that was asked" in found.notes[0]


@pytest.mark.parametrize("kind", KINDS)
def test_a_batch_is_cancelled_what_was_answered_is_kept_and_the_rest_can_be_asked_again(
    kind: str, start_batch_server: Callable[..., Any], make_run: Callable[..., Any], lead: Actor
) -> None:
    it, prepared = make_run(start_batch_server(), [*SIX[1:], "pneumothorax present. {deal early}"], kind)
    batches.submit(it, lead, prepared)
    found = batches.cancel(it, lead, prepared)
    assert (found.answered, found.failed) == (1, 5)
    assert labels(it, lead, prepared)["r5"] == ("ok", "present")
    assert batches.submit(it, lead, prepared).submitted == 5


@pytest.mark.parametrize("kind", KINDS)
def test_a_batch_that_its_provider_has_forgotten_can_be_given_up(
    kind: str, start_batch_server: Callable[..., Any], make_run: Callable[..., Any], lead: Actor
) -> None:
    it, prepared = make_run(start_batch_server("--forget"), SIX, kind)
    batches.submit(it, lead, prepared)
    with pytest.raises(CallError, match="404"):
        batches.collect(it, lead, prepared)  # a wrong key or address says the same, so nothing is given up for it
    assert len(batches.under_way(it, prepared)) == 1
    found = batches.cancel(it, lead, prepared)
    assert "does not know the batch" in found.notes[0]
    assert batches.under_way(it, prepared) == []
    assert events(it)[-1] == "dropped"


def test_a_batch_of_somebody_else_that_looked_like_ours_is_let_go_and_ours_asked_again(
    start_batch_server: Callable[..., Any], make_run: Callable[..., Any], lead: Actor
) -> None:
    it, prepared = make_run("http://127.0.0.1:9", SIX, "anthropic")
    other, strange = make_strange(it, start_batch_server(), lead, prepared)
    found = batches.collect(other, lead, strange)
    assert "is somebody else's" in found.notes[0]
    assert batches.under_way(other, strange) == []
    assert run.progress(other, strange).done == 0


def make_strange(it: Study, server: Any, lead: Actor, prepared: Any) -> tuple[Study, Any]:
    """Return a study and a run of it on another server, where a batch is taken for the run's that is not."""
    config = it.settings.labelers["m"].model_copy(update={"base_url": server.url})
    labelers = {**it.settings.labelers, "m": config}
    other = replace(it, settings=it.settings.model_copy(update={"labelers": labelers}))
    mine = run.prepare(other, lead, cohort="all", revision=prepared.run.prompt_hash, labeler="m")
    ours = run.prepare(other, lead, cohort="all", revision=prepared.run.prompt_hash, labeler="m", repeats=2)
    keys = [key_of(mine.run, text) for _, text in mine.texts]
    batches.submit(other, lead, ours)  # twelve requests by other names
    with other.database.write() as conn:
        (theirs,) = store.of_run(conn, ours.run.hash)
        store.add_event(conn, theirs.id, store.DROPPED, store.Told(), actor=lead.name, at=datetime.now(UTC))
        number = store.plan(
            conn, mine.run.hash, store.NewBatch("t", "text", 0, 0), keys, actor=lead.name, at=datetime.now(UTC)
        )
        told = store.Told(theirs.provider_id, "in_progress")
        store.add_event(conn, number, store.SUBMITTED, told, actor=lead.name, at=datetime.now(UTC))
    return other, mine


def test_each_repeat_is_a_request_of_its_own(
    start_batch_server: Callable[..., Any], make_run: Callable[..., Any], lead: Actor
) -> None:
    server = start_batch_server()
    it, prepared = make_run(server, SIX)
    twice = run.prepare(it, lead, cohort="all", revision=prepared.run.prompt_hash, labeler="m", repeats=2)
    assert batches.submit(it, lead, twice).submitted == 12
    assert batches.collect(it, lead, twice).answered == 12
    assert set(server.log()["asked"].values()) == {1}
    assert run.progress(it, twice).finished


def test_waiting_ends_when_nothing_is_under_way(
    start_batch_server: Callable[..., Any], make_run: Callable[..., Any], lead: Actor
) -> None:
    it, prepared = make_run(start_batch_server("--looks", "3"), SIX)
    batches.submit(it, lead, prepared)
    pauses: list[float] = []
    found = batches.wait(it, lead, prepared, sleep=pauses.append)
    assert (found.answered, len(pauses)) == (6, 3)


def test_the_rules_labeler_takes_no_batch(rated: Study, lead: Actor, make_prompt: Callable[..., Prompt]) -> None:
    made = save_candidate(rated, lead, make_prompt(), message="m", parent=None)
    prepared = run.prepare(rated, lead, cohort="development", revision=made.prompt_hash)
    with pytest.raises(InputError, match="takes no batches"):
        batches.submit(rated, lead, prepared)


# What `vllm run-batch` makes of a file: its answers, by hand.


def answered(line: str, said: list[dict[str, str]]) -> str:
    body = {
        "choices": [{"message": {"content": json.dumps({"findings": said})}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 100, "completion_tokens": 5},
        "model": "m",
    }
    response = {"status_code": 200, "request_id": "v", "body": body}
    return json.dumps({"id": "v", "custom_id": json.loads(line)["custom_id"], "response": response, "error": None})


@pytest.fixture
def written(make_run: Callable[..., Any], lead: Actor, tmp_path: Path) -> tuple[Study, Any, list[str]]:
    """Return a study, a run of it, and the requests of the run in a file; no server runs."""
    it, prepared = make_run("http://127.0.0.1:9", SIX[:3])
    path = tmp_path / "requests.jsonl"
    assert batches.write_requests(it, lead, prepared, path) == 3
    return it, prepared, path.read_text(encoding="utf-8").splitlines()


def test_a_file_of_requests_is_as_vllm_takes_it_and_its_answers_come_back(
    written: tuple[Study, Any, list[str]], lead: Actor, tmp_path: Path
) -> None:
    it, prepared, lines = written
    first = json.loads(lines[0])
    assert (first["method"], first["url"]) == ("POST", "/v1/chat/completions")
    assert (first["body"]["model"], first["body"]["max_tokens"]) == ("m", 500)
    assert SIX[0] in first["body"]["messages"][1]["content"]
    air = [{"finding": "pneumothorax", "state": "present", "evidence": "pneumothorax present."}]
    failed = {"custom_id": json.loads(lines[2])["custom_id"], "response": {"status_code": 500, "body": {}}}
    out = tmp_path / "answers.jsonl"
    out.write_text("\n".join([answered(lines[0], air), answered(lines[1], []), json.dumps(failed)]) + "\n")
    found = batches.take_results(it, lead, prepared, out)
    assert (found.answered, found.failed) == (2, 1)
    assert labels(it, lead, prepared)["r0"] == ("ok", "present")
    done = run.progress(it, prepared)
    assert (done.finished, done.unanswered, done.failed) == (True, 1, {"failed": 1})
    again = batches.take_results(it, lead, prepared, out)
    assert (again.answered, again.failed) == (0, 1)
    assert "answered already" in again.notes[0]


ODD_USAGE = (
    {"prompt_tokens": 10**30, "completion_tokens": 5},
    {"prompt_tokens": -(10**6), "completion_tokens": -5},
    {"prompt_tokens": 100, "completion_tokens": 5, "prompt_tokens_details": {"cached_tokens": 10**6}},
)


def check_odd_usage_is_left_out(it: Study, prepared: PreparedRun, batch_factor: float) -> None:
    """Two of the three replies tell of no tokens; all 100 of the third's input were cached, at 1 of 10 USD a million.

    100 x 1 + 5 x 20 = 200 USD a million times, 0.0002 USD, and thrice that for three replies.
    """
    done = run.progress(it, prepared)
    assert (done.finished, done.failed) == (True, {})
    assert (done.usage.replies, done.usage.unknown) == (1, 2)
    assert (done.usage.input_tokens, done.usage.output_tokens, done.usage.cached_tokens) == (100, 5, 100)
    assert done.cost == pytest.approx(3 * 0.0002 * batch_factor)


def test_numbers_of_tokens_that_cannot_be_are_not_believed_of_an_answer_in_a_file(
    make_run: Callable[..., Any], lead: Actor, tmp_path: Path
) -> None:
    price = PriceSettings(input=10.0, output=20.0, cached_input=1.0, batch_factor=0.5)
    it, prepared = make_run("http://127.0.0.1:9", SIX[:3], price=price)
    asked, out = tmp_path / "requests.jsonl", tmp_path / "answers.jsonl"
    batches.write_requests(it, lead, prepared, asked)
    with out.open("w", encoding="utf-8") as file:
        for line, usage in zip(asked.read_text(encoding="utf-8").splitlines(), ODD_USAGE, strict=True):
            said = json.loads(answered(line, []))
            said["response"]["body"]["usage"] = usage
            file.write(json.dumps(said) + "\n")
    assert batches.take_results(it, lead, prepared, out).answered == 3
    check_odd_usage_is_left_out(it, prepared, 0.5)


def test_numbers_of_tokens_that_cannot_be_are_not_believed_of_a_reply(
    make_run: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    price = PriceSettings(input=10.0, output=20.0, cached_input=1.0)
    it, prepared = make_run("http://127.0.0.1:9", SIX[:3], price=price)
    left = list(ODD_USAGE)

    async def answer(request: httpx2.Request) -> httpx2.Response:
        probing = b"What colour is the sky" in request.content
        content = '{"colour": "velm"}' if probing else '{"findings": []}'
        choices = [{"message": {"content": content}, "finish_reason": "stop"}]
        return httpx2.Response(200, json={"choices": choices, "usage": {} if probing else left.pop()})

    monkeypatch.setattr(Egress, "transport", lambda _, **_limit: httpx2.MockTransport(answer))
    assert run.execute(it, prepared).finished
    check_odd_usage_is_left_out(it, prepared, 1.0)


@pytest.mark.parametrize(
    ("spoil", "told"),
    [
        (lambda lines: [*lines[:2], lines[2][:40]], "line 3, is cut off"),
        (lambda lines: [*lines, lines[0]], "line 4: .* is answered on line 1 already"),
        (lambda lines: [lines[0].replace('"custom_id": "', '"custom_id": "x')], "line 1: this run asked nothing by"),
        (lambda lines: ['{"a": 1}'], "line 1, is no answer of a batch"),
        (lambda lines: [], "holds no answer"),
    ],
)
def test_a_file_of_answers_with_anything_wrong_is_refused_whole(
    written: tuple[Study, Any, list[str]],
    lead: Actor,
    tmp_path: Path,
    spoil: Callable[[list[str]], list[str]],
    told: str,
) -> None:
    it, prepared, lines = written
    out = tmp_path / "answers.jsonl"
    out.write_text("\n".join(spoil([answered(line, []) for line in lines])))
    with pytest.raises(InputError, match=told):
        batches.take_results(it, lead, prepared, out)
    assert run.progress(it, prepared).done == 0


def test_the_file_of_requests_is_no_file_of_answers(
    written: tuple[Study, Any, list[str]], lead: Actor, tmp_path: Path
) -> None:
    it, prepared, lines = written
    with pytest.raises(InputError, match=r"line 1, is a request and no answer.* Nothing was taken in\.$"):
        batches.take_results(it, lead, prepared, tmp_path / "requests.jsonl")
    (tmp_path / "mixed.jsonl").write_text("\n".join([answered(lines[0], []), *lines[1:]]) + "\n", encoding="utf-8")
    with pytest.raises(InputError, match="line 2, is a request and no answer"):
        batches.take_results(it, lead, prepared, tmp_path / "mixed.jsonl")
    done = run.progress(it, prepared)
    assert (done.done, done.failed, done.unanswered) == (0, {}, 0)


def test_a_file_of_requests_is_not_written_for_anthropic_or_for_nothing(
    make_run: Callable[..., Any], lead: Actor, tmp_path: Path
) -> None:
    it, prepared = make_run("http://127.0.0.1:9", SIX[:1], "anthropic")
    with pytest.raises(InputError, match="form of OpenAI's batches"):
        batches.write_requests(it, lead, prepared, tmp_path / "out.jsonl")
    assert not (tmp_path / "out.jsonl").exists()
