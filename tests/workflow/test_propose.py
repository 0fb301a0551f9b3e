"""Edits that a language model proposes, from its answer to what a person is offered."""

import json
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from workbench.domain.actors import Actor
from workbench.errors import InputError, RightsError, WorkbenchError
from workbench.labelers.suggestions import folds
from workbench.prompting.edits import Edit, Part, edited
from workbench.storage import proposals
from workbench.storage import suggestions as store
from workbench.workflow import data_use, propose, revise, run, suggest
from workbench.workflow.opening import open_study
from workbench.workflow.prompts import revisions
from workbench.workflow.revise import Scope, Wish
from workbench.workflow.score import Score, score_run
from workbench.workflow.study import Study

MISSED = [f"m{i:02}" for i in range(12)]
# Twelve say effusion as the prompt does not, six deny it as the prompt does not know, twelve have nothing of it.
TEXTS = {
    **dict.fromkeys(MISSED, "Fluid blunts an angle."),
    **{f"n{i:02}": "Never a pleural effusion." for i in range(6)},
    **{f"o{i:02}": "Clear lungs." for i in range(12)},
}
FINDING = "pleural_effusion"


def edit(field: str, text: str, action: str = "add") -> dict[str, str]:
    return {"field": field, "action": action, "text": text, "why": f"{text} is what reports say."}


GOOD = (
    edit("synonyms", "fluid blunts"),
    edit("negation.before", "never"),
    edit("synonyms", "clear lungs"),  # invents it twelve times
    edit("definition", "Fluid between the layers of the pleura."),
    edit("regex", ".*"),
)


@pytest.fixture
def score(scored: Callable[..., Score]) -> Score:
    """A scored first revision that misses twelve effusions and invents six."""
    return scored(TEXTS, MISSED)


def with_labeler(study: Study, *lines: str) -> Study:
    """Return the study with one more labeler, "advisor"."""
    with (study.folder / "data" / "study.toml").open("a", encoding="utf-8") as settings:
        settings.write("\n".join(["\n[labelers.advisor]", *lines, ""]))
    return open_study(study.folder)


def scripted(study: Study, *replies: dict[str, Any]) -> Study:
    path = study.folder / "data" / "advice.jsonl"
    path.write_text("".join(f"{json.dumps(reply)}\n" for reply in replies), encoding="utf-8")
    return with_labeler(study, 'kind = "scripted"', 'file = "data/advice.jsonl"')


def proposed(study: Study, lead: Actor, score: Score, **more: Any) -> suggest.Offers:
    return propose.proposals(study, lead, score, FINDING, by="advisor", **more)


def test_what_a_model_proposes_is_measured_out_of_fold_and_offered_with_its_reason(
    study: Study, lead: Actor, score: Score
) -> None:
    study = scripted(study, {"default": True, "reply": {"edits": list(GOOD)}})
    found = proposed(study, lead, score)
    assert [offer.edit for offer in found.offers] == [
        Edit(FINDING, Part.SYNONYMS, "fluid blunts"),
        Edit("", Part.NEGATION_BEFORE, "never"),
        Edit(FINDING, Part.DEFINITION, "Fluid between the layers of the pleura."),
    ]
    synonym, cue, definition = found.offers
    # It was proposed each time, so each fold measures it: twelve mended of twelve.
    assert (synonym.held_out_fixed, synonym.held_out_broken) == (12, 0)
    assert {report for report, _ in synonym.answers} == set(MISSED)
    assert (cue.held_out_fixed, cue.held_out_broken) == (6, 0)
    assert (definition.held_out_fixed, definition.gain) == (None, None)
    assert {offer.source for offer in found.offers} == {"advisor"}
    assert synonym.why == "fluid blunts is what reports say."
    assert found.looks == score.looks + 1
    told = "\n".join(found.told)
    assert "1 proposed edit mends too little" in told
    assert "'regex' is no field" in told
    assert "cannot measure, such as a definition" in told
    assert len(revisions(study)) == 1, "nothing is applied by itself"


def test_an_edit_is_measured_only_on_patients_whose_errors_the_model_was_not_shown(
    study: Study, lead: Actor, score: Score
) -> None:
    # The model proposes the phrase only where it sees an error of exactly m00's words, so only without m00's fold's
    # errors it does not: the other folds measure it, m00's own does not.
    fold_of = dict(zip(MISSED, folds([f"p{report}" for report in MISSED]), strict=True))
    apart = fold_of["m00"]
    others = sorted({fold for fold in fold_of.values() if fold != apart})
    assert others, "the reports lie in several folds"
    count = sum(fold != apart for fold in fold_of.values())
    study = scripted(
        study,
        {"contains": f"{count} such", "reply": {"edits": []}},  # asked without the errors of m00's fold
        {"default": True, "reply": {"edits": [edit("synonyms", "fluid blunts")]}},
    )
    same = sum(list(fold_of.values()).count(fold) for fold in set(fold_of.values()) if _left(fold_of, fold) == count)
    (offer,) = proposed(study, lead, score).offers
    assert offer.held_out_fixed == 12 - same
    assert len(offer.answers) == 12


def _left(fold_of: dict[str, int], fold: int) -> int:
    return sum(other != fold for other in fold_of.values())


def test_what_it_answered_is_kept_until_it_is_asked_again(study: Study, lead: Actor, score: Score) -> None:
    study = scripted(study, {"default": True, "reply": {"edits": [GOOD[0]]}})
    first = proposed(study, lead, score)
    with study.database.read() as conn:
        (row,) = conn.execute("SELECT key, said FROM proposals").fetchall()
    other = json.loads(row["said"].replace("fluid blunts", "blunts an angle"))
    with study.database.write() as conn:
        proposals.add(conn, row["key"], other, actor="Ann", at=datetime.now(UTC))
    assert [offer.edit.phrase for offer in proposed(study, lead, score).offers] == ["blunts an angle"]
    assert proposed(study, lead, score, again=True).offers == first.offers
    assert proposed(study, lead, score).offers == first.offers
    assert proposed(study, lead, score).looks == first.looks  # the same look twice is one


def test_what_a_person_decides_names_the_model_and_a_declined_edit_does_not_come_again(
    study: Study, lead: Actor, score: Score
) -> None:
    study = scripted(study, {"default": True, "reply": {"edits": list(GOOD)}})
    synonym, cue, definition = proposed(study, lead, score).offers
    prompt = score.prepared.prompt
    mended = suggest.decide_suggestions(study, lead, score, prompt, accepted=[synonym, definition], declined=[cue])
    assert mended == edited(prompt, [synonym.edit, definition.edit])
    with study.database.read() as conn:
        decided = store.list_all(conn)
    assert {each.source for each in decided} == {"advisor"}
    assert decided[1].held_out == {"fixed": None, "broken": None, "gain": None}
    again = proposed(study, lead, score)
    assert cue.edit not in [offer.edit for offer in again.offers]
    assert again.declined == 1
    # Asked about the mended prompt, the model is shown what is still wrong with it alone.
    assert proposed(study, lead, score, prompt=mended).offers == ()


def test_where_a_model_labels_it_is_said_how_its_edits_are_measured(study: Study, lead: Actor, score: Score) -> None:
    study = scripted(
        study,
        {"contains": "such\n", "reply": {"edits": [GOOD[0], edit("exclusions", "pericardial effusion")]}},
        {"default": True, "reply": {"findings": []}},
    )
    prepared = run.prepare(study, lead, cohort="development", revision=1, labeler="advisor")
    run.execute(study, prepared)
    of_model = score_run(study, lead, prepared.run.hash, score.reference)
    found = proposed(study, lead, of_model)
    by_part = {offer.edit.part: offer for offer in found.offers}
    assert by_part[Part.SYNONYMS].held_out_fixed == 12
    assert by_part[Part.EXCLUSIONS].gain is None  # by the rules it changes nothing; the model may take it otherwise
    assert "Measured by the rules labeler" in found.told[0]
    assert "how advisor takes an edit" in found.told[0]


def test_a_prompt_is_tried_on_a_language_model_for_a_few_reports(study: Study, lead: Actor, score: Score) -> None:
    present = {"findings": [{"finding": FINDING, "state": "present", "evidence": "Fluid blunts an angle."}]}
    study = scripted(
        study, {"contains": "Fluid", "reply": {"findings": []}}, {"default": True, "reply": {"findings": []}}
    )
    prepared = run.prepare(study, lead, cohort="development", revision=1, labeler="advisor")
    run.execute(study, prepared)
    of_model = score_run(study, lead, prepared.run.hash, score.reference)
    mended = edited(of_model.prepared.prompt, [Edit(FINDING, Part.SYNONYMS, "fluid blunts")])
    trial = revise.try_prompt(study, lead, mended, of_model, Wish(Scope.REPORT, report="m00"))
    assert (trial.reports, trial.flips) == (("m00",), ())
    assert trial.still_wrong == 1
    # The same labeler with other replies is another one: it is not tried under the old one's name.
    path = study.folder / "data" / "advice.jsonl"
    path.write_text(json.dumps({"default": True, "reply": present}), encoding="utf-8")
    with pytest.raises(WorkbenchError, match="no labeler advisor any more"):
        revise.try_prompt(study, lead, mended, of_model, Wish(Scope.REPORT, report="m00"))


def test_the_rules_ask_no_model_and_a_finding_without_errors_has_nothing_to_show(
    study: Study, lead: Actor, score: Score
) -> None:
    with pytest.raises(InputError, match="rules asks no language model"):
        propose.proposals(study, lead, score, FINDING, by="rules")
    study = scripted(study, {"default": True, "reply": {"edits": []}})
    with pytest.raises(InputError, match="no error that could be shown"):
        propose.proposals(study, lead, score, "fracture", by="advisor")
    with study.database.read() as conn:
        assert conn.execute("SELECT COUNT(*) FROM proposals").fetchone()[0] == 0


def served(study: Study, address: str) -> Study:
    lines = (
        'kind = "openai"',
        f'base_url = "{address}/v1"',
        'model = "some-model"',
        'api_key_env = ""',
        "timeout = 20",
    )
    return with_labeler(study, *(line for line in lines if "api_key_env" not in line))


@pytest.mark.parametrize(
    "case",
    [
        ("ok", "no object of the form"),  # the server fills in what it knows of, which is no list of edits
        ("prose", "not JSON alone"),
        ("truncated", "cut off"),
        ("refusal", "refused"),
        ("think_open", "reasoning does not end"),
    ],
)
def test_what_a_server_answers_wrongly_is_told_and_nothing_of_it_is_used(
    study: Study, lead: Actor, score: Score, start_fault_server: Callable[..., Any], case: tuple[str, str]
) -> None:
    dealt, told = case
    server = start_fault_server("--seed", "1", "--passing", "", "--final", dealt)
    found = proposed(served(study, server.url), lead, score)
    assert found.offers == ()
    assert any(told in sentence for sentence in found.told), found.told


@pytest.mark.parametrize("plan", ["401", "500", "reset_early"])
def test_a_server_that_gives_no_answer_is_one_sentence_and_no_look(
    study: Study, lead: Actor, score: Score, start_fault_server: Callable[..., Any], plan: str
) -> None:
    server = start_fault_server("--seed", "1", "--passing", "", "--final", plan)
    with pytest.raises(WorkbenchError) as refused:
        proposed(served(study, server.url), lead, score)
    assert "CANARY" not in str(refused.value)
    assert "Fluid" not in str(refused.value)
    again = suggest.suggestions(study, lead, score)
    assert again.looks == score.looks + 1, "only this one"


def test_restricted_reports_words_go_to_no_server_that_is_not_opened(
    study: Study, lead: Actor, score: Score, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "key")
    study = with_labeler(study, 'kind = "openai"', 'base_url = "https://models.example.org/v1"', 'model = "some-model"')
    assert data_use.permission(study, study.labeler("advisor")).why_not
    with pytest.raises(RightsError, match=r"models\.example\.org"):
        proposed(study, lead, score)
