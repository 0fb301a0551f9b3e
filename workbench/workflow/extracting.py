"""What a labeler reads in texts that are no reports of the study: those of report generators and their references.

A language model's answers are kept where a run's are, known by prompt, label set, labeler and text, so that nothing is
asked for twice, whichever data set, system or run a text belongs to. The rules labeler costs nothing and says the same
each time, so it is asked each time and nothing is kept.
"""

import asyncio
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from workbench.domain.findings import FAILED
from workbench.domain.hashing import text_hash
from workbench.domain.prompts import Prompt
from workbench.domain.runs import Extraction, ExtractionKey, ExtractionStatus, Failure, LabelerSettings, Usage
from workbench.errors import ConflictError
from workbench.formats.locks import alone
from workbench.labelers.reading_languages import ReadingLanguages
from workbench.labelers.rules import RulesLabeler
from workbench.running.gathering import Gathering
from workbench.running.pool import Pool
from workbench.running.runner import outcome
from workbench.running.spending import Cap, refusal, require_price
from workbench.storage import runs as run_store
from workbench.storage.runs import usage_of
from workbench.workflow.labelers import labeler_of, most_of, require_ready
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
    """Return the four-state codes of each text in label-set order; FAILED throughout where there is no usable reply,
    or the rules labeler cannot read the text's language.

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


def unread(reading: Reading, texts: Iterable[str]) -> frozenset[str]:
    """Return those of some texts that fail since the prompt's phrases are in another language; a model may read all."""
    if not reading.by_rules:
        return frozenset()
    languages = ReadingLanguages(reading.prompt.guidance)
    return frozenset(text for text in texts if languages.unread(text))


def mentions_of(reading: Reading, text: str) -> Extraction | None:
    """Return what is read in one text with its evidence; None where a model was not asked yet."""
    if not text.strip():
        return Extraction(ExtractionStatus.OK)
    if reading.by_rules:
        return RulesLabeler(reading.prompt, reading.study.label_set).extraction(text)
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
    require_price(cap, reading.labeler)
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
    most, limit = most_of(study, settings, reading.prompt), cap or Cap()
    if why := refusal(limit, settings.price, usage, [most(todo[0])]):
        return why
    pool = Pool(settings.concurrency)
    labeler = await labeler_of(study, settings, reading.prompt, pool=pool)
    done = len(texts) - len(todo)

    async def ask_one(text: str) -> Usage:
        result = await outcome(labeler, text, 1)
        with study.database.write() as conn:
            if isinstance(result, Failure):
                run_store.save_failures(conn, [(reading.key(text), result)])
                return result.usage
            run_store.save_extractions(conn, [(reading.key(text), result)])
        return usage_of(result)

    def tell() -> None:
        nonlocal done
        done += 1
        on_progress(done, len(texts))

    try:
        asking = Gathering(todo, ask_one, pool, settings, cap=limit, spent=usage, most=most, on_done=tell)
        return await asking.all()
    finally:
        await labeler.close()
