import pytest

from workbench.domain.prompts import Cues, CueSet, FindingGuidance, Guidance, Prompt
from workbench.prompting.edits import Edit, Part, edited, phrases

PROMPT = Prompt(
    Guidance(
        "tiny",
        "en",
        "",
        "",
        findings={"effusion": FindingGuidance(synonyms=("effusion",))},
        cues=Cues(negation=CueSet(before=("no",))),
    ),
    "",
)


@pytest.mark.parametrize("part", [part for part in Part if part is not Part.DEFINITION])
def test_a_phrase_put_in_stands_last_and_taken_out_leaves_the_prompt_as_it_was(part: Part) -> None:
    finding = "effusion" if part.of_finding else ""
    put_in = edited(PROMPT, [Edit(finding, part, "new phrase")])
    assert phrases(put_in, part, finding) == (*phrases(PROMPT, part, finding), "new phrase")
    assert put_in.hash != PROMPT.hash
    assert edited(put_in, [Edit(finding, part, "new phrase", add=False)]) == PROMPT


def test_an_edit_that_is_made_already_changes_nothing() -> None:
    assert edited(PROMPT, [Edit("effusion", Part.SYNONYMS, "effusion")]) is PROMPT
    assert edited(PROMPT, [Edit("", Part.NEGATION_BEFORE, "not", add=False)]) is PROMPT


def test_a_finding_without_guidance_gets_some() -> None:
    assert phrases(edited(PROMPT, [Edit("air", Part.SYNONYMS, "pneumothorax")]), Part.SYNONYMS, "air") == (
        "pneumothorax",
    )


def test_an_edit_says_in_words_what_it_does() -> None:
    assert str(Edit("effusion", Part.EXCLUSIONS, "pericardial effusion")) == (
        'effusion: add "pericardial effusion" (exclusion)'
    )
    assert str(Edit("", Part.NEGATION_BEFORE, "no", add=False)) == 'cues: take out "no" (negation before a finding)'


def test_a_list_of_cues_belongs_to_no_finding_and_a_list_of_synonyms_to_one() -> None:
    with pytest.raises(ValueError, match="do not go together"):
        Edit("effusion", Part.NEGATION_BEFORE, "no")
    with pytest.raises(ValueError, match="do not go together"):
        Edit("", Part.SYNONYMS, "effusion")


def test_a_definition_is_replaced_and_not_taken_out() -> None:
    first = edited(PROMPT, [Edit("effusion", Part.DEFINITION, "Fluid.")])
    second = edited(first, [Edit("effusion", Part.DEFINITION, "Fluid in the pleural space.")])
    assert second.guidance.findings["effusion"].definition == "Fluid in the pleural space."
    assert phrases(second, Part.DEFINITION, "effusion") == ("Fluid in the pleural space.",)
    assert str(Edit("effusion", Part.DEFINITION, "Fluid.")) == 'effusion: define as "Fluid."'
    with pytest.raises(ValueError, match="replaced, not taken out"):
        Edit("effusion", Part.DEFINITION, "Fluid.", add=False)
