"""300 reports, 200 ms server, 32 in flight: a run against the floor, and against other tools doing the same calls.

    uv run tests/benchmarks/pool_speed.py [--others]

The floor is 300 / 32 waves of 200 ms, rounded up: 2.0 s. Bounds (of issue 4): the run takes at most 1.15 times that
from its first call to its last answer, by the server's clock; the whole process is at least 1.5 times faster than
promptfoo 0.119 and 3 times faster than inspect_ai 0.3.285. With --others these two are run as well where they can be
had (npx; `uv run --no-project`), with empty caches of their own; they are installed before, which is not timed.
All of it runs in turn against one server, so that a busy machine is busy for each of them; look at the load.
"""

import argparse
import json
import math
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parents[1])]
import pool_throughput as throughput  # noqa: E402

COUNT, SECONDS, IN_FLIGHT = 300, 0.2, 32
PROMPTFOO, INSPECT = "promptfoo@0.119", "inspect-ai==0.3.285"

BARE = """
import asyncio, sys
import openai
async def main(url, count, in_flight):
    client, gate = openai.AsyncOpenAI(base_url=url, api_key="none", max_retries=0), asyncio.Semaphore(in_flight)
    async def one(number):
        async with gate:
            await client.chat.completions.create(
                model="m", messages=[{"role": "system", "content": "Label."}, {"role": "user", "content": str(number)}])
    await asyncio.gather(*(one(number) for number in range(count)))
    await client.close()
asyncio.run(main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3])))
"""

INSPECT_TASK = """
from inspect_ai import Task, task
from inspect_ai.dataset import Sample
from inspect_ai.scorer import includes
from inspect_ai.solver import generate, system_message
@task
def label():
    samples = [Sample(input=f"Report {number}: effusion.", target="effusion") for number in range(COUNT)]
    return Task(dataset=samples, solver=[system_message("Label the report."), generate()], scorer=includes())
"""


def timed(command: list[str], folder: Path, env: Mapping[str, str]) -> float | None:
    """Return how long a command takes; None, and why on stderr, where it fails."""
    started = time.perf_counter()
    done = subprocess.run(command, cwd=folder, env={**os.environ, **env}, capture_output=True, text=True, check=False)
    if done.returncode not in {0, 100}:  # promptfoo ends with 100 where a test of its own fails
        sys.stderr.write(f"{command[0]} failed: {(done.stderr or done.stdout)[-800:]}\n")
        return None
    return time.perf_counter() - started


def promptfoo(folder: Path, port: int) -> tuple[list[str], dict[str, str]] | None:
    if shutil.which("npx") is None:
        sys.stderr.write("promptfoo is left out: there is no npx here.\n")
        return None
    config = {
        "prompts": ["Label the report. {{report}}"],
        "providers": [{"id": "openai:chat:m", "config": {"apiBaseUrl": f"http://127.0.0.1:{port}/v1", "apiKey": "k"}}],
        "tests": [{"vars": {"report": f"Report {number}: effusion."}} for number in range(COUNT)],
    }
    (folder / "promptfooconfig.json").write_text(json.dumps(config))
    env = {
        "PROMPTFOO_CONFIG_DIR": str(folder / "own"),
        "PROMPTFOO_DISABLE_TELEMETRY": "1",
        "PROMPTFOO_DISABLE_UPDATE": "1",
        "PROMPTFOO_CACHE_ENABLED": "false",
    }
    if timed(["npx", "-y", PROMPTFOO, "--version"], folder, env) is None:
        return None
    options = ["-c", "promptfooconfig.json", "-j", str(IN_FLIGHT), "--no-cache", "--no-progress-bar", "--no-table"]
    return ["npx", "-y", PROMPTFOO, "eval", *options, "-o", "out.json"], env


def inspect_ai(folder: Path, port: int) -> tuple[list[str], dict[str, str]] | None:
    (folder / "label.py").write_text(INSPECT_TASK.replace("COUNT", str(COUNT)))
    env = {"OPENAI_API_KEY": "k", "OPENAI_BASE_URL": f"http://127.0.0.1:{port}/v1", "INSPECT_LOG_DIR": "logs"}
    start = ["uv", "run", "--no-project", "--with", INSPECT, "--with", "openai", "inspect"]
    if timed([*start, "--version"], folder, env) is None:
        return None
    options = ["--model", "openai/m", "--max-connections", str(IN_FLIGHT), "--max-samples", str(IN_FLIGHT)]
    options += ["-M", "responses_api=false"]
    return [*start, "eval", "label.py", *options, "--display", "none"], env


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--others", action="store_true", help="run promptfoo and inspect_ai too")
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    floor = math.ceil(COUNT / IN_FLIGHT) * SECONDS
    server = subprocess.Popen(
        [sys.executable, str(HERE / "quick_server.py"), str(SECONDS)], stdout=subprocess.PIPE, text=True
    )
    try:
        assert server.stdout is not None
        port = int(server.stdout.readline())
        with tempfile.TemporaryDirectory() as name:
            run(Path(name), port, floor, given.rounds, others=given.others)
    finally:
        server.kill()
        server.communicate()


def run(folder: Path, port: int, floor: float, rounds: int, *, others: bool) -> None:
    best: dict[str, tuple[float, float]] = {}  # whole process, and by the server's clock
    for number in range(rounds):
        path = folder / f"{number}.db"
        run_hash = throughput.prepare(path, port, IN_FLIGHT)
        ours = throughput.measured(path, run_hash, COUNT)
        note(best, "this run, each reply saved", ours["wall"], port)
        bare = timed(
            [sys.executable, "-c", BARE, f"http://127.0.0.1:{port}/v1", str(COUNT), str(IN_FLIGHT)], folder, {}
        )
        note(best, "AsyncOpenAI alone", bare, port)
    for name, make in (("promptfoo 0.119", promptfoo), ("inspect_ai 0.3.285", inspect_ai)) if others else ():
        (folder / name).mkdir()
        if (prepared := make(folder / name, port)) is not None:
            throughput.served(port)
            note(best, name, timed(prepared[0], folder / name, prepared[1]), port)
    print(f"{COUNT} calls of {SECONDS * 1000:.0f} ms, {IN_FLIGHT} in flight; load {os.getloadavg()[0]:.1f}")
    print(f"  {'':28} whole process   calls (floor {floor:.1f} s)")
    for name, (wall, calls) in best.items():
        print(f"  {name:28} {wall:9.2f} s   {calls:9.2f} s = {calls / floor:.2f} x floor")


def note(best: dict[str, tuple[float, float]], name: str, wall: float | None, port: int) -> None:
    counted = throughput.served(port)
    if wall is None:
        return
    if counted["calls"] != COUNT or counted["peak"] > IN_FLIGHT:
        sys.stderr.write(f"{name} is left out: it made other calls than the others did: {counted}\n")
        return
    best[name] = min(best.get(name, (wall, counted["seconds"])), (wall, counted["seconds"]))


if __name__ == "__main__":
    main()
