"""Each rule of the kinds on one report made for it, for labels of any labeler."""

import pytest

from workbench.domain.error_kinds import RULES, ErrorKind
from workbench.domain.findings import Finding, LabelSet, Policies, Policy, State
from workbench.domain.prompts import FindingGuidance, Guidance, Prompt
from workbench.domain.references import Outcome, ReferenceItem
from workbench.domain.reports import READ_BY_DEFAULT, Report
from workbench.domain.runs import Extraction, ExtractionStatus, Mention
from workbench.labelers.error_kinds import Cause, ErrorReader, WrongCell
from workbench.text.sections import split_sections

EFFUSION, EDEMA = "effusion", "edema"
LABELS = LabelSet(
    "two",
    "1",
    "",
    tuple(Finding(id=i, name=i.capitalize(), name_zh="", group="", definition="") for i in (EFFUSION, EDEMA)),
    Policies(Policy.ABSENT),
    Policies(Policy.ABSENT),
)
# No cues at all: an error under such a prompt is explained by the standard ones.
PROMPT = Prompt(
    Guidance(
        label_set="two",
        language="en",
        title="",
        instructions="",
        findings={EFFUSION: FindingGuidance(synonyms=("pleural fluid",), exclusions=("pericardial effusion",))},
    ),
    "",
)


def cause(
    text: str,
    said: State,
    quote: str = "",
    *,
    expected: bool,
    votes: int | None = None,
    support: int = 30,
    others: tuple[str, ...] = (),
) -> Cause:
    """The cause of an error on effusion; a report has one vote of six against the labeler unless told otherwise."""
    report = Report("r1", "p1", text, split_sections(text))
    mentions = {} if said is State.NOT_MENTIONED else {EFFUSION: Mention(said, quote)}
    present = votes if votes is not None else (6 if expected else 0)
    item = ReferenceItem(Outcome.PRESENT if expected else Outcome.NOT_PRESENT, present, 0, tie=present == 3)
    reply = Extraction(ExtractionStatus.OK, mentions)
    held = frozenset([*others, *([EFFUSION] if expected else [])])
    reader = ErrorReader(PROMPT, LABELS, READ_BY_DEFAULT)
    return reader.cause(WrongCell(report, EFFUSION, reply, expected, item, 4, support, held))


@pytest.mark.parametrize(
    ("sentence", "kind"),
    [
        ("No pleural fluid.", ErrorKind.NEGATION),
        ("Effusion cannot be excluded.", ErrorKind.UNCERTAINTY),
        ("The effusion has resolved.", ErrorKind.HISTORY),
        ("History of effusion.", ErrorKind.HISTORY),
        ("Normal costophrenic sulci.", ErrorKind.NEGATION),  # without any phrase of the prompt
        ("Questionable blunting.", ErrorKind.UNCERTAINTY),
    ],
)
def test_what_changes_the_words_is_the_kind_of_an_overcall(sentence: str, kind: ErrorKind) -> None:
    assert cause(f"FINDINGS: {sentence}", State.PRESENT, sentence, expected=False) == Cause(kind, sentence)


def test_words_of_the_indication_are_no_finding() -> None:
    text = "INDICATION: Evaluate for effusion.\n\nFINDINGS: Clear."
    assert cause(text, State.PRESENT, "Evaluate for effusion.", expected=False).kind is ErrorKind.SECTION


def test_a_quote_that_stands_nowhere_is_invented() -> None:
    found = cause("FINDINGS: Clear.", State.PRESENT, "Large effusion.", expected=False)
    assert found == Cause(ErrorKind.INVENTED_EVIDENCE, "Large effusion.")


def test_plain_words_against_split_raters_make_the_reference_doubtful() -> None:
    text = "FINDINGS: Small effusion."
    assert cause(text, State.PRESENT, "Small effusion.", expected=False, votes=2).kind is ErrorKind.DOUBTFUL


def test_plain_words_that_hardly_any_rater_goes_by_only_look_like_the_finding() -> None:
    text = "FINDINGS: Joint effusion."
    assert cause(text, State.PRESENT, "Joint effusion.", expected=False, votes=1).kind is ErrorKind.BOUNDARY
    assert cause("FINDINGS: Odd shadow.", State.PRESENT, "Odd shadow.", expected=False).kind is ErrorKind.UNEXPLAINED


def test_words_of_a_neighbour_that_is_there_are_a_matter_of_boundary() -> None:
    told = {"votes": 0, "others": (EDEMA,)}
    found = cause("FINDINGS: Mild edema.", State.PRESENT, "Mild edema.", expected=False, **told)  # type: ignore[arg-type]
    assert found.kind is ErrorKind.BOUNDARY


def test_what_the_prompt_has_no_word_for_is_missed_for_a_synonym() -> None:
    found = cause("FINDINGS: Blunted sulcus.", State.NOT_MENTIONED, expected=True)
    assert found == Cause(ErrorKind.SYNONYM)


def test_what_an_exclusion_silences_is_a_matter_of_boundary() -> None:
    text = "FINDINGS: Pericardial effusion."
    assert cause(text, State.NOT_MENTIONED, expected=True).kind is ErrorKind.BOUNDARY


def test_a_denial_where_the_raters_see_it_is_one_of_negation() -> None:
    sentence = "No change in the effusion."
    assert cause(f"FINDINGS: {sentence}", State.ABSENT, sentence, expected=True).kind is ErrorKind.NEGATION


def test_plain_words_passed_over_are_rare_under_ten_positives() -> None:
    text = "FINDINGS: Small effusion."
    # 9 positives are too few to assess, 10 are not (method 11).
    assert cause(text, State.NOT_MENTIONED, expected=True, support=9).kind is ErrorKind.RARE
    assert cause(text, State.NOT_MENTIONED, expected=True, support=10).kind is ErrorKind.UNEXPLAINED
    assert cause(text, State.NOT_MENTIONED, expected=True, votes=4).kind is ErrorKind.DOUBTFUL


def test_a_finding_told_only_in_a_section_that_is_not_read_is_one_of_section() -> None:
    text = "WET READ: Small effusion.\n\nFINDINGS: Clear."
    assert cause(text, State.NOT_MENTIONED, expected=True) == Cause(ErrorKind.SECTION, "Small effusion.")


def test_every_kind_tells_its_rule_in_one_line() -> None:
    assert set(RULES) == set(ErrorKind)
    assert all(len(rule) < 110 and rule.endswith(".") for rule in RULES.values())
