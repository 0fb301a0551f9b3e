"""What a reply costs besides the server's time: reading it strictly, and holding its evidence against report and rules.

Run it with `uv run python tests/benchmarks/reply_overhead.py [REPORTS]` (default 3000). Replies are made of what the
rules labeler finds in Open-i reports, a quarter of the quotes in lower case and a tenth invented. One process, time of
the processor: the first round meets every sentence anew, the second has them in memory. 20,000 reports at 400 a second
on one core leave 2.5 ms for each; half a millisecond is what reading a reply may take of it.
"""

import asyncio
import csv
import json
import random
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from workbench.domain.runs import LabelerSettings
from workbench.formats.label_sets import read_label_set
from workbench.labelers.language_model import LanguageModelLabeler
from workbench.labelers.rules import RulesLabeler
from workbench.models.base import Completion, Message
from workbench.prompting.files import read_prompt

ROOT = Path(__file__).resolve().parents[2]
OPEN_I = ROOT.parent / "shared" / "data" / "openi" / "reports.csv"


class Answers:
    """Gives one reply after the other at once, each meant for the report that is asked about then."""

    def __init__(self, replies: Sequence[str]) -> None:
        self._replies = iter(replies)

    async def complete(self, messages: Sequence[Message], *, schema: Mapping[str, object]) -> Completion:
        return Completion(next(self._replies))

    async def close(self) -> None:
        pass


def read_texts(count: int) -> list[str]:
    with OPEN_I.open(encoding="utf-8", newline="") as file:
        texts = [
            "\n\n".join(t for t in (row["findings"], row["impression"]) if t.strip()) for row in csv.DictReader(file)
        ]
    return [text for text in texts if text][:count]


def reply(rules: RulesLabeler, text: str, chance: random.Random) -> str:
    said = []
    for finding, mention in rules.label_text(text).items():
        quote = chance.choices((mention.evidence, mention.evidence.lower(), "Words of nobody."), (65, 25, 10))[0]
        said.append({"finding": finding, "state": mention.state, "evidence": quote})
    return json.dumps({"findings": said})


async def label(labeler: LanguageModelLabeler, texts: Sequence[str]) -> float:
    started = time.process_time()
    for text in texts:
        await labeler.label(text)
    return (time.process_time() - started) / len(texts)


def main() -> None:
    texts = read_texts(int(sys.argv[1]) if len(sys.argv) > 1 else 3000)
    label_set = read_label_set(ROOT / "data" / "cxr21.yaml")
    prompt = read_prompt(ROOT / "prompts" / "cxr21" / "0004.md")
    rules, chance = RulesLabeler(prompt, label_set), random.Random(0)
    replies = [reply(rules, text, chance) for text in texts]
    labeler = LanguageModelLabeler(LabelerSettings("m", "openai"), prompt, label_set, Answers(replies * 2))
    for round_name in ("every sentence new", "again"):
        print(f"{len(texts)} replies, {round_name}: {asyncio.run(label(labeler, texts)) * 1000:.2f} ms each")


if __name__ == "__main__":
    main()
