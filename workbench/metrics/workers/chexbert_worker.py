"""F1CheXbert of one report: the share of five findings on which CheXbert says the same of both texts, as in RadEval.

The five are cardiomegaly, edema, consolidation, atelectasis and pleural effusion; uncertain counts as present.
"""

import json
import sys
from pathlib import Path

from f1chexbert import f1chexbert  # type: ignore[import-not-found]  # in the worker's own environment


def main() -> None:
    """Score the pairs."""
    pairs = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    f1chexbert.CACHE_DIR = str(Path.cwd())  # where the package looks for chexbert.pth
    labeler = f1chexbert.F1CheXbert()
    five = labeler.target_names_5_index
    labels: dict[str, list[int]] = {}
    scores = []
    for sides in zip(pairs["references"], pairs["generated"], strict=True):
        for text in sides:
            if text not in labels:
                said = labeler.get_label(text)
                labels[text] = [said[i] for i in five]
        one, other = (labels[text] for text in sides)
        scores.append(sum(a == b for a, b in zip(one, other, strict=True)) / len(one))
    Path(sys.argv[2]).write_text(json.dumps(scores), encoding="utf-8")


if __name__ == "__main__":
    main()
