"""How many reports a second the rules labeler reads, beside medspaCy's ConText on the same reports and phrases.

Run it with `uv run python tests/benchmarks/rules_vs_medspacy.py [REPORTS]` (default 400). medspaCy cannot live beside
pandas 3, so it runs in an environment that uv makes for it. Both sides get the same Open-i texts and the same list:
every spelling without a gap of the last shipped prompt's synonyms and cues (an open ending becomes the words of the
texts that begin so). One process each; medspaCy with a blank English pipeline, its sentence splitter, target matcher
and ConText. The rules labeler is timed twice, each time newly made: as it is, and with no sentence kept in memory, so
that no repeated sentence helps it. What to watch are the ratios, which hardly depend on the machine.
"""

import csv
import itertools
import json
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

from workbench.domain.prompts import Cues, CueSet, FindingGuidance, Guidance, Prompt
from workbench.formats.label_sets import read_label_set
from workbench.labelers.rules import RulesLabeler
from workbench.prompting.files import read_prompt
from workbench.text.normalise import words
from workbench.text.phrases import GAP, spellings

ROOT = Path(__file__).resolve().parents[2]
OPEN_I = ROOT.parent / "shared" / "data" / "openi" / "reports.csv"
MEDSPACY = ["uv", "run", "--no-project", "--with", "medspacy", "--with", "thinc<8.3", "--with", "numpy<2"]
MEDSPACY += ["--with", "pandas<3", "--with", "pip", "python", str(Path(__file__).with_name("rules_medspacy_side.py"))]
ROUNDS = 5


def read_texts(count: int) -> list[str]:
    with OPEN_I.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    texts = ["\n\n".join(t for t in (row["findings"], row["impression"]) if t.strip()) for row in rows]
    return [text for text in texts if text][:count]


def literal(phrases: tuple[str, ...], vocabulary: set[str]) -> tuple[str, ...]:
    """Every spelling of the phrases that has no gap and no open ending."""
    found: dict[str, None] = {}
    for spelling in itertools.chain.from_iterable(map(spellings, phrases)):
        if GAP in spelling:
            continue
        choices = [
            sorted(word for word in vocabulary if word.startswith(key[:-1])) if key.endswith("*") else [key]
            for key in spelling
        ]
        found |= {" ".join(choice): None for choice in itertools.product(*choices)}
    return tuple(found)


def literal_guidance(guidance: Guidance, vocabulary: set[str]) -> Guidance:
    def cue_set(cues: CueSet) -> CueSet:
        return CueSet(*(literal(part, vocabulary) for part in (cues.before, cues.after, cues.terminators)))

    cues = guidance.cues
    return replace(
        guidance,
        findings={i: FindingGuidance(synonyms=literal(g.synonyms, vocabulary)) for i, g in guidance.findings.items()},
        cues=Cues(
            cue_set(cues.negation),
            literal(cues.pseudo_negation, vocabulary),
            cue_set(cues.uncertainty),
            cue_set(cues.history),
        ),
    )


def context_rules(cues: Cues) -> list[tuple[str, str, str]]:
    rules = [(text, "PSEUDO_NEGATION", "PSEUDO") for text in cues.pseudo_negation]
    for category, group in (
        ("NEGATED_EXISTENCE", cues.negation),
        ("POSSIBLE_EXISTENCE", cues.uncertainty),
        ("HISTORICAL", cues.history),
    ):
        rules += [(text, category, "FORWARD") for text in group.before]
        rules += [(text, category, "BACKWARD") for text in group.after]
        rules += [(text, category, "TERMINATE") for text in group.terminators]
    return rules


def reports_per_second(prompt: Prompt, texts: list[str], *, keep: bool) -> float:
    """The best of some rounds, each by a new labeler that has seen one sentence only."""
    label_set = read_label_set(ROOT / "data" / "cxr21.yaml")
    best = 0.0
    for _ in range(ROUNDS):
        labeler = RulesLabeler(prompt, label_set)
        if not keep:
            labeler._read = labeler._strengths  # type: ignore[assignment]
        labeler.codes("No effusion.")
        start = time.perf_counter()
        for text in texts:
            labeler.codes(text)
        best = max(best, len(texts) / (time.perf_counter() - start))
    return best


def main() -> None:
    if not OPEN_I.is_file():
        sys.exit(f"The reports are not here: {OPEN_I} is missing.")
    texts = read_texts(int(sys.argv[1]) if len(sys.argv) > 1 else 400)
    shipped = read_prompt(max((ROOT / "prompts" / "cxr21").glob("*.md")))
    vocabulary = {word.lower() for text in texts for word in words(text)}
    plain = Prompt(literal_guidance(shipped.guidance, vocabulary), "")
    phrases = [(text, i) for i, g in plain.guidance.findings.items() for text in g.synonyms]
    cues = context_rules(plain.guidance.cues)
    given = json.dumps({"texts": texts, "phrases": phrases, "cues": cues})
    done = subprocess.run(MEDSPACY, input=given, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"medspaCy did not run:\n{done.stderr[-2000:]}")
    theirs = json.loads(done.stdout[done.stdout.rindex("{") :])
    print(f"{len(texts)} reports, {len(phrases)} phrases of findings, {len(cues)} cues; one process each")
    print(f"medspaCy ConText                     {theirs['reports_per_second']:10,.0f} reports/s")
    for name, prompt, keep in (
        ("rules, same phrases", plain, True),
        ("rules, same phrases, none kept", plain, False),
        ("rules, whole prompt with gaps", shipped, True),
        ("rules, whole prompt, none kept", shipped, False),
    ):
        ours = reports_per_second(prompt, texts, keep=keep)
        print(f"{name:36s} {ours:10,.0f} reports/s  {ours / theirs['reports_per_second']:6.0f} times")


if __name__ == "__main__":
    main()
