"""A prompt run over a cohort: prepared, executed here or in a process of its own, and followed."""

import asyncio
import os
import socket
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from workbench.domain.actors import Actor, Role
from workbench.domain.cohorts import Cohort
from workbench.domain.hashing import text_hash
from workbench.domain.prompts import Prompt
from workbench.domain.reports import Report
from workbench.domain.runs import Extraction, ExtractionKey, ExtractionStatus, LabelerSettings, Run, RunProgress
from workbench.errors import NotFoundError, WorkbenchError
from workbench.running import liveness, process, runner
from workbench.running.pool import Pool
from workbench.running.spending import Cap, require_price
from workbench.storage import batches as batch_store
from workbench.storage import cohorts as cohort_store
from workbench.storage import reports as report_store
from workbench.storage import runs as run_store
from workbench.workflow.blindness import require_sighted
from workbench.workflow.cohorts import get_cohort, require_unlocked
from workbench.workflow.labelers import asks_first, labeler_of, most_of, require_ready
from workbench.workflow.prompts import StoredPrompt, find_revision
from workbench.workflow.study import Study


@dataclass(frozen=True, slots=True)
class PreparedRun:
    """A run with what it works on."""

    run: Run
    number: int
    prompt: Prompt
    cohort: Cohort
    reports: tuple[Report, ...]

    @property
    def texts(self) -> list[tuple[str, str]]:
        """Return (report id, text of the read sections) in report-id order."""
        return [(report.id, report.select(self.run.sections)) for report in self.reports]


@dataclass(frozen=True, slots=True)
class RunView:
    """A recorded run, the revision and cohort it is of, and how far it has come."""

    run: Run
    number: int
    cohort_name: str
    created_at: datetime
    author: str
    progress: RunProgress


def prepare(
    study: Study,
    actor: Actor,
    *,
    cohort: str,
    revision: str | int | None = None,
    labeler: str = "rules",
    sections: Sequence[str] | None = None,
    repeats: int = 1,
) -> PreparedRun:
    """Record a run and return it; preparing the same run again returns the same one, to be continued.

    Args:
        study: the study.
        actor: a lead or admin.
        cohort: name of the cohort; a validation cohort must be unlocked.
        revision: number or hash; the highest accepted one by default.
        labeler: name of a labeler in ``study.toml``.
        sections: which sections are read; the study's by default.
        repeats: how often each report is labelled; the first is the score, the others tell stability.

    Raises:
        RightsError: the person is no lead or admin, the cohort is locked, or the study's reports may not be sent to
            the labeler's server.
        InputError: the labeler's key is missing.
    """
    actor.require(Role.LEAD, Role.ADMIN, to="start a run")
    stored = find_revision(study, revision)
    members = get_cohort(study, cohort)
    require_unlocked(study, members, "run a prompt on it")
    run = _run(study, stored, members, labeler, sections=sections, repeats=repeats)
    _require_ready(study, run)
    return _recorded_run(study, actor, run, stored, members)


def prepare_beside(study: Study, actor: Actor, prepared: PreparedRun, labeler: LabelerSettings) -> PreparedRun:
    """Record the run of another labeler with the same prompt, cohort and sections, and return it.

    Raises:
        RightsError: as ``prepare`` does.
    """
    actor.require(Role.LEAD, Role.ADMIN, to="start a run")
    require_unlocked(study, prepared.cohort, "run a prompt on it")
    require_ready(study, labeler)
    run = replace(prepared.run, labeler=labeler, repeats=1)
    return _recorded_run(study, actor, run, find_revision(study, run.prompt_hash), prepared.cohort)


def _recorded_run(study: Study, actor: Actor, run: Run, stored: StoredPrompt, members: Cohort) -> PreparedRun:
    with study.writing(actor) as conn:
        run_store.add(conn, run, actor.name, datetime.now(UTC))
    return _prepared(study, run, stored, members)


def recorded(
    study: Study, actor: Actor, *, cohort: str, revision: str | int | None = None, labeler: str = "rules"
) -> PreparedRun:
    """Return the run that ``prepare`` recorded of a prompt on a cohort, and record none.

    Raises:
        NotFoundError: there is no such run yet.
        RightsError: the cohort is locked, or the person is no lead or admin.
    """
    actor.require(Role.LEAD, Role.ADMIN, to="score a run")
    stored = find_revision(study, revision)
    members = get_cohort(study, cohort)
    require_unlocked(study, members, "score a prompt on it")
    run = _run(study, stored, members, labeler)
    known = [record.run for record in list_records(study)]
    if run.hash not in {each.hash for each in known}:
        number = stored.revision.number
        before = "" if not _as_before(run, known) else f" as it is now, only with {labeler} as it was before"
        raise NotFoundError(
            f"Revision {number} has not been run on {cohort} with {labeler}{before or ' yet'}; run it with "
            f"`workbench run --prompt {number} --cohort {cohort}`."
        )
    return _prepared(study, run, stored, members)


def _as_before(run: Run, known: Sequence[Run]) -> bool:
    """Return whether a labeler of the same name that was set otherwise has run what a run is to."""
    return any(
        (each.prompt_hash, each.cohort_hash, each.labeler.name) == (run.prompt_hash, run.cohort_hash, run.labeler.name)
        and each.labeler.hash != run.labeler.hash
        for each in known
    )


def _run(
    study: Study,
    stored: StoredPrompt,
    cohort: Cohort,
    labeler: str,
    *,
    sections: Sequence[str] | None = None,
    repeats: int = 1,
) -> Run:
    return Run(
        prompt_hash=stored.revision.prompt_hash,
        label_set_hash=study.label_set.hash,
        cohort_hash=cohort.hash,
        labeler=study.labeler(labeler),
        sections=tuple(sections or study.settings.sections),
        repeats=repeats,
    )


def _prepared(study: Study, run: Run, stored: StoredPrompt, cohort: Cohort) -> PreparedRun:
    with study.database.read() as conn:
        reports = report_store.by_ids(conn, sorted(cohort.members))
    return PreparedRun(run, stored.revision.number, stored.prompt, cohort, tuple(reports))


def reopen(study: Study, actor: Actor, run_hash: str) -> PreparedRun:
    """Return a recorded run to go on with it. Raises NotFoundError, or RightsError as ``prepare`` does.

    One with a batch under way is returned also when its host was closed meanwhile: what was handed over can still be
    collected or cancelled, which sends no report. Whatever would send one asks again whether it may.
    """
    actor.require(Role.LEAD, Role.ADMIN, to="go on with a run")
    prepared = load(study, run_hash)
    require_unlocked(study, prepared.cohort, "run a prompt on it")
    _require_ready(study, prepared.run)
    return prepared


def _require_ready(study: Study, run: Run) -> None:
    """Refuse a run whose labeler could not be asked, unless a batch of it is still to be collected."""
    with study.database.read() as conn:
        waits = any(not batch.over for batch in batch_store.of_run(conn, run.hash))
    if not waits:
        require_ready(study, run.labeler)


def load(study: Study, run_hash: str) -> PreparedRun:
    """Return a recorded run by the beginning of its hash. Raises NotFoundError."""
    with study.database.read() as conn:
        known = [record.run for record in run_store.list_all(conn)]
        hits = [run for run in known if run_hash and run.hash.startswith(run_hash)]
        if len(hits) != 1:
            why = f"{len(hits)} runs begin with {run_hash}" if hits else f"There is no run {run_hash}".rstrip()
            raise NotFoundError(f"{why}; see the runs with `workbench run --list`.")
        cohort = cohort_store.by_hash(conn, hits[0].cohort_hash)
    if cohort is None:
        raise NotFoundError(f"The cohort of run {run_hash} is not in this study.")
    return _prepared(study, _at_present(study, hits[0]), find_revision(study, hits[0].prompt_hash), cohort)


def _at_present(study: Study, recorded: Run) -> Run:
    """Return a recorded run with the pace and files its labeler has now, if the study still has that labeler."""
    try:
        labeler = study.labeler(recorded.labeler.name)
    except WorkbenchError:
        return recorded
    return replace(recorded, labeler=labeler) if labeler.hash == recorded.labeler.hash else recorded


def execute(
    study: Study,
    prepared: PreparedRun,
    *,
    cap: Cap | None = None,
    on_progress: Callable[[RunProgress], None] | None = None,
) -> RunProgress:
    """Run here until every report is labelled or has been tried, continuing where an earlier attempt stopped.

    Reports that brought no reply are asked for again each time. A run that stops before its end, for its cap or since
    its server cannot be asked any more, says why in ``stopped`` of what is returned, and so does ``progress`` until
    somebody goes on with it.

    Args:
        study: the study.
        prepared: the run.
        cap: what it may take in all, earlier attempts included.
        on_progress: told how far it is, some times a second.

    Raises:
        ConflictError: another process is on this run.
        InputError: there is a cap of cost and the labeler has no price, or its key is missing.
        RightsError: the study's reports may not be sent to the labeler's server.
        CallError: its server, never asked before, does not answer.
    """
    require_price(cap, prepared.run.labeler)
    work = _execute(study, prepared, cap, on_progress)
    return process.keeping_stop(study.database, prepared.run, lambda: asyncio.run(work))


async def _execute(
    study: Study, prepared: PreparedRun, cap: Cap | None, on_progress: Callable[[RunProgress], None] | None
) -> RunProgress:
    settings = prepared.run.labeler
    require_ready(study, settings)
    if cap is not None and cap.set and asks_first(study, settings):
        most = most_of(study, settings, prepared.prompt)
        why = runner.refusal_at_once(study.database, prepared.run, prepared.texts, cap, most)
        if why:
            return replace(progress(study, prepared), stopped=why)
    pool = Pool(settings.concurrency)
    labeler = await labeler_of(study, settings, prepared.prompt, pool=pool)
    try:
        return await runner.execute(
            study.database,
            prepared.run,
            labeler,
            prepared.texts,
            pool=pool,
            cap=cap,
            runner_id=f"{socket.gethostname()}:{os.getpid()}",
            on_progress=on_progress,
        )
    finally:
        await labeler.close()


def label_texts(study: Study, settings: LabelerSettings, prompt: Prompt, texts: Sequence[str]) -> list[Extraction]:
    """Return what a labeler says of texts, in their order; nothing is recorded. For the few that somebody waits for.

    Raises:
        InputError: the labeler's key is missing, or the prompt's text cannot be rendered.
        RightsError: the study's reports may not be sent to the labeler's server.
        CallError: its server does not answer.
    """
    return asyncio.run(_label_texts(study, settings, prompt, texts))


async def _label_texts(
    study: Study, settings: LabelerSettings, prompt: Prompt, texts: Sequence[str]
) -> list[Extraction]:
    require_ready(study, settings)
    labeler = await labeler_of(study, settings, prompt)
    free = asyncio.Semaphore(settings.concurrency)

    async def one(text: str) -> Extraction:
        async with free:
            return await labeler.label(text)

    try:
        return list(await asyncio.gather(*map(one, texts)))
    finally:
        await labeler.close()


def start(study: Study, actor: Actor, prepared: PreparedRun, *, cap: Cap | None = None) -> int:
    """Start the run in a process of its own, which goes on when the page is closed, and return the process's id.

    Raises:
        RightsError: the person is no lead or admin.
        InputError: there is a cap of cost and the labeler has no price.
    """
    actor.require(Role.LEAD, Role.ADMIN, to="start a run")
    require_price(cap, prepared.run.labeler)
    limits = {"--max-tokens": cap.tokens, "--max-cost": cap.cost} if cap else {}
    options = [text for name, limit in limits.items() if limit is not None for text in (name, str(limit))]
    return process.start(study.folder, ["--as", actor.name, "--resume", prepared.run.hash, *options])


def ended(process_id: int) -> bool:
    """Return whether a process that ``start`` started here has ended, well or not."""
    return liveness.ended(process_id)


def last_words(study: Study) -> str:
    """Return the last line that a run of this study wrote to its log: why it stopped, where it did."""
    lines = [line.strip() for line in process.log_tail(study.folder).splitlines() if line.strip()]
    return lines[-1].removeprefix("workbench: ") if lines else ""


def progress(study: Study, prepared: PreparedRun) -> RunProgress:
    """Return how far a run has come."""
    with study.database.read() as conn:
        return process.progress(conn, prepared.run, prepared.texts)


def extractions(study: Study, actor: Actor, prepared: PreparedRun, *, repeat: int = 1) -> dict[str, Extraction]:
    """Return the extractions of one repeat by report id; reports not reached yet are left out.

    A report whose calls brought no reply has one with the status ``failed``.

    Raises:
        RightsError: the person rates in an open round, or the cohort is locked.
    """
    return tried(study, actor, prepared, repeat=repeat)[0]


def tried(
    study: Study, actor: Actor, prepared: PreparedRun, *, repeat: int = 1
) -> tuple[dict[str, Extraction], tuple[str, ...]]:
    """Return ``extractions``, and the reports of which they stand for calls that brought no reply.

    Both are of one moment: a run that goes on may heal what failed.
    """
    require_sighted(study, actor, "see what a labeler said")
    require_unlocked(study, prepared.cohort, "see what a labeler said of it")
    keys = {report: key_of(prepared.run, text, repeat) for report, text in prepared.texts}
    with study.database.snapshot() as conn:
        found = run_store.extractions(conn, list(keys.values()))
        failures = run_store.failures(conn, list(keys.values()))
    for key, failure in failures.items():
        found[key] = Extraction(ExtractionStatus.FAILED, detail=failure.detail)
    failed = tuple(report for report, key in keys.items() if key in failures)
    return {report: found[key] for report, key in keys.items() if key in found}, failed


def unanswered(study: Study, prepared: PreparedRun) -> tuple[str, ...]:
    """Return the reports whose calls brought no reply so far, of the first repeat, which is scored."""
    keys = {report: key_of(prepared.run, text) for report, text in prepared.texts}
    with study.database.read() as conn:
        failures = run_store.failures(conn, list(keys.values()))
    return tuple(report for report, key in keys.items() if key in failures)


def key_of(run: Run, text: str, repeat: int = 1) -> ExtractionKey:
    """Return what the extraction of a text in a run is unique in."""
    return ExtractionKey(run.prompt_hash, run.label_set_hash, run.labeler.hash, text_hash(text), repeat)


def list_records(study: Study) -> list[run_store.RunRecord]:
    """Return the records of all runs, oldest first."""
    with study.database.read() as conn:
        return run_store.list_all(conn)


def list_runs(study: Study) -> list[RunView]:
    """Return all recorded runs, newest first."""
    views = []
    for record in reversed(list_records(study)):
        prepared = load(study, record.run.hash)
        views.append(
            RunView(
                record.run,
                prepared.number,
                prepared.cohort.name,
                record.at,
                record.actor,
                progress(study, prepared),
            )
        )
    return views
