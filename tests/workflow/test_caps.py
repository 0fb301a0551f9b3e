"""A cap is kept from before the first word: what may pass it is not sent, hello to the server included."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from workbench.domain.actors import Actor
from workbench.domain.judging import JudgePrompt
from workbench.domain.prompts import Prompt
from workbench.errors import InputError, WorkbenchError
from workbench.labelers.registry import settings_of
from workbench.prompting.files import prompt_text
from workbench.running.spending import Cap
from workbench.workflow import batches, extracting, labelers, run
from workbench.workflow.extracting import Reading
from workbench.workflow.judging import bench_of, judge_pairs
from workbench.workflow.label import Source, label_file
from workbench.workflow.labelling import Means, labelling
from workbench.workflow.prompts import save_candidate
from workbench.workflow.settings import LabelerConfig, PriceSettings
from workbench.workflow.study import Study

LONGEST = 400
TOO_LOW = [Cap(tokens=0), Cap(tokens=1), Cap(tokens=LONGEST), Cap(cost=0.0), Cap(cost=LONGEST * 2 / 1_000_000)]
KINDS = ("openai", "anthropic")


def with_server(study: Study, url: str, kind: str = "openai", **config: Any) -> Study:
    """Return the study with a labeler called m on a server."""
    given = {"kind": kind, "model": "m", "base_url": f"{url}/v1" if kind == "openai" else url, "max_tokens": LONGEST}
    labeler = LabelerConfig(**{**given, "price": PriceSettings(input=1.0, output=2.0), "concurrency": 4, **config})
    labelers = {**study.settings.labelers, "m": labeler}
    return replace(study, settings=study.settings.model_copy(update={"labelers": labelers}))


def prepared_on(study: Study, lead: Actor, prompt: Prompt) -> run.PreparedRun:
    made = save_candidate(study, lead, prompt, message="m", parent=None)
    return run.prepare(study, lead, cohort="development", revision=made.prompt_hash, labeler="m")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("cap", TOO_LOW, ids=str)
def test_a_run_under_a_cap_that_one_report_may_pass_sends_nothing_not_even_hello(
    rated: Study,
    lead: Actor,
    make_prompt: Callable[..., Prompt],
    start_fault_server: Callable[..., Any],
    *,
    kind: str,
    cap: Cap,
) -> None:
    server = start_fault_server()
    it = with_server(rated, server.url, kind)
    prepared = prepared_on(it, lead, make_prompt())
    stopped = run.execute(it, prepared, cap=cap)
    assert (stopped.done, server.log()["calls"]) == (0, 0)
    assert "would pass its cap of " in stopped.stopped
    assert run.progress(it, prepared).stopped == stopped.stopped  # kept, so that the page can say it
    labelers.say_hello(it, lead, "m")
    calls = server.log()["calls"]
    assert run.execute(it, prepared, cap=cap).done == 0  # nor where hello was said before
    assert server.log()["calls"] == calls
    assert run.execute(it, prepared, cap=Cap(tokens=1_000_000, cost=1.0)).finished


def test_a_run_never_takes_more_than_its_cap_though_replies_are_far_shorter_than_they_may_be(
    rated: Study, lead: Actor, make_prompt: Callable[..., Prompt], start_fault_server: Callable[..., Any]
) -> None:
    server = start_fault_server()
    it = with_server(rated, server.url)
    prepared = prepared_on(it, lead, make_prompt())
    expected = labelers.most_of(it, prepared.run.labeler, prepared.prompt)(prepared.texts[0][1])
    least = expected.input_tokens + LONGEST
    assert run.execute(it, prepared, cap=Cap(tokens=least - 20)).done == 0
    some = run.execute(it, prepared, cap=Cap(tokens=least + 20))
    assert some.done > 0
    assert some.usage.tokens <= least + 20


@pytest.mark.parametrize("cap", TOO_LOW, ids=str)
def test_nobody_else_who_asks_under_a_cap_says_hello_first(
    study: Study,
    make_prompt: Callable[..., Prompt],
    csv_file: Callable[[str, str], Path],
    start_fault_server: Callable[..., Any],
    cap: Cap,
) -> None:
    server = start_fault_server()
    it = with_server(study, server.url)
    reading = Reading(it, make_prompt(), it.labeler("m"))
    assert "would pass its cap" in extracting.ask(reading, ["FINDINGS: Clear."], cap=cap)
    judge = JudgePrompt("one", "Find and weigh.")
    if cap not in {Cap(tokens=LONGEST), TOO_LOW[-1]}:  # of pairs nothing is estimated before but the longest reply
        assert "would pass its cap" in judge_pairs(bench_of(it, judge, "m"), [("a", "b")], cap=cap).stopped
    path = it.folder / "prompts" / "p.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(prompt_text(make_prompt()), encoding="utf-8")
    price = it.labeler("m").price
    by = settings_of("m", kind="openai", base_url=f"{server.url}/v1", model="m", max_tokens=LONGEST, price=price)
    source = csv_file("in.csv", 'id,text\nr1,"FINDINGS: Clear."\n')
    with pytest.raises(WorkbenchError, match="would pass its cap"):
        label_file(
            labelling(it.folder, prompt=path, labeler=by), Source(source), source.parent / "l.csv", means=Means(cap=cap)
        )
    assert server.log()["calls"] == 0


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("cap", TOO_LOW, ids=str)
def test_no_batch_is_handed_over_and_no_hello_said(  # noqa: PLR0917 - fixtures
    rated: Study,
    lead: Actor,
    make_prompt: Callable[..., Prompt],
    start_batch_server: Callable[..., Any],
    kind: str,
    cap: Cap,
) -> None:
    server = start_batch_server()
    it = with_server(rated, server.url, kind)
    prepared = prepared_on(it, lead, make_prompt())
    with pytest.raises(InputError, match=r"cap of .* Nothing was handed over\.$"):
        batches.submit(it, lead, prepared, cap=cap)
    assert server.log()["calls"] == 0
    assert batches.of_run(it, prepared) == []
