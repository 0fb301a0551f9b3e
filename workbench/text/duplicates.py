"""Near-duplicate texts: reports that say the same in almost the same words."""

import re
from collections.abc import Sequence

from workbench.domain.reports import Report

SIMILAR = 0.9  # Jaccard similarity of word triples from which two texts count as near-duplicates
_WORD = re.compile(r"[一-鿿]|[^\W\d_一-鿿]+")
_PERMUTATIONS = 64


def shingles(text: str) -> frozenset[str]:
    """Return the word triples of a text, case, digits and punctuation left out; short texts are one shingle."""
    words = _WORD.findall(text.lower())
    if len(words) < 3:
        return frozenset([" ".join(words)])
    return frozenset(" ".join(words[i : i + 3]) for i in range(len(words) - 2))


def near_duplicate_groups(reports: Sequence[Report]) -> list[frozenset[str]]:
    """Return groups of report ids, two or more each, whose texts are near-duplicates of one another.

    Candidates are found by MinHash with locality-sensitive hashing and then checked exactly: Jaccard similarity of
    word triples of at least ``SIMILAR``. Groups may overlap; whoever draws joins them.
    """
    from datasketch import MinHash, MinHashLSH  # noqa: PLC0415 - it takes SciPy along, which every command would wait for

    wanted = [shingles(report.text) for report in reports]
    hashes = MinHash.bulk([[s.encode() for s in words] for words in wanted], num_perm=_PERMUTATIONS, seed=1)
    index = MinHashLSH(threshold=SIMILAR - 0.1, num_perm=_PERMUTATIONS)
    groups = []
    for i, (words, minhash) in enumerate(zip(wanted, hashes, strict=True)):
        similar = [j for j in index.query(minhash) if _jaccard(words, wanted[j]) >= SIMILAR]
        if similar:
            groups.append(frozenset([reports[i].id, *(reports[j].id for j in similar)]))
        index.insert(i, minhash)
    return groups


def _jaccard(a: frozenset[str], b: frozenset[str]) -> float:
    return len(a & b) / len(a | b)
