"""BERTScore as CXR-Report-Metric and ReXrank compute it: distilroberta-base, F1 rescaled by the package's baseline."""

import json
import re
import sys
from pathlib import Path

from bert_score import BERTScorer  # type: ignore[import-not-found]  # in the worker's own environment


def main() -> None:
    """Score the pairs."""
    pairs = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    scorer = BERTScorer(model_type="distilroberta-base", batch_size=64, lang="en", rescale_with_baseline=True)
    generated, references = ([re.sub(r" +", " ", text) for text in pairs[side]] for side in ("generated", "references"))
    scores = scorer.score(generated, references)[2]
    Path(sys.argv[2]).write_text(json.dumps([float(score) for score in scores]), encoding="utf-8")


if __name__ == "__main__":
    main()
