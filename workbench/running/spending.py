"""What a run has cost, what it will cost, and whether another report still fits under its cap."""

from collections.abc import Sequence
from dataclasses import dataclass

from workbench.domain.runs import LabelerSettings, Price, Usage
from workbench.errors import InputError
from workbench.labelers.base import Estimating, Labeler

_GO_ON = "What was answered is saved; the rest needs a higher cap."


@dataclass(frozen=True, slots=True)
class Cap:
    """What a run may take in all, earlier attempts at it included; None where there is no limit.

    ``cost`` is in the currency of the labeler's price, and at the price it has now.
    """

    tokens: int | None = None
    cost: float | None = None

    @property
    def set(self) -> bool:
        """Return whether there is any limit."""
        return self.tokens is not None or self.cost is not None


def require_price(cap: Cap | None, labeler: LabelerSettings) -> None:
    """Raise InputError where a cost is to be capped that nobody can tell."""
    if cap is not None and cap.cost is not None and labeler.price is None:
        raise InputError(
            f"Labeler {labeler.name} has no price, so its cost cannot be capped; give it one in data/study.toml, "
            "or cap its tokens."
        )


def cost(usage: Usage, price: Price | None, replies: float | None = None) -> float | None:
    """Return what replies cost at a price: those of ``usage``, or as many as ``replies`` says at their mean.

    Replies whose server did not say how many tokens they took count as the mean of the others. None without a price,
    and where no reply has token counts although there are some.
    """
    if price is None:
        return None
    asked = usage.replies + usage.unknown if replies is None else replies
    if not asked:
        return 0.0
    if not usage.replies:
        return None
    return price.of_usage(usage) * asked / usage.replies


def forecast(usage: Usage, price: Price | None, left: int) -> float | None:
    """Return what a run will have cost when ``left`` more texts are labelled; None without anything to go by."""
    if not usage.replies:
        return None
    return cost(usage, price, usage.replies + usage.unknown + left)


def tokens(usage: Usage, replies: float | None = None) -> float | None:
    """Return how many tokens replies took, as ``cost`` does."""
    asked = usage.replies + usage.unknown if replies is None else replies
    if not asked:
        return 0.0
    return usage.tokens * asked / usage.replies if usage.replies else None


@dataclass(frozen=True, slots=True)
class Most:
    """What one report may take at most, as far as that can be told before it is sent.

    ``input_tokens`` is an estimate of prompt and report, 0 where there is none; ``output_tokens`` the longest reply
    that the labeler's settings allow, None where they set no limit; ``written`` tells of a server that may charge for
    writing all of the input to its cache.
    """

    input_tokens: int = 0
    output_tokens: int | None = None
    written: bool = False


def most_of(labeler: Labeler, text: str) -> Most:
    """Return what labelling a text may take at most. A reply that is asked for once more takes that again."""
    settings = labeler.settings
    sent = labeler.tokens(text) if isinstance(labeler, Estimating) else 0
    return Most(sent, settings.max_tokens, written=settings.kind == "anthropic")


def refusal(cap: Cap, price: Price | None, usage: Usage, coming: Sequence[Most]) -> str:
    """Return why the last of ``coming`` may not be sent, in a sentence; empty where it may.

    Each of them is taken to take the most it may: its input as estimated, or the mean of what came where that is more,
    and the longest reply that is allowed; without such a limit, the mean. So a cap is passed only by what an estimate
    was too low, or by a reply that had to be asked for once more. Where nothing limits replies nothing is known of them
    before the first: send it alone.

    Args:
        cap: what the run may take in all.
        price: what a token costs; a cap of cost needs one. Nothing is taken to come from a cache.
        usage: what came so far.
        coming: what is in flight, and the next one.
    """
    if not cap.set:
        return ""
    if usage.unknown and not usage.replies:
        return (
            "The server does not say how many tokens a reply took, so no cap can be kept, and the run has stopped; "
            "run it without a cap."
        )
    most = [_bounded(each, usage) for each in coming]
    more = sum(given + answered for given, answered, _ in most)
    if cap.tokens is not None and (tokens(usage) or 0.0) + more > cap.tokens:
        return _passed(f"{cap.tokens:,} tokens", f"{most[-1][0] + most[-1][1]:,}")
    if cap.cost is None or price is None:
        return ""
    costs = [price.of(given, answered, written_tokens=written) for given, answered, written in most]
    if (cost(usage, price) or 0.0) + sum(costs) > cap.cost:
        return _passed(f"{cap.cost:,.2f} {price.currency}", f"{costs[-1]:,.4f}")
    return ""


def _bounded(most: Most, usage: Usage) -> tuple[int, int, int]:
    """Return tokens in, out, and of the input written to a cache; whatever is sent takes at least one token."""
    mean_in = -(-usage.input_tokens // usage.replies) if usage.replies else 1
    mean_out = -(-usage.output_tokens // usage.replies) if usage.replies else 0
    given = max(most.input_tokens, mean_in)
    return given, max(most.output_tokens or 0, mean_out), given if most.written else 0


def _passed(cap: str, most: str) -> str:
    return (
        f"The run would pass its cap of {cap}: the next report may take {most} (its prompt, estimated, and the longest "
        f"reply that is allowed), so it has stopped. {_GO_ON}"
    )
