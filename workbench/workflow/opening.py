"""Opening a study, with the prompt files that were put into it, and making a new one."""

import json
import shutil
from dataclasses import dataclass
from pathlib import Path

from workbench.domain.actors import Role
from workbench.errors import ConflictError, InputError
from workbench.workflow.prompts import take_in_files
from workbench.workflow.settings import SignIn, StudySettings
from workbench.workflow.study import HOME, Study, current_user, find_study, read_study


def open_study(folder: Path | None = None) -> Study:
    """Open a study (as named, else WORKBENCH_STUDY, else the current folder) and take in new prompt files.

    A prompt file that cannot be read stops nobody: ``take_in_files`` says what is wrong with it.

    Raises:
        NotFoundError: the folder is no study.
        InputError: its settings, label set or database cannot be read.
    """
    study = read_study(find_study(folder))
    take_in_files(study)
    return study


@dataclass(frozen=True, slots=True)
class NewStudy:
    """What a new study starts with."""

    title: str
    people: dict[str, list[Role]]
    simulated: str = ""
    with_prompts: bool = True
    sign_in: SignIn = SignIn.ACCOUNTS


def init_study(folder: Path, new: NewStudy) -> Study:
    """Make a study in a folder and open it. What is in the folder already stays; the folder may be missing.

    Raises:
        ConflictError: the folder holds a study or some file that a study would have; nothing is touched.
        InputError: it cannot be written there, or somebody's name is blank.
    """
    toml = folder / "data" / "study.toml"
    if not all(name.strip() for name in new.people):
        raise InputError("Somebody of a new study has a blank name; write it out.")
    if toml.exists():
        raise ConflictError(f"{folder} already holds a study; name another folder.")
    data = ("workbench.db", "cxr21.yaml", "practice")
    for there in (*(folder / "data" / name for name in data), folder / "prompts"):
        if there.exists() and (new.with_prompts or there.name != "prompts"):
            raise ConflictError(f"{there} is there already and a new study would overwrite it; name another folder.")
    try:
        toml.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(HOME / "data" / "cxr21.yaml", toml.parent / "cxr21.yaml")
        shutil.copytree(HOME / "data" / "practice", toml.parent / "practice")
        if new.with_prompts:
            shutil.copytree(HOME / "prompts", folder / "prompts")
        toml.write_text(_settings_text(new), encoding="utf-8")
    except OSError as error:
        raise InputError(f"A study cannot be made in {folder}: {error.strerror or error}.") from None
    return open_study(folder)


def default_people() -> dict[str, list[Role]]:
    """Return the people of a new study: the user of this computer as lead."""
    return {current_user() or "lead": [Role.LEAD, Role.ADMIN]}


def _settings_text(new: NewStudy) -> str:
    people = "\n".join(
        f"{_quoted(name)} = {json.dumps([role.value for role in roles])}" for name, roles in new.people.items()
    )
    sections = ", ".join(_quoted(name) for name in StudySettings(title="").sections)
    return f"""title = {_quoted(new.title)}
label_set = "cxr21.yaml"
# What is simulated in this study; shown on every page. Leave it empty for a real one.
simulated = {_quoted(new.simulated)}
# How people get to the pages: "accounts" (made with `workbench user add`), or "pick" a name, in a simulated study only.
sign_in = "{new.sign_in}"
# The sections a labeler reads. Indication and comparison are never read as findings.
sections = [{sections}]

# A finding is present when at least k of n raters say so. "tie" is what an even split becomes:
# fix it before the round starts.
[vote]
k = 4
n = 6
tie = "not_present"

# Who may do what through the command line on this computer: rater, adjudicator, lead, admin. It is how a study begins:
# for who has an account (`workbench user list`) the account alone counts, and a line here must say the same or go.
[people]
{people}

# What labels reports. The rules labeler needs no key and no network.
[labelers.rules]
kind = "rules"
"""


def _quoted(text: str) -> str:
    # A JSON string is a TOML basic string, but for one character that JSON leaves bare.
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
