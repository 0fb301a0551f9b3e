"""Errors with their kinds, what people say of them, and doubts that are judged blind (method 4)."""

from collections.abc import Callable

import pytest

from workbench.domain.actors import Actor, Role
from workbench.domain.error_kinds import ErrorKind
from workbench.domain.prompts import Prompt
from workbench.errors import InputError, NotFoundError, RightsError
from workbench.evaluation.mistakes import MistakeKind
from workbench.storage import error_tags as store
from workbench.workflow import doubted, errors, prompts, run
from workbench.workflow.errors import Wish
from workbench.workflow.reference import freeze, get_reference
from workbench.workflow.score import Score, score_run
from workbench.workflow.study import Study

JUDGE = Actor("Dr. Judge", frozenset({Role.ADJUDICATOR}))
EFFUSION = "pleural_effusion"
MISSED = ("r2", EFFUSION)  # "Fluid in the pleural space." has 4 of 6 votes


@pytest.fixture
def score(rated: Study, lead: Actor, make_prompt: Callable[..., Prompt]) -> Score:
    """The score of a prompt that knows "pleural effusion": it misses r2 and nothing else."""
    saved = prompts.save_candidate(rated, lead, make_prompt(), message="first", parent=None)
    prepared = run.prepare(rated, lead, cohort="development", revision=saved.prompt_hash)
    run.execute(rated, prepared)
    return score_run(rated, lead, prepared.run.hash, freeze(rated, lead, "development"))


def test_an_error_has_its_kind_by_rule(rated: Study, lead: Actor, score: Score) -> None:
    (missed,) = errors.mistakes(rated, lead, score)
    assert (missed.report.id, missed.finding_id, missed.kind) == (*MISSED, MistakeKind.MISSED)
    # None of the prompt's phrases stands in "Fluid in the pleural space."
    assert (missed.why, missed.tag) == (ErrorKind.SYNONYM, None)
    assert missed.agreement == pytest.approx(4 / 6)


def test_words_without_any_phrase_are_the_sentence_that_tells_most(rated: Study, lead: Actor, score: Score) -> None:
    (group,) = errors.grouped(rated, score, errors.mistakes(rated, lead, score))
    assert group.words == "Fluid in the pleural space."
    assert [mistake.report.id for mistake in group.mistakes] == ["r2"]


def test_what_somebody_says_of_an_error_counts_and_what_was_said_before_is_kept(
    rated: Study, lead: Actor, score: Score
) -> None:
    errors.tag(rated, lead, score, MISSED, kind=ErrorKind.SECTION, comment="first thought")
    errors.tag(rated, lead, score, MISSED, kind=ErrorKind.BOUNDARY, comment=" could be a scar ")
    (missed,) = errors.mistakes(rated, lead, score)
    assert missed.tag is not None
    assert (missed.why, missed.cause.kind) == (ErrorKind.BOUNDARY, ErrorKind.SYNONYM)
    assert (missed.tag.comment, missed.tag.actor) == ("could be a scar", lead.name)
    with rated.database.read() as conn:
        assert [tag.kind for tag in store.of_evaluation(conn, score.hash)] == [ErrorKind.SECTION, ErrorKind.BOUNDARY]


def test_a_tag_needs_a_comment_and_an_error(rated: Study, lead: Actor, score: Score) -> None:
    with pytest.raises(InputError, match="say in a sentence why"):
        errors.tag(rated, lead, score, MISSED, kind=ErrorKind.SECTION, comment=" ")
    with pytest.raises(NotFoundError, match="has no error there"):
        errors.tag(rated, lead, score, ("r1", EFFUSION), kind=ErrorKind.SECTION, comment="x")


def test_errors_are_filtered_by_what_is_wished(rated: Study, lead: Actor, score: Score) -> None:
    found, reports = errors.mistakes(rated, lead, score), score.prepared.reports

    def kept(**wish: object) -> int:
        return len(errors.chosen(found, Wish(**wish), reports))  # type: ignore[arg-type]

    assert (kept(), kept(finding=EFFUSION), kept(finding="pneumothorax")) == (1, 1, 0)
    assert (kept(kind=ErrorKind.SYNONYM), kept(kind=ErrorKind.HISTORY)) == (1, 0)
    assert (kept(direction=MistakeKind.MISSED), kept(direction=MistakeKind.INVENTED)) == (1, 0)
    assert (kept(agreement="split"), kept(agreement="unanimous")) == (1, 0)
    # Words with the header: 4, 6, 3, 3, 5, 6, so the median is 5 and r2 with 6 is long.
    assert (kept(length="long"), kept(length="short")) == (1, 0)
    assert (kept(language="en"), kept(language="zh")) == (1, 0)


def test_a_doubt_comes_with_a_control_that_nothing_tells_from_it(rated: Study, lead: Actor, score: Score) -> None:
    errors.tag(rated, lead, score, MISSED, kind=ErrorKind.DOUBTFUL, comment="fluid where")
    items = doubted.open_doubts(rated, JUDGE, score.reference)
    # r1 is the one other report whose vote is present, and labeler and vote agree on it.
    assert sorted((item.report.id, item.finding_id) for item in items) == [("r1", EFFUSION), MISSED]
    assert set(items[0].__slots__) == {"report", "finding_id", "verdict"}
    errors.tag(rated, lead, score, MISSED, kind=ErrorKind.DOUBTFUL, comment="said again")
    assert len(doubted.open_doubts(rated, JUDGE, score.reference)) == 2


def test_verdicts_are_counted_apart_and_change_no_reference(rated: Study, lead: Actor, score: Score) -> None:
    errors.tag(rated, lead, score, MISSED, kind=ErrorKind.DOUBTFUL, comment="fluid where")
    doubted.judge(rated, JUDGE, score.reference, *MISSED, present=True, reason="at first sight")
    doubted.judge(rated, JUDGE, score.reference, *MISSED, present=False, reason="no amount, no side")
    doubted.judge(rated, JUDGE, score.reference, "r1", EFFUSION, present=True, reason="it says so")
    assert doubted.verdicts(rated, lead, score.reference) == doubted.Verdicts(1, 1, 1, 1, 1, 0)
    assert get_reference(rated, lead, score.reference.name).hash == score.reference.hash
    assert [m.report.id for m in errors.mistakes(rated, lead, score)] == ["r2"]


def test_whoever_edits_prompts_judges_no_doubt(rated: Study, lead: Actor, score: Score) -> None:
    both = Actor("Dr. Both", frozenset({Role.LEAD, Role.ADJUDICATOR}))
    with pytest.raises(RightsError, match="edits prompts too"):
        doubted.open_doubts(rated, both, score.reference)
    with pytest.raises(RightsError):
        doubted.open_doubts(rated, lead, score.reference)
    with pytest.raises(NotFoundError, match="nobody doubts"):
        doubted.judge(rated, JUDGE, score.reference, "r1", EFFUSION, present=True, reason="x")


def test_findings_are_ordered_by_what_all_their_errors_cost(score: Score) -> None:
    """Effusion has F1 2/3 (one of two found), so it costs (1 - 2/3) / 2 findings; pneumothorax, all found, costs 0."""
    found = errors.costliest_first(score.evaluation)
    assert [(row.finding_id, cost) for row, cost in found[:2]] == [
        (EFFUSION, pytest.approx(1 / 6)),
        ("pneumothorax", 0),
    ]
    assert {cost for _, cost in found[2:]} == {None}
    rest = [row.finding_id for row, _ in found[2:]]
    assert rest == [i for i in score.evaluation.finding_ids if i in rest]
