"""A language model of the study as judge of generated reports; each pair is judged once and kept."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from workbench.domain.hashing import content_hash, text_hash
from workbench.domain.judging import Judgement, JudgePrompt
from workbench.domain.runs import LabelerSettings, Usage
from workbench.errors import ConflictError, InputError
from workbench.formats.locks import alone
from workbench.labelers.judge import FORM_VERSION, Judge
from workbench.labelers.registry import make_model
from workbench.models.base import CallError, Trouble
from workbench.running import spending
from workbench.running.gathering import Gathering
from workbench.running.pool import Pool
from workbench.running.spending import Cap
from workbench.storage import judgements as store
from workbench.storage.judgements import JudgementKey
from workbench.workflow import data_use
from workbench.workflow.extracting import Progress
from workbench.workflow.labelers import StillAllowed, capability, require_ready
from workbench.workflow.study import Study

TextPair = tuple[str, str]  # reference, generated


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

    def key(self, pair: TextPair) -> JudgementKey:
        """Return what the judgement of a pair is known by."""
        return JudgementKey(self.hash, self.labeler.hash, *map(text_hash, pair))


@dataclass(frozen=True, slots=True)
class Docket:
    """What became of pairs: judgements by pair, what they took together, and their cost where there is a price."""

    judged: Mapping[TextPair, Judgement]
    usage: Usage
    cost: float | None
    stopped: str = ""


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
    brought no reply is no judgement and is made again by the next one.

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
            stopped = asyncio.run(_ask(bench, wanted, cap or Cap(), on_progress))
    except ConflictError:
        raise ConflictError("Another process of this study is asking a model; wait for it to end.") from None
    judged = _known(bench, wanted)
    usage = _usage(judged)
    return Docket(judged, usage, spending.cost(usage, bench.labeler.price), stopped)


async def _ask(bench: Bench, wanted: Sequence[TextPair], cap: Cap, on_progress: Progress) -> str:
    study, settings = bench.study, bench.labeler
    known = _known(bench, wanted)
    todo = [pair for pair in wanted if pair not in known]
    if not todo:
        return ""
    require_ready(study, settings)
    constraint = await capability(study, settings)
    pool = Pool(settings.concurrency)
    model = make_model(
        settings,
        through=lambda model: pool.through(StillAllowed(study, settings, model)),
        egress=data_use.egress(study),
        constraint=constraint,
    )
    judge = Judge(bench.prompt, model, constraint=constraint)
    done = len(known)

    async def ask_one(pair: TextPair) -> Usage:
        try:
            judgement = await judge.judge(*pair)
        except CallError as error:
            if error.trouble is Trouble.CLOSED:
                raise
            return Usage()
        with study.database.write() as conn:
            store.add(conn, bench.key(pair), judgement)
        return _usage({pair: judgement})

    def tell() -> None:
        nonlocal done
        done += 1
        on_progress(done, len(wanted))

    try:
        spent = _usage(known)
        return await Gathering(todo, ask_one, pool, settings, cap=cap, spent=spent, on_done=tell).all()
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
