"""How many calls a second a run makes and saves, how much memory it takes, and how soon a finished one is known to be.

    uv run tests/benchmarks/pool_throughput.py [--reports 20000] [--ms 5] [--in-flight 32]

Bounds (of issue 4): at least 400 requests/s on two cores, every extraction stored; under 400 MB; a finished run is
resumed in under 2 s. Each measurement is a process of its own.
"""

import argparse
import asyncio
import json
import resource
import subprocess
import sys
import tempfile
import time
import urllib.request
from datetime import UTC, datetime
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parents[1]))


def text_of(number: int) -> str:
    return (
        f"FINDINGS: There is a small left pleural effusion, number {number}. The lungs are clear. No pneumothorax.\n"
        * 3
    )


def prepare(path: Path, port: int, in_flight: int) -> str:
    """Record a run of the shipped prompt's label set in a new database and return its hash."""
    from workbench.domain.cohorts import Cohort, Purpose
    from workbench.domain.runs import Run
    from workbench.formats.label_sets import read_label_set
    from workbench.labelers.registry import settings_of
    from workbench.prompting.files import prompt_text, read_prompt
    from workbench.storage import cohorts, label_sets, prompts, runs
    from workbench.storage.database import Database

    root = HERE.parents[1]
    label_set = read_label_set(root / "data" / "cxr21.yaml")
    prompt = read_prompt(max((root / "prompts" / label_set.id).glob("*.md")), label_set=label_set)
    now = datetime.now(UTC)
    cohort = Cohort("c", Purpose.DEVELOPMENT, {}, {}, 1, now, "Ann")
    address = f"http://127.0.0.1:{port}/v1"
    labeler = settings_of("m", kind="openai", base_url=address, model="m", concurrency=in_flight)
    run = Run(prompt.hash, label_set.hash, cohort.hash, labeler)
    with Database(path).write() as conn:
        label_sets.add(conn, label_set)
        prompts.add_revision(conn, prompt, prompt_text(prompt), parent_hash=None, author="Ann", at=now, message="")
        cohorts.add(conn, cohort)
        runs.add(conn, run, "Ann", now)
    return run.hash


def child(path: Path, run_hash: str, count: int) -> None:
    """Execute the run and print what it took as JSON."""
    from workbench.labelers.registry import make_labeler
    from workbench.models.base import Constraint
    from workbench.prompting.files import parse_prompt
    from workbench.running.pool import Pool
    from workbench.running.runner import execute
    from workbench.storage import label_sets, prompts, runs
    from workbench.storage.database import Database

    database = Database(path)
    with database.read() as conn:
        record = runs.get(conn, run_hash)
        assert record is not None
        label_set = label_sets.get(conn, record.run.label_set_hash)
        assert label_set is not None
        prompt = parse_prompt(prompts.prompt_text(conn, record.run.prompt_hash), label_set=label_set)

    async def main() -> tuple[int, int]:
        pool = Pool(record.run.labeler.concurrency)
        labeler = make_labeler(
            record.run.labeler, prompt, label_set, through=pool.through, constraint=Constraint.JSON_SCHEMA
        )
        try:
            done = await execute(database, record.run, labeler, [(str(i), text_of(i)) for i in range(count)], pool=pool)
        finally:
            await labeler.close()
        return done.done, pool.calls

    done, calls = asyncio.run(main())
    used = resource.getrusage(resource.RUSAGE_SELF)
    print(json.dumps({"done": done, "calls": calls, "mb": used.ru_maxrss / 1024, "cpu": used.ru_utime + used.ru_stime}))


def measured(path: Path, run_hash: str, count: int) -> dict[str, float]:
    command = [sys.executable, str(Path(__file__)), "--child", str(path), run_hash, "--reports", str(count)]
    started = time.perf_counter()
    out = subprocess.run(command, stdout=subprocess.PIPE, check=True)
    return {**json.loads(out.stdout), "wall": time.perf_counter() - started}


def served(port: int) -> dict[str, float]:
    """Return what the server counted since it was last asked."""
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/count") as answer:
        return dict(json.load(answer))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--reports", type=int, default=20_000)
    parser.add_argument("--ms", type=float, default=5.0)
    parser.add_argument("--in-flight", type=int, default=32)
    parser.add_argument("--child", nargs=2, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.child:
        child(Path(given.child[0]), given.child[1], given.reports)
        return
    command = [sys.executable, str(HERE / "quick_server.py"), str(given.ms / 1000)]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert server.stdout is not None
        port = int(server.stdout.readline())
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "workbench.db"
            run_hash = prepare(path, port, given.in_flight)
            tenth = measured(path, run_hash, given.reports // 10)
            served(port)
            whole = measured(path, run_hash, given.reports)
            counted = served(port)
            again = measured(path, run_hash, given.reports)
            size = path.stat().st_size / 1e6
    finally:
        server.kill()
        server.communicate()
    assert again["calls"] == 0
    assert counted["calls"] == whole["calls"] == given.reports - given.reports // 10
    assert whole["done"] == again["done"] == given.reports
    rate = counted["calls"] / counted["seconds"]
    print(f"{counted['calls']:,.0f} calls of {given.ms:g} ms, {given.in_flight} in flight, each saved ({size:,.0f} MB)")
    print(f"  {rate:,.0f} requests/s by the server's clock; at most {counted['peak']:.0f} at once (bound: 400)")
    print(f"  whole process {whole['wall']:.1f} s, {whole['cpu']:.1f} s of one core's time")
    print(f"  memory {tenth['mb']:.0f} MB after a tenth, {whole['mb']:.0f} MB after all (bound: 400)")
    print(f"  resume of the finished run {again['wall']:.2f} s, {again['cpu']:.2f} s of a core's time (bound: 2)")


if __name__ == "__main__":
    main()
