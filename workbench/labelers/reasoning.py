"""What some models write before their answer: kept, and never read for labels."""

import re
from dataclasses import dataclass

# Only where the reply begins with it: further on it would be words of the report that were quoted.
_OPENING = re.compile(r"\s*+(?:<think(?:ing)?>|\[THINK\])", re.IGNORECASE)
_CLOSING = re.compile(r"</think(?:ing)?>|\[/THINK\]", re.IGNORECASE)
_STARTS_AN_ANSWER = ("{", "`", "[", '"')


@dataclass(frozen=True, slots=True)
class Parted:
    """A reply in two parts. ``ended`` is false where the reasoning came to no end, so that there is no answer."""

    reasoning: str
    answer: str
    ended: bool = True


def part(reply: str) -> Parted:
    """Return the reasoning before the answer, its outer marks left out, and the answer as it stands.

    Reasoning stands between ``<think>`` and ``</think>`` (``<thinking>``, ``[THINK]``) at the very start. It ends at
    the last closing mark, since others may stand inside it, in pairs or alone. A closing mark that a report smuggles
    into the answer leaves no JSON behind it, for the quotation marks of a quotation are escaped.

    Some chat templates write the opening mark themselves: a reply that does not begin with an answer and has only the
    closing mark is parted there too.
    """
    opening = _OPENING.match(reply)
    if opening is None and reply.lstrip().startswith(_STARTS_AN_ANSWER):
        return Parted("", reply)
    start = opening.end() if opening else 0
    closings = list(_CLOSING.finditer(reply, start))
    if closings:
        return Parted(reply[start : closings[-1].start()].strip(), reply[closings[-1].end() :])
    return Parted(reply[start:].strip(), "", ended=False) if opening else Parted("", reply)
