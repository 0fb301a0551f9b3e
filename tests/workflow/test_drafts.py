"""Unsaved edits of a prompt survive, and two tabs never write over each other."""

from collections.abc import Callable

from workbench.domain.actors import Actor
from workbench.domain.prompts import Prompt
from workbench.prompting.edits import Edit, Part, edited
from workbench.workflow import drafts
from workbench.workflow.prompts import save_candidate
from workbench.workflow.study import Study

Make = Callable[..., Prompt]


def test_what_was_edited_is_there_again_for_the_person_alone(study: Study, lead: Actor, make_prompt: Make) -> None:
    base, mended = make_prompt(), make_prompt(effusion="pleural effusion, fluid")
    drafts.keep(study, lead, base.hash, mended, tab="a", seen=None)
    (found,) = drafts.unsaved(study, lead, base.hash)
    assert (found.prompt, found.tab) == (mended, "a")
    assert drafts.unsaved(study, Actor("Somebody else", lead.roles)) == []
    drafts.drop(study, lead, base.hash, "a")
    assert drafts.unsaved(study, lead) == []


def test_one_tab_replaces_its_own_edit_and_no_other(study: Study, lead: Actor, make_prompt: Make) -> None:
    base = make_prompt()
    _, first = drafts.keep(study, lead, base.hash, make_prompt(effusion="one"), tab="a", seen=None)
    drafts.keep(study, lead, base.hash, make_prompt(effusion="two"), tab="b", seen=None)
    tab, _ = drafts.keep(study, lead, base.hash, make_prompt(effusion="three"), tab="a", seen=first)
    assert tab == "a"
    kept = {d.tab: d.prompt.guidance.findings["pleural_effusion"].synonyms for d in drafts.unsaved(study, lead)}
    assert kept == {"a": ("three",), "b": ("two",)}


def test_a_copied_tab_gets_a_place_of_its_own_as_soon_as_both_are_edited(
    study: Study, lead: Actor, make_prompt: Make
) -> None:
    base = make_prompt()
    _, both_saw = drafts.keep(study, lead, base.hash, make_prompt(effusion="start"), tab="a", seen=None)
    drafts.keep(study, lead, base.hash, make_prompt(effusion="mine"), tab="a", seen=both_saw)
    other, _ = drafts.keep(study, lead, base.hash, make_prompt(effusion="copy"), tab="a", seen=both_saw)
    assert other != "a"
    kept = {d.prompt.guidance.findings["pleural_effusion"].synonyms for d in drafts.unsaved(study, lead)}
    assert kept == {("mine",), ("copy",)}


def test_what_two_tabs_save_becomes_two_candidates_of_the_same_parent(
    study: Study, lead: Actor, make_prompt: Make
) -> None:
    base = save_candidate(study, lead, make_prompt(), message="first", parent=None)
    saved = [
        save_candidate(study, lead, make_prompt(effusion=words), message=words, parent=base.prompt_hash)
        for words in ("one", "two")
    ]
    assert [(r.number, r.parent_hash) for r in saved] == [(2, base.prompt_hash), (3, base.prompt_hash)]


def test_a_half_typed_phrase_hides_no_other_edit(study: Study, lead: Actor, make_prompt: Make) -> None:
    base = make_prompt()
    drafts.keep(study, lead, base.hash, make_prompt(effusion="heart"), tab="a", seen=None)
    half = edited(base, [Edit("pneumothorax", Part.SYNONYMS, "heart ...")])
    drafts.keep(study, lead, base.hash, half, tab="b", seen=None)
    assert [each.tab for each in drafts.unsaved(study, lead)] == ["a"]
