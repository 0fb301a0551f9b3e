"""A study: a folder with settings, a label set, a database and accepted prompts."""

import getpass
import json
import os
import shutil
from dataclasses import dataclass, replace
from pathlib import Path

from workbench.domain.actors import Actor, Role
from workbench.domain.findings import LabelSet, Policies
from workbench.domain.references import VoteRule
from workbench.domain.runs import LabelerSettings
from workbench.errors import ConflictError, InputError, NotFoundError, RightsError
from workbench.formats.label_sets import read_label_set
from workbench.labelers.registry import settings_of
from workbench.storage import label_sets as label_set_store
from workbench.storage.database import Database
from workbench.workflow.settings import StudySettings, read_settings

HOME = Path(__file__).resolve().parents[2]  # the project: its label set and shipped prompts start new studies
STUDY_VARIABLE = "WORKBENCH_STUDY"
ACTOR_VARIABLE = "WORKBENCH_AS"


@dataclass(frozen=True, slots=True)
class Study:
    """An open study. ``label_set`` already carries the study's own policies where it has some."""

    folder: Path
    settings: StudySettings
    label_set: LabelSet
    database: Database

    @property
    def prompts_folder(self) -> Path:
        """Return where copies of accepted revisions are kept."""
        return self.folder / "prompts" / self.label_set.id

    @property
    def vote_rule(self) -> VoteRule:
        """Return the rule that makes the reference."""
        vote = self.settings.vote
        return VoteRule(k=vote.k, n=vote.n, tie=vote.tie)

    def labeler(self, name: str) -> LabelerSettings:
        """Return the settings of a labeler of the study. Raises NotFoundError, naming those it has."""
        config = self.settings.labelers.get(name)
        if config is None:
            known = ", ".join(sorted(self.settings.labelers))
            raise NotFoundError(f"This study has no labeler called {name}; it has: {known}.")
        file = self.folder / config.file if config.file else None
        return settings_of(name, file=file, **config.model_dump(exclude={"file", "api_key_env"}))

    def actor(self, name: str | None = None) -> Actor:
        """Return the acting person: as named, else by WORKBENCH_AS, else the user of this computer, else the only lead.

        Raises:
            RightsError: nobody of that name is listed under ``[people]``, or it is not clear who acts.
        """
        people = self.settings.people
        asked = name or os.environ.get(ACTOR_VARIABLE)
        if asked:
            if asked not in people:
                known = ", ".join(people) or "nobody yet"
                raise RightsError(f"{asked} is not one of the study's people ({known}); add them to data/study.toml.")
            return Actor(asked, frozenset(people[asked]))
        leads = [person for person, roles in people.items() if Role.LEAD in roles]
        user = _user()
        if user in people:
            return Actor(user, frozenset(people[user]))
        if len(leads) == 1:
            return Actor(leads[0], frozenset(people[leads[0]]))
        raise RightsError(
            f"Say who you are with --as NAME; the study's people are: {', '.join(people) or 'nobody yet'}."
        )


def _user() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError):  # no account for this user id, as in some containers
        return ""


def find_study(folder: Path | None = None) -> Path:
    """Return the study folder: as given, else by WORKBENCH_STUDY, else the current folder."""
    if folder is not None:
        return folder.resolve()
    named = os.environ.get(STUDY_VARIABLE)
    return Path(named).resolve() if named else Path.cwd()


def open_study(folder: Path | None = None) -> Study:
    """Open a study, bringing its database up to date.

    Raises:
        NotFoundError: the folder is no study.
        InputError: its settings or label set cannot be read.
    """
    root = find_study(folder)
    settings = read_settings(root / "data" / "study.toml")
    label_set = with_policies(read_label_set(root / "data" / settings.label_set), settings)
    database = Database(root / "data" / "workbench.db")
    study = Study(root, settings, label_set, database)
    with database.read() as conn:
        known = label_set_store.get(conn, label_set.hash) is not None
    if not known:
        with database.write() as conn:
            label_set_store.add(conn, label_set)
    return study


def with_policies(label_set: LabelSet, settings: StudySettings) -> LabelSet:
    """Return the label set with the study's own policies where its settings give some.

    Raises:
        InputError: an override names an unknown finding.
    """
    changes: dict[str, Policies] = {}
    for side in ("vote", "prediction"):
        policy = getattr(settings.policies, side)
        if policy is None:
            continue
        unknown = sorted(set(policy.overrides) - set(label_set.ids))
        if unknown:
            raise InputError(
                f"data/study.toml, policies.{side}.overrides: {unknown[0]} is no finding of {label_set.id}."
            )
        changes[f"{side}_policies"] = Policies(policy.default, policy.overrides)
    if not changes:
        return label_set
    return replace(
        label_set,
        vote_policies=changes.get("vote_policies", label_set.vote_policies),
        prediction_policies=changes.get("prediction_policies", label_set.prediction_policies),
    )


@dataclass(frozen=True, slots=True)
class NewStudy:
    """What a new study starts with."""

    title: str
    people: dict[str, list[Role]]
    simulated: str = ""
    with_prompts: bool = True


def init_study(folder: Path, new: NewStudy) -> Study:
    """Make a study in an empty or missing folder and open it.

    Raises:
        ConflictError: the folder already holds a study; nothing is touched.
    """
    toml = folder / "data" / "study.toml"
    if toml.exists():
        raise ConflictError(f"{folder} already holds a study; name another folder.")
    if (folder / "data" / "workbench.db").exists():
        raise ConflictError(f"{folder}/data holds a database without study.toml; name another folder.")
    try:
        toml.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(HOME / "data" / "cxr21.yaml", toml.parent / "cxr21.yaml")
        if new.with_prompts:
            shutil.copytree(HOME / "prompts", folder / "prompts", dirs_exist_ok=True)
        toml.write_text(_settings_text(new), encoding="utf-8")
    except OSError as error:
        raise InputError(f"A study cannot be made in {folder}: {error.strerror or error}.") from None
    return open_study(folder)


def default_people() -> dict[str, list[Role]]:
    """Return the people of a new study: the user of this computer as lead."""
    return {_user() or "lead": [Role.LEAD, Role.ADMIN]}


def _settings_text(new: NewStudy) -> str:
    quote = json.dumps  # a JSON string is a valid TOML basic string
    people = "\n".join(
        f"{quote(name, ensure_ascii=False)} = {json.dumps([role.value for role in roles])}"
        for name, roles in new.people.items()
    )
    sections = ", ".join(quote(name) for name in StudySettings(title="").sections)
    return f"""title = {quote(new.title, ensure_ascii=False)}
label_set = "cxr21.yaml"
# What is simulated in this study; shown on every page. Leave it empty for a real one.
simulated = {quote(new.simulated, ensure_ascii=False)}
# The sections a labeler reads. Indication and comparison are never read as findings.
sections = [{sections}]

# A finding is present when at least k of n raters say so. "tie" is what an even split becomes:
# fix it before the round starts.
[vote]
k = 4
n = 6
tie = "not_present"

# Who may do what: rater, adjudicator, lead, admin.
[people]
{people}

# What labels reports. The rules labeler needs no key and no network.
[labelers.rules]
kind = "rules"
"""
