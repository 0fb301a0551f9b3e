"""A run's requests in a file for a tool that answers them elsewhere (``vllm run-batch``), and its file of answers.

Both are in the form of OpenAI's batches: a line of JSON for each request, known by its ``custom_id``.
"""

import hashlib
import json
import sqlite3
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

from workbench.domain.runs import Extraction, ExtractionKey, Failure, Run
from workbench.errors import InputError
from workbench.formats.writing import replacing_path
from workbench.labelers.registry import Batching
from workbench.models.base import CallError
from workbench.models.batches import BatchAnswer, whole_lines
from workbench.models.openai_batches import OpenAIBatches, is_request
from workbench.running import liveness
from workbench.running.batch_requests import by_name, encoded_requests, sort_out
from workbench.running.batching import Collected, outcome
from workbench.running.holding import held
from workbench.running.runner import run_keys
from workbench.storage import imports
from workbench.storage import runs as run_store
from workbench.storage.database import Database

FROM_FILE = "file"  # the name of the batch that answers from a file came in
_SHOWN = 64  # characters of a wrong name that are repeated


async def write_requests(
    database: Database, run: Run, batching: Batching, texts: Sequence[tuple[str, str]], path: Path
) -> int:
    """Write what is neither answered nor under way in a batch, and return how many requests that is.

    Raises:
        InputError: nothing is left to be asked, the labeler's requests have another form, or ``path`` cannot be
            written.
        ConflictError: another process works on this run.
    """
    _server(run, batching)
    async with held(database, run, liveness.runner_name()) as hold:
        known = await hold.known(list(dict(run_keys(run, texts))))
    taken = known.statuses.keys() | known.waiting.keys()
    todo = [(key, text) for key, text in run_keys(run, texts) if key not in taken]
    count = 0
    with replacing_path(path, private=True) as aside, aside.open("wb") as file:
        for line in encoded_requests(batching, run, dict(todo).items()):
            file.write(line + b"\n")
            count += 1
        if not count:
            raise InputError("Every report of this run is answered or under way, so there is nothing to write.")
    return count


async def take_results(
    database: Database,
    run: Run,
    batching: Batching,
    texts: Sequence[tuple[str, str]],
    path: Path,
    *,
    actor: str,
) -> Collected:
    """Save the answers in a file: all of them, or none where anything is wrong with it.

    An answer to what is answered already is left out. Texts that are never sent, such as blank ones, are told of too.

    Args:
        database: where the run is recorded.
        run: the run.
        batching: of its labeler.
        texts: (report id, text of the selected sections).
        path: the file.
        actor: who brings it in.

    Raises:
        InputError: the file cannot be read, a line of it is cut off or no answer, or two lines answer the same
            request; names the line.
        ConflictError: another process works on this run.
    """
    pairs, server, now = dict(run_keys(run, texts)), _server(run, batching), datetime.now(UTC)
    digest, results = _read(path, batching, server, by_name(run, pairs.items()))
    async with held(database, run, liveness.runner_name()) as hold:
        known = await hold.known(list(pairs))
        fresh = {key: result for key, result in results.items() if key not in known.statuses}
        rest = [(k, text) for k, text in pairs.items() if k not in known.statuses and k not in fresh]
        unsent = [(key, result) for key, result in sort_out(batching, run, rest).unsent]
        ended = [*fresh.items(), *unsent]

        def save(conn: sqlite3.Connection) -> None:
            imports.add(conn, "answers", path.name, file_hash=digest, actor=actor, at=now, rows=len(results))
            run_store.save_extractions(conn, [(k, r) for k, r in ended if isinstance(r, Extraction)], now)
            run_store.save_failures(conn, [(k, r) for k, r in ended if isinstance(r, Failure)], now)

        await hold.write(save)
    failed = sum(isinstance(result, Failure) for result in fresh.values())
    skipped = len(results) - len(fresh)
    notes = (f"{skipped:,} of its answers are to reports that were answered already; they were left out.",)
    return Collected(answered=len(fresh) - failed, failed=failed, notes=notes if skipped else ())


def _server(run: Run, batching: Batching) -> OpenAIBatches:
    if not isinstance(batching.server, OpenAIBatches):
        raise InputError(
            f"Such a file is in the form of OpenAI's batches, and labeler {run.labeler.name} is of kind "
            f"{run.labeler.kind}; run it with --batch."
        )
    return batching.server


def _read(
    path: Path, batching: Batching, server: OpenAIBatches, asked: Mapping[str, tuple[ExtractionKey, str]]
) -> tuple[str, dict[ExtractionKey, Extraction | Failure]]:
    """Return the hash of a file of answers and what each answer amounts to."""
    results: dict[ExtractionKey, Extraction | Failure] = {}
    rows: dict[str, int] = {}
    digest = hashlib.sha256()
    try:
        with path.open("rb") as file:
            for row, line in enumerate(whole_lines(file), start=1):
                digest.update(line)
                answer = _answer(path, row, line, server)
                name = answer.id[:_SHOWN].encode("utf-8", "replace").decode()
                if answer.id not in asked:
                    raise InputError(
                        f"{path}, line {row}: this run asked nothing by the name {name!r}; give the answers to the run "
                        "that its file was written for. Nothing was taken in."
                    )
                if answer.id in rows:
                    raise InputError(
                        f"{path}, line {row}: {name} is answered on line {rows[answer.id]} already; take one of the "
                        "two out. Nothing was taken in."
                    )
                rows[answer.id] = row
                key, text = asked[answer.id]
                results[key] = outcome(batching, answer, text, batch=FROM_FILE)
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}.") from None
    except CallError:
        raise InputError(f"{path}, line {len(rows) + 1}, has no end; it is no file of answers.") from None
    if not results:
        raise InputError(f"{path} holds no answer.")
    return digest.hexdigest(), results


def _answer(path: Path, row: int, line: bytes, server: OpenAIBatches) -> BatchAnswer:
    try:
        answer = server.answer(line)
    except CallError:
        raise _no_answer(path, row, line) from None
    if is_request(line):
        raise InputError(
            f"{path}, line {row}, is a request and no answer; give the file that the tool made of the requests. "
            "Nothing was taken in."
        )
    return answer


def _no_answer(path: Path, row: int, line: bytes) -> InputError:
    try:
        json.loads(line)
    except (ValueError, RecursionError):
        why = "is cut off or no JSON; wait until the file is whole, or take that line out"
    else:
        why = "is no answer of a batch; its lines have a custom_id and a response or an error"
    return InputError(f"{path}, line {row}, {why}. Nothing was taken in.")
