"""What a labeler reads in texts that are no reports of the study: those of report generators and their references.

A language model's answers are kept where a run's are, known by prompt, label set, labeler and text, so that nothing is
asked for twice, whichever data set, system or run a text belongs to. The rules labeler costs nothing and says the same
each time, so it is asked each time and nothing is kept.
"""

import asyncio
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from workbench.domain.findings import FAILED
from workbench.domain.hashing import text_hash
from workbench.domain.prompts import Prompt
from workbench.domain.runs import Extraction, ExtractionKey, ExtractionStatus, Failure, LabelerSettings, Usage
from workbench.errors import ConflictError, InputError
from workbench.formats.locks import alone
from workbench.labelers.base import Labeler
from workbench.labelers.registry import make_labeler
from workbench.labelers.rules import RulesLabeler
from workbench.models.base import CallError
from workbench.running import spending
from workbench.running.pool import Pool
from workbench.running.runner import outcome
from workbench.running.spending import Cap
from workbench.storage import runs as run_store
from workbench.storage.runs import usage_of
from workbench.workflow import data_use
from workbench.workflow.labelers import StillAllowed, capability, require_ready
from workbench.workflow.study import Study

Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Reading:
    """How texts are read: one frozen prompt and one labeler, the same on both sides."""

    study: Study
    prompt: Prompt
    labeler: LabelerSettings

    @property
    def by_rules(self) -> bool:
        """Return whether the rules labeler reads, which needs no asking."""
        return self.labeler.kind == "rules"

    def key(self, text: str) -> ExtractionKey:
        """Return what the extraction of a text is known by."""
        return ExtractionKey(self.prompt.hash, self.study.label_set.hash, self.labeler.hash, text_hash(text))


def codes_of(reading: Reading, texts: Iterable[str]) -> dict[str, Sequence[int]]:
    """Return the four-state codes of each text in label-set order; FAILED throughout where there is no usable reply.

    Texts that a language model was not asked about yet are left out.
    """
    wanted = list(dict.fromkeys(texts))
    findings = reading.study.label_set.ids
    if reading.by_rules:
        rules = RulesLabeler(reading.prompt, reading.study.label_set)
        return {text: rules.codes(text) for text in wanted}
    keys = {reading.key(text): text for text in wanted}
    with reading.study.database.snapshot() as conn:
        found = run_store.extractions(conn, keys)
        failed = run_store.failures(conn, keys)
    codes: dict[str, Sequence[int]] = {keys[key]: [FAILED] * len(findings) for key in failed}
    for key, extraction in found.items():
        states = [extraction.state(finding) for finding in findings]
        codes[keys[key]] = [FAILED if state is None else state.code for state in states]
    return codes


def mentions_of(reading: Reading, text: str) -> Extraction | None:
    """Return what is read in one text with its evidence; None where a model was not asked yet."""
    if not text.strip():
        return Extraction(ExtractionStatus.OK)
    if reading.by_rules:
        rules = RulesLabeler(reading.prompt, reading.study.label_set)
        return Extraction(ExtractionStatus.OK, rules.label_text(text))
    key = reading.key(text)
    with reading.study.database.snapshot() as conn:
        failed = run_store.failures(conn, [key]).get(key)
        return run_store.extractions(conn, [key]).get(key) or (
            Extraction(ExtractionStatus.FAILED, detail=failed.detail) if failed else None
        )


def ask(
    reading: Reading, texts: Iterable[str], *, cap: Cap | None = None, on_progress: Progress = lambda *_: None
) -> str:
    """Ask a language model about the texts that it was not asked about yet or gave no reply on; keep what comes.

    Blank texts are not sent. Whatever stops it, what came is kept, and the same call goes on with the rest.

    Returns:
        Why it stopped before the end, in a sentence; "" where it did not. Nothing is asked of the rules labeler.

    Raises:
        RightsError: the study's reports may not be sent to the labeler's server.
        InputError: the labeler's key is missing, or a cost is capped that nobody can tell.
        ConflictError: another process is asking already.
        CallError: its server, never asked before, does not answer.
    """
    if reading.by_rules:
        return ""
    if cap is not None and cap.cost is not None and reading.labeler.price is None:
        raise InputError(f"Labeler {reading.labeler.name} has no price, so its cost cannot be capped; cap its tokens.")
    study = reading.study
    try:
        with alone(study.folder / "data" / "study.toml"):
            return asyncio.run(_ask(reading, [t for t in dict.fromkeys(texts) if t.strip()], cap, on_progress))
    except ConflictError:
        raise ConflictError(
            "Generated reports are being labelled by another process of this study; wait for it to end."
        ) from None


async def _ask(reading: Reading, texts: Sequence[str], cap: Cap | None, on_progress: Progress) -> str:
    study, settings = reading.study, reading.labeler
    require_ready(study, settings)
    with study.database.read() as conn:
        known, usage = run_store.outcomes(conn, map(reading.key, texts))
    todo = [text for text in texts if reading.key(text) not in known]
    if not todo:
        return ""
    pool = Pool(settings.concurrency)
    labeler = make_labeler(
        settings,
        reading.prompt,
        study.label_set,
        through=lambda model: pool.through(StillAllowed(study, settings, model)),
        egress=data_use.egress(study),
        constraint=await capability(study, settings),
    )
    asking = _Asking(reading, labeler, pool, cap or Cap(), usage, len(texts), len(texts) - len(todo), on_progress)
    try:
        await asking.all(iter(todo))
    finally:
        await labeler.close()
    return asking.stopped


@dataclass(slots=True)
class _Asking:
    reading: Reading
    labeler: Labeler
    pool: Pool
    cap: Cap
    usage: Usage
    total: int
    done: int
    on_progress: Progress
    in_flight: int = 0
    stopped: str = field(default="")

    async def all(self, todo: Iterator[str]) -> None:
        """Ask about every text, one by one until it is known what a reply takes where there is a cap."""
        while self.cap.set and not self.usage.replies and await self._next(todo):
            pass
        workers = [asyncio.create_task(self._work(todo)) for _ in range(self.reading.labeler.concurrency)]
        try:
            await asyncio.gather(*workers)
        finally:
            for worker in workers:
                worker.cancel()
            await asyncio.gather(*workers, return_exceptions=True)

    async def _work(self, todo: Iterator[str]) -> None:
        while await self._next(todo):
            pass

    async def _next(self, todo: Iterator[str]) -> bool:
        """Ask about the next text and keep what comes; False where there is none, or no more may be sent."""
        text = next(todo, None)
        if text is None:
            return False
        self.stopped = self.stopped or self.pool.stopped
        self.stopped = self.stopped or spending.refusal(
            self.cap, self.reading.labeler.price, self.usage, self.in_flight
        )
        if self.stopped:
            return False
        self.in_flight += 1
        try:
            result = await outcome(self.labeler, text, 1)
        except CallError as error:  # closed to every text, not to this one
            self.stopped = self.stopped or self.pool.stopped or str(error)
            return False
        finally:
            self.in_flight -= 1
        self._keep(text, result)
        return True

    def _keep(self, text: str, result: Extraction | Failure) -> None:
        key = self.reading.key(text)
        with self.reading.study.database.write() as conn:
            if isinstance(result, Failure):
                run_store.save_failures(conn, [(key, result)])
            else:
                run_store.save_extractions(conn, [(key, result)])
                self.usage += usage_of(result)
        self.done += 1
        self.on_progress(self.done, self.total)
