"""Executes a recorded run; started by test_kill.py, which kills it half way.

python killed_child.py DATABASE RUN_HASH REPLIES CALLS HOW_MANY - a line is added to CALLS at each call of the model.
"""

import asyncio
import sys
from dataclasses import replace
from pathlib import Path

from workbench.domain.hashing import text_hash
from workbench.domain.runs import Extraction
from workbench.labelers.base import Labeler
from workbench.labelers.registry import make_labeler
from workbench.prompting.files import parse_prompt
from workbench.running.runner import execute
from workbench.storage import label_sets, prompts, runs
from workbench.storage.database import Database


class Counting:
    def __init__(self, labeler: Labeler, calls: Path) -> None:
        self.inner, self.settings, self.calls = labeler, labeler.settings, calls

    async def label(self, text: str, repeat: int = 1) -> Extraction:
        with self.calls.open("a") as file:
            file.write(text_hash(text) + "\n")
        return await self.inner.label(text, repeat)


def main(path: str, run_hash: str, replies: str, calls: str, how_many: str) -> None:
    database = Database(Path(path))
    with database.read() as conn:
        record = runs.get(conn, run_hash)
        assert record is not None
        label_set = label_sets.get(conn, record.run.label_set_hash)
        assert label_set is not None
        prompt = parse_prompt(prompts.prompt_text(conn, record.run.prompt_hash))
    run = replace(record.run, labeler=replace(record.run.labeler, file=replies))
    labeler = Counting(make_labeler(run.labeler, prompt, label_set), Path(calls))
    texts = [(str(i), f"Report {i}: effusion.") for i in range(int(how_many))]
    asyncio.run(execute(database, run, labeler, texts))


if __name__ == "__main__":
    main(*sys.argv[1:])
