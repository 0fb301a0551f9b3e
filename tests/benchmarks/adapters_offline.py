"""How long it takes until a metric that needs a model says what is missing, without a network.

Run it with `uv run python tests/benchmarks/adapters_offline.py`. Three cases for each: no weights; weights and no
package, uv's cache being empty; and, for one, a gigabyte of weights of which the last has another checksum. It fails
where a message takes 5 s or longer.
"""

import hashlib
import os
import sys
import tempfile
import time
from pathlib import Path

from workbench.errors import InputError
from workbench.metrics.adapters import ADAPTERS, PYTHON, SUMS, Adapter, run_adapter

LIMIT = 5.0  # seconds
SIZE, PIECES = 1 << 20, 1024


def seconds(metric_id: str, weights: Path) -> tuple[float, str]:
    start = time.perf_counter()
    try:
        run_adapter(metric_id, ["Small effusion."], ["No effusion."], weights=weights)
    except InputError as error:
        return time.perf_counter() - start, str(error)
    raise AssertionError("something should be missing")


def files_of(adapter: Adapter) -> list[str]:
    return [file.split("|")[0] for file in adapter.files]


def fill(weights: Path) -> None:
    """Write files of the right names for each metric, with their checksums."""
    for adapter in ADAPTERS.values():
        folder = weights / adapter.metric_id
        for file in files_of(adapter):
            (folder / file).parent.mkdir(parents=True, exist_ok=True)
            (folder / file).write_text("{}")
        none = hashlib.sha256(b"{}").hexdigest()
        (folder / SUMS).write_text("".join(f"{none}  ./{file}\n" for file in files_of(adapter)))


def main() -> int:
    os.environ.pop(PYTHON, None)
    slowest = 0.0
    with tempfile.TemporaryDirectory() as kept:
        os.environ["UV_CACHE_DIR"] = str(Path(kept) / "cache")
        weights = Path(kept) / "weights"
        cases = [("no weights", metric_id, Path(kept) / "nothing") for metric_id in ADAPTERS]
        cases += [("no package", metric_id, weights) for metric_id in ADAPTERS]
        fill(weights)
        for case, metric_id, folder in cases:
            taken, said = seconds(metric_id, folder)
            slowest = max(slowest, taken)
            print(f"{case}, {metric_id}: {taken:.2f} s: {said[:100]}...")
        large = weights / "f1chexbert" / "chexbert.pth"
        with large.open("wb") as file:
            for _ in range(PIECES):
                file.write(bytes(SIZE))
        taken, said = seconds("f1chexbert", weights)
        slowest = max(slowest, taken)
        print(f"wrong weights, f1chexbert: {taken:.2f} s: {said[:100]}...")
    return 0 if slowest < LIMIT else 1


if __name__ == "__main__":
    sys.exit(main())
