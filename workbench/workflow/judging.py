"""A language model of the study as judge of generated reports; each pair is judged once and kept."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

from workbench.domain.hashing import content_hash, short, text_hash
from workbench.domain.judged import JudgedBy
from workbench.domain.judging import Judgement, JudgePrompt
from workbench.domain.runs import ExtractionStatus, Failure, LabelerSettings, Usage
from workbench.errors import ConflictError, InputError
from workbench.formats.locks import alone
from workbench.labelers.judge import FORM_VERSION, Judge
from workbench.labelers.registry import make_model
from workbench.running import spending
from workbench.running.gathering import Gathering
from workbench.running.pool import Pool
from workbench.running.runner import answer_or_failure
from workbench.running.spending import Cap, Most
from workbench.storage import judgements as store
from workbench.storage.judgements import JudgementKey
from workbench.workflow import data_use
from workbench.workflow.extracting import Progress
from workbench.workflow.labelers import StillAllowed, capability, require_ready
from workbench.workflow.study import Study

TextPair = tuple[str, str]  # reference, generated
# Why there is no judgement, as people say it.
WHY: Mapping[str, str] = MappingProxyType(
    {
        ExtractionStatus.REFUSED: "refused",
        ExtractionStatus.TRUNCATED: "cut off",
        ExtractionStatus.MALFORMED: "not in the form asked for",
        ExtractionStatus.WRONG_LABEL: "unknown kind of error",
        ExtractionStatus.TOO_LONG: "reports too long",
        ExtractionStatus.FAILED: "no reply",
        ExtractionStatus.BLANK: "no reference",
    }
)


@dataclass(frozen=True, slots=True)
class Bench:
    """Who judges, by what: the model of a labeler, and what it is told."""

    study: Study
    prompt: JudgePrompt
    labeler: LabelerSettings

    @property
    def hash(self) -> str:
        """Return the identity of what is asked, the form of the answer included."""
        return content_hash("bench", [self.prompt.hash, FORM_VERSION])

    @property
    def by(self) -> JudgedBy:
        """Return who judges by what, as it is kept beside scores."""
        prompt, labeler = self.prompt, self.labeler
        passes = 2 if prompt.weigh else 1
        asked = (labeler.name, labeler.kind, labeler.model or "", labeler.hash)
        return JudgedBy(prompt.name, prompt.hash, FORM_VERSION, passes, *asked)

    def key(self, pair: TextPair) -> JudgementKey:
        """Return what the judgement of a pair is known by."""
        return JudgementKey(self.hash, self.labeler.hash, *map(text_hash, pair))


@dataclass(frozen=True, slots=True)
class Docket:
    """What became of pairs: judgements by pair, what they took together, and their cost where there is a price.

    ``unanswered`` pairs were sent and got no reply; the next call sends them again.
    """

    judged: Mapping[TextPair, Judgement]
    usage: Usage
    cost: float | None
    stopped: str = ""
    unanswered: Mapping[TextPair, Failure] = field(default_factory=dict)

    def score(self, pair: TextPair) -> float | None:
        """Return GREEN's score of a pair; None where there is no judgement, which is never 0."""
        return self.judged[pair].score if pair in self.judged else None

    def why(self, pair: TextPair) -> str:
        """Return why a pair has no score, as one of ``WHY``; "" where it has one."""
        if pair not in self.judged:
            return ExtractionStatus.FAILED.value
        status = self.judged[pair].status
        return "" if status is ExtractionStatus.OK else status.value

    def detail(self, pair: TextPair) -> str:
        """Return in a sentence why a pair has no score."""
        if pair in self.judged:
            return self.judged[pair].detail
        return self.unanswered[pair].detail if pair in self.unanswered else ""


def why_words(counts: Mapping[str, int]) -> str:
    """Return how many have no judgement and why, as in "2 refused, 1 cut off"."""
    return ", ".join(f"{n:,} {WHY.get(why, why)}" for why, n in counts.items() if n)


def by_words(by: JudgedBy) -> str:
    """Return a judge in words: what it was told and whose model answered, each with its hash."""
    model = f", model {by.model}" if by.model else ""
    passes = ", two passes" if by.passes > 1 else ""
    return (
        f"Judge {by.judge} ({short(by.judge_hash)}{passes}) with labeler {by.labeler} ({short(by.labeler_hash)}{model})"
    )


def scripted_words(by: JudgedBy) -> str:
    """Return a warning where no model judged, with a blank before it; "" where one did."""
    if by.by_model:
        return ""
    return f" Labeler {by.labeler} reads its answers from a file: this is no judgement by a model."


def took_words(usage: Usage, cost: float | None, currency: str) -> str:
    """Return what judgements took, as in "1,200 tokens for 10 judgements, 0.0120 USD"."""
    told = "" if cost is None else f", {cost:,.4f} {currency}"
    silent = f", and {usage.unknown:,} replies whose server did not say" if usage.unknown else ""
    return f"{usage.tokens:,} tokens for {usage.replies:,} judgements{silent}{told}"


def bench_of(study: Study, prompt: JudgePrompt, labeler: str) -> Bench:
    """Return a judge.

    Raises:
        InputError: the labeler asks no model.
        NotFoundError: there is no such labeler.
    """
    settings = study.labeler(labeler)
    if settings.kind == "rules":
        raise InputError("The rules labeler cannot judge; name a labeler that asks a language model.")
    return Bench(study, prompt, settings)


def judge_pairs(
    bench: Bench, pairs: Sequence[TextPair], *, cap: Cap | None = None, on_progress: Progress = lambda *_: None
) -> Docket:
    """Judge the pairs that were not judged yet, and return what is known of all of them.

    Whatever stops it, what came is kept, and the same call goes on with the rest; ``stopped`` says why. A call that
    brought no reply is no judgement and is made again by the next one. A reply that cannot be used is a judgement
    without a score: it is paid for, and not asked for again.

    Raises:
        RightsError: the study's reports may not be sent to the model's server.
        InputError: the key is missing, or a cost is capped that nobody can tell.
        ConflictError: another process is asking already.
        CallError: its server, never asked before, does not answer.
    """
    spending.require_price(cap, bench.labeler)
    wanted = list(dict.fromkeys(pairs))
    try:
        with alone(bench.study.folder / "data" / "study.toml"):
            stopped, unanswered = asyncio.run(_ask(bench, wanted, cap or Cap(), on_progress))
    except ConflictError:
        raise ConflictError("Another process of this study is asking a model; wait for it to end.") from None
    judged = _known(bench, wanted)
    usage = _usage(judged)
    return Docket(judged, usage, spending.cost(usage, bench.labeler.price), stopped, unanswered)


async def _ask(
    bench: Bench, wanted: Sequence[TextPair], cap: Cap, on_progress: Progress
) -> tuple[str, dict[TextPair, Failure]]:
    study, settings = bench.study, bench.labeler
    known = _known(bench, wanted)
    todo = [pair for pair in wanted if pair not in known]
    if not todo:
        return "", {}
    require_ready(study, settings)
    if stopped := spending.refusal(cap, settings.price, _usage(known), [Most(output_tokens=settings.max_tokens)]):
        return stopped, {}
    constraint = await capability(study, settings)
    pool = Pool(settings.concurrency)
    model = make_model(
        settings,
        through=lambda model: pool.through(StillAllowed(study, settings, model)),
        egress=data_use.egress(study),
        constraint=constraint,
    )
    judge = Judge(bench.prompt, model, constraint=constraint)
    done, unanswered = len(known), {}

    async def ask_one(pair: TextPair) -> Usage:
        judgement = await answer_or_failure(lambda: judge.judge(*pair), "judge")
        if isinstance(judgement, Failure):
            unanswered[pair] = judgement
            return judgement.usage
        with study.database.write() as conn:
            store.add(conn, bench.key(pair), judgement)
        return _usage({pair: judgement})

    def tell() -> None:
        nonlocal done
        done += 1
        on_progress(done, len(wanted))

    try:
        spent = _usage(known)
        gathering = Gathering(todo, ask_one, pool, settings, cap=cap, spent=spent, on_done=tell)
        return await gathering.all(), unanswered
    finally:
        await judge.close()


def _known(bench: Bench, pairs: Sequence[TextPair]) -> dict[TextPair, Judgement]:
    keys = {bench.key(pair): pair for pair in pairs}
    with bench.study.database.snapshot() as conn:
        return {keys[key]: judgement for key, judgement in store.find(conn, keys).items()}


def _usage(judged: Mapping[TextPair, Judgement]) -> Usage:
    """Return what judgements took; a pair that was not sent took nothing."""
    paid = [j for j in judged.values() if j.input_tokens is not None]
    return Usage(
        replies=len(paid),
        input_tokens=sum(j.input_tokens or 0 for j in paid),
        output_tokens=sum(j.output_tokens or 0 for j in paid),
        unknown=sum(bool(j.raw) and j.input_tokens is None for j in judged.values()),
    )
