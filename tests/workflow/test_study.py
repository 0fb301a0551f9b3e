"""Opening and making studies, and saying who acts."""

from pathlib import Path

import pytest

from workbench.domain.actors import Role
from workbench.domain.findings import Policy
from workbench.errors import ConflictError, InputError, NotFoundError, RightsError
from workbench.workflow.opening import NewStudy, init_study, open_study
from workbench.workflow.study import Study


def test_a_folder_without_settings_is_no_study_and_the_message_says_how_to_make_one(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match="workbench init DIR"):
        open_study(tmp_path)


def test_a_study_is_found_by_the_variable(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WORKBENCH_STUDY", str(study.folder))
    assert open_study().folder == study.folder


def test_an_existing_study_is_never_made_again(study: Study) -> None:
    before = (study.folder / "data" / "study.toml").read_text()
    with pytest.raises(ConflictError, match="already holds a study"):
        init_study(study.folder, NewStudy("Other", {"x": [Role.LEAD]}))
    assert (study.folder / "data" / "study.toml").read_text() == before


def test_names_with_quotes_and_other_scripts_survive_the_settings_file(tmp_path: Path) -> None:
    people = {'Dr. "Quote" 王': [Role.LEAD]}
    made = init_study(tmp_path / "s", NewStudy('A "study" 研究', people, with_prompts=False))
    assert made.settings.title == 'A "study" 研究'
    assert made.actor('Dr. "Quote" 王').roles == {Role.LEAD}


def edit(study: Study, old: str, new: str) -> None:
    path = study.folder / "data" / "study.toml"
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("k = 4", "k = 3", "no majority"),
        ("k = 4", "k = four", "not valid TOML"),
        ('tie = "not_present"', 'tie = "maybe"', "vote.tie"),
        ('title = "Test study"', "", "title"),
        ('title = "Test study"', 'titel = "x"\ntitle = "y"', "titel"),
        ('title = "Test study"', 'titel = "x"', "titel: is no key that is known here"),
        ('title = "Test study"', "", "title: is missing"),
        ('"findings", ', '"findings", "indication", ', "indication is never read"),
        ('["findings", "impression", "unlabelled"]', "[]", "no report would have anything to read"),
        ('"Dr. Rater" =', '" " =', "blank name"),
        ('sign_in = "accounts"', 'sign_in = "pick"', "is for simulated studies"),
        ('sign_in = "accounts"', 'sign_in = "nobody"', "sign_in"),
    ],
)
def test_a_wrong_setting_is_named(study: Study, old: str, new: str, told: str) -> None:
    edit(study, old, new)
    with pytest.raises(InputError, match=told):
        open_study(study.folder)


def test_the_study_replaces_the_label_sets_policies(study: Study) -> None:
    path = study.folder / "data" / "study.toml"
    text = path.read_text() + '\n[policies.vote]\ndefault = "exclude"\noverrides = { pneumonia = "absent" }\n'
    path.write_text(text)
    policies = open_study(study.folder).label_set.vote_policies
    assert (policies.of("fracture"), policies.of("pneumonia")) == (Policy.EXCLUDE, Policy.ABSENT)


def test_a_policy_for_an_unknown_finding_is_refused(study: Study) -> None:
    path = study.folder / "data" / "study.toml"
    path.write_text(path.read_text() + '\n[policies.vote]\ndefault = "absent"\noverrides = { flu = "absent" }\n')
    with pytest.raises(InputError, match="flu is no finding"):
        open_study(study.folder)


def test_somebody_who_is_not_listed_may_not_act(study: Study) -> None:
    with pytest.raises(RightsError, match=r"Dr. Nobody is not one of the study's people \(Dr. Lead, Dr. Rater\)"):
        study.actor("Dr. Nobody")


def test_without_a_name_the_only_lead_acts(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("WORKBENCH_AS", raising=False)
    monkeypatch.setattr("workbench.workflow.study.current_user", lambda: "somebody-else")
    assert study.actor().name == "Dr. Lead"


def test_an_unknown_labeler_is_refused_naming_those_there_are(study: Study) -> None:
    with pytest.raises(NotFoundError, match="no labeler called gpt; it has: rules"):
        study.labeler("gpt")


def test_settings_saved_by_a_windows_editor_are_read(study: Study) -> None:
    path = study.folder / "data" / "study.toml"
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes().replace(b"\n", b"\r\n"))
    assert open_study(study.folder).settings == study.settings


@pytest.mark.parametrize("there", ["prompts/cxr21/0001.md", "data/cxr21.yaml", "data/workbench.db"])
def test_a_new_study_overwrites_nothing_that_is_there(tmp_path: Path, there: str) -> None:
    mine = tmp_path / "s" / there
    mine.parent.mkdir(parents=True)
    mine.write_text("mine")
    with pytest.raises(ConflictError, match="would overwrite it; name another folder"):
        init_study(tmp_path / "s", NewStudy("New", {"x": [Role.LEAD]}))
    assert [p for p in (tmp_path / "s").rglob("*") if p.is_file()] == [mine]
    assert mine.read_text() == "mine"


def test_a_blank_name_makes_no_study(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="blank name"):
        init_study(tmp_path / "s", NewStudy("New", {" ": [Role.LEAD]}))
    assert not (tmp_path / "s").exists()


def test_any_character_of_a_title_survives_the_settings_file(tmp_path: Path) -> None:
    title = "a\x7fb\tc\\d\u2028e"
    assert init_study(tmp_path / "s", NewStudy(title, {"x": [Role.LEAD]}, with_prompts=False)).settings.title == title
