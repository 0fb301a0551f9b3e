"""Prompt files are taken in, refused with a reason, and written back, whatever stands in the folder."""

from collections.abc import Callable
from pathlib import Path

import pytest

from workbench.domain.actors import Actor
from workbench.domain.prompts import Decision, Prompt, Revision, RevisionStatus
from workbench.errors import ConflictError, InputError
from workbench.prompting.edits import Edit, Part, edited
from workbench.prompting.files import prompt_text
from workbench.workflow import accept, prompts
from workbench.workflow import demo as demo_module
from workbench.workflow.demo import demo
from workbench.workflow.opening import open_study
from workbench.workflow.study import Study

Make = Callable[..., Prompt]


def put(study: Study, name: str, text: str) -> Path:
    study.prompts_folder.mkdir(parents=True, exist_ok=True)
    path = study.prompts_folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_a_folder_or_a_file_numbered_0_among_the_prompts_stops_nobody(study: Study, make_prompt: Make) -> None:
    put(study, "0000.md", prompt_text(make_prompt()))
    put(study, "0003.md", prompt_text(make_prompt("third")))
    (study.prompts_folder / "0007.md").mkdir()
    taken = prompts.take_in_files(open_study(study.folder))
    assert [r.number for r in prompts.revisions(study)] == [3]
    assert taken.refused == ("0000.md: revisions are numbered from 0001; rename the file.",)


def test_a_prompt_whose_body_cannot_be_rendered_is_not_imported(
    study: Study, lead: Actor, make_prompt: Make, tmp_path: Path
) -> None:
    broken = tmp_path / "broken.md"
    broken.write_text(prompt_text(make_prompt()) + "second line\n{{ nonsense }}\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"broken\.md: The body of the prompt, line 3: 'nonsense' is undefined"):
        prompts.import_prompt(study, lead, broken)
    assert prompts.revisions(study) == []


def test_a_revision_whose_file_cannot_be_written_is_not_accepted(study: Study, lead: Actor, make_prompt: Make) -> None:
    revision = prompts.save_candidate(study, lead, make_prompt(), message="first", parent=None)
    (study.folder / "prompts").write_text("a file where the folder should be")
    decision = Decision(revision.prompt_hash, RevisionStatus.ACCEPTED, lead.name, revision.created_at, "good")
    with pytest.raises(InputError, match="cannot be made"):
        prompts.decide(study, lead, revision, decision)
    assert prompts.revisions(study)[0].status is RevisionStatus.CANDIDATE


def test_the_demo_is_never_made_inside_something_else(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "notes.txt").write_text("mine")
    for there in (tmp_path / "mine", tmp_path / "mine" / "notes.txt"):
        with pytest.raises(ConflictError, match="holds something else"):
            demo(there)


def test_the_demo_is_made_in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "empty").mkdir()
    monkeypatch.setattr("workbench.workflow.demo._make", lambda folder, *_: (folder / "data").mkdir(parents=True))
    demo_module._make_aside(tmp_path / "empty", lambda _: None, None)
    assert [p.name for p in (tmp_path / "empty").iterdir()] == ["data"]


def with_synonym(prompt: Prompt, phrase: str) -> Prompt:
    return edited(prompt, [Edit("pneumothorax", Part.SYNONYMS, phrase)])


@pytest.mark.parametrize("phrase", ["heart ...", "...", "... wide", "  "])
def test_a_prompt_that_could_not_be_read_back_is_not_saved(
    study: Study, lead: Actor, make_prompt: Make, phrase: str
) -> None:
    with pytest.raises(InputError, match="findings, pneumothorax, synonyms, entry 2") as refused:
        prompts.save_candidate(study, lead, with_synonym(make_prompt(), phrase), message="mend", parent=None)
    assert str(refused.value).count("\n") == 0
    if phrase.strip():
        assert phrase in str(refused.value)
    assert prompts.revisions(study) == []


def test_a_saved_prompt_reads_back_as_it_is(study: Study, lead: Actor, make_prompt: Make) -> None:
    prompt = with_synonym(make_prompt(), 'air "at the \u00e0pex": \\ # 1')
    saved = prompts.save_candidate(study, lead, prompt, message="mend", parent=None)
    assert prompts.find_revision(study, saved.number).prompt == prompt


def test_a_revision_that_cannot_be_read_is_rejected(
    study: Study, lead: Actor, make_prompt: Make, add_unchecked: Callable[[Study, Prompt], Revision]
) -> None:
    unreadable = with_synonym(make_prompt(), "heart ...")
    add_unchecked(study, unreadable)
    with pytest.raises(InputError, match="revision 1, line"):
        prompts.find_revision(study, 1)
    assert accept.reject(study, lead, prompts.find_record(study, 1), reason="unreadable").status is (
        RevisionStatus.REJECTED
    )
