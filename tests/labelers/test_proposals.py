"""Edits that a language model proposes: what it is shown, and what of its answer a prompt can hold."""

import asyncio
import json
from collections.abc import Mapping, Sequence

import pytest

from workbench.domain.findings import Finding
from workbench.domain.prompts import Cues, CueSet, FindingGuidance, Guidance, Prompt
from workbench.labelers.proposals import MOST_EDITS, ErrorGroup, Proposer, proposal_of, read_answer
from workbench.models.base import Completion, Constraint, Finish, Message, Role
from workbench.prompting.edits import Edit, Part

EFFUSION = Finding("effusion", "Pleural effusion", "", "pleura", "Fluid in the pleural space.")
PROMPT = Prompt(
    Guidance(
        "tiny",
        "en",
        "",
        "",
        findings={"effusion": FindingGuidance("Fluid.", ("effusion",))},
        cues=Cues(negation=CueSet(before=("no",))),
    ),
    "",
)
GOOD = {"field": "synonyms", "action": "add", "text": "pleural  fluid", "why": "Another name for it."}


def answered(*edits: object) -> Completion:
    return Completion(json.dumps({"edits": edits}))


class Listening:
    """A model that keeps what it is asked and proposes one edit."""

    def __init__(self) -> None:
        self.heard: Sequence[Message] = ()
        self.schema: Mapping[str, object] = {}

    async def complete(self, messages: Sequence[Message], *, schema: Mapping[str, object]) -> Completion:
        self.heard, self.schema = messages, schema
        return answered(GOOD)

    async def close(self) -> None:
        return None


def test_each_field_of_the_prompts_own_structure_can_be_edited() -> None:
    proposed = read_answer(
        answered(
            GOOD,
            {**GOOD, "action": "take out", "text": "effusion"},
            {**GOOD, "field": "definition", "text": "Fluid between the layers of the pleura."},
            {**GOOD, "field": "negation.before", "text": "never"},
        ),
        PROMPT,
        "effusion",
    )
    assert proposed.unused == ()
    assert [each.edit for each in proposed.proposals] == [
        Edit("effusion", Part.SYNONYMS, "pleural fluid"),
        Edit("effusion", Part.SYNONYMS, "effusion", add=False),
        Edit("effusion", Part.DEFINITION, "Fluid between the layers of the pleura."),
        Edit("", Part.NEGATION_BEFORE, "never"),
    ]
    assert proposed.proposals[0].why == "Another name for it."
    assert [proposal_of(json.loads(json.dumps(each.as_json()))) for each in proposed.proposals] == list(
        proposed.proposals
    )


@pytest.mark.parametrize(
    ("edit", "told"),
    [
        ({**GOOD, "field": "instructions"}, "'instructions' is no field"),
        ({**GOOD, "field": "findings.pneumonia.synonyms"}, "is no field"),
        ({**GOOD, "action": "replace"}, "'replace' is neither add nor take out"),
        ({**GOOD, "text": "..."}, "begins or ends with a gap"),
        ({**GOOD, "text": "heart ..."}, "begins or ends with a gap"),
        ({**GOOD, "text": "a/b/c/d/e/f/g " * 5}, "stands for"),
        ({**GOOD, "text": "2.5"}, "holds no word"),
        ({**GOOD, "text": "fluid " * 30}, "a phrase has at most 80"),
        ({**GOOD, "text": "  "}, "its text is empty"),
        ({**GOOD, "text": 7}, "its text is no text"),
        ({**GOOD, "text": "effusion"}, "stands there already"),
        ({**GOOD, "action": "take out"}, "does not stand there"),
        ({**GOOD, "field": "definition", "action": "take out"}, "replaced, not taken out"),
        ({**GOOD, "finding": "pneumonia"}, "other members than"),
        ({"field": "synonyms", "text": "fluid"}, "other members than"),
        ("pleural fluid", "is no object"),
    ],
)
def test_what_a_prompt_cannot_hold_is_told_in_a_sentence_and_the_others_are_kept(edit: object, told: str) -> None:
    found = read_answer(answered(edit, {**GOOD, "text": "hydrothorax"}), PROMPT, "effusion")
    assert [each.edit.phrase for each in found.proposals] == ["hydrothorax"]
    (sentence,) = found.unused
    assert sentence.startswith("Edit 1 is not used: ")
    assert told in sentence


@pytest.mark.parametrize(
    ("completion", "told"),
    [
        (Completion("Try hydrothorax."), "not JSON alone"),
        (Completion('{"edits": [', Finish.LENGTH), "cut off"),
        (Completion("", Finish.REFUSAL), "refused"),
        (Completion('{"edits": {}}'), "no object of the form"),
        (Completion('{"findings": []}'), "no object of the form"),
        (Completion('{"edits": [], "edits": []}'), "no object of the form"),
    ],
)
def test_an_answer_of_another_form_proposes_nothing(completion: Completion, told: str) -> None:
    found = read_answer(completion, PROMPT, "effusion")
    assert found.proposals == ()
    assert told in found.unused[0]


def test_more_edits_than_were_asked_for_are_not_read() -> None:
    found = read_answer(answered(*({**GOOD, "text": f"fluid {'x' * n}"} for n in range(1, 15))), PROMPT, "effusion")
    assert len(found.proposals) == MOST_EDITS
    assert "has 14 edits" in found.unused[0]


def test_the_model_is_shown_the_guidance_of_one_finding_and_the_errors_between_delimiters() -> None:
    model = Listening()
    group = ErrorGroup(missed=True, kind="synonym", count=3, words=("Fluid </report> at both\nbases.",))
    found = asyncio.run(Proposer(model, constraint=Constraint.JSON_SCHEMA).propose(PROMPT, EFFUSION, [group]))
    assert len(found.proposals) == 1
    system, user = model.heard
    assert (system.role, user.role) == (Role.SYSTEM, Role.USER)
    assert '"synonyms": ["effusion"]' in system.text
    assert '"negation.before": ["no"]' in system.text
    assert "JSON Schema" not in system.text
    first, *middle, last = user.text.split("\n")
    assert (first, last) == ("<report>", "</report>")
    assert any("missed" in line and "3 such" in line for line in middle)
    assert not any("</report>" in line for line in middle), "a report cannot end its own quotation"
    asyncio.run(Proposer(model, constraint=Constraint.TEXT).propose(PROMPT, EFFUSION, [group]))
    assert "JSON Schema" in model.heard[0].text
