"""How long `workbench label` takes for as many reports as MIMIC-CXR has, beside bare reading and writing of the file.

    uv run python tests/benchmarks/label_bulk.py [--reports 227835] [--mimic] [--parts csv|parquet]

With --mimic they lie in a folder tree as MIMIC-CXR's do, with --parts the labels go into parts, and the same command is
timed once more when all of them stand there (reading and comparing alone).
The reports are made from Open-i's, which must stand in `shared/data` beside the project: new ids, sentences shuffled
across the reports, so that no two texts are alike. It prints wall time, the ratio to a floor measured in the same run
(reading and writing the same CSV, one process), reports per second and the peak memory of all processes together.
"""

import argparse
import csv
import json
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


def make_tree(source: Path, folder: Path) -> None:
    """Put each report into a file of its own, three to a patient, as MIMIC-CXR's are."""
    with source.open(encoding="utf-8", newline="") as file:
        for number, row in enumerate(csv.DictReader(file)):
            patient = 10_000_000 + number // 3 * (10_000_000 // 80_000)
            path = folder / f"p{patient // 1_000_000}" / f"p{patient}" / f"s{50_000_000 + number}.txt"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(
                f"{'FINAL REPORT':>45}\n INDICATION:  ___F with cough.\n \n {row['text']}\n", encoding="utf-8"
            )


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


def labelled(source: Path, out: Path, options: list[str]) -> tuple[float, int]:
    command = [sys.executable, "-m", "workbench", "label", str(source), "-o", str(out), "--study", str(ROOT), "--json"]
    command += options
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


def rows_of(out: Path) -> int:
    if out.is_dir():
        return int(json.loads((out / "manifest.json").read_text())["labelled"])
    return sum(1 for _ in out.open(encoding="utf-8")) - 1


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--reports", type=int, default=227_835)
    parser.add_argument("--mimic", action="store_true")
    parser.add_argument("--parts", choices=["csv", "parquet"])
    asked = parser.parse_args()
    if not OPENI.is_file():
        sys.exit(f"real reports are not here: {OPENI} is missing")
    with tempfile.TemporaryDirectory() as folder:
        table = source = Path(folder) / "reports.csv"
        out = Path(folder) / ("labels" if asked.parts else "labels.csv")
        options = ["--parts", asked.parts] if asked.parts else []
        make_reports(table, asked.reports)
        if asked.mimic:
            source = Path(folder) / "files"
            make_tree(table, source)
        bare = floor(table, Path(folder) / "floor.csv")
        seconds, peak = labelled(source, out, options)
        print(
            f"{asked.reports:,} reports, {table.stat().st_size / 1e6:.0f} MB, {os.cpu_count()} cores; "
            f"{rows_of(out):,} rows labelled"
        )
        print(
            f"label {seconds:.1f} s = {asked.reports / seconds:,.0f} reports/s; bare reading and writing {bare:.1f} s"
        )
        print(
            f"ratio to bare reading and writing {seconds / bare:.1f}; peak memory of all processes {peak / 1e6:.0f} MB"
        )
        if asked.parts:
            seconds, peak = labelled(source, out, options)
            print(f"once more, with all parts there: {seconds:.1f} s, peak memory {peak / 1e6:.0f} MB")


if __name__ == "__main__":
    main()
