"""A thousand reports against a server that does everything wrong, over real sockets, with both real clients.

What each report will be dealt is known beforehand from its text, so is how it must end and how many calls that takes.
"""

import asyncio
import time
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from workbench.domain.findings import LabelSet, State
from workbench.domain.hashing import text_hash
from workbench.domain.prompts import Prompt
from workbench.domain.runs import Extraction, ExtractionStatus, Failure, Run
from workbench.labelers.registry import make_labeler, settings_of
from workbench.models.base import Constraint
from workbench.running.pool import Patience, Pool
from workbench.running.runner import execute, run_keys
from workbench.storage import runs as run_store
from workbench.storage.database import Database

COUNT, IN_FLIGHT = 1000, 32
FASTER = 5000  # the pool's clock: ten minutes of Retry-After take an eighth of a second

STATES = (State.PRESENT, State.ABSENT, State.UNCERTAIN)
# The server draws what it deals by the text; a few reports say it themselves.
SAID = {3: "{deal 429:huge, ok}", 53: "{deal 503:huge, reset, 429:huge, truncated}", 10: "{deal drip, ok}"}
TEXTS = [
    (str(i), f"effusion {STATES[i % 3]}. edema {STATES[(i + 1) % 3]}. Report {i}. {SAID.get(i % 500, '')}")
    for i in range(COUNT)
]

OK, TRUNCATED, REFUSED = ExtractionStatus.OK, ExtractionStatus.TRUNCATED, ExtractionStatus.REFUSED
MALFORMED, WRONG = ExtractionStatus.MALFORMED, ExtractionStatus.WRONG_LABEL
ENDS = {
    "ok": OK,
    "slow": OK,
    "fence": OK,
    "think": OK,
    "twice": OK,
    "invented": OK,
    "truncated": TRUNCATED,
    "spaces": TRUNCATED,
    "refusal": REFUSED,
    "filter": REFUSED,
    "wrong_label": WRONG,
    "wrong_state": WRONG,
    "prose": MALFORMED,
    "think_open": MALFORMED,
    "empty_text": MALFORMED,
    "contradiction": MALFORMED,
    "too_long": ExtractionStatus.TOO_LONG,
    "400": "rejected",
    "422": "rejected",
}
ASKED_TWICE = {MALFORMED, WRONG}  # a reply that cannot be used is sent back once
Recorder = Callable[..., Run]


def quick_pool() -> Pool:
    async def sleep(seconds: float) -> None:
        await asyncio.sleep(seconds / FASTER)

    # Nothing but the count of pauses in a row is relaxed: so many faults in a row are this server's purpose.
    patience = Patience(busy_tries=200)
    return Pool(IN_FLIGHT, patience, clock=lambda: time.monotonic() * FASTER, sleep=sleep)


def expected(plan: list[str]) -> tuple[ExtractionStatus | str, int]:
    """Return how a report must end that is dealt ``plan``, and how often it is sent."""
    for calls, step in enumerate(plan, start=1):
        if (end := ENDS.get(step.partition(":")[0])) is not None:
            return end, calls + (end in ASKED_TWICE)
    raise AssertionError(f"no end in {plan}")


@pytest.mark.parametrize("kind", ["openai", "anthropic"])
def test_a_thousand_reports_end_in_one_right_state_each_with_no_call_too_many(
    *,
    kind: str,
    database: Database,
    a_run: Recorder,
    prompt: Prompt,
    label_set: LabelSet,
    start_fault_server: Callable[..., Any],
) -> None:
    server = start_fault_server("--seed", "7", "--wait", "1")
    base_url = f"{server.url}/v1" if kind == "openai" else str(server.url)
    run = a_run(
        settings_of("l", kind=kind, base_url=base_url, model="m", max_tokens=400, concurrency=IN_FLIGHT, timeout=15)
    )

    async def once() -> Any:
        pool = quick_pool()
        labeler = make_labeler(run.labeler, prompt, label_set, through=pool.through, constraint=Constraint.JSON_SCHEMA)
        try:
            return await execute(database, run, labeler, TEXTS, pool=pool)
        finally:
            await labeler.close()

    progress = asyncio.run(once())
    log = server.log()
    must = {text: expected(log["reports"][text_hash(text)]["plan"]) for _, text in TEXTS}

    keys = {key.text_hash: key for key, _ in run_keys(run, TEXTS)}
    with database.read() as conn:
        extractions = run_store.extractions(conn, keys.values())
        failures = run_store.failures(conn, keys.values())
        assert conn.execute("SELECT COUNT(*) FROM extractions").fetchone()[0] == len(extractions)
        assert conn.execute("SELECT COUNT(*) FROM failures").fetchone()[0] == len(failures)
    assert len(extractions) + len(failures) == COUNT

    ended = {text: end_of(keys[text_hash(text)], extractions, failures) for _, text in TEXTS}
    assert ended == {text: end for text, (end, _) in must.items()}
    assert len(set(Counter(ended.values()))) >= 7  # each kind of end was among them
    asked = {text: log["reports"][text_hash(text)]["calls"] for _, text in TEXTS}
    assert asked == {text: calls for text, (_, calls) in must.items()}
    assert log["calls"] == sum(asked.values())
    assert log["peak"] <= IN_FLIGHT
    for index, (_, text) in enumerate(TEXTS):
        found = extractions.get(keys[text_hash(text)])
        if found is not None and found.status is OK:
            assert [found.state(finding) for finding in label_set.ids] == [STATES[index % 3], STATES[(index + 1) % 3]]
    told = Counter(str(end) for end in ended.values() if end not in {OK, "rejected"})
    assert progress.failed == {**told, "failed": len(failures)}
    assert (progress.done, progress.stopped) == (COUNT, "")

    # Going on asks for what brought no reply, once more each, and for nothing else.
    assert asyncio.run(once()).unanswered == len(failures)
    assert server.log()["calls"] == log["calls"] + len(failures)


def end_of(key: Any, extractions: dict[Any, Extraction], failures: dict[Any, Failure]) -> ExtractionStatus | str:
    return extractions[key].status if key in extractions else failures[key].trouble
