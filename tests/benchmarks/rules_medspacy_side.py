"""medspaCy's side of ``rules_vs_medspacy.py``: reads texts, phrases and cues as JSON, prints reports per second.

Runs in an environment of its own, so it imports nothing of the workbench.
"""

import json
import sys
import time

import medspacy
import spacy
from medspacy.context import ConTextRule
from medspacy.ner import TargetRule


def main() -> None:
    given = json.load(sys.stdin)
    nlp = spacy.blank("en")
    nlp = medspacy.load(nlp, medspacy_enable=["medspacy_pyrush", "medspacy_target_matcher", "medspacy_context"])
    nlp.get_pipe("medspacy_target_matcher").add([TargetRule(text, label) for text, label in given["phrases"]])
    context = nlp.get_pipe("medspacy_context")
    context.add([ConTextRule(text, category, direction=direction) for text, category, direction in given["cues"]])
    nlp(given["texts"][0])
    start = time.perf_counter()
    negated = found = 0
    for text in given["texts"]:
        for entity in nlp(text).ents:
            found += 1
            negated += entity._.is_negated
    seconds = time.perf_counter() - start
    json.dump({"reports_per_second": len(given["texts"]) / seconds, "found": found, "negated": negated}, sys.stdout)


if __name__ == "__main__":
    main()
