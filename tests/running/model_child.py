"""Executes a recorded run of a served model; started by test_kill_model.py, which kills it half way.

python model_child.py DATABASE RUN_HASH HOW_MANY
"""

import asyncio
import sys
from pathlib import Path

from workbench.errors import WorkbenchError
from workbench.labelers.registry import make_labeler
from workbench.models.base import Constraint
from workbench.prompting.files import parse_prompt
from workbench.running.pool import Pool
from workbench.running.runner import execute
from workbench.storage import label_sets, prompts, runs
from workbench.storage.database import Database


async def main(path: str, run_hash: str, how_many: str) -> None:
    database = Database(Path(path))
    with database.read() as conn:
        record = runs.get(conn, run_hash)
        assert record is not None
        label_set = label_sets.get(conn, record.run.label_set_hash)
        assert label_set is not None
        prompt = parse_prompt(prompts.prompt_text(conn, record.run.prompt_hash))
    pool = Pool(record.run.labeler.concurrency)
    labeler = make_labeler(
        record.run.labeler, prompt, label_set, through=pool.through, constraint=Constraint.JSON_SCHEMA
    )
    texts = [(str(i), f"Report {i}: effusion.") for i in range(int(how_many))]
    try:
        await execute(database, record.run, labeler, texts, pool=pool)
    finally:
        await labeler.close()


if __name__ == "__main__":
    try:
        asyncio.run(main(*sys.argv[1:]))
    except WorkbenchError as error:
        sys.exit(str(error))
