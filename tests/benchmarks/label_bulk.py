"""How long `workbench label` takes for as many reports as MIMIC-CXR has, beside bare reading and writing of the file.

    uv run python tests/benchmarks/label_bulk.py [--reports 227835]

The reports are made from Open-i's, which must stand in `shared/data` beside the project: new ids, sentences shuffled
across the reports, so that no two texts are alike. It prints wall time, the ratio to a floor measured in the same run
(reading and writing the same CSV, one process), reports per second and the peak memory of all processes together.
"""

import argparse
import csv
import os
import random
import re
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
OPENI = ROOT.parent / "shared" / "data" / "openi" / "reports.csv"


def make_reports(path: Path, count: int) -> None:
    with OPENI.open(encoding="utf-8", newline="") as file:
        texts = [(row["findings"], row["impression"]) for row in csv.DictReader(file)]
    sentences = [s for pair in texts for part in pair for s in re.split(r"(?<=[.])\s+", part) if s]
    lengths = [max(1, len(re.split(r"(?<=[.])\s+", " ".join(pair)))) for pair in texts]
    draw = random.Random(1)
    with path.open("w", encoding="utf-8", newline="") as file:
        write = csv.writer(file).writerow
        write(["id", "text"])
        for number in range(count):
            chosen = [draw.choice(sentences) for _ in range(lengths[number % len(lengths)])]
            write([f"made-{number}", f"FINDINGS: {' '.join(chosen[:-1])}\n\nIMPRESSION: {chosen[-1]}"])


def floor(source: Path, out: Path) -> float:
    start = time.perf_counter()
    with source.open(encoding="utf-8", newline="") as reading, out.open("w", encoding="utf-8", newline="") as writing:
        write = csv.writer(writing).writerow
        for row in csv.reader(reading):
            write([row[0], *[""] * 21])
    return time.perf_counter() - start


def family_memory(pid: int) -> int:
    """Return the resident memory of a process and all its descendants, in bytes (shared pages counted once each)."""
    parents = {}
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            parents[int(status.parent.name)] = int(status.read_text().rsplit(")", 1)[1].split()[1])
        except (OSError, ValueError):
            continue
    family, todo = {pid}, [pid]
    while todo:
        parent = todo.pop()
        for child in [c for c, p in parents.items() if p == parent and c not in family]:
            family.add(child)
            todo.append(child)
    total = 0
    for member in family:
        try:
            total += int(Path(f"/proc/{member}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
        except (OSError, IndexError):
            continue
    return total


def labelled(source: Path, out: Path) -> tuple[float, int]:
    command = [sys.executable, "-m", "workbench", "label", str(source), "-o", str(out), "--study", str(ROOT), "--json"]
    start = time.perf_counter()
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL)
    peak, done = 0, threading.Event()

    def watch() -> None:
        nonlocal peak
        while not done.wait(0.1):
            peak = max(peak, family_memory(process.pid))

    watcher = threading.Thread(target=watch)
    watcher.start()
    code = process.wait()
    seconds = time.perf_counter() - start
    done.set()
    watcher.join()
    if code:
        sys.exit(f"label ended with {code}")
    return seconds, peak


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--reports", type=int, default=227_835)
    count = parser.parse_args().reports
    if not OPENI.is_file():
        sys.exit(f"real reports are not here: {OPENI} is missing")
    with tempfile.TemporaryDirectory() as folder:
        source, out = Path(folder) / "reports.csv", Path(folder) / "labels.csv"
        make_reports(source, count)
        bare = floor(source, Path(folder) / "floor.csv")
        seconds, peak = labelled(source, out)
        rows = sum(1 for _ in out.open(encoding="utf-8")) - 1
        print(
            f"{count:,} reports, {source.stat().st_size / 1e6:.0f} MB, {os.cpu_count()} cores; {rows:,} rows labelled"
        )
        print(f"label {seconds:.1f} s = {count / seconds:,.0f} reports/s; bare reading and writing {bare:.1f} s")
        print(
            f"ratio to bare reading and writing {seconds / bare:.1f}; peak memory of all processes {peak / 1e6:.0f} MB"
        )


if __name__ == "__main__":
    main()
