"""What a run has cost, what it will cost, and whether another report still fits under its cap."""

from dataclasses import dataclass

from workbench.domain.runs import LabelerSettings, Price, Usage
from workbench.errors import InputError

_GO_ON = "What was answered is saved; go on with the same run under a higher cap."


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


def refusal(cap: Cap, price: Price | None, usage: Usage, in_flight: int) -> str:
    """Return why no other report may be sent, in a sentence; empty where one may.

    Those in flight and the next one are taken to cost the mean of what came, so a cap is passed by no more than what
    ``in_flight`` replies take above it. Nothing is known before the first reply: send it alone.

    Args:
        cap: what the run may take in all.
        price: what a token costs; a cap of cost needs one.
        usage: what came so far.
        in_flight: reports that were sent and are not answered.
    """
    if not cap.set:
        return ""
    if usage.unknown and not usage.replies:
        return (
            "The server does not say how many tokens a reply took, so no cap can be kept, and the run has stopped; "
            "run it without a cap."
        )
    asked = usage.replies + usage.unknown + in_flight + 1
    if cap.tokens is not None and (tokens(usage, asked if usage.replies else 0) or 0.0) > cap.tokens:
        return f"The run would pass its cap of {cap.tokens:,} tokens, so it has stopped. {_GO_ON}"
    if cap.cost is not None and price and (cost(usage, price, asked if usage.replies else 0) or 0.0) > cap.cost:
        return f"The run would pass its cap of {cap.cost:,.2f} {price.currency}, so it has stopped. {_GO_ON}"
    return ""
