"""RadGraph-F1 of the package radgraph: entities, and whether each has a relation (its reward level "partial")."""

import json
import sys
from pathlib import Path

from radgraph import F1RadGraph  # type: ignore[import-not-found]  # in the worker's own environment


def main() -> None:
    """Score the pairs."""
    pairs = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    scorer = F1RadGraph(reward_level="partial", model_type="radgraph", model_cache_dir=str(Path.cwd()))
    scores = scorer(hyps=pairs["generated"], refs=pairs["references"])[1]
    Path(sys.argv[2]).write_text(json.dumps([float(score) for score in scores]), encoding="utf-8")


if __name__ == "__main__":
    main()
