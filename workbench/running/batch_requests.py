"""What a run asks in a batch: requests by name, so many to a batch, and what they will take."""

import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from workbench.domain.runs import Extraction, ExtractionKey, Failure, LabelerSettings, Price, Run, Usage
from workbench.errors import InputError
from workbench.labelers.registry import Batching
from workbench.models.base import Trouble
from workbench.models.bodies import as_text
from workbench.running import spending
from workbench.running.spending import Cap
from workbench.storage.batches import NewBatch

_RUN, _TEXT = 16, 40  # hexadecimal digits of each hash in a name: providers take 64 characters


def request_name(run: Run, key: ExtractionKey) -> str:
    """Return what a request is called at its provider: it tells the run, the repeat and the text."""
    return f"{run.hash[:_RUN]}-{key.repeat}-{key.text_hash[:_TEXT]}"


@dataclass(slots=True)
class Portion:
    """The requests of one batch that is still to be handed over. Tokens are estimates."""

    keys: list[ExtractionKey] = field(default_factory=list)
    size: int = 0
    input_tokens: int = 0

    def new(self, constraint: str, output_tokens: int) -> NewBatch:
        """Return what is written down of it."""
        return NewBatch(secrets.token_hex(8), constraint, self.input_tokens, output_tokens * len(self.keys))


@dataclass(slots=True)
class Sorted:
    """Texts of a run: those that go into batches, and what becomes of those that are not sent at all."""

    portions: list[Portion] = field(default_factory=list)
    unsent: list[tuple[ExtractionKey, Extraction | Failure]] = field(default_factory=list)


def sort_out(batching: Batching, run: Run, todo: Iterable[tuple[ExtractionKey, str]]) -> Sorted:
    """Return texts in as few batches as their provider takes."""
    sorted_out = Sorted()
    server = batching.server
    for key, text in todo:
        encoded = _encoded(batching, run, key, text)
        if not isinstance(encoded, bytes):
            sorted_out.unsent.append((key, encoded))
            continue
        size = len(encoded) + 1
        last = sorted_out.portions[-1] if sorted_out.portions else None
        if last is None or len(last.keys) >= server.most_requests or last.size + size > server.most_bytes - 64:
            last = Portion()
            sorted_out.portions.append(last)
        last.keys.append(key)
        last.size += size
        last.input_tokens += batching.labeler.tokens(text)
    return sorted_out


def encoded_requests(batching: Batching, run: Run, pairs: Iterable[tuple[ExtractionKey, str]]) -> Iterator[bytes]:
    """Yield each request that can be sent, as JSON on one line."""
    for key, text in pairs:
        encoded = _encoded(batching, run, key, text)
        if isinstance(encoded, bytes):
            yield encoded


def _encoded(batching: Batching, run: Run, key: ExtractionKey, text: str) -> bytes | Extraction | Failure:
    messages = batching.labeler.messages(text)
    if isinstance(messages, Extraction):
        return messages
    request = batching.server.request(request_name(run, key), messages, batching.labeler.schema)
    try:
        return as_text(request).encode()
    except UnicodeEncodeError:
        return Failure(Trouble.REJECTED.value, "The report holds half a character, which cannot be sent.", 0)


@dataclass(frozen=True, slots=True)
class Estimate:
    """What batches will take, reckoned before they are handed over; ``cost`` is None without a price."""

    input_tokens: int
    output_tokens: int
    cost: float | None

    @property
    def tokens(self) -> int:
        """Return input and output tokens together."""
        return self.input_tokens + self.output_tokens


def estimate(price: Price | None, input_tokens: int, output_tokens: int) -> Estimate:
    """Return what so many tokens cost in a batch, as if nothing of them came from a cache."""
    cost = price.of(input_tokens, output_tokens) * price.batch_factor if price else None
    return Estimate(input_tokens, output_tokens, cost)


def reply_tokens(settings: LabelerSettings, usage: Usage) -> int | None:
    """Return how many tokens one reply takes: the mean of those that came, else the most it may; None if unknown."""
    return -(-usage.output_tokens // usage.replies) if usage.replies else settings.max_tokens


def require_within(cap: Cap, settings: LabelerSettings, spent: Usage, coming: Sequence[Estimate]) -> None:
    """Refuse batches that would pass a cap: once they are handed over, nobody can stop what they take.

    Args:
        cap: what the run may take in all.
        settings: of the labeler.
        spent: what came so far.
        coming: what is under way, and what is about to be.

    Raises:
        InputError: they would pass it.
    """
    price = settings.price
    more = estimate(price, sum(e.input_tokens for e in coming), sum(e.output_tokens for e in coming))
    so_far = spending.tokens(spent) or 0.0
    if cap.tokens is not None and so_far + more.tokens > cap.tokens:
        raise InputError(
            f"With this batch the run would take about {so_far + more.tokens:,.0f} tokens (estimated), which is above "
            f"the cap of {cap.tokens:,}; nothing was handed over."
        )
    paid = spending.cost(spent, price) or 0.0
    if cap.cost is not None and price and more.cost is not None and paid + more.cost > cap.cost:
        raise InputError(
            f"With this batch the run would cost about {paid + more.cost:,.2f} {price.currency} (estimated at "
            f"{price.batch_factor:g} of the price), which is above the cap of {cap.cost:,.2f}; nothing was handed over."
        )


def by_name(run: Run, pairs: Iterable[tuple[ExtractionKey, str]]) -> Mapping[str, tuple[ExtractionKey, str]]:
    """Return keys and texts by the names of their requests."""
    return {request_name(run, key): (key, text) for key, text in pairs}
