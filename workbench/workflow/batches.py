"""A run's reports handed over in batches, which providers answer within a day at a lower price."""

import asyncio
import os
import socket
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from workbench.domain.actors import Actor, Role
from workbench.domain.hashing import short
from workbench.errors import InputError, RightsError
from workbench.labelers.registry import Batching, make_batching, require_key
from workbench.models.base import CallError, Constraint, Trouble
from workbench.models.egress import Egress
from workbench.running import batch_files, batching, runner
from workbench.running.batching import Collected
from workbench.running.spending import Cap, require_price
from workbench.storage import batches as store
from workbench.storage.batches import BatchRecord
from workbench.workflow import data_use
from workbench.workflow.labelers import asks_first, capability, most_of, remembered, require_ready
from workbench.workflow.run import PreparedRun
from workbench.workflow.study import Study

_FIRST_PAUSE, _LONGEST_PAUSE = 5.0, 60.0  # seconds between two looks
_MOST_TROUBLE = 20  # looks in a row that brought no answer
_PASSES = frozenset({Trouble.BUSY, Trouble.SERVER, Trouble.CONNECTION})
_TO = "hand over a run in batches"
KEPT = (
    "This host was opened on zero retention, but providers keep a batch's reports and answers for weeks unless they "
    "are deleted there; see whether the agreement covers batches."
)


def of_run(study: Study, prepared: PreparedRun) -> list[BatchRecord]:
    """Return the batches of a run as they were last told to stand, oldest first. Nobody is asked."""
    with study.database.read() as conn:
        return store.of_run(conn, prepared.run.hash)


def under_way(study: Study, prepared: PreparedRun) -> list[BatchRecord]:
    """Return those batches of a run that are still to be collected."""
    return [batch for batch in of_run(study, prepared) if not batch.over]


def submit(study: Study, actor: Actor, prepared: PreparedRun, *, cap: Cap | None = None) -> Collected:
    """Hand over what of a run is neither answered nor under way, and collect what has come before.

    Returns at once; the answers come within a day. Nothing is handed over or paid twice, whenever this is stopped.

    Args:
        study: the study.
        actor: a lead or admin.
        prepared: the run, of an openai or anthropic labeler.
        cap: what it may take in all; what the batches will take is estimated before they are handed over.

    Raises:
        RightsError: the person is no lead or admin, or the study's reports may not be sent to the labeler's server.
        InputError: the labeler takes no batches or lacks its key, or the cap would be passed.
        ConflictError: another process is on this run.
        CallError: the server does not answer, or takes no batch.
    """
    actor.require(Role.LEAD, Role.ADMIN, to=_TO)
    require_price(cap, prepared.run.labeler)
    found = asyncio.run(_look(study, actor, prepared, cap=cap, submit=True))
    opening = data_use.permission(study, prepared.run.labeler).opening
    if found.submitted and opening and opening.basis.zero_retention:
        return replace(found, notes=(*found.notes, KEPT))
    return found


def collect(study: Study, actor: Actor, prepared: PreparedRun) -> Collected:
    """Collect what has come of a run's batches. Nothing is handed over, and no report sent.

    So it may be done also where the host was closed since: what lies there is paid for, and fetching it takes nothing
    there that was not there before. Where no batch is under way nothing is fetched from a host that is closed.

    Raises:
        RightsError, InputError, ConflictError, CallError: as ``submit`` does.
    """
    actor.require(Role.LEAD, Role.ADMIN, to="collect a run's batches")
    return asyncio.run(_look(study, actor, prepared))


def cancel(study: Study, actor: Actor, prepared: PreparedRun) -> Collected:
    """Have a run's batches end early, and collect what was answered by then; the rest can be asked again.

    It may be done also where the host was closed since, as collecting may.

    Providers take a while to end one: collect again. A batch that its provider does not know any more is given up.

    Raises:
        RightsError, InputError, ConflictError, CallError: as ``submit`` does.
    """
    actor.require(Role.LEAD, Role.ADMIN, to="cancel a run's batches")
    return asyncio.run(_look(study, actor, prepared, cancel=True))


def wait(
    study: Study,
    actor: Actor,
    prepared: PreparedRun,
    *,
    on_look: Callable[[list[BatchRecord]], object] = lambda _: None,
    sleep: Callable[[float], object] = time.sleep,
) -> Collected:
    """Collect again and again until none of a run's batches is under way, and return all that was collected.

    Args:
        study: the study.
        actor: a lead or admin.
        prepared: the run.
        on_look: told before the first look, and after each, how the batches stand.
        sleep: waits so many seconds.

    Raises:
        RightsError, InputError, ConflictError, CallError: as ``submit`` does; a server that is away for a while does
            not end the waiting.
    """
    actor.require(Role.LEAD, Role.ADMIN, to=_TO)
    answered = failed = trouble = 0
    notes: tuple[str, ...] = ()
    pause = _FIRST_PAUSE
    on_look(of_run(study, prepared))
    while under_way(study, prepared):
        sleep(pause)
        pause = min(pause * 1.5, _LONGEST_PAUSE)
        try:
            found = collect(study, actor, prepared)
        except CallError as error:
            trouble += 1
            if error.trouble not in _PASSES or trouble >= _MOST_TROUBLE:
                raise
            continue
        trouble = 0
        answered, failed, notes = answered + found.answered, failed + found.failed, (*notes, *found.notes)
        on_look(of_run(study, prepared))
    return Collected(answered=answered, failed=failed, notes=notes)


def write_requests(study: Study, actor: Actor, prepared: PreparedRun, path: Path) -> int:
    """Write a run's unanswered requests into a file for ``vllm run-batch``, and return how many they are.

    Raises:
        RightsError: the person is no lead or admin, or the study's reports may not be sent to the labeler's server:
            what is in the file is meant for it.
        InputError: there is nothing to ask, the labeler is not of the kind openai, or the file cannot be written.
        ConflictError: another process is on this run.
    """
    actor.require(Role.LEAD, Role.ADMIN, to="write a run's requests into a file")
    return asyncio.run(
        batch_files.write_requests(study.database, prepared.run, _offline(study, prepared), prepared.texts, path)
    )


def take_results(study: Study, actor: Actor, prepared: PreparedRun, path: Path) -> Collected:
    """Take in what ``vllm run-batch`` made of such a file: all of it, or nothing where anything is wrong with it.

    Raises:
        RightsError: as ``write_requests``.
        InputError: the file cannot be read; a line is cut off, answers what was not asked, or what another answers.
        ConflictError: another process is on this run.
    """
    actor.require(Role.LEAD, Role.ADMIN, to="take in answers")
    return asyncio.run(
        batch_files.take_results(
            study.database, prepared.run, _offline(study, prepared), prepared.texts, path, actor=actor.name
        )
    )


async def _look(
    study: Study,
    actor: Actor,
    prepared: PreparedRun,
    *,
    cap: Cap | None = None,
    submit: bool = False,
    cancel: bool = False,
) -> Collected:
    settings = prepared.run.labeler
    egress = _lock(study, prepared, submit=submit)
    if submit and cap is not None and cap.set and asks_first(study, settings):
        most = most_of(study, settings, prepared.prompt)
        why = runner.refusal_at_once(study.database, prepared.run, prepared.texts, cap, most)
        if why:
            raise InputError(f"{why} Nothing was handed over.")
    _batching(
        study, prepared, None, egress
    )  # a labeler that takes no batches is refused before its server is asked anything
    return await batching.look_after(
        study.database,
        prepared.run,
        lambda constraint: _batching(study, prepared, constraint, egress),
        prepared.texts,
        actor=actor.name,
        submit=submit,
        cancel=cancel,
        constraint=await capability(study, settings) if submit else None,
        cap=cap,
        runner_id=f"{socket.gethostname()}:{os.getpid()}",
    )


def _lock(study: Study, prepared: PreparedRun, *, submit: bool) -> Egress:
    """Return where a look after a run's batches may go.

    Raises:
        RightsError: reports may not be sent to the labeler's server, and that is what is wanted, or there is nothing
            else to go there for.
        InputError: the labeler's key is missing.
    """
    settings = prepared.run.labeler
    waiting = under_way(study, prepared)
    if waiting and not submit:
        require_key(settings)
        return data_use.egress_to_fetch(study, settings)
    try:
        require_ready(study, settings)
    except RightsError as error:
        if not waiting:
            raise
        name = short(prepared.run.hash)
        raise RightsError(
            f"{error} What was handed over before can still be collected (`workbench run --resume {name}`) or "
            f"cancelled (`--batch-cancel`): neither sends a report."
        ) from None
    return data_use.egress(study)


def _offline(study: Study, prepared: PreparedRun) -> Batching:
    """Return what writes and reads files: the labeler's server need not be running."""
    settings = prepared.run.labeler
    require_ready(study, settings)
    constraint = remembered(study, settings) or Constraint.JSON_SCHEMA
    return _batching(study, prepared, constraint, data_use.egress(study))


def _batching(study: Study, prepared: PreparedRun, constraint: Constraint | None, egress: Egress) -> Batching:
    return make_batching(
        prepared.run.labeler,
        prepared.prompt,
        study.label_set,
        egress=egress,
        constraint=constraint,
    )
