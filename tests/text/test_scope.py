import random
from itertools import combinations_with_replacement

import pytest

from workbench.domain.findings import State
from workbench.domain.prompts import Cues, CueSet
from workbench.text.normalise import words
from workbench.text.phrases import PhraseFinder
from workbench.text.scope import Cue, CueRole, Kind, Named, Scopes, Side, cue_phrases, longest_cues, two_clauses

CUES = Cues(
    negation=CueSet(
        before=("no", "not", "without", "no evidence of"),
        after=("is/are not seen", "not seen", "unlikely", ": none"),
        terminators=("but", "with"),
    ),
    pseudo_negation=("no change in", "not only"),
    uncertainty=CueSet(
        before=("possible", "may be", "cannot exclude"),
        after=("possible", "cannot be excluded", "not ruled out"),
        terminators=("but", "without"),
    ),
    history=CueSet(before=("history of",), after=("by history",), terminators=(",",)),
)
THINGS = ("A", "B", "C", "D")


def states(text: str) -> dict[str, str]:
    """What a sentence says of the things A to D that it names."""
    sentence = words(text)
    cues = longest_cues((h.start, h.end, h.phrase.payload) for h in PhraseFinder(cue_phrases(CUES)).find(sentence))
    named = {word: Named(at, at + 1, at, at + 1) for at, word in enumerate(sentence) if word in THINGS}
    scopes = Scopes(sentence, cues, list(named.values()))
    return {thing: scopes.state_of(place).value[0] for thing, place in named.items()}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("A", "p"),
        ("No A", "a"),
        ("No A, B, C or D", "aaaa"),
        ("No A/B", "aa"),
        ("No A but B", "ap"),
        ("No A; B", "ap"),
        ("No A with B", "ap"),
        ("A without B", "pa"),
        ("A is not seen", "a"),
        ("A, B and C are not seen", "aaa"),
        ("A is large, B is not seen", "pa"),
        ("A: none", "a"),
        ("A has grown and B is unlikely", "pa"),
        ("No A is seen and B has grown", "ap"),
        ("Possible A", "u"),
        ("A and possible B", "pu"),
        ("A and B are possible", "uu"),
        ("A possible, B unlikely", "ua"),
        ("A, possible B", "pu"),
        ("Cannot exclude A or B", "uu"),
        ("A cannot be excluded", "u"),
        ("A not ruled out", "u"),
        ("No A, possible B", "au"),
        ("No possible A", "a"),
        ("Possible A without B", "ua"),
        ("No A, B cannot be excluded", "au"),
        ("No A and B cannot be excluded", "au"),
        ("No change in A", "p"),
        ("No change in A, B or C", "ppp"),
        ("No A and no change in B", "ap"),
        ("Not only A", "p"),
        ("History of A", "n"),
        ("History of A, now B", "np"),
        ("A by history", "n"),
        ("No history of A", "a"),
        ("No A is seen, B has grown", "ap"),
        ("No A, B has grown", "ap"),
        ("No A, the B is large", "ap"),
        ("No A, B is seen", "aa"),
        ("No A, B or C is large", "aaa"),
        ("No A and the B is large", "ap"),
        ("No A, and the lung is B", "ap"),
        ("No A or B, and the lung is C", "aap"),
        ("A has grown, B and C are not seen", "paa"),
        ("No A, B possible for C", "aaa"),
    ],
)
def test_cues_reach_as_far_as_a_reader_takes_them(text: str, expected: str) -> None:
    assert "".join(states(text).values()) == expected


def test_of_overlapping_cues_the_longest_counts_and_the_last_of_equals() -> None:
    negation, uncertainty = CueRole(Kind.NEGATION, Side.BEFORE), CueRole(Kind.UNCERTAINTY, Side.BEFORE)
    assert longest_cues([(0, 1, negation), (0, 3, uncertainty)]) == [Cue(0, 3, (uncertainty,))]
    assert longest_cues([(0, 2, negation), (1, 3, uncertainty)]) == [Cue(1, 3, (uncertainty,))]
    assert longest_cues([(2, 3, negation), (0, 1, negation)]) == [Cue(0, 1, (negation,)), Cue(2, 3, (negation,))]


def test_a_cue_made_of_the_words_of_a_thing_says_nothing_of_it() -> None:
    sentence = words("no longer lungs")
    thing = Named(0, 3, 0, 3)
    assert (
        Scopes(sentence, [Cue(0, 1, (CueRole(Kind.NEGATION, Side.BEFORE),))], [thing]).state_of(thing) is State.PRESENT
    )


def test_a_pseudo_negation_denies_what_has_its_words_in_its_name() -> None:
    sentence = words("no change in change")
    thing = Named(1, 4, 1, 4)  # "change in change"
    cue = Cue(0, 3, (CueRole(Kind.PSEUDO, Side.BEFORE),))
    assert Scopes(sentence, [cue], [thing]).state_of(thing) is State.ABSENT


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("is stable and the aorta is", True),
        ("has grown and b was seen", True),
        ("is stable and is", False),
        ("is large and round", False),
        ("and the aorta is", False),
        ("", False),
    ],
)
def test_two_clauses_have_each_a_subject_and_a_verb(text: str, expected: bool) -> None:
    assert two_clauses(text.split()) is expected


def test_a_cue_in_the_gap_of_a_thing_reaches_it() -> None:
    sentence = words("heart is not enlarged")
    thing = Named(0, 1, 3, 4)  # "heart ... enlarged"
    scopes = Scopes(sentence, [Cue(2, 3, (CueRole(Kind.NEGATION, Side.BEFORE),))], [thing])
    assert scopes.state_of(thing) is State.ABSENT
    assert scopes.negated_inside(thing)


@pytest.mark.parametrize("kind", [Kind.NEGATION, Kind.UNCERTAINTY, Kind.HISTORY])
def test_a_cue_named_twice_on_one_side_and_once_on_the_other_looks_forward_first(kind: Kind) -> None:
    """Two phrases may match the same words ("difficult to exclude", "is/are difficult to exclude")."""
    before, after = CueRole(kind, Side.BEFORE), CueRole(kind, Side.AFTER)
    sentence = ["A", "possible", "B"]
    a, b = Named(0, 1, 0, 1), Named(2, 3, 2, 3)
    for roles in ([after, after, before], [before, before, after], [after, before, after]):
        scopes = Scopes(sentence, longest_cues([(1, 2, role) for role in roles]), [a, b])
        assert scopes.state_of(a) is State.PRESENT
        assert scopes.state_of(b) is not State.PRESENT
        alone = Scopes(sentence[:2], longest_cues([(1, 2, role) for role in roles]), [a])
        assert alone.state_of(a) is not State.PRESENT


def test_no_combination_of_roles_on_the_same_words_fails() -> None:
    sentence = ["A", ",", "possible", "B", "and", "C"]
    things = [Named(at, at + 1, at, at + 1) for at in (0, 3, 5)]
    every = [CueRole(kind, side) for kind in Kind for side in Side]
    for roles in combinations_with_replacement(every, 3):
        scopes = Scopes(sentence, longest_cues([(2, 3, role) for role in roles]), things)
        assert all(scopes.state_of(thing) in State for thing in things), roles


def test_overlapping_cues_of_all_kinds_never_fail() -> None:
    draw = random.Random(7)
    vocabulary = ["a", "b", "c", ",", ";", "and", "or", "is", "the", "seen", ":", "d"]
    every = [CueRole(kind, side) for kind in Kind for side in Side]
    for _ in range(4000):
        sentence = draw.choices(vocabulary, k=draw.randint(2, 10))
        found = []
        for _ in range(draw.randint(1, 8)):
            start = draw.randrange(len(sentence))
            found.append((start, min(len(sentence), start + draw.randint(1, 3)), draw.choice(every)))
        things = []
        for _ in range(draw.randint(1, 4)):
            bounds = sorted(draw.choices(range(len(sentence) + 1), k=4))
            if bounds[0] < bounds[1] and bounds[2] < bounds[3]:
                things.append(Named(*bounds))
        scopes = Scopes(sentence, longest_cues(found), things)
        for thing in things:
            assert scopes.state_of(thing) in State
            assert scopes.negated_inside(thing) in {True, False}
