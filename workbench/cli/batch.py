"""What ``workbench run`` does with batches: --batch, --wait, --batch-cancel, --batch-file and --batch-result."""

from dataclasses import asdict, dataclass
from pathlib import Path

from workbench.cli.output import Output
from workbench.domain.actors import Actor
from workbench.domain.hashing import short
from workbench.domain.runs import RunProgress
from workbench.errors import InputError
from workbench.running.batching import Collected
from workbench.running.spending import Cap
from workbench.storage.batches import BatchRecord
from workbench.workflow import batches, run
from workbench.workflow.run import PreparedRun
from workbench.workflow.study import Study


@dataclass(frozen=True, slots=True)
class Batch:
    """What was asked for on the command line."""

    submit: bool
    wait: bool
    cancel: bool
    file: Path | None
    result: Path | None

    def asked(self, study: Study, prepared: PreparedRun) -> bool:
        """Return whether the run is to be gone on with in batches: it was asked for, or one is under way.

        Raises:
            InputError: what was asked for does not go together.
        """
        ways = [
            name
            for name, given in (
                ("--batch", self.submit),
                ("--batch-cancel", self.cancel),
                ("--batch-file", self.file),
                ("--batch-result", self.result),
            )
            if given
        ]
        if len(ways) > 1:
            raise InputError(f"{' and '.join(ways)} do not go together; give one of them.")
        found = bool(ways) or bool(batches.under_way(study, prepared))
        if self.wait and (self.file or self.result or not found):
            raise InputError("--wait goes with --batch: it waits until all that was handed over is answered.")
        return found

    def go(self, study: Study, actor: Actor, prepared: PreparedRun, cap: Cap, out: Output) -> None:
        """Do it, and say what came of it."""
        if self.file is not None:
            count = batches.write_requests(study, actor, prepared, self.file)
            out.answer(
                {"run": prepared.run.hash, "requests": count, "file": str(self.file)},
                f"{self.file} holds {count:,} requests of run {short(prepared.run.hash)}.",
                f"Next: vllm run-batch -i {self.file} -o answers.jsonl --model {prepared.run.labeler.model}",
                f"Then: workbench run --resume {short(prepared.run.hash)} --batch-result answers.jsonl",
            )
            return
        if self.result is not None:
            found = batches.take_results(study, actor, prepared, self.result)
        elif self.cancel:
            found = batches.cancel(study, actor, prepared)
        elif self.submit:
            found = batches.submit(study, actor, prepared, cap=cap)
        else:
            found = batches.collect(study, actor, prepared)
        if self.wait:
            waited = batches.wait(study, actor, prepared, on_look=_Telling(out))
            found = Collected(
                found.submitted,
                found.answered + waited.answered,
                found.failed + waited.failed,
                (*found.notes, *waited.notes),
            )
        _tell(study, prepared, found, out)


class _Telling:
    """Says how batches stand, whenever that has changed."""

    def __init__(self, out: Output) -> None:
        self._out = out
        self._said: dict[int, str] = {}

    def __call__(self, known: list[BatchRecord]) -> None:
        for batch in known:
            text = batch_text(batch)
            if self._said.get(batch.id) != text:
                self._said[batch.id] = text
                self._out.tell(text)


def currency(prepared: PreparedRun) -> str | None:
    """Return the currency of a run's price, None where it has none."""
    return prepared.run.labeler.price.currency if prepared.run.labeler.price else None


def spent(prepared: PreparedRun, progress: RunProgress) -> list[str]:
    """Return what a run has taken, in a line; none where no model was asked."""
    usage = progress.usage
    if not usage.replies and not usage.lost:
        return []
    cached = f" ({usage.cached_tokens:,} of them cached)" if usage.cached_tokens else ""
    line = f"It has taken {usage.input_tokens:,} tokens in{cached} and {usage.output_tokens:,} out"
    if usage.unknown:
        line += f", without {usage.unknown:,} replies whose server did not say"
    if usage.lost:
        line += f", and {usage.lost:,} calls without token counts, which brought no reply"
    if progress.cost is not None:
        line += f"; at today's price that is {progress.cost:,.4f} {currency(prepared)}"
    price = prepared.run.labeler.price
    if price and usage.batch_input_tokens:
        tokens = usage.batch_input_tokens + usage.batch_output_tokens
        line += f" ({tokens:,} tokens came in batches, at {price.batch_factor:g} of the price)"
    return [f"{line}."]


def _tell(study: Study, prepared: PreparedRun, found: Collected, out: Output) -> None:
    progress, known = run.progress(study, prepared), batches.of_run(study, prepared)
    waiting = [batch for batch in known if not batch.over]
    name = short(prepared.run.hash)
    came = f"{found.answered:,} answers came in, {found.failed:,} reports brought none. "
    handed = f"{found.submitted:,} reports were handed over. " if found.submitted else ""
    out.answer(
        {
            "run": prepared.run.hash,
            "revision": prepared.number,
            "cohort": prepared.cohort.name,
            "labeler": prepared.run.labeler.name,
            "submitted": found.submitted,
            "collected": found.answered,
            "not_answered": found.failed,
            "under_way": sum(batch.requests for batch in waiting),
            "batches": [batch_json(batch) for batch in known],
            "total": progress.total,
            "done": progress.done,
            "failed": dict(progress.failed),
            "tokens": asdict(progress.usage),
            "cost": progress.cost,
            "currency": currency(prepared),
            "notes": list(found.notes),
        },
        f"Run {name}: {handed}{came}{progress.done:,} of {progress.total:,} are labelled or tried.",
        *found.notes,
        *(batch_text(batch) for batch in waiting),
        *spent(prepared, progress),
        *_next(name, waiting, progress),
    )


def _next(name: str, waiting: list[BatchRecord], progress: RunProgress) -> list[str]:
    if waiting:
        return [f"Later: workbench run --resume {name} collects what has come."]
    if not progress.finished or progress.unanswered:
        return [
            f"Next: workbench run --resume {name} asks for the rest by call, and with --batch in another batch.",
        ]
    return [f"Next: workbench evaluate --run {name}"]


def batch_text(batch: BatchRecord) -> str:
    """Return how a batch stands, in a sentence."""
    what = f"{batch.requests:,} reports, handed over by {batch.actor} on {batch.at:%Y-%m-%d at %H:%M} UTC"
    if not batch.provider_id:
        return f"A batch of {what}: it is not known yet whether it arrived."
    return f"Batch {batch.provider_id}, {batch.state}: {what}; {batch.answered:,} answered, {batch.failed:,} failed."


def batch_json(batch: BatchRecord) -> dict[str, object]:
    """Return a batch as JSON."""
    return {
        "id": batch.provider_id or None,
        "state": batch.state,
        "requests": batch.requests,
        "answered": batch.answered,
        "failed": batch.failed,
        "by": batch.actor,
        "at": batch.at.isoformat(),
        "told_at": batch.told_at.isoformat() if batch.told_at else None,
        "over": batch.over,
    }
