"""How long BLEU of 2,347 pairs takes beside sacrebleu, and whether the values are the same.

Run it with `uv run python tests/benchmarks/bleu_speed.py`. The pairs are the four systems of
`shared/data/submissions`, repeated in other pairings until there are 2,347; it skips where they are missing. sacrebleu
computes BLEU-2 of each pair with the same definition, as it comes: it remembers the tokens of a text, so that from the
second round on it splits none. Ours computes the same, and all four orders. Medians of five rounds each, interleaved.
It fails where ours is slower or a value differs by more than 1e-9.
"""

import csv
import logging
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from sacrebleu.metrics import BLEU

from workbench.metrics.bleu import bleu_all
from workbench.metrics.rouge import rouge_l_all

PAIRS, ROUNDS = 2347, 5
SHARED = Path(__file__).resolve().parents[3] / "shared" / "data" / "submissions"


def pairs() -> tuple[list[str], list[str]]:
    references, generated = [], []
    for path in sorted(SHARED.glob("iu_xray_*.csv")):
        with path.open(encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        references += [row["reference"] for row in rows]
        generated += [row["generated"] for row in rows]
    shifts = -(-PAIRS // len(references))
    texts = [text for shift in range(shifts) for text in generated[shift:] + generated[:shift]]
    return (references * shifts)[:PAIRS], texts[:PAIRS]


def seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def main() -> int:
    if not SHARED.is_dir():
        print(f"skipped: {SHARED} is missing")
        return 0
    logging.getLogger("sacrebleu").setLevel(logging.ERROR)
    references, generated = pairs()

    def by_sacrebleu() -> list[float]:
        metric = BLEU(lowercase=True, smooth_method="none", max_ngram_order=2, tokenize="13a")
        return [metric.sentence_score(g, [r]).score / 100 for r, g in zip(references, generated, strict=True)]

    works: dict[str, Callable[[], object]] = {
        "sacrebleu, BLEU-2": by_sacrebleu,
        "ours, BLEU-2": lambda: bleu_all(references, generated, (2,)),
        "ours, BLEU-1 to 4": lambda: bleu_all(references, generated),
        "ours, ROUGE-L": lambda: rouge_l_all(references, generated),
    }
    far = float(np.abs(bleu_all(references, generated, (2,))[:, 0] - by_sacrebleu()).max())
    times: dict[str, list[float]] = {name: [] for name in works}
    for _ in range(ROUNDS):
        for name, work in works.items():
            times[name].append(seconds(work))
    medians = {name: statistics.median(values) for name, values in times.items()}
    print(f"{PAIRS} pairs; the largest difference from sacrebleu is {far:.1e}")
    for name, median in medians.items():
        print(f"  {name:<20} {median:6.3f} s")
    faster = medians["sacrebleu, BLEU-2"] / medians["ours, BLEU-2"]
    print(f"  {faster:.1f} times as fast")
    return 0 if faster >= 1 and far < 1e-9 else 1


if __name__ == "__main__":
    sys.exit(main())
